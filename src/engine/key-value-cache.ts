/**
 * Keys and values of settled positions, for several sequences at once: one slab per layer and kind, [slots, kvHeads, capacity, headDim],
 * fed to the decoder as it lies. A sequence owns a slot; columns behind its length are hidden by the mask.
 */
import type { TextConfig } from "../model/config.ts";
import { pastName, presentName } from "../model/programs.ts";
import { float32, type Tensors } from "../runtime/session.ts";

/** Columns are added this many at a time: a growth copies the slab once. */
const GROWTH = 128;

export class KeyValueCache {
  readonly #config: TextConfig;
  #lengths: Int32Array;
  #capacity = 0;
  #slabs: Map<string, Float32Array>;

  constructor(config: TextConfig, slots: number) {
    this.#config = config;
    this.#lengths = new Int32Array(slots);
    this.#slabs = new Map(this.#names().map((name) => [name, new Float32Array(0)]));
  }

  get slots(): number {
    return this.#lengths.length;
  }

  /** Settled positions of each slot. */
  get lengths(): Int32Array {
    return this.#lengths;
  }

  get capacity(): number {
    return this.#capacity;
  }

  #names(): string[] {
    return Array.from({ length: this.#config.layers }, (_, i) => [pastName("key", i), pastName("value", i)]).flat();
  }

  /** What the decode program is fed. */
  feeds(): Tensors {
    const { kvHeads, headDim } = this.#config;
    return Object.fromEntries(
      [...this.#slabs].map(([name, data]) => [name, float32(data, [this.slots, kvHeads, this.#capacity, headDim])]),
    );
  }

  /** An empty cache's feeds: what a prefill sees. `columns` of them hold nothing, and are to be hidden. */
  static empty({ layers, kvHeads, headDim }: TextConfig, columns = 0): Tensors {
    const none = float32(new Float32Array(kvHeads * columns * headDim), [1, kvHeads, columns, headDim]);
    return Object.fromEntries(
      Array.from({ length: layers }, (_, i) => [
        [pastName("key", i), none],
        [pastName("value", i), none],
      ]).flat(),
    );
  }

  free(slot: number): void {
    this.lengths[slot] = 0;
  }

  /**
   * Appends the first `count` rows that sequence `from` of a run left in `present` [batch, kvHeads, rows, headDim] to `slot`.
   */
  append(slot: number, present: Tensors, from: number, count: number): void {
    const { layers, kvHeads, headDim } = this.#config;
    const at = this.lengths[slot];
    this.#reserve(at + count);
    for (let layer = 0; layer < layers; layer++) {
      for (const kind of ["key", "value"] as const) {
        const { data, shape } = present[presentName(kind, layer)];
        const slab = this.#slabs.get(pastName(kind, layer))!;
        const rows = shape[2];
        for (let head = 0; head < kvHeads; head++) {
          const source = (from * kvHeads + head) * rows * headDim;
          const target = ((slot * kvHeads + head) * this.#capacity + at) * headDim;
          slab.set((data as Float32Array).subarray(source, source + count * headDim), target);
        }
      }
    }
    this.lengths[slot] += count;
  }

  /** Other slots: the i-th is what `from[i]` was, or free. */
  rearrange(from: readonly (number | null)[]): void {
    const width = this.#config.kvHeads * this.#capacity * this.#config.headDim;
    for (const [name, slab] of this.#slabs) {
      const next = new Float32Array(from.length * width);
      from.forEach((slot, i) => {
        if (slot !== null) next.set(slab.subarray(slot * width, (slot + 1) * width), i * width);
      });
      this.#slabs.set(name, next);
    }
    this.#lengths = Int32Array.from(from, (slot) => (slot === null ? 0 : this.#lengths[slot]));
  }

  #reserve(columns: number): void {
    if (columns <= this.#capacity) return;
    const capacity = Math.ceil(columns / GROWTH) * GROWTH;
    const { kvHeads, headDim } = this.#config;
    const old = this.#capacity * headDim;
    const grown = capacity * headDim;
    for (const [name, slab] of this.#slabs) {
      const next = new Float32Array(this.slots * kvHeads * grown);
      for (let row = 0; row < this.slots * kvHeads; row++) next.set(slab.subarray(row * old, (row + 1) * old), row * grown);
      this.#slabs.set(name, next);
    }
    this.#capacity = capacity;
  }
}
