/**
 * The unit tests of olmOCR-bench on a Markdown page: text present or absent, in order, formatted, cells beside cells, formulas,
 * footnote marks, and a page that is neither empty nor endless. Strict mode judges likeness by the best window's ratio and strips
 * emphasis inside words; sound mode counts edits, needs the whole text, sees longer repeats and takes `<br>` for no bold text.
 * It refuses to know where tests come from.
 */
import { levenshtein } from "./edit-distance.ts";
import { distanceToPart, nearMatches, partialSimilarity, similarity } from "./fuzzy-text.ts";
import type { MetricMode } from "./mode.ts";
import { formulasOf, type RenderedFormula, sameRendering } from "./olmocr-math.ts";
import { headingsOf, htmlCellTables, type LinkedCell, pipeTables } from "./olmocr-table.ts";
import { codePointLength, PYTHON_SPACE, strip } from "./python-text.ts";

/** A line of the benchmark, as it is written there. */
export type OlmOcrTest = { readonly max_diffs?: number } & (
  | {
      readonly type: "present" | "absent";
      readonly text: string;
      readonly case_sensitive?: boolean;
      readonly first_n?: number | null;
      readonly last_n?: number | null;
    }
  | { readonly type: "order"; readonly before: string; readonly after: string }
  | { readonly type: "format"; readonly text: string; readonly format: "heading" | "bold" | "italic"; readonly case_sensitive?: boolean }
  | ({ readonly type: "table"; readonly cell: string; readonly ignore_markdown_tables?: boolean } & {
      readonly [side in TableSide]?: string;
    })
  | {
      readonly type: "baseline";
      readonly max_length?: number | null;
      readonly max_length_skips_image_alt_tags?: boolean;
      readonly max_repeats?: number;
      readonly check_disallowed_characters?: boolean;
    }
  | { readonly type: "math"; readonly math: string; readonly ignore_dollar_delimited?: boolean }
  | {
      readonly type: "footnote";
      readonly marker: string;
      readonly appears_before_marker?: string | null;
      readonly appears_after_marker?: string | null;
    }
);

type TableSide = "up" | "down" | "left" | "right" | "top_heading" | "left_heading";

export interface OlmOcrOptions {
  readonly mode?: MetricMode;
  /** Renders the LaTeX of a formula, null where it cannot; without it formulas pass only if they are written alike. */
  readonly render?: (latex: string) => RenderedFormula | null;
}

/**
 * True if the page passes the test.
 * @throws RangeError if the test asks for nothing or allows more differences than half of its text
 */
export function runOlmOcrTest(test: OlmOcrTest, markdown: string, options: OlmOcrOptions = {}): boolean {
  const { mode = "sound", render } = options;
  const edits = test.max_diffs ?? 0;
  if (!Number.isInteger(edits) || edits < 0) throw new RangeError(`\`max_diffs\` expected a whole number from 0 on, got ${edits}`);
  switch (test.type) {
    case "present":
    case "absent":
      return isPresent(test, markdown, edits, mode) === (test.type === "present");
    case "order":
      return isInOrder(test, markdown, edits, mode);
    case "format":
      return isFormatted(test, markdown, edits, mode);
    case "table":
      return hasCell(test, markdown, edits, mode);
    case "baseline":
      return isPlausible(test, markdown, mode);
    case "math":
      return hasFormula(test, markdown, mode, render);
    case "footnote":
      return hasFootnoteMark(test, markdown, edits, mode);
  }
}

type TestOf<T extends OlmOcrTest["type"]> = Extract<OlmOcrTest, { type: T }>;

const REPLACEMENTS = new Map(
  Object.entries({
    "‘": "'",
    "’": "'",
    "‚": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "＿": "_",
    "–": "-",
    "—": "-",
    "‑": "-",
    "‒": "-",
    "−": "-",
    "\u00b5": "\u03bc",
  }),
);
const SPACES = new RegExp(`[${PYTHON_SPACE}]+`, "g");
const STRICT_EMPHASIS = [/\*\*([^\n]*?)\*\*/g, /__([^\n]*?)__/g, /\*([^\n]*?)\*/g, /_([^\n]*?)_/g];
/** Marks that touch the text they emphasise; underscores not within words. */
const SOUND_EMPHASIS = [
  /\*\*(?=\S)([^\n]*?\S)\*\*/g,
  /(?<![\p{L}\p{N}_])__(?=\S)([^\n]*?\S)__(?![\p{L}\p{N}_])/gu,
  /\*(?=\S)([^\n]*?[^\s*]|[^\s*])\*/g,
  /(?<![\p{L}\p{N}_])_(?=\S)([^\n]*?\S)_(?![\p{L}\p{N}_])/gu,
];

/** Text without emphasis, with single blanks and plain quotes and dashes. */
export function normaliseOlmOcrText(text: string, mode: MetricMode = "sound"): string {
  const [boldStars, boldBars, stars, bars] = mode === "strict" ? STRICT_EMPHASIS : SOUND_EMPHASIS;
  let result = text
    .replace(/<br\/?>/g, " ")
    .replace(boldStars, "$1")
    .replace(boldBars, "$1");
  result = result.replace(/<\/?[bi]>/g, "");
  if (mode === "strict") {
    result = result.replace(/(\*\*|__)([^\n]*?)\1/g, "$2").replace(/(\*|_)([^\n]*?)\1/g, "$2");
  } else result = result.replace(stars, "$1").replace(bars, "$1");
  result = result.replace(SPACES, " ").normalize("NFC");
  return result.replace(/[‘’‚“”„＿–—‑‒−\u00b5]/g, (character) => REPLACEMENTS.get(character) ?? character);
}

function wanted(name: string, text: string, mode: MetricMode): string {
  const result = normaliseOlmOcrText(text, mode);
  if (strip(result) === "") throw new RangeError(`\`${name}\` expected some text, got ${JSON.stringify(text)}`);
  return result;
}

/** True if a part of `text` is within the allowed differences of `query`; strict mode allows a share of `lengthOfShare` characters. */
function contains(query: string, text: string, edits: number, mode: MetricMode, lengthOfShare = codePointLength(query)): boolean {
  if (mode === "sound") return distanceToPart(query, text) <= edits;
  return partialSimilarity(query, text) / 100 >= 1 - edits / Math.max(1, lengthOfShare);
}

function isPresent(test: TestOf<"present" | "absent">, markdown: string, edits: number, mode: MetricMode): boolean {
  let query = wanted("text", test.text, mode);
  let text = normaliseOlmOcrText(markdown, mode);
  if (test.case_sensitive === false) [query, text] = [query.toLowerCase(), text.toLowerCase()];
  if (test.first_n || test.last_n) {
    const characters = [...text];
    text = [...(test.first_n ? characters.slice(0, test.first_n) : []), ...(test.last_n ? characters.slice(-test.last_n) : [])].join("");
  }
  return contains(query, text, edits, mode);
}

function isInOrder(test: TestOf<"order">, markdown: string, edits: number, mode: MetricMode): boolean {
  const before = wanted("before", test.before, mode);
  const after = wanted("after", test.after, mode);
  const half = Math.floor(Math.min(codePointLength(before), codePointLength(after)) / 2);
  if (edits > half) throw new RangeError(`\`max_diffs\` expected at most half of the shorter text (${half}), got ${edits}`);
  const text = normaliseOlmOcrText(markdown, mode);
  const first = nearMatches(before, text, edits)[0];
  const last = nearMatches(after, text, edits).at(-1);
  return first !== undefined && last !== undefined && first.start < last.start;
}

const FORMATTED = {
  heading: [new RegExp(`(?<![^\\n])#{1,6}[${PYTHON_SPACE}]+([^\\n]+?)(?![^\\n])`, "g"), /<h[1-6][^>]*>([\s\S]*?)<\/h[1-6]>/gi],
  bold: [/\*\*([\s\S]*?)\*\*/g, /__([\s\S]*?)__/g, /<b[^>]*>([\s\S]*?)<\/b>/gi, /<strong[^>]*>([\s\S]*?)<\/strong>/gi],
  italic: [
    /(?<!\*)\*(?!\*)([\s\S]*?)(?<!\*)\*(?!\*)/g,
    /(?<!_)_(?!_)([\s\S]*?)(?<!_)_(?!_)/g,
    /<i[^>]*>([\s\S]*?)<\/i>/gi,
    /<em[^>]*>([\s\S]*?)<\/em>/gi,
  ],
} as const;

function isFormatted(test: TestOf<"format">, markdown: string, edits: number, mode: MetricMode): boolean {
  const patterns = FORMATTED[test.format];
  if (patterns === undefined) throw new RangeError(`\`format\` expected heading, bold or italic, got ${test.format}`);
  const fold = (text: string) => (test.case_sensitive === false ? text.toLowerCase() : text);
  const query = fold(wanted("text", test.text, mode));
  const source = mode === "strict" ? markdown : markdown.replace(/<(?:br|img|hr)\b[^>]*>/gi, " ");
  return patterns
    .flatMap((pattern) => Array.from(source.matchAll(pattern), ([, text]) => text))
    .some((text) => contains(query, fold(normaliseOlmOcrText(text, mode)), edits, mode));
}

const NEIGHBOURS: Readonly<Record<TableSide, (cell: LinkedCell) => readonly LinkedCell[]>> = {
  up: (cell) => cell.up,
  down: (cell) => cell.down,
  left: (cell) => cell.left,
  right: (cell) => cell.right,
  top_heading: (cell) => headingsOf(cell, "up"),
  left_heading: (cell) => headingsOf(cell, "left"),
};

function hasCell(test: TestOf<"table">, markdown: string, edits: number, mode: MetricMode): boolean {
  const says = (cell: LinkedCell, expected: string) => {
    const text = normaliseOlmOcrText(cell.text, mode);
    const length = Math.max(1, codePointLength(expected));
    if (mode === "sound") return levenshtein(expected, text) <= Math.min(edits, Math.floor(length / 2));
    return similarity(expected, text) / 100 >= Math.max(0.5, 1 - edits / length);
  };
  const target = normaliseOlmOcrText(test.cell, mode);
  const asked = (Object.keys(NEIGHBOURS) as TableSide[])
    .map((side) => [side, normaliseOlmOcrText(test[side] ?? "", mode)] as const)
    .filter(([, expected]) => expected !== "");
  const tables = [...(test.ignore_markdown_tables ? [] : pipeTables(markdown, mode)), ...htmlCellTables(markdown)];
  return tables.some(({ cells }) =>
    cells.some(
      (cell) => says(cell, target) && asked.every(([side, expected]) => NEIGHBOURS[side](cell).some((other) => says(other, expected))),
    ),
  );
}

const ALPHANUMERIC = /[\p{L}\p{N}]/gu;
const DISALLOWED = /[\u4e00-\u9fff\u3040-\u30ff\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f1e0}-\u{1f1ff}]/u;
/** Longest repeated piece that is looked for. */
const REPEATED_LENGTH: Readonly<Record<MetricMode, number>> = { strict: 5, sound: 50 };

function isPlausible(test: TestOf<"baseline">, markdown: string, mode: MetricMode): boolean {
  const count = (text: string) => (text.match(ALPHANUMERIC) ?? []).length;
  if (test.max_length !== undefined && test.max_length !== null) {
    return count(test.max_length_skips_image_alt_tags ? markdown.replace(/!\[[^\n]*?\]\([^\n]*?\)/g, "") : markdown) <= test.max_length;
  }
  if (count(markdown) === 0 || repeatsAtEnd(markdown, REPEATED_LENGTH[mode]) > (test.max_repeats ?? 30)) return false;
  return test.check_disallowed_characters === false || !DISALLOWED.test(markdown);
}

/** How often the text's end is repeated there, for the piece of at most `longest` characters that is repeated most often. */
export function repeatsAtEnd(text: string, longest: number): number {
  const characters = [...text.replace(SPACES, " ")];
  let most = 0;
  for (let size = 1; size <= Math.min(longest, characters.length); size++) {
    const end = characters.length - size;
    let start = end - 1;
    while (start >= 0 && characters[start] === characters[start + size]) start--;
    most = Math.max(most, Math.floor((characters.length - 1 - start) / size));
  }
  return most;
}

const EQUATION_NUMBER = /\\tag\*?\{[^{}]*\}/g;

function hasFormula(test: TestOf<"math">, markdown: string, mode: MetricMode, render: OlmOcrOptions["render"]): boolean {
  const content = (latex: string) => (mode === "strict" ? latex : strip(latex.replace(EQUATION_NUMBER, "")));
  const truth = content(test.math);
  if (strip(truth) === "") throw new RangeError(`\`math\` expected a formula, got ${JSON.stringify(test.math)}`);
  const answers = [...new Set(formulasOf(markdown, !test.ignore_dollar_delimited).map(content))];
  if (answers.includes(truth)) return true;
  const rendered = render?.(truth);
  if (!render || !rendered) return false;
  return answers.some((latex) => {
    const answer = render(latex);
    return answer !== null && sameRendering(rendered, answer, mode);
  });
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/** Characters around a mark that are looked at. */
const SURROUNDINGS = 200;

function hasFootnoteMark(test: TestOf<"footnote">, markdown: string, edits: number, mode: MetricMode): boolean {
  const { marker } = test;
  if (marker === "" || marker.includes(" "))
    throw new RangeError(`\`marker\` expected a mark without blanks, got ${JSON.stringify(marker)}`);
  const escaped = marker.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  const patterns = [new RegExp(`\\[\\^${escaped}\\](?!:)`, "g"), new RegExp(`<sup[^>]*>${escaped}</sup>`, "gi")];
  if (/^[0-9]+$/.test(marker)) patterns.push(new RegExp([...marker].map((digit) => SUPERSCRIPTS[Number(digit)]).join(""), "g"));
  const places = patterns.flatMap((pattern) =>
    Array.from(markdown.matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length })),
  );
  const letters = (text: string) => (normaliseOlmOcrText(text, mode).match(ALPHANUMERIC) ?? []).join("").toLowerCase();
  const stands = (expected: string, around: string, isBefore: boolean) => {
    const target = letters(expected);
    const near = [...letters(around)];
    const span = Math.min(near.length, [...target].length * 2);
    const part = (isBefore ? near.slice(near.length - span) : near.slice(0, span)).join("");
    return near.length > 0 && contains(target, part || near.join(""), edits, mode, codePointLength(expected));
  };
  const before = test.appears_before_marker ? wanted("appears_before_marker", test.appears_before_marker, mode) : null;
  const after = test.appears_after_marker ? wanted("appears_after_marker", test.appears_after_marker, mode) : null;
  const textBefore = (start: number) => [...markdown.slice(Math.max(0, start - 2 * SURROUNDINGS), start)].slice(-SURROUNDINGS).join("");
  const textAfter = (end: number) => [...markdown.slice(end, end + 2 * SURROUNDINGS)].slice(0, SURROUNDINGS).join("");
  const isBefore = ({ start }: { start: number }) => before === null || stands(before, textBefore(start), true);
  const isAfter = ({ end }: { end: number }) => after === null || stands(after, textAfter(end), false);
  if (mode === "sound") return places.some((place) => isBefore(place) && isAfter(place));
  return places.some(isBefore) && places.some(isAfter);
}
