/**
 * The small printed things that running prose lacks: prices, dates, addresses, references, page numbers, random
 * strings and pseudo-words. They teach reading of what cannot be guessed. All are drawn from grammars written here;
 * names and places are invented. It refuses to know how they are printed.
 */
import type { Random } from "./random.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const SYLLABLE_ONSETS =
  "b c d f g h j k l m n p qu r s t v w x y z bl br ch cl cr dr fl fr gl gr pl pr sc sh sk sl sm sn sp st str th tr".split(" ");
const SYLLABLE_CORES = "a e i o u a e i o ai au ea ee ie io oa oo ou y".split(" ");
const SYLLABLE_CODAS = " n r s t l m d k p x ck ld lt mp nd ng nk nt rd rk rm rn rt sh sk st th".split(" ");
const DOMAINS = ["com", "org", "net", "edu", "io", "co.uk", "de", "gov", "info", "eu"];
const STREETS = ["Street", "Avenue", "Road", "Lane", "Drive", "Blvd.", "St.", "Ave", "Court", "Place"];
const INITIALS = "ABCDEFGHJKLMNOPRSTVWZ";
const CURRENCIES = ["$", "€", "£", "US$", "¥"];
/** Letters and digits whose shapes differ in every font: no I, l, O or bar. */
const CODE_CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const STRING_CHARACTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_{}~";
const SIGNS = "‘’“”–—…•·§¶†‡©®™°±×÷£€¥¢«»¿¡½¼¾²³µ";

/** Sentences of other Western European languages, so that their letters are seen. */
const FOREIGN = [
  "Der alte Müller ging früh über die schmale Brücke und grüßte höflich.",
  "Größere Änderungen müssen spätestens am Donnerstag schriftlich bestätigt werden.",
  "Können Sie mir bitte die Öffnungszeiten für nächste Woche schicken?",
  "Die Übersicht enthält alle Maße, Gewichte und Preise für das Frühjahr.",
  "Le garçon a déjà mangé une pêche à côté de la fenêtre.",
  "Où êtes-vous allés l’été dernier ? Nous étions près de la forêt.",
  "L’œuvre complète a été publiée à Genève, « revue et corrigée ».",
  "Ça dépend : les élèves préfèrent la première leçon, là-bas.",
  "El niño pequeño soñó con una montaña de azúcar y café.",
  "¿Cuándo llegó el señor Núñez? ¡Qué alegría verlo aquí!",
  "La población creció según los últimos informes del año pasado.",
  "La città è più bella perché il sole tramonta già alle sei.",
  "Perciò non c’è né tempo né volontà, così si dice quaggiù.",
  "A manhã não começou ainda; as crianças estão à espera do avô.",
  "Três irmãs vivem em São Tomé e não têm opinião própria.",
  "Het café ligt vlak bij de oude haven; één kopje koffie kost € 2,80.",
  "På øen bor der få mennesker, men mange får og gæs.",
  "Större frågor får vänta tills nästa möte, säger ordföranden.",
];

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function characters(random: Random, alphabet: string, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet[random.int(0, alphabet.length - 1)];
  return text;
}

/** A word of one to four made-up syllables. */
export function pseudoWord(random: Random): string {
  let word = "";
  for (let i = random.int(1, 3); i >= 0; i--)
    word += random.pick(SYLLABLE_ONSETS) + random.pick(SYLLABLE_CORES) + (random.chance(0.4) ? random.pick(SYLLABLE_CODAS) : "");
  return word;
}

function surname(random: Random): string {
  return capitalised(pseudoWord(random));
}

export function personName(random: Random): string {
  const initial = `${characters(random, INITIALS, 1)}.`;
  return random.pick([`${surname(random)} ${surname(random)}`, `${initial} ${surname(random)}`, `${surname(random)}, ${initial}`]);
}

function number(random: Random): string {
  const value = Math.floor(10 ** random.range(0, 7));
  const style = random.int(0, 5);
  if (style === 0) return value.toLocaleString("en-US");
  if (style === 1) return (value / 100).toFixed(2);
  if (style === 2) return `${(random.next() * 100).toFixed(random.int(0, 2))}%`;
  if (style === 3) return `${random.chance(0.5) ? "-" : ""}${(random.next() * 10).toFixed(random.int(1, 4))}`;
  return String(value);
}

export function price(random: Random): string {
  return `${random.pick(CURRENCIES)}${(10 ** random.range(0, 5)).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

export function date(random: Random): string {
  const [day, month, year] = [random.int(1, 28), random.int(1, 12), random.int(1890, 2030)];
  const name = MONTHS[month - 1];
  return random.pick([
    `${name} ${day}, ${year}`,
    `${day} ${name} ${year}`,
    `${day} ${name.slice(0, 3)} ${year}`,
    `${name.slice(0, 3)}. ${day}, ${year}`,
    `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`,
    `${month}/${day}/${year}`,
    `${day}.${month}.${year}`,
    `${String(day).padStart(2, "0")}/${String(month).padStart(2, "0")}/${String(year).slice(2)}`,
    `${random.int(0, 23)}:${String(random.int(0, 59)).padStart(2, "0")}`,
  ]);
}

function address(random: Random): string {
  const host = `${pseudoWord(random)}.${random.pick(DOMAINS)}`;
  return random.pick([
    `${pseudoWord(random)}@${host}`,
    `${pseudoWord(random)}.${pseudoWord(random)}@${host}`,
    `https://www.${host}/${pseudoWord(random)}`,
    `http://${host}/${pseudoWord(random)}_${random.int(1, 99)}.html`,
    `www.${host}`,
    `+${random.int(1, 99)} (${random.int(10, 999)}) ${random.int(100, 999)}-${random.int(1000, 9999)}`,
    `(${random.int(200, 999)}) ${random.int(200, 999)}-${random.int(1000, 9999)}`,
    `${random.int(1, 9999)} ${surname(random)} ${random.pick(STREETS)}, ${surname(random)}, ${characters(random, INITIALS, 2)} ${random.int(10000, 99999)}`,
    `10.${random.int(1000, 9999)}/${pseudoWord(random)}.${random.int(1000, 99999)}`,
  ]);
}

function randomString(random: Random): string {
  const length = random.int(2, 14);
  switch (random.int(0, 5)) {
    case 0:
      return characters(random, "0123456789", length);
    case 1:
      return characters(random, CODE_CHARACTERS, length);
    case 2:
      return characters(random, "0123456789abcdef", length);
    case 3:
      return characters(random, STRING_CHARACTERS + PUNCTUATION, length);
    case 4:
      return `${characters(random, CODE_CHARACTERS, random.int(1, 4))}-${characters(random, "0123456789", random.int(2, 6))}`;
    default:
      return characters(random, STRING_CHARACTERS, length);
  }
}

function repeated(length: number, joint: string, draw: () => string): string {
  let text = draw();
  while (text.length < length) text += joint + draw();
  return text;
}

export function randomStrings(random: Random, length: number): string {
  return repeated(length, " ", () => randomString(random));
}

export function pseudoProse(random: Random, length: number): string {
  let startsSentence = true;
  return repeated(length, " ", () => {
    let word = pseudoWord(random);
    if (startsSentence || random.chance(0.08)) word = capitalised(word);
    startsSentence = random.chance(0.1);
    return word + (startsSentence ? random.pick([".", ".", "?", "!"]) : random.chance(0.1) ? random.pick([",", ";", ":"]) : "");
  });
}

/** What results are told in: "n = 12", "3.1 ± 0.2", "p < 0.05", "16 kg". */
function statistic(random: Random): string {
  const value = (): string => (10 ** random.range(-1, 3)).toFixed(random.int(0, 3));
  const space = random.chance(0.5) ? " " : "";
  return random.pick([
    () =>
      `${random.pick(["n", "N", "p", "r", "x", "k", "df", "SD", "t"])}${space}${random.pick(["=", "=", "=", "<", ">", "≤", "≥"])}${space}${value()}`,
    () => `${value()}${space}±${space}${value()}`,
    () => `${value()} (${value()})`,
    () => `(${value()}%, n${space}=${space}${random.int(1, 99)})`,
    () => `${value()} ${random.pick(["kg", "mm", "cm", "sec", "ms", "MB", "°C", "min", "Hz", "V", "mg/l", "km/h"])}`,
    () => `${value()}–${value()}`,
    () => `${random.pick(["+", "-", "−"])}${value()}${random.pick(["", "%", "*", "**"])}`,
    () => `${value()} × ${value()}`,
  ])();
}

export function numberLines(random: Random, length: number): string {
  return repeated(length, random.pick([" ", " ", ", "]), () => random.pick([number, price, date, number, statistic])(random));
}

export function contactLines(random: Random, length: number): string {
  const labels = ["E-mail:", "Tel.:", "Fax:", "See", "Web:", "Contact", "DOI:", "From:", "To:", ""];
  return repeated(length, " ", () => `${random.pick(labels)} ${address(random)}`.trim());
}

export function reference(random: Random, title: string): string {
  const authors = Array.from({ length: random.int(1, 4) }, () => personName(random)).join(", ");
  const year = random.int(1950, 2029);
  const pages = `${random.int(1, 400)}–${random.int(401, 999)}`;
  return random.pick([
    `[${random.int(1, 120)}] ${authors}. ${title}. ${surname(random)} J. ${random.int(1, 60)}(${random.int(1, 12)}):${pages}, ${year}.`,
    `${random.int(1, 90)}. ${authors} (${year}) ${title}. ${surname(random)} Press, pp. ${pages}.`,
    `${authors}, “${title},” in Proc. ${characters(random, INITIALS, 4)}, vol. ${random.int(1, 40)}, no. ${random.int(1, 9)}, ${year}, pp. ${pages}.`,
  ]);
}

/** The few characters of a page number, running head or stamp. */
export function shortLabel(random: Random): string {
  return random.pick([
    () => String(random.int(1, 999)),
    () => `- ${random.int(1, 400)} -`,
    () => `Page ${random.int(1, 30)} of ${random.int(30, 99)}`,
    () => `${random.pick(["Fig.", "Figure", "Table", "Section", "Chapter", "Eq.", "No.", "Vol."])} ${random.int(1, 30)}`,
    () => characters(random, "ivxlc", random.int(1, 4)),
    () => `(${random.int(1, 9)}.${random.int(1, 40)})`,
    () => date(random),
    () => price(random),
    () => number(random),
    () => statistic(random),
    () => String(random.int(0, 9)),
    () => surname(random),
    () => randomString(random),
    () => `© ${random.int(1990, 2030)} ${surname(random)}`,
    () => `ISBN ${random.int(0, 9)}-${random.int(100, 999)}-${random.int(10000, 99999)}-${random.int(0, 9)}`,
  ])();
}

export function signSoup(random: Random, length: number, words: readonly string[]): string {
  return repeated(length, " ", () => {
    const word = words.length > 0 && random.chance(0.5) ? random.pick(words) : pseudoWord(random);
    const sign = characters(random, random.chance(0.6) ? PUNCTUATION : SIGNS, random.int(1, 2));
    return random.pick([
      `${word}${sign}`,
      `${sign}${word}`,
      `(${word})`,
      `[${word}]`,
      `“${word}”`,
      `'${word}'`,
      `${word}/${sign}`,
      `{${word}}`,
      `<${word}>`,
    ]);
  });
}

export function foreignText(random: Random, length: number): string {
  return repeated(length, " ", () => random.pick(FOREIGN));
}
