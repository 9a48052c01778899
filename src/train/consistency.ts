/**
 * How much a model agrees with itself: the paper's consistency C(x) (equation 10), what counts as hard (11) and what a hard sample weighs
 * (15). The paper names neither thresholds nor β; thresholds of layout, table and formula are MinerU2.5's, that of text is this project's.
 */
import type { TaskName } from "../text/prompts.ts";
import type { Agreement } from "./answer-scores.ts";

/** Samples below are hard. */
export const HARD_BELOW: Readonly<Record<TaskName, number>> = { layout: 0.8, table: 0.6, formula: 0.3, text: 0.8 };

/**
 * Mean agreement of all pairs of answers to one picture, 0 to 1.
 * @throws RangeError for fewer than two answers
 */
export async function consistencyOf(answers: readonly string[], agreement: Agreement): Promise<number> {
  if (answers.length < 2) throw new RangeError(`\`answers\` expected at least two, got ${answers.length}`);
  let sum = 0;
  for (let i = 0; i < answers.length; i++) for (let j = 0; j < i; j++) sum += await agreement(answers[i], answers[j]);
  return (2 * sum) / (answers.length * (answers.length - 1));
}

/** w(x) = 1 + β(1 - C(x)). */
export function hardWeight(consistency: number, beta: number): number {
  return 1 + beta * (1 - consistency);
}
