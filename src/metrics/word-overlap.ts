/**
 * Words of a prediction that are in the truth, whatever their order (the F1, precision and recall of the Fox benchmark's family, over
 * multisets). It refuses to know what a word means.
 */
import { splitWords } from "./python-text.ts";

/** 0 to 1 each; no words on both sides give 1. */
export interface WordOverlap {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

export function wordOverlap(pred: string, truth: string): WordOverlap {
  const left = new Map<string, number>();
  const truthWords = splitWords(truth);
  const predWords = splitWords(pred);
  for (const word of truthWords) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of predWords) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  if (predWords.length === 0 && truthWords.length === 0) return { precision: 1, recall: 1, f1: 1 };
  const share = (count: number) => (count === 0 ? 0 : shared / count);
  return {
    precision: share(predWords.length),
    recall: share(truthWords.length),
    f1: (2 * shared) / (predWords.length + truthWords.length),
  };
}
