/**
 * Reading-order edit distance: the true blocks in the order in which they were read, against the true order, as a normalised list
 * distance. `orderFromRows` states how OmniDocBench gets the two lists from matched rows. It refuses to know how rows were matched.
 */
import { normalisedListDistance } from "./edit-distance.ts";
import type { MetricMode } from "./mode.ts";

/** The parts of a matched row that reading order needs. */
export interface OrderedRow {
  /** Orders of the true blocks of the row, `null` where a block has none; empty for a row without a true block. */
  readonly truthOrders: readonly (number | null)[];
  /** Where the row's prediction begins, or `null` if it has none. */
  readonly predPosition: number | null;
}

export interface ReadingOrder {
  readonly truth: readonly number[];
  readonly pred: readonly number[];
  /** Normalised list distance, 0 to 1. */
  readonly edit: number;
}

/** Distance of two orders of the same items, 0 (same order) to 1. */
export function readingOrderEdit<T>(pred: readonly T[], truth: readonly T[]): number {
  return normalisedListDistance(pred, truth);
}

/**
 * Reading order of one page from its matched rows, or `null` if no row has a true block with an order. In strict mode an order of 0
 * counts as missing; in sound mode it is an order like any other.
 */
export function orderFromRows(rows: readonly OrderedRow[], mode: MetricMode = "sound"): ReadingOrder | null {
  const isOrder = (order: number | null): order is number => order !== null && (mode === "sound" || order !== 0);
  const read = rows.filter((row) => row.predPosition !== null).toSorted((a, b) => a.predPosition! - b.predPosition!);
  const truth = rows.flatMap((row) => row.truthOrders.filter(isOrder)).toSorted((a, b) => a - b);
  const pred = read.flatMap((row) => row.truthOrders.filter(isOrder));
  if (truth.length === 0 && pred.length === 0) return null;
  return { truth, pred, edit: readingOrderEdit(pred, truth) };
}
