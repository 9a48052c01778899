/**
 * Levenshtein distance in code points and the ratios built on it: normalised edit distance (distance / longer length, as OmniDocBench
 * scores text and reading order), character and word error rate (distance / length of the truth), and their means over pages.
 * It refuses to know what the strings are and how they were normalised.
 */
import { distance as distanceInUnits } from "fastest-levenshtein";
import type { MetricMode } from "./mode.ts";
import { codePointLength, hasSurrogates, splitWords } from "./python-text.ts";

const LARGEST_UNIT = 0xffff;

/** Number of insertions, deletions and substitutions of code points that turn `a` into `b`. */
export function levenshtein(a: string, b: string): number {
  if (a === b) return 0;
  if (!hasSurrogates(a) && !hasSurrogates(b)) return distanceInUnits(a, b);
  return levenshteinOfLists(Array.from(a), Array.from(b));
}

/**
 * Levenshtein distance of two lists whose items are compared as `Map` keys.
 * @throws RangeError if more than 65,533 different items occur in both lists.
 */
export function levenshteinOfLists<T>(a: readonly T[], b: readonly T[]): number {
  const inB = new Set(b);
  const unitOf = new Map<T, number>();
  for (const item of a) if (inB.has(item) && !unitOf.has(item)) unitOf.set(item, unitOf.size);
  if (unitOf.size > LARGEST_UNIT - 2) {
    throw new RangeError(`\`a\` and \`b\` expected at most ${LARGEST_UNIT - 2} common different items, got ${unitOf.size}`);
  }
  const onlyInA = String.fromCharCode(LARGEST_UNIT - 1);
  const onlyInB = String.fromCharCode(LARGEST_UNIT);
  const spell = (items: readonly T[], foreign: string) =>
    items
      .map((item) => {
        const unit = unitOf.get(item);
        return unit === undefined ? foreign : String.fromCharCode(unit);
      })
      .join("");
  return distanceInUnits(spell(a, onlyInA), spell(b, onlyInB));
}

/**
 * Spells lists as strings of one UTF-16 unit an item, equal items by equal units, so that many lists can be compared quickly with
 * `levenshtein` of spellings: `spell(a)` and `spell(b)` of the same speller.
 * @throws RangeError (from the speller) at the 55,297th different item: surrogates are left out.
 */
export function speller<T>(): (items: Iterable<T>) => string {
  const unitOf = new Map<T, string>();
  return (items) => {
    let spelling = "";
    for (const item of items) {
      let unit = unitOf.get(item);
      if (unit === undefined) {
        if (unitOf.size > 0xd7ff) throw new RangeError(`\`items\` expected at most ${0xd800} different items in all`);
        unit = String.fromCharCode(unitOf.size);
        unitOf.set(item, unit);
      }
      spelling += unit;
    }
    return spelling;
  };
}

/** Distance and the lengths of both sides, all in code points. */
export interface EditCount {
  readonly distance: number;
  readonly lengthPred: number;
  readonly lengthTruth: number;
}

export function countEdits(pred: string, truth: string): EditCount {
  return { distance: levenshtein(pred, truth), lengthPred: codePointLength(pred), lengthTruth: codePointLength(truth) };
}

/** Distance / longer length, between 0 (equal, or both empty) and 1. */
export function normalisedEditDistance(pred: string, truth: string): number {
  const { distance, lengthPred, lengthTruth } = countEdits(pred, truth);
  return distance === 0 ? 0 : distance / Math.max(lengthPred, lengthTruth);
}

/** {@link normalisedEditDistance} of two lists. */
export function normalisedListDistance<T>(pred: readonly T[], truth: readonly T[]): number {
  const distance = levenshteinOfLists(pred, truth);
  return distance === 0 ? 0 : distance / Math.max(pred.length, truth.length);
}

/** Edits / characters of the truth; may exceed 1. 0 if both are empty, `null` if only the truth is. */
export function characterErrorRate(pred: string, truth: string): number | null {
  return errorRate(levenshtein(pred, truth), codePointLength(truth), pred.length > 0);
}

/** Edits of words / words of the truth, words being what white space separates. 0 if neither has a word, `null` if only the truth has none. */
export function wordErrorRate(pred: string, truth: string): number | null {
  const predWords = splitWords(pred);
  const truthWords = splitWords(truth);
  return errorRate(levenshteinOfLists(predWords, truthWords), truthWords.length, predWords.length > 0);
}

function errorRate(edits: number, truthLength: number, predHasAny: boolean): number | null {
  if (truthLength === 0) return predHasAny ? null : 0;
  return edits / truthLength;
}

/** One compared pair and the page it lies on. `page` is an image name, possibly followed by `_` and a row number. */
export interface EditRow {
  readonly page: string;
  readonly pred: string;
  readonly truth: string;
}

/** Means of normalised edit distance over rows. A value without any counted row is `null`. */
export interface EditSummary {
  /** Mean over pages of {@link perPage}: OmniDocBench's published text number. */
  readonly allPageAvg: number | null;
  /** Sum of all distances / sum of all longer lengths. */
  readonly editWhole: number | null;
  /** Mean over rows of their own ratio. */
  readonly editSampleAvg: number | null;
  /** Page name to sum of distances / sum of longer lengths. */
  readonly perPage: ReadonlyMap<string, number | null>;
}

/** The page of a row's image name: names that end in neither `.jpg` nor `.png` lose their last `_part`. */
export function pageOfImage(image: string): string {
  if (image.endsWith(".jpg") || image.endsWith(".png")) return image;
  return image.slice(0, Math.max(0, image.lastIndexOf("_")));
}

/**
 * Normalised edit distance over a set. Rows empty on both sides are counted nowhere; in strict mode a page of such rows stays in
 * `perPage` as `null`, in sound mode it is 0.
 */
export function summariseEdits(rows: readonly EditRow[], mode: MetricMode = "sound"): EditSummary {
  const pages = new Map<string, { edits: number; length: number }>();
  let ratios = 0;
  let counted = 0;
  for (const row of rows) {
    const { distance, lengthPred, lengthTruth } = countEdits(row.pred, row.truth);
    const length = Math.max(lengthPred, lengthTruth);
    const name = pageOfImage(row.page);
    const page = pages.get(name) ?? { edits: 0, length: 0 };
    pages.set(name, { edits: page.edits + distance, length: page.length + length });
    if (length > 0) {
      ratios += distance / length;
      counted++;
    }
  }
  const empty = mode === "strict" ? null : 0;
  const perPage = new Map([...pages].map(([name, page]) => [name, page.length > 0 ? page.edits / page.length : empty]));
  const pageValues = [...perPage.values()].filter((value) => value !== null);
  const edits = [...pages.values()].reduce((sum, page) => sum + page.edits, 0);
  const length = [...pages.values()].reduce((sum, page) => sum + page.length, 0);
  return {
    allPageAvg: pageValues.length > 0 ? pageValues.reduce((sum, value) => sum + value, 0) / pageValues.length : null,
    editWhole: length > 0 ? edits / length : null,
    editSampleAvg: counted > 0 ? ratios / counted : null,
    perPage,
  };
}
