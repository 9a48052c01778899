/**
 * LaTeX as plain text, as pylatexenc 3.0a30 writes it with its default settings: the step by which OmniDocBench turns inline formulas
 * into characters before it compares text. A score depends on this version's spelling, so it is followed exactly; only `\today` gives
 * nothing here, because a metric must not depend on the day. It refuses to know what is compared.
 */
import { type LatexNode, LatexTextError, type NodeList, readLatex } from "./latex-nodes.ts";
import { ACCENTS, MATH_ALPHABETS, type MathAlphabet, PATTERN_TEXT, SYMBOL_TEXT, TRANSPARENT_MACROS } from "./latex-symbols.ts";
import { codePointLength, strip } from "./python-text.ts";

const MATRIX_ENVIRONMENTS = new Set("array pmatrix bmatrix smallmatrix psmallmatrix bsmallmatrix".split(" "));
const BLOCK_ENVIRONMENTS = new Set("center flushleft flushright".split(" "));
const FORMULA_ENVIRONMENTS = new Set(
  "equation equation* eqnarray eqnarray* align multline gather align* multline* gather* dmath dmath*".split(" "),
);
const SPECIALS_TEXT = new Map([
  ["&", "   "],
  ["~", "\u00a0"],
  ["``", "“"],
  ["''", "”"],
  ["--", "–"],
  ["---", "—"],
  ["!`", "¡"],
  ["?`", "¿"],
]);
/**
 * The text of a LaTeX source, as the official library writes it.
 * @throws LatexTextError where the library raises an exception
 * @throws EndlessLatexError where the library never returns
 */
export function latexToText(source: string): string {
  return new TextWriter().list(readLatex(source));
}

type MacroNode = Extract<LatexNode, { kind: "macro" }>;

class TextWriter {
  /** Inside a formula white space alone is dropped, and kept after a macro without arguments. */
  private inFormula = false;
  private readonly title = new Map<string, string>();

  list(nodes: NodeList): string {
    if (nodes === null) return "";
    let text = "";
    let previous: LatexNode | null = null;
    for (const node of nodes) {
      if (previous?.kind === "macro" && isBare(previous)) {
        if (node === null) throw new LatexTextError("a macro is followed by a construct lost to a mistake");
        if (node.kind === "chars" && this.inFormula) text += previous.postSpace;
      }
      text += this.node(node);
      previous = node;
    }
    return text;
  }

  private node(node: LatexNode | null): string {
    if (node === null) return "";
    switch (node.kind) {
      case "chars":
        return this.inFormula && strip(node.text) === "" ? "" : node.text;
      case "comment":
        return node.postSpace;
      case "group":
        return this.list(node.nodes);
      case "specials":
        return SPECIALS_TEXT.get(node.text) ?? node.text;
      case "math":
        return this.formula(node.nodes, node.display);
      case "environment":
        return this.environment(node.name, node.nodes);
      case "macro":
        return this.macro(node);
    }
  }

  private formula(nodes: NodeList, display: boolean): string {
    const outside = this.inFormula;
    this.inFormula = true;
    const text = strip(this.list(nodes));
    this.inFormula = outside;
    return display ? indented(text) : text;
  }

  private environment(name: string, nodes: readonly (LatexNode | null)[]): string {
    if (FORMULA_ENVIRONMENTS.has(name)) return this.formula(nodes, true);
    if (MATRIX_ENVIRONMENTS.has(name)) return this.matrix(nodes);
    if (BLOCK_ENVIRONMENTS.has(name)) return `\n${this.list(nodes)}\n`;
    return this.list(nodes);
  }

  private matrix(nodes: readonly (LatexNode | null)[]): string {
    const rows: string[][] = [[]];
    let cell: LatexNode[] = [];
    const endCell = () => {
      if (cell.length > 0) rows.at(-1)!.push(strip(this.list(cell)));
      cell = [];
    };
    for (const node of nodes) {
      if (node === null) throw new LatexTextError("a matrix holds a construct lost to a mistake");
      if (node.kind === "specials" && node.text === "&") endCell();
      else if (node.kind === "macro" && node.name === "\\") {
        endCell();
        rows.push([]);
      } else cell.push(node);
    }
    endCell();
    const widths = rows.flat().map(codePointLength);
    if (widths.length === 0) throw new LatexTextError("a matrix has no cells");
    const width = Math.max(...widths);
    const padded = (text: string) => " ".repeat(width - codePointLength(text)) + text;
    return `[ ${rows.map((row) => row.map(padded).join(" ")).join("; ")} ]`;
  }

  private macro(node: MacroNode): string {
    const { name } = node;
    const symbol = SYMBOL_TEXT.get(name);
    if (symbol !== undefined) return symbol;
    const accent = ACCENTS.get(name);
    if (accent !== undefined) return accented(node.args.length > 0 ? strip(this.list(node.args[0])) : " ", accent);
    const alphabet = MATH_ALPHABETS.get(name);
    if (alphabet !== undefined) return styled(this.argument(node, 0), alphabet);
    const pattern = PATTERN_TEXT.get(name);
    if (pattern !== undefined) return pattern.replace(/#(\d)/g, (_, index) => this.argument(node, Number(index) - 1));
    if (TRANSPARENT_MACROS.has(name)) return node.args.map((argument) => this.list(argument)).join("");
    return this.structure(node);
  }

  private argument(node: MacroNode, index: number): string {
    return node.args.length > index ? this.list(node.args[index]) : "";
  }

  /** Macros that lay out a document rather than a formula. */
  private structure(node: MacroNode): string {
    const heading = () => this.argument(node, 2);
    switch (node.name) {
      case "textfrac":
        return "%s/%s";
      case "texorpdfstring":
        return this.argument(node, 1);
      case "item": {
        const label = node.args.length > 0 ? node.args[0] : null;
        return `\n  ${label === null ? "* " : this.list(label)}`;
      }
      case "href":
        throw new LatexTextError("\\href has no arguments");
      case "part":
        return `\n\nPART: ${heading().toUpperCase()}\n`;
      case "chapter":
        return `\n\nCHAPTER: ${heading().toUpperCase()}\n`;
      case "section":
        return `\n\n§ ${heading().toUpperCase()}\n`;
      case "subsection":
        return `\n\n §.§ ${heading()}\n`;
      case "subsubsection":
        return `\n\n  §.§.§ ${heading()}\n`;
      case "paragraph":
        return `\n\n  ${heading()}\n`;
      case "subparagraph":
        return `\n\n    ${heading()}\n`;
      case "includegraphics":
        return indented("< g r a p h i c s >");
      case "uebung":
      case "exercise": {
        const option = node.args.length > 1 ? node.args[1] : null;
        return `\n${this.argument(node, 0)}\n${option === null ? "" : `[${this.list(option)}]\n`}`;
      }
      case "title":
      case "author":
      case "date":
        this.title.set(node.name, this.argument(node, 0));
        return "";
      case "maketitle":
        return this.titleBlock();
      default:
        return "";
    }
  }

  private titleBlock(): string {
    const [title, author] = ["title", "author"].map((field) => this.title.get(field) ?? `[NO \\${field} GIVEN]`);
    const date = this.title.get("date") ?? "";
    const width = Math.max(codePointLength(title), 4 + codePointLength(author), 4 + codePointLength(date));
    return `${title}\n    ${author}\n    ${date}\n${"=".repeat(width)}\n\n`;
  }
}

/** True for a macro without arguments; an optional one not given counts as none. */
function isBare({ signature, args }: MacroNode): boolean {
  const afterStars = signature.replace(/^\*+/, "");
  const stars = signature.length - afterStars.length;
  if (args.length === 0) return true;
  if (/^\[\{*$/.test(afterStars)) return args[stars] === null && args.length === stars + 1;
  return false;
}

function indented(text: string): string {
  return `\n    ${text.replaceAll("\n", "\n    ")}\n`;
}

function accented(text: string, accent: string): string {
  return Array.from(text, (character) => {
    const base = character === "ı" ? "i" : character === "ȷ" ? "j" : character;
    return (base + accent).normalize("NFC");
  }).join("");
}

function styled(text: string, { upper, lower, elsewhere = {} }: MathAlphabet): string {
  return Array.from(text, (character) => {
    if (!/^[A-Za-z]$/.test(character)) return character;
    const start = character <= "Z" ? upper - 0x41 : lower - 0x61;
    return elsewhere[character] ?? String.fromCodePoint(start + character.charCodeAt(0));
  }).join("");
}
