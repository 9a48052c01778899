/**
 * Bins: rows of equal length that each hold several items, so that one dense tensor carries items of many lengths. First-fit over the
 * items from long to short; the bin length is that of the longest item, or a given one.
 */

export interface Placement {
  readonly bin: number;
  readonly offset: number;
}

export interface Packing {
  readonly bins: number;
  readonly capacity: number;
  /** One per item, in the items' order. */
  readonly placements: readonly Placement[];
}

/** @throws RangeError if an item is longer than `capacity`. */
export function packIntoBins(lengths: readonly number[], capacity = Math.max(0, ...lengths)): Packing {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b] - lengths[a]);
  const used: number[] = [];
  const placements = new Array<Placement>(lengths.length);
  for (const item of order) {
    const length = lengths[item];
    if (length > capacity) throw new RangeError(`items expected to fit ${capacity} rows, got one of ${length}`);
    let bin = used.findIndex((taken) => taken + length <= capacity);
    if (bin < 0) bin = used.push(0) - 1;
    placements[item] = { bin, offset: used[bin] };
    used[bin] += length;
  }
  return { bins: used.length, capacity, placements };
}
