/**
 * CDM's second step: in a tokenised formula, joins what is one mark on paper (`\big (`), takes apart what is several (`\ldots`,
 * `\sin`), removes colours, and gives every argument its braces; then finds the tokens that leave ink, each wrapped so that it can be
 * told apart when rendered. Both published variants. It refuses to know where ink falls.
 */
import type { CdmVariant } from "./cdm-match.ts";
import { tokeniseFormula } from "./formula-tokens.ts";
import { strip } from "./python-text.ts";

/** The official code fails on such a formula; its score is 0. */
export class FormulaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FormulaError";
  }
}

const words = (list: string) => list.split(" ").map((word) => `\\${word}`);

const PHANTOMS = new Set(words("fontfamily vphantom phantom rowcolor ref thesubequation global theboldgroup"));
const TWO_ARGUMENTS = new Set(words("frac binom"));
const BRACKET_ARGUMENTS = new Set(words("xrightarrow xleftarrow sqrt"));
const TWO_UNSEEN = new Set(words("overset underset stackrel"));
const ONE_ARGUMENT = new Set(
  words("widetilde overline hat widehat tilde Tilde dot bar vec underline underbrace check breve Bar Vec mathring ddot Ddot dddot ddddot"),
);
const ONE_UNSEEN = new Set([
  ...words("boldsymbol pmb textbf mathrm mathbf mathbb mathcal textmd texttt textnormal text textit textup mathop mathbin smash"),
  ...words("operatorname textrm mathfrak emph textsf textsc"),
]);
const SPANNING = new Set(words("multicolumn multirow"));
const UNSEEN = new Set([
  "\\",
  "\\\\",
  "&",
  "$",
  "~",
  "\\,",
  "\\!",
  ...words("index a multirow def edef raggedright url cr ensuremath left right mathchoice scriptstyle displaystyle qquad quad boldmath"),
  ...words("gdef today the"),
]);
const UNSEEN_PATTERNS = [/^[{}[\]^_]/, /^\\begin\{.*?\}/, /^\\end\{.*?\}/, /^\\.*rule.*/, /^\\.*line.*/];

const DOTS: Readonly<Record<CdmVariant, readonly string[]>> = {
  odb15: ["ldots", "cdots", "dots", "dotsb"],
  unimer2509: ["ldots", "hdots", "cdots", "dddot", "dots", "dotsc", "dotsi", "dotsm", "dotso", "dotsb", "mathellipsis"],
};
const SPELLED: Readonly<Record<CdmVariant, readonly string[]>> = {
  odb15: "log exp sin cos tan tanh cosh sinh".split(" "),
  unimer2509: "ex ln lg cot min max ker hom sec scs csc deg arg log dim exp sin cos tan tanh cosh sinh coth arcsin arccos arctan".split(
    " ",
  ),
};

/** A tokenised formula in the form that is rendered; begins and ends with a blank. */
export function normaliseTokens(tokens: string, variant: CdmVariant = "odb15"): string {
  let text = strip(tokens).replaceAll("\\pmatrix", "\\mypmatrix").replaceAll("\\matrix", "\\mymatrix");
  text = text.replace(/\\(?:raggedright|arraybackslash|lowercase|uppercase)/g, "");
  text = text.replace(/\\[hv]space \{ [.0-9a-z ]+ \}/g, glued);
  text = text.replace(/\\begin\{array\} \{ [lrc ]+ \}/g, (match) => `\\begin{array} ${glued(match.slice("\\begin{array} ".length))}`);
  if (variant === "odb15") {
    text = text.replace(/\\not [<>+=-]/g, glued).replace(/\\not [\\=<>][^ ]+ /g, (match) => `${glued(match)} `);
  }
  text = ` ${text} `;
  const spell = (token: string, spelling: string) => {
    text = text.replace(new RegExp(`(?<=\\s)${token}(?=\\s)`, "g"), spelling);
  };
  spell("--", "- -");
  spell("---", "- - -");
  spell("…", ". . .");
  for (const name of DOTS[variant]) spell(`\\\\${name}`, ". . .");
  for (const name of SPELLED[variant]) spell(`\\\\${name}`, `\\mathrm { ${[...name].join(" ")} }`);
  if (variant === "unimer2509") for (const name of ["mod", "bmod", "pmod"]) spell(`\\\\${name}`, "\\mathrm { m o d }");
  const glue = (pattern: RegExp) => {
    text = text.replace(pattern, (match) => `${glued(match)} `);
  };
  glue(/\\string [^ ]+ /g);
  glue(/\\[Bb]igg?[glrm]? [(){}|[\]] /g);
  glue(/\\[Bb]igg?[glrm]? \\[\s\S]*? /g);
  text = text
    .replace(/\\operatorname \*/g, "\\operatorname")
    .replaceAll("\\lefteqn", "")
    .replaceAll("\\footnote ", "^ ");
  glue(/\\' [^{] /g);
  text = text.replace(/\\parbox \{[^{]+\}/g, glued);
  text = text.replace(/\\raisebox \{[^{]+\} [[\]0-9 exptcm]+\{/g, (match) => `${glued(match).slice(0, -1)} {`);
  text = text.replace(/\{ \\char[0-9' ]+\}/g, (match) => `{ ${glued(match).slice(1, -1)} }`);
  text = text.replace(/\\rule \{[ .0-9a-z]+\} \{[ .0-9a-z]+\}/g, glued);
  text = text.replace(/\\specialrule \{[ .0-9a-z]+\} \{[ .0-9a-z]+\} \{[ .0-9a-z]+\}/g, glued);
  text = text.replace(/\\(?:color|text|cell)?color(?:box)?[ [\]RGBrgb]+\{ [A-Za-z 0-9,!]+ \} /g, "");
  return withBraces(text.split(" ")).join(" ");
}

function glued(text: string): string {
  return text.replaceAll(" ", "");
}

/** Index of the brace that closes the one at `start`. */
function closing(tokens: readonly string[], start: number, open = "{", close = "}"): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    if (tokens[index] === open) depth++;
    else if (tokens[index] === close && --depth === 0) return index;
  }
  throw new FormulaError(`no ${close} closes the ${open} of token ${start}`);
}

function tokenAt(tokens: readonly string[], index: number): string {
  if (index >= tokens.length) throw new FormulaError("the formula ends where an argument is expected");
  return tokens[index];
}

/** Puts a single token that is an argument into braces. */
function braceAt(tokens: string[], index: number): void {
  if (tokenAt(tokens, index) !== "{") tokens.splice(index, 1, "{", tokens[index], "}");
}

function withBraces(list: readonly string[]): string[] {
  let tokens = [...list];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (ONE_ARGUMENT.has(token) || ONE_UNSEEN.has(token)) {
      let argument = index + 1;
      while (argument < tokens.length && (ONE_ARGUMENT.has(tokens[argument]) || ONE_UNSEEN.has(tokens[argument]))) argument++;
      const stack = tokens.slice(index, argument).flatMap((name) => [name, "{"]);
      const ends = new Array<string>(argument - index).fill("}");
      if (tokenAt(tokens, argument) === "{") {
        const end = closing(tokens, argument);
        tokens = [...tokens.slice(0, index), ...stack, ...tokens.slice(argument + 1, end), ...ends, ...tokens.slice(end + 1)];
      } else tokens = [...tokens.slice(0, index), ...stack, tokens[argument], ...ends, ...tokens.slice(argument + 1)];
    } else if (BRACKET_ARGUMENTS.has(token)) {
      if (tokenAt(tokens, index + 1) === "[") braceAt(tokens, closing(tokens, index + 1, "[", "]") + 1);
      else braceAt(tokens, index + 1);
    } else if (TWO_ARGUMENTS.has(token) || TWO_UNSEEN.has(token)) {
      braceAt(tokens, index + 1);
      braceAt(tokens, closing(tokens, index + 1) + 1);
    }
  }
  return tokens;
}

/** Tokens that leave ink, in order, and the formula in which number i of them stands in the argument of `mark(i)`. */
export interface MarkedFormula {
  readonly visible: readonly string[];
  readonly text: string;
}

/** The official mark: a colour of its own for every token. */
export function colourMark(index: number): string {
  return `\\mathcolor[RGB]{<color_${index}>}{`;
}

/**
 * Marks the tokens that leave ink.
 * @param mark the beginning of the mark of a token, up to and with the brace that opens its argument
 * @throws FormulaError where the official code raises an exception
 */
export function markTokens(normalised: string, mark: (index: number) => string = colourMark): MarkedFormula {
  const marker = new TokenMarker(strip(normalised).split(" "), mark);
  return marker.run();
}

class TokenMarker {
  private tokens: string[];
  private readonly mark: (index: number) => string;
  private readonly visible: string[] = [];

  constructor(tokens: string[], mark: (index: number) => string) {
    this.tokens = tokens;
    this.mark = mark;
  }

  run(): MarkedFormula {
    for (let index = 0; index < this.tokens.length; ) index = this.step(index, false);
    return { visible: this.visible, text: this.tokens.join(" ") };
  }

  private begin(token: string): string {
    const start = this.mark(this.visible.length);
    this.visible.push(token);
    return start;
  }

  private steps(from: number, to: number, inBrackets = false): void {
    for (let index = from; index < to; ) index = this.step(index, inBrackets);
  }

  /** Marks a command together with all up to `end`. */
  private markSpan(index: number, end: number, open = "", close = ""): void {
    const { tokens } = this;
    this.tokens = [
      ...tokens.slice(0, index),
      open + this.begin(tokens[index]) + tokens[index],
      ...tokens.slice(index + 1, end + 1),
      `}${close}`,
      ...tokens.slice(end + 1),
    ];
  }

  private markSingle(index: number, inBraces: boolean): number {
    const token = this.tokens[index];
    const marked = `${this.begin(token)}${token}}`;
    this.tokens[index] = inBraces ? `{${marked}}` : marked;
    return index + 1;
  }

  /** Handles the token at an index; returns the next index to handle. */
  private step(index: number, inBrackets: boolean): number {
    const { tokens } = this;
    const token = tokens[index];
    if (token === "") return index + 1;
    if (PHANTOMS.has(token)) return (tokenAt(tokens, index + 1) === "{" ? closing(tokens, index + 1) : index + 1) + 1;
    if (TWO_ARGUMENTS.has(token)) {
      this.markSpan(index, closing(tokens, closing(tokens, index + 1) + 1));
      return index + 1;
    }
    if (ONE_ARGUMENT.has(token)) {
      const end = closing(tokens, index + 1);
      const hasSubscript = token !== "\\underbrace" && tokens[end + 1] === "_";
      this.markSpan(index, end, hasSubscript ? "{" : "", hasSubscript ? "}" : "");
      return index + 1;
    }
    if (ONE_UNSEEN.has(token)) return this.unseenArgument(index);
    if (BRACKET_ARGUMENTS.has(token)) return this.bracketArguments(index);
    if (SPANNING.has(token)) {
      const third = closing(tokens, closing(tokens, index + 1) + 1) + 1;
      const end = closing(tokens, third);
      this.steps(third + 1, end);
      return end + 1;
    }
    if (UNSEEN.has(token) || TWO_UNSEEN.has(token) || UNSEEN_PATTERNS.some((pattern) => pattern.test(token))) {
      const isBracket =
        (token === "[" && tokens.at(index - 1) !== "\\sqrt") || (token === "]" && index >= 3 && tokens[index - 3] !== "\\sqrt");
      return isBracket ? this.markSingle(index, false) : index + 1;
    }
    return this.markSingle(index, inBrackets || (index > 1 && tokens[index - 1] === "_"));
  }

  private unseenArgument(index: number): number {
    const end = closing(this.tokens, index + 1);
    if (end - index === 3) this.markSingle(index + 2, false);
    else this.steps(index + 2, end);
    return end + 1;
  }

  private bracketArguments(index: number): number {
    const { tokens } = this;
    if (tokenAt(tokens, index + 1) === "{") {
      const end = closing(tokens, index + 1);
      this.markSpan(index, end);
      this.steps(index + 2, end);
      return end + 1;
    }
    if (tokens[index + 1] !== "[") throw new FormulaError(`${tokens[index]} has no argument`);
    const middle = closing(tokens, index + 1, "[", "]");
    const end = closing(tokens, middle + 1);
    this.markSpan(index, end);
    this.steps(index + 2, middle, true);
    this.steps(middle + 2, end);
    return end + 1;
  }
}

/** All steps before rendering at once. */
export function prepareFormula(
  latex: string,
  variant: CdmVariant = "odb15",
  mark: (index: number) => string = colourMark,
): MarkedFormula & { readonly tokenised: boolean; readonly tokens: string; readonly normalised: string } {
  const { tokenised, text: tokens } = tokeniseFormula(latex, variant);
  const normalised = normaliseTokens(tokens, variant);
  return { tokenised, tokens, normalised, ...markTokens(normalised, mark) };
}
