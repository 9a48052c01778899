/**
 * Reads LaTeX source into nodes the way pylatexenc 3.0a30 does in its tolerant mode: macros with the arguments they are known to take,
 * groups, environments, formulas, comments. On a mistake the innermost construct loses what it had read, as there; `null` stands for
 * what was lost. Verbatim constructs are read like others. It refuses to know what the nodes look like as text.
 */
import { PYTHON_SPACE } from "./python-text.ts";

export type LatexNode =
  | { readonly kind: "chars"; readonly text: string }
  | { readonly kind: "comment"; readonly postSpace: string }
  | { readonly kind: "group"; readonly nodes: NodeList }
  | { readonly kind: "specials"; readonly text: string }
  | { readonly kind: "math"; readonly display: boolean; readonly nodes: NodeList }
  | { readonly kind: "environment"; readonly name: string; readonly nodes: readonly (LatexNode | null)[] }
  | {
      readonly kind: "macro";
      readonly name: string;
      readonly postSpace: string;
      /** What its kind of macro takes, a character each: `*` a star, `[` optional, `{` needed. */
      readonly signature: string;
      /** One for each character of `signature`, or none if the macro itself stands where an argument was expected. */
      readonly args: NodeList[];
    };

/** Nodes of a construct, `null` if a mistake lost them. */
export type NodeList = readonly (LatexNode | null)[] | null;

/** The official code would fail here with a Python exception; strict callers leave such text as it was. */
export class LatexTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LatexTextError";
  }
}

/** The source ends in a lone backslash: pylatexenc 3.0a30 never finishes reading it. */
export class EndlessLatexError extends Error {
  constructor() {
    super("LaTeX source ends in a lone backslash, which pylatexenc 3.0a30 reads for ever");
    this.name = "EndlessLatexError";
  }
}

const MACRO_SIGNATURES = signatures([
  [
    "[{",
    "documentclass usepackage RequirePackage selectlanguage includegraphics footnote hphantom vphantom sqrt xleftarrow xrightarrow color",
  ],
  ["[{", "pagecolor pdfloesung pdfsolution"],
  ["[{{", "setlength addlength setcounter addcounter textcolor colorbox"],
  ["*{[[{", "newcommand renewcommand providecommand"],
  ["*{[[{{", "newenvironment renewenvironment provideenvironment"],
  ["*{{", "DeclareMathOperator"],
  ["*{", "hspace vspace"],
  [
    "{",
    "mbox textrm textit textbf textmd textsc textsf textsl texttt textup text title author date input include bibliography emph mathrm",
  ],
  ["{", "mathbb mathbf mathit mathsf mathtt mathcal mathscr mathfrak label ref autoref cref Cref eqref url hypersetup keywords"],
  ["{", "' ` \" c ^ ~ H k = b . d r u v not vec dot hat check breve acute grave tilde bar ddot overline underline widehat widetilde"],
  [
    "{",
    "wideparen overleftarrow overrightarrow overleftrightarrow underleftarrow underrightarrow underleftrightarrow overbrace underbrace",
  ],
  ["{", "overgroup undergroup overbracket underbracket overlinesegment underlinesegment overleftharpoon overrightharpoon ket bra verb"],
  ["{", "citetext citenum subuebung subexercise exenumfulllabel hint hints hinweis hinweise ensuremath"],
  ["*[", "\\"],
  ["[", "item"],
  ["*[{", "chapter section subsection subsubsection pagagraph subparagraph"],
  ["{{", "frac nicefrac braket ketbra texorpdfstring defcitealias"],
  ["[{{{", "definecolor providecolor"],
  ["[{[{", "colorlet"],
  ["[{[{{", "fcolorbox"],
  ["{{{", "boxframe"],
  ["*[{{{", "rowcolors"],
  ["*[[{", "cite citet citep citealt citealp citeauthor Citet Citep Citealt Citealp Citeauthor"],
  ["[[{", "citefullauthor citeyear citeyearpar citetalias citepalias"],
  ["{[", "uebung exercise"],
]);

const ENVIRONMENT_SIGNATURES = signatures([
  [
    "[",
    "figure figure* table table* theorem proposition lemma corollary definition conjecture remark proof thm prop lem cor conj rem defn",
  ],
  ["[", "enumerate itemize description"],
  ["{", "tabular verbatim alignat alignat*"],
  ["{{", "tabular*"],
  ["{[{", "tabularx"],
  ["[{", "array lstlisting"],
]);

const MATH_ENVIRONMENTS = new Set(
  "equation equation* eqnarray eqnarray* align align* gather gather* flalign flalign* multline multline* split alignat alignat*".split(" "),
);

/** Macros whose argument is text even inside a formula, or a formula even inside text: both forget which delimiter closes. */
const MODE_CHANGING_MACROS = new Set("mbox textrm textit textbf textmd textsc textsf textsl texttt textup text ensuremath".split(" "));

const SPECIALS = ["---", "``", "''", "--", "!`", "?`", "&", "~"];

const MATH_CLOSERS = new Map([
  ["$$", "$$"],
  ["\\[", "\\]"],
  ["$", "$"],
  ["\\(", "\\)"],
]);
const MATH_DELIMITERS = ["$$", "\\[", "\\]", "\\(", "\\)", "$"];

const SPACE_RUN = new RegExp(`[${PYTHON_SPACE}]*`, "y");
const ENVIRONMENT_NAME = new RegExp(`[${PYTHON_SPACE}]*\\{([A-Za-z0-9*._ :/!^()\\[\\]-]+)\\}`, "y");

type TokenKind = "char" | "macro" | "comment" | "open" | "close" | "begin" | "end" | "specials" | "math";

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly preSpace: string;
  readonly postSpace: string;
}

/** What the place of reading decides about tokens. */
interface Mode {
  /** The delimiter that ends the formula being read, if it was opened by one. */
  readonly closer: string | null;
  /** True where `[` and `]` are delimiters of a group. */
  readonly brackets: boolean;
  readonly environments: boolean;
}

class Mistake extends Error {}
class EndOfSource extends Error {
  readonly finalSpace: string;
  constructor(finalSpace: string) {
    super("end of source");
    this.finalSpace = finalSpace;
  }
}

/**
 * Reads a whole source. `null` if a mistake on the outermost level lost everything.
 * @throws LatexTextError where the library raises an exception
 * @throws EndlessLatexError if reading would never end
 */
export function readLatex(source: string): NodeList {
  const reader = new LatexReader(source);
  return attempt(() => reader.nodes({ closer: null, brackets: false, environments: true }, null));
}

function signatures(table: [string, string][]): ReadonlyMap<string, string> {
  return new Map(table.flatMap(([signature, names]) => names.split(" ").map((name) => [name, signature] as const)));
}

/** The result of a construct, or `null` if it ends in a mistake or at the end of the source. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mistake || error instanceof EndOfSource) return null;
    throw error;
  }
}

class LatexReader {
  private readonly source: string;
  private position = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Reads nodes up to a token for which `isEnd` holds (and past it), or to the end of the source if `isEnd` is `null`. */
  nodes(mode: Mode, isEnd: ((token: Token) => boolean) | null, childMode: (token: Token) => Mode = () => mode): (LatexNode | null)[] {
    const nodes: (LatexNode | null)[] = [];
    let pending = "";
    const flush = () => {
      if (pending !== "") nodes.push({ kind: "chars", text: pending });
      pending = "";
    };
    for (;;) {
      let token: Token;
      try {
        token = this.next(mode);
      } catch (error) {
        if (!(error instanceof EndOfSource)) throw error;
        pending += error.finalSpace;
        this.position += error.finalSpace.length;
        flush();
        if (isEnd) throw new Mistake("end of source before the end of a construct");
        return nodes;
      }
      if (isEnd?.(token)) {
        pending += token.preSpace;
        flush();
        return nodes;
      }
      pending += token.preSpace;
      if (token.kind === "char") {
        pending += token.text;
        continue;
      }
      flush();
      nodes.push(this.construct(token, mode, childMode(token)));
    }
  }

  private construct(token: Token, mode: Mode, child: Mode): LatexNode | null {
    switch (token.kind) {
      case "comment":
        return { kind: "comment", postSpace: token.postSpace };
      case "specials":
        return { kind: "specials", text: token.text };
      case "open":
        return this.group(token, child);
      case "macro":
        return this.macro(token, child);
      case "begin":
        return this.environment(token, child);
      case "math":
        if (!MATH_CLOSERS.has(token.text)) throw new Mistake(`unexpected ${token.text}`);
        return this.math(token, child);
      default:
        throw new Mistake(`unexpected ${token.text} in ${mode.closer ?? "text"}`);
    }
  }

  private group(open: Token, mode: Mode): LatexNode {
    const isBracket = open.text === "[";
    const closer = isBracket ? "]" : "}";
    const inner = isBracket ? { ...mode, brackets: true } : mode;
    const nodes = attempt(() =>
      this.nodes(
        inner,
        (token) => token.kind === "close" && token.text === closer,
        (token) => (token.kind === "open" && token.text === open.text ? inner : mode),
      ),
    );
    return { kind: "group", nodes };
  }

  private math(open: Token, mode: Mode): LatexNode {
    const closer = MATH_CLOSERS.get(open.text)!;
    const inner: Mode = { ...mode, closer };
    const nodes = attempt(() => this.nodes(inner, (token) => token.kind === "math" && token.text === closer));
    return { kind: "math", display: open.text === "$$" || open.text === "\\[", nodes };
  }

  private environment(begin: Token, mode: Mode): LatexNode {
    this.arguments(ENVIRONMENT_SIGNATURES.get(begin.text) ?? "", mode, mode);
    const inner = MATH_ENVIRONMENTS.has(begin.text) ? { ...mode, closer: null } : mode;
    const nodes = attempt(() => this.nodes(inner, (token) => token.kind === "end" && token.text === begin.text));
    return { kind: "environment", name: begin.text, nodes: nodes ?? [] };
  }

  private macro(token: Token, mode: Mode): LatexNode {
    const signature = MACRO_SIGNATURES.get(token.text) ?? "";
    const argumentMode = MODE_CHANGING_MACROS.has(token.text) ? { ...mode, closer: null } : mode;
    return { kind: "macro", name: token.text, postSpace: token.postSpace, signature, args: this.arguments(signature, mode, argumentMode) };
  }

  private arguments(signature: string, mode: Mode, argumentMode: Mode): NodeList[] {
    return Array.from(signature, (kind) => {
      attempt(() => this.peek(mode));
      if (kind === "*") return attempt(() => this.stars(argumentMode));
      if (kind === "[") return attempt(() => this.optional(argumentMode));
      return attempt(() => this.expression(argumentMode));
    });
  }

  private stars(mode: Mode): NodeList {
    let found: NodeList = null;
    for (;;) {
      const before = this.peek(mode);
      const token = this.next(mode);
      if ((token.kind !== "char" && token.kind !== "specials") || token.text !== "*") {
        this.position = before.start - before.preSpace.length;
        return found;
      }
      found = [{ kind: "chars", text: "*" }];
    }
  }

  private optional(mode: Mode): NodeList {
    const token = this.next({ ...mode, brackets: true });
    if (token.kind !== "open" || token.text !== "[") {
      this.position = token.start - token.preSpace.length;
      return null;
    }
    return [this.group(token, mode)];
  }

  /** Reads what TeX takes for an argument: a group, or a single token after white space and comments. */
  private expression(mode: Mode): NodeList {
    for (;;) {
      let token: Token;
      try {
        token = this.next({ ...mode, environments: false });
      } catch (error) {
        if (error instanceof EndOfSource) return [{ kind: "group", nodes: [] }];
        throw error;
      }
      if (token.kind === "macro") {
        const signature = MACRO_SIGNATURES.get(token.text) ?? "";
        return [{ kind: "macro", name: token.text, postSpace: token.postSpace, signature, args: [] }];
      }
      if (token.kind === "specials") return [{ kind: "specials", text: token.text }];
      if (token.preSpace !== "") {
        this.position = token.start;
        continue;
      }
      if (token.kind === "comment") continue;
      if (token.kind === "open") return [this.group(token, mode)];
      if (token.kind === "char") return [{ kind: "chars", text: token.text }];
      if (token.kind === "math") throw new LatexTextError(`an argument is expected where ${token.text} stands`);
      if (token.kind === "close") this.position = token.start - token.preSpace.length;
      throw new Mistake(`expected an argument, got ${token.text}`);
    }
  }

  private next(mode: Mode): Token {
    const token = this.peek(mode);
    this.position = token.end;
    return token;
  }

  private space(from: number): string {
    SPACE_RUN.lastIndex = from;
    return SPACE_RUN.exec(this.source)![0];
  }

  /** The next token. Moves on only where the source is broken. */
  private peek(mode: Mode): Token {
    const { source } = this;
    let preSpace = this.space(this.position);
    const firstNewline = preSpace.indexOf("\n");
    const lastNewline = preSpace.lastIndexOf("\n");
    if (firstNewline !== lastNewline) {
      const start = this.position + firstNewline;
      preSpace = preSpace.slice(0, firstNewline);
      return { kind: "specials", text: "\n\n", start, end: start - firstNewline + lastNewline + 1, preSpace, postSpace: "" };
    }
    const start = this.position + preSpace.length;
    if (start >= source.length) throw new EndOfSource(preSpace);
    const token = (kind: TokenKind, text: string, end = start + text.length, postSpace = ""): Token => ({
      kind,
      text,
      start,
      end,
      preSpace,
      postSpace,
    });
    const delimiter =
      mode.closer !== null && source.startsWith(mode.closer, start)
        ? mode.closer
        : MATH_DELIMITERS.find((candidate) => source.startsWith(candidate, start));
    if (delimiter !== undefined) return token("math", delimiter);
    if (source[start] === "\\") return this.command(start, mode, token);
    if (source[start] === "%") {
      const newline = source.indexOf("\n", start);
      if (newline < 0) return token("comment", "", source.length);
      const postSpace = untilSecondNewline(this.space(newline));
      return token("comment", "", newline + postSpace.length, postSpace);
    }
    if (source[start] === "{" || (mode.brackets && source[start] === "[")) return token("open", source[start]);
    if (source[start] === "}" || (mode.brackets && source[start] === "]")) return token("close", source[start]);
    const specials = SPECIALS.find((candidate) => source.startsWith(candidate, start));
    if (specials !== undefined) return token("specials", specials);
    return token("char", String.fromCodePoint(source.codePointAt(start)!));
  }

  private command(start: number, mode: Mode, token: (kind: TokenKind, text: string, end?: number, postSpace?: string) => Token): Token {
    const { source } = this;
    const word = /[a-zA-Z]+/y;
    word.lastIndex = start + 1;
    const name = word.exec(source)?.[0];
    if (mode.environments && (name === "begin" || name === "end")) {
      ENVIRONMENT_NAME.lastIndex = start + 1 + name.length;
      const match = ENVIRONMENT_NAME.exec(source);
      if (match) return token(name, match[1], ENVIRONMENT_NAME.lastIndex);
      const broken = token("char", `\\${name}`);
      this.position = broken.end;
      return broken;
    }
    if (name === undefined) {
      if (start + 1 >= source.length) throw new EndlessLatexError();
      const symbol = String.fromCodePoint(source.codePointAt(start + 1)!);
      return token("macro", symbol, start + 1 + symbol.length);
    }
    const postSpace = untilSecondNewline(this.space(start + 1 + name.length));
    return token("macro", name, start + 1 + name.length + postSpace.length, postSpace);
  }
}

/** White space, up to its first newline if it holds two or more: those make a paragraph. */
function untilSecondNewline(space: string): string {
  const first = space.indexOf("\n");
  return first === space.lastIndexOf("\n") ? space : space.slice(0, first);
}
