/**
 * Seeded randomness: xoshiro128** (Blackman and Vigna, 2018), its four words filled from the seed by splitmix32. The whole state is four
 * integers that survive JSON, so a training run or a sampled decode that is resumed draws the very same numbers. Not for secrets.
 */

import { integerIn } from "./ranges.ts";

/** The generator's whole memory: four unsigned 32-bit words, not all zero. */
export type RandomState = readonly [number, number, number, number];

/** A stream of random numbers. Drawing changes it; `state()` is a snapshot that `resumeRandom` continues from. */
export interface Random {
  /** The next unsigned 32-bit integer. */
  uint32(): number;
  /** A number in [0, 1) with 53 random bits (two words of the stream). */
  uniform(): number;
  /** An integer in [0, bound), every one equally likely. RangeError unless 1 <= bound <= 2^32. */
  integer(bound: number): number;
  /** The state before the next draw. */
  state(): RandomState;
}

/**
 * A stream for `seed` (an integer from 0 to 2^53-1). Further integers in `path` name sub-streams: the stream for (seed, epoch, sample)
 * is the same whatever order samples are visited in.
 */
export function createRandom(seed: number, ...path: readonly number[]): Random {
  const parts = [seed, ...path].map((part) => integerIn("seed", part, 0));
  const words = [1, 2, 3, 4].map((lane) => {
    let mixed = Math.imul(lane, 0x9e3779b9);
    for (const part of parts) {
      mixed = finalize(mixed ^ (part >>> 0));
      mixed = finalize((mixed + Math.floor(part / 2 ** 32) + 0x9e3779b9) | 0);
    }
    return mixed >>> 0;
  });
  return resumeRandom(words.some((word) => word !== 0) ? (words as unknown as RandomState) : [1, 2, 3, 4]);
}

/** Continues a stream from a snapshot, as it came from `state()` or from JSON. RangeError if it is no such state. */
export function resumeRandom(state: RandomState): Random {
  if (state.length !== 4) throw new RangeError(`\`state\` expected 4 words, got ${state.length}`);
  for (const word of state) integerIn("state", word, 0, 0xffffffff);
  if (state.every((word) => word === 0)) throw new RangeError("`state` expected a word other than zero, got four zeros");
  let [a, b, c, d] = state.map((word) => word | 0);

  function uint32(): number {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  }

  return {
    uint32,
    uniform: () => ((uint32() >>> 5) * 2 ** 26 + (uint32() >>> 6)) / 2 ** 53,
    integer(bound) {
      integerIn("bound", bound, 1, 2 ** 32);
      const fair = 2 ** 32 - (2 ** 32 % bound);
      for (;;) {
        const word = uint32();
        if (word < fair) return word % bound;
      }
    },
    state: () => [a >>> 0, b >>> 0, c >>> 0, d >>> 0],
  };
}

/** splitmix32's output function: every bit of the input reaches every bit of the result. */
function finalize(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
