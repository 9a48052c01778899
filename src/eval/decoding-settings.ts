/**
 * The ways of decoding that are measured against each other on the same weights (paper sections 4.3 and 4.4): autoregression, which is
 * block length 1, block diffusion under every commit rule, full-sequence diffusion, which is one block; and the sweeps over threshold
 * and block length.
 */
import type { DecodingOptions } from "../engine/types.ts";

/** Decoding options with a name for tables. */
export interface DecodingSetting {
  readonly name: string;
  readonly decoding: DecodingOptions;
}

/** Tokens of one answer at most. */
const MAX_TOKENS = 256;
/** Positions of the one block of full-sequence diffusion, whose length must be given beforehand. */
export const FULL_SEQUENCE = 128;

const setting = (name: string, decoding: DecodingOptions): DecodingSetting => ({ name, decoding: { maxTokens: MAX_TOKENS, ...decoding } });

/** Token by token: what others are compared with. */
export const AUTOREGRESSION = setting("autoregression (block 1)", { blockLength: 1 });

/** Blocks of one length, committed above one threshold. */
export const blockDiffusion = (blockLength: number, threshold: number): DecodingSetting =>
  setting(`block ${blockLength}, τ ${threshold}`, { blockLength, rule: { threshold } });

/** Every strategy at block 32, between autoregression, which comes first, and full-sequence diffusion. */
export const strategySettings: readonly DecodingSetting[] = [
  AUTOREGRESSION,
  blockDiffusion(32, 0.95),
  setting("block 32, static, 32 steps", { blockLength: 32, rule: { strategy: "low_confidence_static" } }),
  setting("block 32, static, 8 steps", { blockLength: 32, stepsPerBlock: 8, rule: { strategy: "low_confidence_static" } }),
  setting("block 32, sequential, 8 steps", { blockLength: 32, stepsPerBlock: 8, rule: { strategy: "sequential" } }),
  setting("block 32, entropy-bounded, γ 0.35", { blockLength: 32, rule: { strategy: "entropy_bounded" } }),
  setting("block 32, factor 1", { blockLength: 32, rule: { strategy: "factor" } }),
  setting(`full sequence (one block of ${FULL_SEQUENCE}), τ 0.95`, {
    blockLength: "answer",
    maxTokens: FULL_SEQUENCE,
    rule: { threshold: 0.95 },
  }),
];

const THRESHOLDS = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99];
const BLOCK_LENGTHS = [2, 4, 8, 16, 32, 64];

export const thresholdSettings: readonly DecodingSetting[] = THRESHOLDS.map((threshold) => blockDiffusion(32, threshold));
export const blockLengthSettings: readonly DecodingSetting[] = BLOCK_LENGTHS.map((length) => blockDiffusion(length, 0.95));
/** What batches are tried with. */
export const batchSettings: readonly DecodingSetting[] = [AUTOREGRESSION, blockDiffusion(8, 0.95), blockDiffusion(32, 0.95)];
export const BATCH_SIZES: readonly number[] = [1, 2, 4, 8, 16];
