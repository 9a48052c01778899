/**
 * The training objective as one weight per answer position: loss = sum of weight times cross entropy, predictions read at the masked
 * position itself (no shift). `masked-mean` is the paper's: the mean over masked positions. `likelihood` is the ancestors' (BD3-LM, SDAR):
 * each masked position weighs 1/rate of its block and the sum is divided by the answer's length. Knows masks, not tokens or logits.
 */

import { integerIn } from "./ranges.ts";

/** How masked positions are weighed. */
export type Weighting = { readonly kind: "masked-mean" } | Likelihood;

/** Needs the block length and one weight per block, as `noiseAnswer` returns them. */
export interface Likelihood {
  readonly kind: "likelihood";
  readonly blockLength: number;
  readonly blockWeights: ArrayLike<number>;
}

/**
 * Weights of the positions of one noisy answer, float32 `[answerLength]`; 0 where nothing is masked, all 0 if nothing is masked at all.
 * `scale` multiplies them all (1 / sequences in the batch, the weight of a hard sample, …).
 */
export function positionWeights(masked: Uint8Array, weighting: Weighting, scale = 1): Float32Array {
  const weights = new Float32Array(masked.length);
  if (weighting.kind === "masked-mean") {
    const count = masked.reduce((sum, flag) => sum + flag, 0);
    for (let position = 0; position < masked.length; position++) if (masked[position]) weights[position] = scale / count;
    return weights;
  }
  const blockLength = integerIn("blockLength", weighting.blockLength, 1);
  const blocks = Math.ceil(masked.length / blockLength);
  if (weighting.blockWeights.length !== blocks) {
    throw new RangeError(`\`blockWeights\` expected ${blocks} numbers, got ${weighting.blockWeights.length}`);
  }
  for (let position = 0; position < masked.length; position++) {
    if (masked[position]) weights[position] = (scale * weighting.blockWeights[Math.floor(position / blockLength)]) / masked.length;
  }
  return weights;
}
