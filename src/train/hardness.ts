/**
 * Hardness of a sample from a single decode: what the confidence trace of block diffusion tells for free, where consistency needs several
 * decodes. All estimators grow with hardness; how well each orders samples as consistency does is measured, not assumed.
 */
import type { RecognitionResult } from "../engine/types.ts";

export type HardnessEstimator = "surprise" | "worst" | "doubtful" | "steps";

type Decoded = Pick<RecognitionResult, "tokens" | "stepsOfBlock">;

/** A probability of 0 would be infinitely surprising. */
const LEAST_CONFIDENCE = 1e-6;
const DOUBTFUL_BELOW = 0.9;

const surpriseOf = ({ confidence }: { readonly confidence: number }): number => -Math.log(Math.max(confidence, LEAST_CONFIDENCE));
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);

export const hardnessEstimators: Readonly<Record<HardnessEstimator, (decoded: Decoded) => number>> = {
  /** Mean -log confidence of the answer's tokens when they were committed. */
  surprise: ({ tokens }) => mean(tokens.map(surpriseOf)),
  /** The largest of them. */
  worst: ({ tokens }) => Math.max(0, ...tokens.map(surpriseOf)),
  /** Share of tokens committed below 0.9. */
  doubtful: ({ tokens }) => mean(tokens.map(({ confidence }) => (confidence < DOUBTFUL_BELOW ? 1 : 0))),
  /** Denoising steps per block: sure positions are committed together. */
  steps: ({ stepsOfBlock }) => mean(stepsOfBlock),
};
