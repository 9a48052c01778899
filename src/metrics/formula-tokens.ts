/**
 * LaTeX formulas in the normal form that CDM compares: one blank between tokens, braces around every argument, subscript before
 * superscript, environments as plain arrays. The official tool takes it from an old KaTeX's parse tree; this is a reader of its own
 * that writes the same form and, like it, gives up on what is not well formed. It refuses to know how tokens look and which are seen.
 */
import type { CdmVariant } from "./cdm-match.ts";

/** Not a well-formed formula, as far as this reader knows LaTeX. */
class MalformedFormula extends Error {}

/** Tokens of a formula, separated by blanks, and whether it could be read; if not, `text` is the formula itself. */
export interface TokenisedFormula {
  readonly tokenised: boolean;
  readonly text: string;
}

const ALIGNED = /\\begin\{(split|align|alignedat|alignat|eqnarray)\*?\}([\s\S]+?)\\end\{\1\*?\}/g;
const SMALL_MATRIX = /\\begin\{smallmatrix\*?\}([\s\S]+?)\\end\{smallmatrix\*?\}/g;
const FONT_SWITCHES = new Map([
  ["rm", "mathrm"],
  ["bf", "mathbf"],
  ["sf", "mathsf"],
  ["it", "mathit"],
  ["frak", "mathfrak"],
  ["tt", "mathtt"],
  ["cal", "mathcal"],
  ["Bbb", "mathbb"],
]);
const OPERATOR_NAMES = new Set(
  (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf injlim ker lg lim liminf limsup ln log max min Pr " +
    "projlim sec sin sinh sup tan tanh"
  ).split(" "),
);

/** The tokens of a formula. */
export function tokeniseFormula(latex: string, variant: CdmVariant = "odb15"): TokenisedFormula {
  const line = latex.replaceAll("\n", " ");
  try {
    const text = new FormulaReader(prepared(line), variant).read();
    return text === "" ? { tokenised: false, text: line } : { tokenised: true, text };
  } catch (error) {
    if (!(error instanceof MalformedFormula)) throw error;
    return { tokenised: false, text: line };
  }
}

/** Rewrites environments, drops comments, labels and dollars; a line break outside an environment becomes a thin space. */
function prepared(latex: string): string {
  let line = latex.replace(ALIGNED, "\\begin{aligned}$2\\end{aligned}").replace(SMALL_MATRIX, "\\begin{matrix}$1\\end{matrix}");
  line = line.replace(/^%/, "").replace(/(?<!\\)%.*$/, "");
  line = line
    .replaceAll("\\~", " ")
    .replaceAll("\\>", " ")
    .replace(/(?<!\\)\$/g, " ")
    .replace(/\\label\{.*?\}/g, "");
  if (!/matrix|cases|array|begin/.test(line)) line = line.replaceAll("\\\\", "\\,");
  for (const [name, font] of FONT_SWITCHES) {
    line = line
      .replace(new RegExp(`\\{ ?\\\\${name}(?![a-zA-Z])`, "g"), `\\${font}{`)
      .replace(new RegExp(`\\\\${name}\\{`, "g"), `\\${font}{`);
  }
  return line;
}

const ACCENTS = new Set("acute grave ddot tilde bar breve check hat vec dot".split(" "));
const FONTS = new Set("mathrm mathbf mathbb mathcal mathfrak mathsf mathtt mathit mathscr boldsymbol bm".split(" "));
const TEXT_FONTS = new Map([
  ...["text", "textrm", "textnormal", "textup", "mbox", "hbox"].map((name) => [name, "mathrm"] as const),
  ["textbf", "mathbf"],
  ["textit", "mathit"],
  ["textsf", "mathsf"],
  ["texttt", "mathtt"],
]);
const SIZED_DELIMITERS = /^[bB]igg?[lrm]?$/;
const FRACTIONS = new Set("frac dfrac tfrac cfrac".split(" "));
const BINOMIALS = new Set("binom dbinom tbinom".split(" "));
const INFIX = new Map([
  ["over", "frac"],
  ["choose", "binom"],
  ["atop", "binom"],
]);
const RENAMED = new Map([
  ["\\vert", "|"],
  ["\\lvert", "|"],
  ["\\rvert", "|"],
  ["\\Vert", "\\|"],
  ["\\lVert", "\\|"],
  ["\\rVert", "\\|"],
  ["\\lbrack", "["],
  ["\\rbrack", "]"],
  ["\\lbrace", "\\{"],
  ["\\rbrace", "\\}"],
  ["\\lparen", "("],
  ["\\rparen", ")"],
  ["\\lt", "<"],
  ["\\gt", ">"],
  ["\\thinspace", "\\,"],
]);
const UNREADABLE = new Set("color textcolor colorbox fcolorbox".split(" "));
/** Environment to the delimiters around its array. */
const MATRICES = new Map<string, readonly [string, string] | null>([
  ["matrix", null],
  ["pmatrix", ["(", ")"]],
  ["bmatrix", ["[", "]"]],
  ["Bmatrix", ["\\{", "\\}"]],
  ["vmatrix", ["|", "|"]],
  ["Vmatrix", ["\\Vert", "\\Vert"]],
  ["cases", ["\\{", "."]],
  ["aligned", null],
  ["gathered", null],
  ["array", null],
]);

/** What ends a list of tokens. */
type Stop = "}" | "]" | "right" | "cell" | "end";

class FormulaReader {
  private readonly source: string;
  private readonly variant: CdmVariant;
  private position = 0;

  constructor(source: string, variant: CdmVariant) {
    this.source = source;
    this.variant = variant;
  }

  read(): string {
    const tokens = this.list("end");
    return tokens.join(" ");
  }

  /** The next token without passing it; `""` at the end. Blanks before it are passed. */
  private peek(): string {
    while (/\s/.test(this.source[this.position] ?? "")) this.position++;
    const match = /\\(?:[a-zA-Z]+|[\s\S])|[\s\S]/uy;
    match.lastIndex = this.position;
    return match.exec(this.source)?.[0] ?? "";
  }

  private next(): string {
    const token = this.peek();
    if (token === "\\" || token === "") throw new MalformedFormula("end of formula");
    this.position += token.length;
    return token;
  }

  private expect(token: string): void {
    if (this.peek() !== token) throw new MalformedFormula(`expected ${token}, got ${this.peek()}`);
    this.next();
  }

  private stops(token: string, stop: Stop): boolean {
    if (token === "") {
      if (stop === "end") return true;
      throw new MalformedFormula(`end of formula, expected ${stop}`);
    }
    if (stop === "cell") return token === "&" || token === "\\\\" || token === "\\cr" || token === "\\end";
    if (stop === "right") return token === "\\right";
    return token === stop;
  }

  /** Tokens up to a stop, which is not passed. */
  private list(stop: Stop): string[] {
    let tokens: string[] = [];
    for (;;) {
      const token = this.peek();
      if (this.stops(token, stop)) return tokens;
      if (token === "}" || token === "&" || token === "\\right" || token === "\\end") throw new MalformedFormula(`unexpected ${token}`);
      const name = token.slice(1);
      if (token.startsWith("\\") && INFIX.has(name)) {
        this.next();
        const denominator = this.list(stop);
        tokens = [`\\${INFIX.get(name)}`, "{", ...tokens, "}", "{", ...denominator, "}"];
        return tokens;
      }
      if (token.startsWith("\\") && FONT_SWITCHES.has(name)) {
        this.next();
        return [...tokens, `\\${FONT_SWITCHES.get(name)}`, "{", ...this.list(stop), "}"];
      }
      tokens.push(...this.withScripts());
    }
  }

  /** An atom with its subscript and superscript, in this order. */
  private withScripts(): string[] {
    const first = this.peek();
    const base = first === "_" || first === "^" || first === "'" ? [] : this.atom();
    let sub: string[] | null = null;
    let sup: string[] | null = null;
    for (;;) {
      const token = this.peek();
      if (token === "\\limits" || token === "\\nolimits") this.next();
      else if (token === "_") {
        if (sub) throw new MalformedFormula("two subscripts");
        this.next();
        sub = this.argument();
      } else if (token === "^") {
        if (sup) throw new MalformedFormula("two superscripts");
        this.next();
        sup = this.argument();
      } else if (token === "'") {
        if (sup) throw new MalformedFormula("a prime after a superscript");
        sup = [];
        while (this.peek() === "'") {
          this.next();
          sup.push("\\prime");
        }
        if (this.peek() === "^") {
          this.next();
          sup.push(...this.argument());
        }
      } else break;
    }
    return [...base, ...(sub ? ["_", "{", ...sub, "}"] : []), ...(sup ? ["^", "{", ...sup, "}"] : [])];
  }

  /** What stands in the braces of an argument, or a single atom. */
  private argument(): string[] {
    if (this.peek() !== "{") return this.atom();
    this.next();
    const tokens = this.list("}");
    this.next();
    return tokens;
  }

  private braced(): string[] {
    return ["{", ...this.argument(), "}"];
  }

  private atom(): string[] {
    const token = this.next();
    if (token === "{") {
      const tokens = this.list("}");
      this.next();
      return ["{", ...tokens, "}"];
    }
    if (token === "}" || token === "&" || token === "_" || token === "^" || token === "#")
      throw new MalformedFormula(`unexpected ${token}`);
    return token.startsWith("\\") ? this.command(token) : [token];
  }

  private command(token: string): string[] {
    const name = token.slice(1);
    if (UNREADABLE.has(name)) throw new MalformedFormula(`${token} is not read`);
    if (FRACTIONS.has(name)) return ["\\frac", ...this.braced(), ...this.braced()];
    if (BINOMIALS.has(name)) return ["\\binom", ...this.braced(), ...this.braced()];
    if (ACCENTS.has(name)) return [token, ...this.braced()];
    if (FONTS.has(name)) return [name === "bm" ? "\\boldsymbol" : token, ...this.braced()];
    if (TEXT_FONTS.has(name)) return this.text(name);
    if (SIZED_DELIMITERS.test(name)) return [token, this.next()];
    if (name === "sqrt") return this.root();
    if (name === "overline" || name === "underline") return this.line(token);
    if (name === "operatorname") return this.operator();
    if (name === "left") return this.leftRight();
    if (name === "begin") return this.environment();
    if (name === "right" || name === "end") throw new MalformedFormula(`unexpected ${token}`);
    return /^\s/.test(name) ? ["\\"] : [RENAMED.get(token) ?? token];
  }

  private root(): string[] {
    if (this.peek() !== "[") return ["\\sqrt", ...this.braced()];
    this.next();
    const index = this.list("]");
    this.next();
    return ["\\sqrt", "[", ...index, "]", ...this.braced()];
  }

  /** The tree has a group inside the rule's own braces. */
  private line(token: string): string[] {
    const isGroup = this.peek() === "{";
    const body = this.argument();
    return isGroup ? [token, "{", "{", ...body, "}", "}"] : [token, "{", ...body, "}"];
  }

  private operator(): string[] {
    if (this.peek() === "*") this.next();
    const body = this.argument();
    const name = body.join("");
    return OPERATOR_NAMES.has(name) ? [`\\${name}`] : ["\\operatorname", "{", ...body, "}"];
  }

  private leftRight(): string[] {
    const left = `\\left${this.next()}`;
    const body = this.list("right");
    this.next();
    return [left, ...body, `\\right${this.next()}`];
  }

  /** Characters of text, a blank as `~`; formulas in it are read as such. */
  private text(name: string): string[] {
    this.expect("{");
    const tokens: string[] = [];
    for (let depth = 1; ; ) {
      const match = /\\(?:[a-zA-Z]+|[\s\S])|\s+|[\s\S]/uy;
      match.lastIndex = this.position;
      const token = match.exec(this.source)?.[0];
      if (token === undefined) throw new MalformedFormula("end of formula in text");
      this.position += token.length;
      if (token === "{") depth++;
      else if (token === "}" && --depth === 0) break;
      tokens.push(/^\s/.test(token) ? "~" : token);
    }
    const keepsText = this.variant === "unimer2509" && tokens.some((token) => /[\u4e00-\u9fff]/.test(token));
    return [keepsText ? "\\text" : `\\${TEXT_FONTS.get(name)}`, "{", ...tokens, "}"];
  }

  private name(): string {
    this.expect("{");
    const end = this.source.indexOf("}", this.position);
    if (end < 0) throw new MalformedFormula("end of formula in the name of an environment");
    const name = this.source.slice(this.position, end).trim();
    this.position = end + 1;
    return name;
  }

  private environment(): string[] {
    const name = this.name();
    const delimiters = MATRICES.get(name);
    if (delimiters === undefined) throw new MalformedFormula(`unknown environment ${name}`);
    const columns = name === "array" ? this.columns() : null;
    const rows = this.rows(name === "aligned");
    if (this.name() !== name) throw new MalformedFormula(`${name} ends otherwise`);
    const width = Math.max(0, ...rows.map((row) => row.length));
    const letters = columns ?? alignments(name, width, rows[0]?.length ?? 0);
    const lines = rows.map((row) =>
      joined(
        row.map((cell) => (cell.length > 0 ? ["{", ...cell, "}"] : [])),
        "&",
      ),
    );
    const array = ["\\begin{array}", "{", ...letters, "}", ...joined(lines, "\\\\"), "\\end{array}"];
    return delimiters ? [`\\left${delimiters[0]}`, ...array, `\\right${delimiters[1]}`] : array;
  }

  /** Letters of a column specification. */
  private columns(): string[] {
    if (this.peek() === "[") {
      this.next();
      this.list("]");
      this.next();
    }
    this.expect("{");
    const letters: string[] = [];
    for (let token = this.next(); token !== "}"; token = this.next()) {
      if (/^[lcr]$/.test(token)) letters.push(token);
      else if (token === "{") while (this.next() !== "}");
    }
    return letters;
  }

  /** Cells of an environment up to and past its `\end`; an empty last row goes. */
  private rows(isAligned: boolean): string[][][] {
    const rows: string[][][] = [[]];
    for (;;) {
      const cell = this.list("cell");
      const row = rows[rows.length - 1];
      if (isAligned && row.length % 2 === 1) cell.unshift("{", "}");
      row.push(cell);
      const end = this.next();
      if (end === "&") continue;
      if (end === "\\end") break;
      if (this.peek() === "[") {
        this.next();
        this.list("]");
        this.next();
      }
      rows.push([]);
    }
    const last = rows[rows.length - 1];
    if (rows.length > 1 && last.length === 1 && last[0].length === 0) rows.pop();
    return rows;
  }
}

/** All tokens of the lists with a token between one and the next. */
function joined(lists: readonly (readonly string[])[], between: string): string[] {
  return lists.flatMap((list, index) => (index === 0 ? list : [between, ...list]));
}

function alignments(name: string, width: number, firstWidth: number): string[] {
  if (name === "aligned") return Array.from({ length: width }, (_, index) => (index % 2 === 0 ? "r" : "l"));
  if (name === "cases") return ["l", "l"];
  return Array.from({ length: firstWidth }, () => "l");
}
