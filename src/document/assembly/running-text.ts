/**
 * Running text as the model writes it: words with formulas in `\( \)` between them. Splitting it once lets every writer (Markdown, HTML,
 * data) treat words and formulas in its own way. Delimiters that do not pair are words. Refuses to know any output format.
 */
import { trimWhite } from "../answer-text.ts";
import { firstCharacter, lastCharacter } from "./scripts.ts";
import { type Compounds, gapBetween, joinTexts, mendBrokenWords } from "./seams.ts";

/** A stretch of words, or a formula without delimiters. */
export type Inline = { readonly kind: "words"; readonly text: string } | { readonly kind: "formula"; readonly latex: string };

/** Stretches in order; two of words never stand side by side. */
export type RunningText = readonly Inline[];

/**
 * Splits `text` into words and formulas. `\( \)` and `\[ \]` count when both halves occur equally often; brackets around nothing but
 * numbers, commas and dashes are a citation. With `compounds`, words broken over a line end are joined.
 */
export function parseRunningText(text: string, compounds?: Compounds): RunningText {
  const parts: Inline[] = [];
  const words = (piece: string) => {
    const last = parts[parts.length - 1];
    if (last?.kind === "words") parts[parts.length - 1] = { kind: "words", text: last.text + piece };
    else if (piece !== "") parts.push({ kind: "words", text: piece });
  };
  const marks = pairedMarks(text);
  let from = 0;
  for (let i = 0; i + 1 < marks.length; i++) {
    const [open, close] = [marks[i], marks[i + 1]];
    if (CLOSING[open.sign] !== close.sign) continue;
    words(text.slice(from, open.at));
    const inner = trimWhite(text.slice(open.at + 2, close.at));
    if (open.sign === "\\[" && CITATION.test(inner)) words(`[${inner}]`);
    else if (inner !== "") parts.push({ kind: "formula", latex: inner });
    from = close.at + 2;
    i++;
  }
  words(text.slice(from));
  if (compounds === undefined) return parts;
  return parts.map((part) => (part.kind === "words" ? { kind: "words", text: mendBrokenWords(part.text, compounds) } : part));
}

/** Joins two pieces that run on, by the rules for seams; a formula counts as a foreign script. */
export function joinRunning(before: RunningText, after: RunningText, compounds: Compounds): RunningText {
  const left = before[before.length - 1];
  const right = after[0];
  if (left === undefined || right === undefined) return [...before, ...after];
  const [head, tail] = [before.slice(0, -1), after.slice(1)];
  if (left.kind === "words" && right.kind === "words")
    return [...head, { kind: "words", text: joinTexts(left.text, right.text, compounds) }, ...tail];
  const gap = gapBetween(left.kind === "words" ? lastCharacter(left.text) : "x", right.kind === "words" ? firstCharacter(right.text) : "x");
  if (gap === "") return [...before, ...after];
  if (left.kind === "words") return [...head, { kind: "words", text: left.text + gap }, ...after];
  if (right.kind === "words") return [...before, { kind: "words", text: gap + right.text }, ...tail];
  return [...before, { kind: "words", text: gap }, ...after];
}

/** The same text on one line. */
export function onOneLine(text: RunningText): RunningText {
  return text.map((part) => (part.kind === "words" ? { kind: "words", text: part.text.replace(/\s*\n\s*/g, " ") } : part));
}

/** The text as the model would write it, formulas in `\( \)`. */
export function plainText(text: RunningText): string {
  return text.map((part) => (part.kind === "words" ? part.text : `\\(${part.latex}\\)`)).join("");
}

const CLOSING: Record<string, string> = { "\\(": "\\)", "\\[": "\\]" };
const CITATION = /^(?=.*\d)[\d,\-\u2010-\u2015\s]+$/;

interface Mark {
  readonly sign: string;
  readonly at: number;
}

/** The delimiters of those kinds whose halves occur equally often, in order. A doubled backslash begins none. */
function pairedMarks(text: string): Mark[] {
  const marks: Mark[] = [];
  for (const match of text.matchAll(/\\\\|\\[()[\]]/g)) if (match[0] !== "\\\\") marks.push({ sign: match[0], at: match.index });
  const count = (sign: string) => marks.filter((mark) => mark.sign === sign).length;
  const round = count("\\(") === count("\\)");
  const square = count("\\[") === count("\\]");
  return marks.filter((mark) => (mark.sign === "\\(" || mark.sign === "\\)" ? round : square));
}
