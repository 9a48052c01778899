/**
 * Noising of a training answer: each block is given a mask rate and each of its tokens becomes the mask token with that probability. Rates
 * are drawn per block (BD3-LM) or per sequence (SDAR) from a clipped interval, spread evenly over it by strata; at least one token of every
 * block is masked, else the block would teach nothing. A complementary copy masks exactly what its partner left clean, so that a pair
 * supervises every token once. The paper does not name its distribution; the defaults (0.1 to 1, per block) are this project's.
 */

import { likelihoodWeight, type NoiseScheduleName, noiseSchedules } from "./noise-schedule.ts";
import type { Random } from "./random.ts";
import { integerIn, numberIn } from "./ranges.ts";

/** How to noise. Rates and shares are from 0 to 1. */
export interface NoisingOptions {
  readonly blockLength: number;
  readonly maskToken: number;
  /** Mask rates are drawn between these: default 0.1 and 1. */
  readonly low?: number;
  readonly high?: number;
  /** The schedule whose time is drawn evenly; default `linear`: the rate itself is. */
  readonly schedule?: NoiseScheduleName;
  /** One rate per `block` (default) or one for the whole `sequence`. */
  readonly per?: "block" | "sequence";
  /** Draw one rate from each of as many equal strata as there are rates, in random order, instead of independently. Default true. */
  readonly stratified?: boolean;
  /** Share of blocks that are masked throughout, as every block is when its decoding starts. Default 0. */
  readonly allMasked?: number;
  /** Redraw a block's mask, up to ten times, until its masked share lies in [low, high]. Default false. */
  readonly resample?: boolean;
  /** How many noisy copies of the answer; default 1. Strata are shared among them. */
  readonly copies?: number;
  /** Every second copy masks what the one before it left clean. Default false. */
  readonly complementary?: boolean;
}

/** One noisy copy of an answer of L tokens in ceil(L / blockLength) blocks. */
export interface NoisyAnswer {
  /** [L] the answer with mask tokens in it. */
  readonly tokens: Int32Array;
  /** [L] 1 where masked. */
  readonly masked: Uint8Array;
  /** [blocks] the mask rate each block was drawn with; of a complement, 1 minus its partner's. */
  readonly rates: Float64Array;
  /** [blocks] weight of a masked token in the likelihood bound: 1/rate under the linear schedule. 0 where a complement has rate 0. */
  readonly weights: Float64Array;
}

/**
 * Draws `copies` noisy copies of `answer`. A complementary copy may have blocks without a mask (where its partner masked all); every
 * other block has at least one. Its weights are unbiased for the linear schedule with low + high = 1.
 * RangeError for options out of range or an answer that holds the mask token.
 */
export function noiseAnswer(answer: Int32Array, options: NoisingOptions, random: Random): NoisyAnswer[] {
  const blockLength = integerIn("blockLength", options.blockLength, 1);
  const maskToken = integerIn("maskToken", options.maskToken, 0);
  const copies = integerIn("copies", options.copies ?? 1, 1);
  if (answer.includes(maskToken)) throw new RangeError(`\`answer\` expected no mask token, got ${maskToken} in it`);
  const blocks = Math.ceil(answer.length / blockLength);
  const drawn = options.complementary ? Math.ceil(copies / 2) : copies;
  const times = drawTimes(drawn, blocks, options, random);
  const schedule = noiseSchedules[options.schedule ?? "linear"];
  const noisy: NoisyAnswer[] = [];
  for (let draw = 0; draw < drawn; draw++) {
    const ownTimes = times.subarray(draw * blocks, (draw + 1) * blocks);
    const rates = ownTimes.map((time) => schedule.maskRate(time));
    const masked = drawMask(answer.length, blockLength, rates, options, random);
    noisy.push({
      tokens: applyMask(answer, masked, maskToken),
      masked,
      rates,
      weights: ownTimes.map((time) => likelihoodWeight(schedule, time)),
    });
    if (options.complementary && noisy.length < copies) noisy.push(complementOf(answer, noisy[noisy.length - 1], maskToken));
  }
  return noisy;
}

/** The copy that masks what `first` left clean. */
function complementOf(answer: Int32Array, first: NoisyAnswer, maskToken: number): NoisyAnswer {
  const masked = first.masked.map((flag) => 1 - flag);
  const rates = first.rates.map((rate) => 1 - rate);
  return { tokens: applyMask(answer, masked, maskToken), masked, rates, weights: rates.map((rate) => (rate > 0 ? 1 / rate : 0)) };
}

/** [copies * blocks] diffusion times whose mask rates lie in [low, high]; 1 for blocks drawn to be masked throughout. */
function drawTimes(copies: number, blocks: number, options: NoisingOptions, random: Random): Float64Array {
  const low = numberIn("low", options.low ?? 0.1, 1e-6, 1);
  const high = numberIn("high", options.high ?? 1, low, 1);
  const allMasked = numberIn("allMasked", options.allMasked ?? 0, 0, 1);
  const schedule = noiseSchedules[options.schedule ?? "linear"];
  if (schedule === undefined) throw new RangeError(`\`schedule\` expected linear or cosine, got ${String(options.schedule)}`);
  const perSequence = options.per === "sequence";
  const count = perSequence ? copies : copies * blocks;
  const from = schedule.timeOf(low);
  const width = schedule.timeOf(high) - from;
  const strata = Int32Array.from({ length: count }, (_, index) => index);
  const draws = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    if (options.stratified ?? true) {
      const other = index + random.integer(count - index);
      [strata[index], strata[other]] = [strata[other], strata[index]];
      draws[index] = from + (width * (strata[index] + random.uniform())) / count;
    } else {
      draws[index] = from + width * random.uniform();
    }
  }
  const times = Float64Array.from({ length: copies * blocks }, (_, index) => draws[perSequence ? Math.floor(index / blocks) : index]);
  if (allMasked > 0) for (let index = 0; index < times.length; index++) if (random.uniform() < allMasked) times[index] = 1;
  return times;
}

function drawMask(length: number, blockLength: number, rates: Float64Array, options: NoisingOptions, random: Random): Uint8Array {
  const low = options.low ?? 0.1;
  const high = options.high ?? 1;
  const masked = new Uint8Array(length);
  for (let block = 0; block < rates.length; block++) {
    const cells = masked.subarray(block * blockLength, (block + 1) * blockLength);
    for (let redraws = options.resample ? 10 : 0; ; redraws--) {
      let count = 0;
      for (let cell = 0; cell < cells.length; cell++) count += cells[cell] = random.uniform() < rates[block] ? 1 : 0;
      const share = count / cells.length;
      if (redraws === 0 || (share >= low && share <= high) || rates[block] === 1) {
        if (count === 0) cells[random.integer(cells.length)] = 1;
        break;
      }
    }
  }
  return masked;
}

function applyMask(answer: Int32Array, masked: Uint8Array, maskToken: number): Int32Array {
  return answer.map((token, index) => (masked[index] ? maskToken : token));
}
