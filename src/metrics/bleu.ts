/**
 * BLEU (Papineni et al. 2002) of order 4 without smoothing, as Hugging Face's `evaluate` computes it with its default tokeniser
 * (mteval-v13a). Fewer than four tokens give 0 even for equal texts. OmniDocBench passes truth as prediction and the other way round:
 * swap the arguments to reproduce its numbers. It refuses to know of several references.
 */
import { splitWords } from "./python-text.ts";

const MAX_ORDER = 4;

export interface BleuScore {
  /** 0 to 1. */
  readonly bleu: number;
  /** Clipped precision of n-grams of 1 to 4 tokens. */
  readonly precisions: readonly number[];
  readonly brevityPenalty: number;
  readonly tokensPred: number;
  readonly tokensTruth: number;
}

/** The tokens of mteval-v13a: ASCII signs split off, points and commas unless between digits, hyphens after digits. */
export function tokenise13a(text: string): string[] {
  let line = text.replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  line = line.replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
  return splitWords(
    line
      .replace(/([{-~[-` -&(-+:-@/])/g, " $1 ")
      .replace(/([^0-9])([.,])/gu, "$1 $2 ")
      .replace(/([.,])([^0-9])/gu, " $1 $2")
      .replace(/([0-9])(-)/g, "$1 $2 "),
  );
}

/** BLEU of a set of predictions, each with one truth. */
export function corpusBleu(pairs: readonly { readonly pred: string; readonly truth: string }[]): BleuScore {
  const matches = new Array<number>(MAX_ORDER).fill(0);
  const possible = new Array<number>(MAX_ORDER).fill(0);
  let tokensPred = 0;
  let tokensTruth = 0;
  for (const { pred, truth } of pairs) {
    const predTokens = tokenise13a(pred);
    const truthTokens = tokenise13a(truth);
    tokensPred += predTokens.length;
    tokensTruth += truthTokens.length;
    for (let order = 1; order <= MAX_ORDER; order++) {
      const inTruth = countGrams(truthTokens, order);
      for (const [gram, count] of countGrams(predTokens, order)) matches[order - 1] += Math.min(count, inTruth.get(gram) ?? 0);
      possible[order - 1] += Math.max(0, predTokens.length - order + 1);
    }
  }
  const precisions = matches.map((count, index) => (possible[index] > 0 ? count / possible[index] : 0));
  const mean = Math.min(...precisions) > 0 ? Math.exp(precisions.reduce((sum, p) => sum + Math.log(p) / MAX_ORDER, 0)) : 0;
  const ratio = tokensTruth > 0 ? tokensPred / tokensTruth : 0;
  const brevityPenalty = ratio > 1 ? 1 : ratio > 0 ? Math.exp(1 - 1 / ratio) : 0;
  return { bleu: mean * brevityPenalty, precisions, brevityPenalty, tokensPred, tokensTruth };
}

/** BLEU of a single prediction. */
export function bleu(pred: string, truth: string): BleuScore {
  return corpusBleu([{ pred, truth }]);
}

function countGrams(tokens: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + order <= tokens.length; start++) {
    const gram = tokens.slice(start, start + order).join(" ");
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}
