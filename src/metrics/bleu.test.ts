import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { bleu, corpusBleu } from "./bleu.ts";

interface BleuCase {
  id: string;
  pred: string;
  truth: string;
  bleu: number;
  bleuPrecisions: number[];
  brevityPenalty: number;
  tokensPred: number;
  tokensTruth: number;
  bleuSwapped: number;
}
interface Corpus {
  id: string;
  rows: { pred: string; truth: string }[];
  corpusBleu: number;
  corpusBleuSwapped: number;
}
const { cases, corpora } = golden<{ cases: BleuCase[]; corpora: Corpus[] }>("edit.json");
const swap = ({ pred, truth }: { pred: string; truth: string }) => ({ pred: truth, truth: pred });

describe("BLEU", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the official score", (_, c) => {
    const score = bleu(c.pred, c.truth);
    expect(score.tokensPred).toBe(c.tokensPred);
    expect(score.tokensTruth).toBe(c.tokensTruth);
    expect(score.bleu).toBeCloseTo(c.bleu, 9);
    expect(score.precisions).toEqual(c.bleuPrecisions.map((p) => expect.closeTo(p, 9)));
    expect(score.brevityPenalty).toBeCloseTo(c.brevityPenalty, 9);
    expect(corpusBleu([swap(c)]).bleu).toBeCloseTo(c.bleuSwapped, 9);
  });

  it.each(corpora.map((c) => [c.id, c] as const))("%s has the official score", (_, c) => {
    expect(corpusBleu(c.rows).bleu).toBeCloseTo(c.corpusBleu, 9);
    expect(corpusBleu(c.rows.map(swap)).bleu).toBeCloseTo(c.corpusBleuSwapped, 9);
  });

  it("is 1 for an equal text of four tokens or more, and between 0 and 1", () => {
    const words = fc.array(fc.constantFrom("a", "b", "c", "x1"), { minLength: 4, maxLength: 12 }).map((list) => list.join(" "));
    fc.assert(
      fc.property(words, words, (a, b) => {
        expect(bleu(a, a).bleu).toBeCloseTo(1, 12);
        expect(bleu(a, b).bleu).toBeGreaterThanOrEqual(0);
        expect(bleu(a, b).bleu).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });
});
