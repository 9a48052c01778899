import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { levenshtein } from "./edit-distance.ts";
import { distanceToPart, nearMatches, partialSimilarity, similarity } from "./fuzzy-text.ts";

const { ratios, nearMatches: searches } = golden<{
  ratios: { id: string; a: string; b: string; ratio: number; partialRatio: number }[];
  nearMatches: { id: string; needle: string; text: string; maxDist: number; matches: [number, number, number][] }[];
}>("olmocr.json");
const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "😀"), maxLength: 40 });

describe("likeness of strings", () => {
  it.each(ratios.map((c) => [c.id, c] as const))("%s is the official ratio", (_, c) => {
    expect(similarity(c.a, c.b)).toBeCloseTo(c.ratio, 9);
    expect(partialSimilarity(c.a, c.b)).toBeCloseTo(c.partialRatio, 9);
  });

  it.each(searches.map((c) => [c.id, c] as const))("%s finds the official places", (_, c) => {
    expect(nearMatches(c.needle, c.text, c.maxDist).map((m) => [m.start, m.end, m.distance])).toEqual(c.matches);
  });

  it("is symmetric, within 0..100, and full for equal strings", () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        for (const measure of [similarity, partialSimilarity]) {
          const value = measure(a, b);
          expect(value).toBe(measure(b, a));
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(100);
          expect(measure(a, a)).toBe(100);
        }
      }),
    );
  });

  it("counts the subsequence across words of 32 characters", () => {
    const longWord = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 60, maxLength: 100 });
    fc.assert(
      fc.property(longWord, longWord, (a, b) => {
        let row = new Array<number>(b.length + 1).fill(0);
        for (const x of a) {
          const next = [0];
          for (let j = 0; j < b.length; j++) next.push(x === b[j] ? row[j] + 1 : Math.max(row[j + 1], next[j]));
          row = next;
        }
        expect(similarity(a, b)).toBeCloseTo((200 * row[b.length]) / (a.length + b.length), 9);
      }),
      { numRuns: 30 },
    );
  });

  it("finds every part at its true distance", () => {
    const short = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 14 });
    fc.assert(
      fc.property(short, short, fc.integer({ min: 0, max: 3 }), (needle, text, max) => {
        let least = needle.length;
        for (let i = 0; i <= text.length; i++) {
          for (let j = i; j <= text.length; j++) least = Math.min(least, levenshtein(needle, text.slice(i, j)));
        }
        expect(distanceToPart(needle, text)).toBe(least);
        const found = nearMatches(needle, text, max);
        if (max < needle.length)
          for (const m of found) expect(m.distance).toBeGreaterThanOrEqual(levenshtein(needle, text.slice(m.start, m.end)));
        if (max === 0) expect(found.length > 0).toBe(text.includes(needle));
      }),
    );
  });

  it("refuses an empty needle and a broken distance", () => {
    expect(() => nearMatches("", "abc", 1)).toThrow(RangeError);
    expect(() => nearMatches("a", "abc", 0.5)).toThrow(RangeError);
  });
});
