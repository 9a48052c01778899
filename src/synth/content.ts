/**
 * What a text block says: running prose, prose with its words out of order, pseudo-words, random strings, headings,
 * list items, references and the other kinds of region a page has. A third of prose is shuffled and a quarter of
 * blocks cannot be guessed at all, so that a reader must look (the concern of the paper's Semantic Shuffle). It
 * refuses to know fonts and pages.
 */
import { type Corpus, cleanText, excerpt } from "./corpus.ts";
import type { Random } from "./random.ts";
import { contactLines, foreignText, numberLines, pseudoProse, randomStrings, reference, shortLabel, signSoup } from "./snippets.ts";

export type ContentKind =
  | "prose"
  | "shuffled"
  | "words"
  | "pseudo"
  | "strings"
  | "heading"
  | "list-item"
  | "numbers"
  | "contact"
  | "reference"
  | "label"
  | "signs"
  | "foreign";

/** How often each kind is drawn for training text. */
export const CONTENT_WEIGHTS: Readonly<Record<ContentKind, number>> = {
  prose: 28,
  shuffled: 12,
  words: 5,
  pseudo: 9,
  strings: 8,
  heading: 9,
  "list-item": 7,
  numbers: 8,
  contact: 4,
  reference: 4,
  label: 7,
  signs: 3,
  foreign: 4,
};

/** Replaces typewriter quotes and dashes by typographic ones. */
export function typographic(text: string): string {
  return text
    .replace(/(^|[\s([{“‘—])"/g, "$1“")
    .replaceAll('"', "”")
    .replace(/(^|[\s([{“—])'/g, "$1‘")
    .replaceAll("'", "’")
    .replace(/ ?-{2,3} ?/g, "—")
    .replaceAll("...", "…");
}

/** Replaces typographic quotes and dashes by what a typewriter has. */
export function typewritten(text: string): string {
  return text
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replaceAll("—", "--")
    .replaceAll("–", "-")
    .replaceAll("…", "...");
}

function titleCase(text: string): string {
  return text.replace(/\b[a-z]{4,}/g, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

function bare(text: string): string {
  return text.replace(/[.,;:!?"“”()—-]+$/g, "").replace(/^[^A-Za-z0-9]+/, "");
}

function heading(corpus: Corpus, random: Random, length: number): string {
  const words = bare(excerpt(corpus, random, Math.min(length, random.int(8, 70))));
  const text = random.pick([titleCase, titleCase, (line: string) => line.toUpperCase(), (line: string) => line])(
    words.charAt(0).toUpperCase() + words.slice(1),
  );
  return random.pick([
    () => text,
    () => text,
    () => `${random.int(1, 12)} ${text}`,
    () => `${random.int(1, 12)}. ${text}`,
    () => `${random.int(1, 9)}.${random.int(1, 9)} ${text}`,
    () => `${random.int(1, 9)}.${random.int(1, 9)}.${random.int(1, 9)} ${text}`,
    () => `Chapter ${random.int(1, 40)}: ${text}`,
    () => `${random.pick(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"])}. ${text}`,
    () => `Appendix ${random.pick(["A", "B", "C", "D"])}. ${text}`,
  ])();
}

function listItem(corpus: Corpus, random: Random, length: number): string {
  const marker = random.pick([
    () => "•",
    () => "•",
    () => "–",
    () => "-",
    () => "*",
    () => `${random.int(1, 30)}.`,
    () => `${random.int(1, 30)})`,
    () => `(${random.pick(["a", "b", "c", "d", "e", "f"])})`,
    () => `${random.pick(["a", "b", "c", "d", "e"])}.`,
    () => `(${random.pick(["i", "ii", "iii", "iv", "v"])})`,
  ])();
  return `${marker} ${excerpt(corpus, random, length)}`;
}

function dictionaryWords(corpus: Corpus, random: Random, length: number): string {
  let text = "";
  while (text.length < length) text += `${text ? " " : ""}${random.pick(corpus.words)}`;
  return text;
}

/** Text of about `length` characters; headings and labels may be shorter. */
export function drawContent(kind: ContentKind, corpus: Corpus, random: Random, length: number): string {
  const draw = (): string => {
    switch (kind) {
      case "prose":
        return excerpt(corpus, random, length);
      case "shuffled":
        return random.shuffled(excerpt(corpus, random, length).split(" ")).join(" ");
      case "words":
        return dictionaryWords(corpus, random, length);
      case "pseudo":
        return pseudoProse(random, length);
      case "strings":
        return randomStrings(random, length);
      case "heading":
        return heading(corpus, random, length);
      case "list-item":
        return listItem(corpus, random, length);
      case "numbers":
        return numberLines(random, length);
      case "contact":
        return contactLines(random, length);
      case "reference":
        return reference(random, bare(excerpt(corpus, random, random.int(20, 70))));
      case "label":
        return shortLabel(random);
      case "signs":
        return signSoup(random, length, corpus.words);
      case "foreign":
        return foreignText(random, length);
    }
  };
  const style = random.next();
  const text = draw();
  return cleanText(style < 0.55 ? typographic(text) : style < 0.8 ? typewritten(text) : text);
}
