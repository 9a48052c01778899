/**
 * The order in which CPython iterates a set of small non-negative integers. OmniDocBench lists what is left unmatched by iterating sets,
 * and that order decides between equally cheap pairs. It refuses to know of other keys and of deletions.
 */
const LINEAR_PROBES = 9;
const PERTURB_SHIFT = 5;

/** Iteration order of a set into which `values` (different, non-negative, below 2^31) were put one after the other. */
export function pythonSetOrder(values: readonly number[]): number[] {
  let table = new Array<number | undefined>(8).fill(undefined);
  let used = 0;
  for (const value of values) {
    insert(table, value);
    used++;
    if (used * 5 < (table.length - 1) * 3) continue;
    let size = 8;
    while (size <= used * 4) size *= 2;
    const old = table;
    table = new Array<number | undefined>(size).fill(undefined);
    for (const key of old) if (key !== undefined) insert(table, key);
  }
  return table.filter((value) => value !== undefined);
}

function insert(table: (number | undefined)[], value: number): void {
  const mask = table.length - 1;
  let perturb = value;
  let slot = value & mask;
  for (;;) {
    const last = slot + LINEAR_PROBES <= mask ? slot + LINEAR_PROBES : slot;
    for (let probe = slot; probe <= last; probe++) {
      if (table[probe] === undefined) {
        table[probe] = value;
        return;
      }
    }
    perturb >>>= PERTURB_SHIFT;
    slot = (slot * 5 + 1 + perturb) & mask;
  }
}
