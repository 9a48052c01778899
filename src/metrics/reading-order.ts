/**
 * Reading-order edit distance: the true blocks in the order in which they were read, against the true order, as a normalised list
 * distance. `orderFromRows` states how OmniDocBench gets the two lists from matched rows. It refuses to know how rows were matched.
 */
import { normalisedListDistance } from "./edit-distance.ts";
import type { MetricMode } from "./mode.ts";

/** The parts of a matched row that reading order needs; `""` stands for "none", as in the official records. */
export interface OrderedRow {
  /** Orders of the true blocks of the row. */
  readonly gt_position: readonly (number | string | null)[];
  /** Where the row's prediction begins, or `""` if it has none. */
  readonly pred_position: number | string;
}

export interface ReadingOrder {
  readonly gt: readonly number[];
  readonly pred: readonly number[];
  /** Normalised list distance, 0 to 1. */
  readonly edit: number;
}

/** Distance of two orders of the same items, 0 (same order) to 1. */
export function readingOrderEdit<T>(pred: readonly T[], truth: readonly T[]): number {
  return normalisedListDistance(pred, truth);
}

/**
 * Reading order of one page from its matched rows, or `null` if no row has a true block. In strict mode an order of 0 counts as
 * missing; in sound mode it is an order like any other.
 */
export function orderFromRows(rows: readonly OrderedRow[], mode: MetricMode = "sound"): ReadingOrder | null {
  const isOrder = (order: number | string | null): order is number => typeof order === "number" && (mode === "sound" || order !== 0);
  const read = rows
    .filter((row) => !row.gt_position.includes("") && row.pred_position !== "")
    .toSorted((a, b) => Number(a.pred_position) - Number(b.pred_position));
  const gt = rows.flatMap((row) => row.gt_position.filter(isOrder)).toSorted((a, b) => a - b);
  const pred = read.flatMap((row) => row.gt_position.filter(isOrder));
  if (gt.length === 0 && pred.length === 0) return null;
  return { gt, pred, edit: readingOrderEdit(pred, gt) };
}
