import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CommitRuleOptions, commitRule, commitStrategies, forcedCounts, selectCommits } from "./commit-rules.ts";
import { firstStop } from "./stopping.ts";

const golden: {
  selections: { name: string; masked: number[]; confidence: number[]; count: number; threshold: number; commit: number[] }[];
  counts: { blockLength: number; steps: number; counts: number[] }[];
  stops: { name: string; tokens: number[]; cutAt: number | null }[];
} = JSON.parse(readFileSync(new URL("../../test/golden/diffusion/rules.json", import.meta.url), "utf8"));

const places = (options: CommitRuleOptions, confidences: number[], due = 1, entropies?: number[]): number[] =>
  Array.from(selectCommits(commitRule(options), { confidences, entropies }, due));

describe("commit rules", () => {
  it.each(golden.selections)("select as the reference: $name", ({ masked, confidence, count, threshold, commit }) => {
    const chosen = selectCommits(commitRule({ threshold }), { confidences: Float32Array.from(confidence) }, count);
    expect(Array.from(chosen, (place) => masked[place])).toEqual(commit);
  });

  it.each(golden.counts)("are due as often as the reference: $blockLength positions in $steps steps", ({ blockLength, steps, counts }) => {
    expect(Array.from(forcedCounts(blockLength, steps))).toEqual(counts);
  });

  it.each(golden.stops)("cut where the reference cuts: $name", ({ tokens, cutAt }) => {
    expect(firstStop(tokens, [512, 514])).toBe(cutAt);
  });

  it("compare as float32: a confidence is not above the threshold it was rounded from", () => {
    for (const threshold of [0.95, 0.9, 0.85, 0.7, 0.6]) {
      expect(places({ threshold }, [0.1, Math.fround(threshold), Math.fround(threshold)])).toEqual([1]);
    }
  });

  it("static takes the due most confident, sequential the due leftmost", () => {
    expect(places({ strategy: "low_confidence_static" }, [0.2, 0.9, 0.99, 0.9], 2)).toEqual([1, 2]);
    expect(places({ strategy: "low_confidence_static" }, [0.2, 0.9], 5)).toEqual([0, 1]);
    expect(places({ strategy: "sequential" }, [0.2, 0.9, 0.99, 0.9], 2)).toEqual([0, 1]);
  });

  it("entropy_bounded takes the lowest entropies while their sum stays below gamma, at least one", () => {
    const confidences = [0.5, 0.5, 0.5, 0.5];
    expect(places({ strategy: "entropy_bounded", gamma: 0.375 }, confidences, 1, [0.25, 2, 0.0625, 0.0625])).toEqual([2, 3]);
    expect(places({ strategy: "entropy_bounded", gamma: 0.376 }, confidences, 1, [0.25, 2, 0.0625, 0.0625])).toEqual([0, 2, 3]);
    expect(places({ strategy: "entropy_bounded", gamma: 0 }, confidences, 1, [2, 1, 1, 3])).toEqual([1]);
    expect(() => places({ strategy: "entropy_bounded" }, confidences)).toThrow("`entropies` expected");
  });

  it("factor takes more only while each is surer: (n + 1)(1 - n-th confidence) < factor", () => {
    const confidences = [0.9, 0.5, 0.875, 0.8];
    // n = 1: 2 * 0.1; n = 2: 3 * 0.125; n = 3: 4 * 0.2; n = 4: 5 * 0.5
    expect(places({ strategy: "factor", factor: 0.2 }, confidences)).toEqual([0]);
    expect(places({ strategy: "factor", factor: 0.375 }, confidences)).toEqual([0]);
    expect(places({ strategy: "factor", factor: 0.38 }, confidences)).toEqual([0, 2]);
    expect(places({ strategy: "factor", factor: 0.9 }, confidences)).toEqual([0, 2, 3]);
    expect(places({ strategy: "factor", factor: 0 }, confidences)).toEqual([0]);
  });

  it("always commit what is due and never more than there is, in order, without repeats", () => {
    const share = fc.float({ min: 0, max: 1, noNaN: true });
    const certainties = fc.array(fc.tuple(share, share), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.constantFrom(...commitStrategies), certainties, fc.integer({ min: 1, max: 50 }), (strategy, pairs, due) => {
        const chosen = places(
          { strategy },
          pairs.map(([confidence]) => confidence),
          due,
          pairs.map(([, entropy]) => entropy),
        );
        expect(chosen.length).toBeGreaterThanOrEqual(Math.min(due, pairs.length));
        expect(chosen).toEqual([...new Set(chosen)].sort((a, b) => a - b));
        expect(chosen.every((place) => place >= 0 && place < pairs.length)).toBe(true);
      }),
    );
  });

  it("refuse what they cannot mean", () => {
    expect(() => commitRule({ strategy: "random" as "factor" })).toThrow(
      "`strategy` expected one of low_confidence_dynamic, low_confidence_static, sequential, entropy_bounded, factor, got random",
    );
    expect(() => commitRule({ threshold: 1.01 })).toThrow("`threshold` expected a number from 0 to 1, got 1.01");
    expect(() => commitRule({ threshold: Number.NaN })).toThrow(RangeError);
    expect(() => commitRule({ strategy: "factor", threshold: 0.9 })).toThrow(
      "`threshold` expected only with the strategy low_confidence_dynamic",
    );
    expect(() => commitRule({ strategy: "entropy_bounded", gamma: -1 })).toThrow(RangeError);
    expect(() => forcedCounts(8, 9)).toThrow("`stepsPerBlock` expected an integer from 1 to 8, got 9");
    expect(() => selectCommits(commitRule(), { confidences: [] }, 1)).toThrow(RangeError);
    expect(commitRule()).toEqual({ strategy: "low_confidence_dynamic", threshold: 0.95 });
  });
});
