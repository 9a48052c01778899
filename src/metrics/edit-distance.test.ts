import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import {
  characterErrorRate,
  countEdits,
  levenshtein,
  levenshteinOfLists,
  normalisedEditDistance,
  pageOfImage,
  summariseEdits,
  wordErrorRate,
} from "./edit-distance.ts";

interface EditCase {
  id: string;
  pred: string;
  truth: string;
  distance: number;
  lengthPred: number;
  lengthTruth: number;
  ned: number | null;
  matrixNed: number;
  cer: number | null;
  wer: number | null;
}
interface Corpus {
  id: string;
  rows: { page: string; pred: string; truth: string }[];
  allPageAvg?: number;
  editWhole?: number;
  editSampleAvg?: number;
  perPage?: Record<string, number | null>;
  officialError?: string;
}
const { cases, corpora } = golden<{ cases: EditCase[]; corpora: Corpus[] }>("edit.json");

const closeTo = (value: number | null | undefined) => (value === null || value === undefined ? value : expect.closeTo(value, 9));

describe("edit distance", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the official distance and rates", (_, c) => {
    expect(countEdits(c.pred, c.truth)).toEqual({ distance: c.distance, lengthPred: c.lengthPred, lengthTruth: c.lengthTruth });
    expect(normalisedEditDistance(c.pred, c.truth)).toEqual(closeTo(c.ned ?? 0));
    expect(normalisedEditDistance(c.pred, c.truth)).toEqual(closeTo(c.matrixNed));
    expect(characterErrorRate(c.pred, c.truth)).toEqual(closeTo(c.cer));
    expect(wordErrorRate(c.pred, c.truth)).toEqual(closeTo(c.wer));
  });

  it.each(corpora.map((c) => [c.id, c] as const))("%s has the official means", (_, c) => {
    const summary = summariseEdits(c.rows, "strict");
    expect(summary.allPageAvg).toEqual(closeTo(c.allPageAvg ?? null));
    expect(summary.editWhole).toEqual(closeTo(c.editWhole ?? null));
    expect(summary.editSampleAvg).toEqual(closeTo(c.editSampleAvg ?? null));
    for (const [page, value] of Object.entries(c.perPage ?? {})) expect(summary.perPage.get(page)).toEqual(closeTo(value));
  });

  it("counts a page of empty rows as perfect in sound mode", () => {
    const rows = [
      { page: "a.png", pred: "", truth: "" },
      { page: "b.png", pred: "ab", truth: "ac" },
    ];
    expect(summariseEdits(rows, "strict").allPageAvg).toBe(0.5);
    expect(summariseEdits(rows, "sound").allPageAvg).toBe(0.25);
  });

  it("takes the page from the image name as the official code does", () => {
    expect(pageOfImage("a_1.png")).toBe("a_1.png");
    expect(pageOfImage("a_1.jpeg_12")).toBe("a_1.jpeg");
  });

  it("is a metric on strings of any code points", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\u{1f6f6}", "\u{20bb7}", "é"), maxLength: 12 });
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(levenshtein(a, a)).toBe(0);
        expect(levenshtein(a, b)).toBe(levenshtein(b, a));
        expect(levenshtein(a, c)).toBeLessThanOrEqual(levenshtein(a, b) + levenshtein(b, c));
        expect(normalisedEditDistance(a, b)).toBeGreaterThanOrEqual(0);
        expect(normalisedEditDistance(a, b)).toBeLessThanOrEqual(1);
        expect(levenshtein(a, b)).toBe(levenshteinOfLists(Array.from(a), Array.from(b)));
      }),
    );
  });

  it("agrees with the textbook table on long lists", () => {
    const table = (a: number[], b: number[]) => {
      let row = b.map((_, j) => j + 1);
      a.forEach((x, i) => {
        const next: number[] = [];
        b.forEach((y, j) => {
          const diagonal = j === 0 ? i : row[j - 1];
          const left = j === 0 ? i + 1 : next[j - 1];
          next.push(Math.min(row[j] + 1, left + 1, diagonal + (x === y ? 0 : 1)));
        });
        row = next;
      });
      return b.length === 0 ? a.length : row[b.length - 1];
    };
    const list = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 90 });
    fc.assert(fc.property(list, list, (a, b) => void expect(levenshteinOfLists(a, b)).toBe(table(a, b))));
  });
});
