/**
 * OmniDocBench v1.5's reading of a page in Markdown: tables, formulas and pieces of text with their positions in code points.
 * Strict makes the official cuts, in the official order; sound leaves out their mistakes: code in fences is text without its fence,
 * dollars that hug no formula are money, positions count what separates pieces, tables of LaTeX end where they end, and all tags are
 * found however they are written. It refuses to know the truth it will be matched with.
 */
import type { MetricMode } from "./mode.ts";
import { hasPipeTable, pipeTablesToHtml } from "./pipe-table.ts";
import { codePointLength, strip, stripCharacters } from "./python-text.ts";

export type ElementCategory = "text_all" | "equation_isolated" | "html_table" | "latex_table";
export type FineCategory = "text_block" | "equation_inline" | "md2html_table" | "code";

/** A piece of the page. */
export interface PageElement {
  readonly category: ElementCategory;
  readonly fine?: FineCategory;
  /** Code points, the end exclusive. */
  readonly position: readonly [number, number];
  readonly content: string;
}

/** Elements of a page in order of position. */
export function extractElements(markdown: string, mode: MetricMode = "sound"): PageElement[] {
  const elements: PageElement[] = [];
  let content = markdown.replace(/\r\n?/g, "\n").replace(/!\[[^\n]*?\]\([^\n]*?\)/g, "");
  content = replaceRepeated(mode === "strict" ? removeFences(content) : unwrapFences(content));
  content = mode === "strict" ? content.replace(/<\/?(?:html|body)>/g, "") : content.replace(/<\/?(?:html|body)>/gi, "");
  const take = (spans: readonly Span[], category: ElementCategory) => {
    for (const { text, start, end } of spans) elements.push({ category, position: codePointRange(content, start, end), content: text });
    content = blank(content, spans);
  };
  take(latexTables(content, mode), "latex_table");
  take(htmlTables(content, mode), "html_table");
  content = takeFormulas(content, elements, mode);
  if (hasPipeTable(content)) content = takePipeTables(content, elements, mode);
  content = takeFencedCode(content, elements);
  takeText(unwrapCommands(content), elements, mode);
  return elements.toSorted((a, b) => a.position[0] - b.position[0]);
}

/** A part of a text, in UTF-16 units; `text` may be shorter than the part where that runs past the end. */
interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Removes code fences as the official code does: opening ones of three languages, and whatever stands at the end of a line. */
export function removeFences(text: string): string {
  return text.replace(/(?<![^\n])```(?:markdown|html|latex)\n?/g, "").replace(/```\n?(?![^\n])/g, "");
}

function unwrapFences(text: string): string {
  return text.replace(/(?<![^\n])```[^\n`]*(?:\n|$)/g, "");
}

/** At most four underscores or blanks in a row. */
export function replaceRepeated(text: string): string {
  return text.replace(/_{4,}/g, "____").replace(/ {4,}/g, "    ");
}

function codePointRange(text: string, start: number, end: number): [number, number] {
  const from = codePointLength(text.slice(0, start));
  return [from, from + codePointLength(text.slice(start, end)) + Math.max(0, end - text.length)];
}

/** The text with blanks, one a code point, in place of the spans; they must not overlap. */
function blank(text: string, spans: readonly Span[]): string {
  return spans
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (rest, { text: part, start }) => rest.slice(0, start) + " ".repeat(codePointLength(part)) + rest.slice(start + part.length),
      text,
    );
}

/** Outermost `table` and `tabular` environments. */
export function latexTables(text: string, mode: MetricMode = "sound"): Span[] {
  const tables = [...text.matchAll(/\\begin\{table\}[\s\S]*?\\end\{table\}/g)].map(
    ({ 0: part, index }): Span => ({ text: part, start: index, end: index + part.length }),
  );
  const grammar: Grammar =
    mode === "strict"
      ? { begin: /\\begin\{tabular\}/g, end: /\\end\{tabular\}/g, pastBegin: 14, endLength: 14, restart: 16 }
      : { begin: /\\begin\{tabular\}/g, end: /\\end\{tabular\}/g, pastBegin: 15, endLength: 13, restart: 1 };
  return [...tables, ...outermost(blank(text, tables), grammar)].toSorted((a, b) => a.start - b.start);
}

/** Outermost HTML tables; one that is never closed is passed over, and those inside it are found. */
export function htmlTables(text: string, mode: MetricMode = "sound"): Span[] {
  const flags = mode === "strict" ? "g" : "gi";
  return outermost(text, {
    begin: new RegExp("<table[^>]*>", flags),
    end: new RegExp("</table>", flags),
    pastBegin: mode === "strict" ? 8 : 6,
    endLength: 8,
    restart: mode === "strict" ? 16 : 1,
  });
}

interface Grammar {
  readonly begin: RegExp;
  readonly end: RegExp;
  /** How far past the beginning of a start tag the search goes on. */
  readonly pastBegin: number;
  readonly endLength: number;
  /** How far into an element that is never closed the search begins anew. */
  readonly restart: number;
}

function outermost(text: string, grammar: Grammar): Span[] {
  const { begin, end, pastBegin, endLength, restart } = grammar;
  const next = (pattern: RegExp, from: number) => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? -1;
  };
  const spans: Span[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    const opens = next(begin, at);
    const closes = next(end, at);
    if (opens < 0 && closes < 0) break;
    if (opens >= 0 && (closes < 0 || opens < closes)) {
      starts.push(opens);
      at = opens + pastBegin;
      continue;
    }
    at = closes + endLength;
    const start = starts.pop();
    if (start !== undefined && starts.length === 0) spans.push({ text: text.slice(start, at), start, end: at });
  }
  if (starts.length === 0) return spans;
  const offset = starts[0] + restart;
  return [
    ...spans,
    ...outermost(text.slice(offset), grammar).map((span) => ({ ...span, start: span.start + offset, end: span.end + offset })),
  ];
}

const DISPLAY = /\$\$([\s\S]*?)\$\$|\\\[([\s\S]*?)\\\]|\$([\s\S]*?)\$|\\\(([\s\S]*?)\\\)/g;
const DOLLARS = /\$\$([\s\S]*?)\$\$|\$([\s\S]*?)\$|\\\(([\s\S]*?)\\\)/g;
/** An inline formula keeps to its paragraph and hugs its dollars; what follows is no digit. */
const SOUND_DISPLAY =
  /\$\$([\s\S]+?)\$\$|\\\[([\s\S]*?)\\\]|(?<![\\$])\$(?![\s$])((?:(?!\n\n)[^$])*?)(?<![\s\\])\$(?![\d$])|\\\(([\s\S]*?)\\\)/g;

/** Takes formulas; displayed ones leave blanks behind, inline ones stay in the text. */
function takeFormulas(content: string, elements: PageElement[], mode: MetricMode): string {
  const displayed: Span[] = [];
  for (const { 0: formula, index } of content.matchAll(mode === "strict" ? DISPLAY : SOUND_DISPLAY)) {
    const line = strip(formula).replaceAll("\n", " ");
    const position = codePointRange(content, index, index + formula.length);
    const dollars = mode === "sound" && formula.startsWith("\\[") ? null : [...line.matchAll(DOLLARS)][0];
    if (!dollars || dollars[1]) {
      displayed.push({ text: formula, start: index, end: index + formula.length });
      const bracketed = dollars ? line.replace(DOLLARS, (_, inside: string | undefined) => `\\[${inside ?? ""}\\]`) : line;
      elements.push({ category: "equation_isolated", position, content: bracketed });
    } else {
      const bracketed = line.replace(
        DOLLARS,
        (_, __, dollar: string | undefined, parenthesis: string | undefined) => `\\[${dollar ?? ""}${parenthesis ?? ""}\\]`,
      );
      elements.push({ category: "equation_isolated", fine: "equation_inline", position, content: bracketed });
    }
  }
  return blank(content, displayed);
}

function takePipeTables(content: string, elements: PageElement[], mode: MetricMode): string {
  const converted = pipeTablesToHtml(content, mode);
  const tables = [...converted.matchAll(/<table[\s\S]*?<\/table>/g)].map(
    ({ 0: text, index }): Span => ({ text, start: index, end: index + text.length }),
  );
  for (const { text, start, end } of tables) {
    elements.push({ category: "html_table", fine: "md2html_table", position: codePointRange(converted, start, end), content: strip(text) });
  }
  return blank(converted, tables);
}

function takeFencedCode(content: string, elements: PageElement[]): string {
  const blocks = [...content.matchAll(/```([\p{L}\p{N}_]+)\n([\s\S]*?)```/gu)];
  for (const { 0: block, 2: code, index } of blocks) {
    const position = codePointRange(content, index, index + block.length);
    elements.push({ category: "text_all", fine: "code", position, content: strip(code) });
  }
  return blank(
    content,
    blocks.map(({ 0: text, index }) => ({ text, start: index, end: index + text.length })),
  );
}

/** Takes the braces from `\title{…}`, `\text{…}` and `\section{…}`. */
function unwrapCommands(content: string): string {
  return content
    .replace(/\\title\{([^\n]*?)\}/g, "$1")
    .replace(/\\title\s*\{\s*([\s\S]*?)\s*\}/g, "$1")
    .replace(/\\text\s*\{\s*([\s\S]*?)\s*\}/g, "$1")
    .replace(/\\section\*?\{([^\n]*?)\}/g, "$1")
    .replace(/\\section\*?\{\s*([\s\S]*?)\s*\}/g, "$1");
}

function takeText(content: string, elements: PageElement[], mode: MetricMode): void {
  const separator = content.includes("\n\n") ? "\n\n" : "\n";
  let offset = 0;
  for (const piece of content.split(separator)) {
    const end = offset + codePointLength(piece);
    const position: [number, number] = [offset, end];
    offset = mode === "strict" ? end : end + separator.length;
    const text = stripCharacters(strip(piece), "\n")
      .split("\n")
      .map(strip)
      .filter((line) => line !== "")
      .join("\n");
    if (text === "") continue;
    if (text.startsWith("<table") && text.endsWith("</table>")) elements.push({ category: "html_table", position, content: text });
    else if (text.startsWith("$") && text.endsWith("$")) {
      if (strip(text.replaceAll("$", "")) !== "") elements.push({ category: "equation_isolated", position, content: strip(text) });
    } else elements.push({ category: "text_all", fine: "text_block", position, content: strip(text) });
  }
}
