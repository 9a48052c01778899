/**
 * A lenient HTML parser that builds the trees of libxml2 2.9.14, the parser behind the official TEDS code. It is not an HTML5 parser on
 * purpose: it adds no `tbody` and no missing `tr`, leaves stray text where it stands, and closes `td`, `tr` and inline tags by libxml2's
 * own table. TEDS values depend on every one of these. Text lies as in ElementTree: before the first child in `text`, after an element
 * in its `tail`. Comments and processing instructions are dropped. It refuses to know what a table is.
 */
import { decodeHTML } from "entities";

export interface HtmlElement {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: HtmlElement[];
  text: string;
  tail: string;
}

interface OpenElement extends HtmlElement {
  readonly attributes: Map<string, string>;
}

const VOID_TAGS = new Set("area base basefont br col frame hr img input isindex link meta param".split(" "));

/** Open tag to the start tags that close it. */
const CLOSED_BY = new Map(
  [
    "a: a fieldset table td th",
    "address: dd dl dt form li ul",
    "b: center p td th",
    "big: p",
    "caption: col colgroup tbody tfoot thead tr",
    "colgroup: colgroup tbody tfoot thead tr",
    "dd: dt",
    "dir: dd dl dt form ul",
    "dl: form li",
    "dt: dd dl",
    "font: center td th",
    "form: form",
    "h1 h2 h3 h4 h5 h6: fieldset form li p table",
    "head: a abbr acronym address b bdo big blockquote body br center cite code dd dfn dir div dl dt em fieldset font form frameset h1 h2 h3 h4 h5 h6 hr i iframe img kbd li listing map menu ol p pre q s samp small span strike strong sub sup table tt u ul var xmp",
    "i: center p td th",
    "legend: fieldset",
    "li: li",
    "listing pre xmp: dd dl dt fieldset form li table ul",
    "menu: dd dl dt form ul",
    "ol: form ul",
    "option: optgroup option",
    "p: address blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset h1 h2 h3 h4 h5 h6 head hr li listing menu ol p pre table tbody td tfoot th title tr ul xmp",
    "s small strike tt: p",
    "span: td th",
    "style title: body frameset",
    "tbody thead: tbody tfoot",
    "tfoot: tbody",
    "td th: tbody td tfoot th tr",
    "tr: tbody tfoot tr",
    "u: p td th",
    "ul: address form menu ol pre",
  ].flatMap((line) => {
    const [open, starts] = line.split(": ");
    const closers = new Set(starts.split(" "));
    return open.split(" ").map((tag) => [tag, closers] as const);
  }),
);

/** An end tag closes open elements only up to the first of a higher rank than its own. */
const END_RANK = new Map([
  ["div", 150],
  ["td", 160],
  ["th", 160],
  ["tr", 170],
  ["thead", 180],
  ["tbody", 180],
  ["tfoot", 180],
  ["table", 190],
  ["head", 200],
  ["body", 200],
  ["html", 220],
]);
const OTHER_END_RANK = 100;

const HEAD_CONTENT = new Set("script style meta link title base".split(" "));

/** The entities of HTML 4 and `apos`; all others stay as written. */
const ENTITY_NAMES = new Set(
  (
    "quot amp apos lt gt nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
    "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml " +
    "Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave " +
    "aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml " +
    "divide oslash ugrave uacute ucirc uuml yacute thorn yuml OElig oelig Scaron scaron Yuml fnof circ tilde Alpha Beta Gamma Delta Epsilon " +
    "Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau Upsilon Phi Chi Psi Omega alpha beta gamma delta epsilon zeta eta " +
    "theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega thetasym upsih piv ensp emsp thinsp zwnj zwj " +
    "lrm rlm ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo dagger Dagger bull hellip permil prime Prime lsaquo rsaquo oline frasl euro " +
    "image weierp real trade alefsym larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr forall part exist empty nabla isin notin ni " +
    "prod sum minus lowast radic prop infin ang and or cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube supe oplus otimes " +
    "perp sdot lceil rceil lfloor rfloor lang rang loz spades clubs hearts diams"
  ).split(" "),
);

/** Entities that mean another character in HTML 4 than today. */
const CHANGED_BY_HTML5 = new Map([
  ["lang", "\u2329"],
  ["rang", "\u232a"],
]);

const TAG_NAME = /[A-Za-z_:.][A-Za-z0-9_:.-]*/y;
const ENTITY_NAME = /[\p{L}_:][\p{L}\p{N}_:.-]*/uy;
const BLANK = /[ \t\n\r]/;

/** Parses a whole document and returns its `html` element, or `null` if there is nothing in it but white space. */
export function parseLenientHtml(source: string): HtmlElement | null {
  const text = source.replaceAll("\0", " ").replace(/[\x01-\x08\x0b\x0c\x0e-\x1f]/g, "");
  if (/^[ \t\n\r]*$/.test(text)) return null;
  return new LenientParser(text).parse();
}

class LenientParser {
  private readonly source: string;
  private position = 0;
  private readonly open: OpenElement[] = [];
  private root: OpenElement | null = null;
  /** Misplaced `html`, `head` and `body` start tags whose end tags must be passed over. */
  private misplaced = 0;

  constructor(source: string) {
    this.source = source;
  }

  parse(): HtmlElement {
    while (this.position < this.source.length) {
      const name = this.open.at(-1)?.tag;
      if ((name === "script" || name === "style") && !this.source.startsWith("</", this.position)) this.rawText(name);
      else if (this.source.startsWith("</", this.position)) this.endTag();
      else if (this.source.startsWith("<!--", this.position)) this.skipPast("-->");
      else if (/^<!doctype/i.test(this.source.slice(this.position, this.position + 9))) this.skipPast(">");
      else if (this.source.startsWith("<?", this.position)) this.skipPast(">");
      else if (/^<[A-Za-z_:]/.test(this.source.slice(this.position, this.position + 2))) this.startTag();
      else if (this.source[this.position] === "<") {
        this.append("<");
        this.position++;
      } else if (this.source[this.position] === "&") this.append(this.reference());
      else this.characters();
    }
    return this.root ?? this.push("html", new Map());
  }

  private skipPast(end: string): void {
    const at = this.source.indexOf(end, this.position);
    this.position = at < 0 ? this.source.length : at + end.length;
  }

  private rawText(name: string): void {
    const at = this.source.toLowerCase().indexOf(`</${name}`, this.position);
    const end = at < 0 ? this.source.length : at;
    this.append(this.source.slice(this.position, end));
    this.position = end;
  }

  private characters(): void {
    const run = /[^<&]+/y;
    run.lastIndex = this.position;
    const text = run.exec(this.source)![0];
    this.position += text.length;
    const inside = this.open.at(-1)?.tag;
    if ((inside === undefined || inside === "html" || inside === "head") && /^[ \t\n\r]*$/.test(text)) return;
    this.append(text);
  }

  /** Adds text at the current place; directly under `html` or `head` it gets a paragraph of its own. */
  private append(text: string): void {
    if (text === "") return;
    const inside = this.open.at(-1)?.tag;
    if (inside === undefined || inside === "html" || inside === "head") {
      this.autoClose("p");
      this.imply("p");
      this.push("p", new Map());
    }
    const parent = this.open.at(-1)!;
    const last = parent.children.at(-1);
    if (last) last.tail += text;
    else parent.text += text;
  }

  /** Reads a character or entity reference; what is none comes back as written. */
  private reference(): string {
    const numeric = /&#(?:[xX]([0-9a-fA-F]*)|([0-9]*));?/y;
    numeric.lastIndex = this.position;
    const number = numeric.exec(this.source);
    if (number) {
      this.position += number[0].length;
      const code = number[1] !== undefined ? Number.parseInt(number[1], 16) : Number.parseInt(number[2], 10);
      const valid = code === 9 || code === 10 || code === 13 || (code >= 0x20 && code < 0xd800) || (code > 0xdfff && code <= 0x10ffff);
      return valid && code !== 0xfffe && code !== 0xffff ? String.fromCodePoint(code) : "";
    }
    this.position++;
    ENTITY_NAME.lastIndex = this.position;
    const name = ENTITY_NAME.exec(this.source)?.[0] ?? "";
    this.position += name.length;
    if (this.source[this.position] !== ";" || !ENTITY_NAMES.has(name)) return `&${name}`;
    this.position++;
    return CHANGED_BY_HTML5.get(name) ?? decodeHTML(`&${name};`);
  }

  private name(): string | null {
    TAG_NAME.lastIndex = this.position;
    const name = TAG_NAME.exec(this.source)?.[0];
    if (name === undefined) return null;
    this.position += name.length;
    return name.toLowerCase();
  }

  private skipBlanks(): void {
    while (BLANK.test(this.source[this.position] ?? "")) this.position++;
  }

  private endTag(): void {
    this.position += 2;
    const name = this.name();
    if (name === null) return;
    this.skipPast(">");
    if (this.misplaced > 0 && (name === "html" || name === "head" || name === "body")) {
      this.misplaced--;
      return;
    }
    const depth = this.open.findLastIndex((element) => element.tag === name);
    if (depth < 0) return;
    const rank = END_RANK.get(name) ?? OTHER_END_RANK;
    const blocked = this.open.slice(depth + 1).some((element) => (END_RANK.get(element.tag) ?? OTHER_END_RANK) > rank);
    if (!blocked) this.open.length = depth;
  }

  private startTag(): void {
    this.position++;
    const name = this.name();
    if (name === null) {
      this.skipPast(">");
      return;
    }
    this.autoClose(name);
    this.imply(name);
    const isMisplaced =
      (name === "html" && this.open.length > 0) ||
      (name === "head" && this.open.length !== 1) ||
      (name === "body" && this.open.some((element) => element.tag === "body"));
    const attributes = this.attributes();
    if (isMisplaced) this.misplaced++;
    else this.push(name.slice(name.indexOf(":") + 1), attributes);
    if (this.source.startsWith("/>", this.position)) {
      this.position += 2;
      this.open.pop();
      return;
    }
    if (this.source[this.position] === ">") this.position++;
    else if (!isMisplaced) {
      this.open.pop();
      return;
    }
    if (VOID_TAGS.has(name)) this.open.pop();
  }

  private attributes(): Map<string, string> {
    const attributes = new Map<string, string>();
    this.skipBlanks();
    while (this.position < this.source.length && this.source[this.position] !== ">" && !this.source.startsWith("/>", this.position)) {
      const name = this.name();
      if (name === null) {
        this.skipBogusAttribute();
      } else {
        this.skipBlanks();
        let value = "";
        if (this.source[this.position] === "=") {
          this.position++;
          this.skipBlanks();
          value = this.attributeValue();
        }
        if (!attributes.has(name)) attributes.set(name, value);
      }
      this.skipBlanks();
    }
    return attributes;
  }

  private skipBogusAttribute(): void {
    while (
      this.position < this.source.length &&
      !BLANK.test(this.source[this.position]) &&
      this.source[this.position] !== ">" &&
      !this.source.startsWith("/>", this.position)
    ) {
      this.position++;
    }
  }

  private attributeValue(): string {
    const first = this.source[this.position];
    const quote = first === '"' || first === "'" ? first : null;
    if (quote) this.position++;
    let value = "";
    while (this.position < this.source.length) {
      const unit = this.source[this.position];
      if (quote ? unit === quote : unit === ">" || BLANK.test(unit)) break;
      if (unit === "&") value += this.reference();
      else {
        value += unit;
        this.position++;
      }
    }
    if (quote && this.position < this.source.length) this.position++;
    return value;
  }

  private autoClose(start: string): void {
    while (this.open.length > 0 && CLOSED_BY.get(this.open.at(-1)!.tag)?.has(start)) this.open.pop();
  }

  private imply(start: string): void {
    if (start === "html") return;
    if (this.open.length === 0) this.push("html", new Map());
    if (start === "body" || start === "head" || start === "frameset") return;
    if (this.open.length <= 1 && HEAD_CONTENT.has(start)) {
      if (!this.root!.children.some((element) => element.tag === "head")) this.push("head", new Map());
      return;
    }
    if (!this.open.some((element) => element.tag === "body" || element.tag === "head")) this.push("body", new Map());
  }

  private push(tag: string, attributes: Map<string, string>): OpenElement {
    const element: OpenElement = { tag, attributes, children: [], text: "", tail: "" };
    const parent = this.open.at(-1) ?? this.root;
    if (parent) parent.children.push(element);
    else this.root = element;
    this.open.push(element);
    return element;
  }
}
