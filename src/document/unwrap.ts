/**
 * Printed lines back to running text. A model trained on pixels alone may write a line break where the printed line ends; this joins the
 * lines of a paragraph and keeps the breaks that mean something: list items, verse, addresses, the end of a paragraph. Judged by widths:
 * a line that had room for the next word was broken on purpose. Works on text only, without the page; a break inside a formula becomes a
 * space, words broken at a hyphen are joined by the rule for seams.
 */
import { kindOf, withoutDoubt } from "./assembly/scripts.ts";
import { type Compounds, compoundsIn, joinTexts, mendBrokenWords } from "./assembly/seams.ts";

/** How lines are joined. */
export interface UnwrapOptions {
  /** Compounds the document writes with a hyphen; by default those of the text itself. */
  readonly compounds?: Compounds;
}

const KEPT_CLASSES = new Set(["code", "algorithm", "index", "table", "equation", "image", "chart"]);

/** Whether the lines of a class of region are wrapped running text. */
export function isWrapped(name: string): boolean {
  return !KEPT_CLASSES.has(name);
}

/** Joins the printed lines of `text`; blank lines part paragraphs and stay. */
export function unwrapLines(text: string, options: UnwrapOptions = {}): string {
  const compounds = options.compounds ?? compoundsIn([text]);
  return text
    .split(/\n[^\S\n]*\n/)
    .map((paragraph) => unwrapParagraph(paragraph, compounds))
    .join("\n\n");
}

/** Share of the column a line must leave free, next word included, to count as broken on purpose. */
const SHORT = 0.85;
/** Columns narrower than this, in letters, hold addresses and labels rather than prose. */
const NARROW = 28;
/** Verse lines are no wider than this. */
const WIDEST_VERSE = 64;
const LIST_SIGN =
  /^(?:[•‣◦▪●○■□·*–—-]\s|\(?\d{1,3}[.)、]\s?(?=\D)|\(?[a-z][.)]\s|[ivx]{1,5}[.)]\s|\[\d{1,3}\]\s?|[①-⑳]|[（(][一二三四五六七八九十]+[)）])/u;
const SENTENCE_END = /[.!?:;。！？：；…]["'”’)）\]]*$/u;

function unwrapParagraph(text: string, compounds: Compounds): string {
  const lines = text.split("\n");
  if (lines.length < 2) return text;
  const shown = lines.map((line) => withoutDoubt(line).trim());
  const column = Math.max(...shown.map(widthOf));
  if (isSetInLines(shown, column)) return mendBrokenWords(text, compounds);
  let joined = lines[0];
  for (let i = 1; i < lines.length; i++) {
    const [before, after] = [joined.trimEnd(), lines[i].trimStart()];
    if (isInsideFormula(before)) joined = `${before} ${after}`;
    else if (meansBreak(shown[i - 1], shown[i], column)) joined = mendBrokenWords(`${joined}\n${lines[i]}`, compounds);
    else joined = joinTexts(before, after, compounds);
  }
  return joined;
}

/** Whether the lines are verse, an address or the like, where every break is meant. */
function isSetInLines(lines: readonly string[], column: number): boolean {
  const items = lines.filter((line) => LIST_SIGN.test(line)).length;
  if (items > 0) return false;
  const next = lines.slice(1);
  const short = next.filter((line, i) => isShort(lines[i], line, column)).length;
  if (lines.length >= 3 && short * 2 > next.length) return true;
  const capitals = next.filter((line) => /^["'“‘(]?[\p{Lu}\p{N}]/u.test(line)).length;
  if (capitals < next.length) return false;
  if (column < NARROW) return true;
  return lines.length >= 4 && column <= WIDEST_VERSE;
}

function meansBreak(before: string, after: string, column: number): boolean {
  if (LIST_SIGN.test(after)) return true;
  if (!isShort(before, after, column)) return false;
  return SENTENCE_END.test(before) || !/^\p{Ll}/u.test(after);
}

function isShort(before: string, after: string, column: number): boolean {
  if (/[-\u00AD\u2010\u2011]$/.test(before)) return false;
  const word = /^\S+/.exec(after)?.[0] ?? "";
  const breaksAnywhere = kindOf(word) !== "other";
  const needed = breaksAnywhere ? 2 : widthOf(word) + 1;
  return widthOf(before) + needed <= SHORT * column;
}

/** Width in letters; CJK signs are two wide. */
function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += kindOf(sign) === "other" ? 1 : 2;
  return width;
}

function isInsideFormula(before: string): boolean {
  return before.lastIndexOf("\\(") > before.lastIndexOf("\\)");
}
