/**
 * One who answers a decoder's questions without a model: tokens and confidences are a hash of a seed, the position and everything on the
 * canvas and before it. Like a model it is deterministic and changes its mind whenever any neighbour changes; unlike one it means nothing.
 * It lets decoders, engines and pages be tried before there is a checkpoint.
 */

import type { DenoiseQuestion, Reading } from "./conversation.ts";
import { integerIn } from "./ranges.ts";

/** What it may say: token ids from 0 to `vocabularySize` - 1, without the mask token. */
export interface SeededReaderOptions {
  readonly vocabularySize: number;
  readonly maskToken: number;
}

/** A reader that answers every question; RangeError if no token is left to say. */
export function seededReader(
  seed: number,
  { vocabularySize, maskToken }: SeededReaderOptions,
): (question: DenoiseQuestion) => Required<Omit<Reading, "candidates">> {
  integerIn("vocabularySize", vocabularySize, 2);
  return ({ before, canvas, masked, position }) => {
    const context = canvas.reduce(mix, before.reduce(mix, seed | 0));
    const words = masked.map((index) => mix(context, position + index));
    const confidences = Float32Array.from(words, (word) => 1 - ((word >>> 8) / 2 ** 24) ** 3);
    return {
      tokens: words.map((word) => {
        const token = (mix(word, 1) >>> 0) % vocabularySize;
        return token === maskToken ? (token + 1) % vocabularySize : token;
      }),
      confidences,
      entropies: confidences.map((confidence) => -Math.log(Math.max(confidence, 1e-6))),
    };
  };
}

/** MurmurHash3's step and finalizer. */
function mix(hash: number, value: number): number {
  let word = Math.imul(value, 0xcc9e2d51);
  word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
  word ^= hash;
  word = (Math.imul((word << 13) | (word >>> 19), 5) + 0xe6546b64) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return word ^ (word >>> 16);
}
