import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { likelihoodWeight, noiseSchedules } from "./noise-schedule.ts";
import { type NoisingOptions, noiseAnswer } from "./noising.ts";
import { createRandom } from "./random.ts";

const maskToken = 99;
const answerOf = (length: number): Int32Array => Int32Array.from({ length }, (_, index) => index % 90);

describe("noise schedules", () => {
  it.each(Object.entries(noiseSchedules))("%s grows from 0 to 1, knows its slope and its inverse", (_, schedule) => {
    expect(schedule.maskRate(0)).toBe(0);
    expect(schedule.maskRate(1)).toBeCloseTo(1, 12);
    for (let time = 0.05; time < 1; time += 0.05) {
      const difference = (schedule.maskRate(time + 1e-6) - schedule.maskRate(time - 1e-6)) / 2e-6;
      expect(schedule.slope(time)).toBeCloseTo(difference, 6);
      expect(schedule.timeOf(schedule.maskRate(time))).toBeCloseTo(time, 9);
    }
  });

  it("leave the likelihood bound as it is, whichever is drawn from", () => {
    // A model whose loss at mask rate r is r^2: the bound is the integral of r^2 / r over r, one half.
    for (const schedule of Object.values(noiseSchedules)) {
      let bound = 0;
      for (let index = 0; index < 10_000; index++) {
        const time = (index + 0.5) / 10_000;
        bound += (likelihoodWeight(schedule, time) * schedule.maskRate(time) ** 2) / 10_000;
      }
      expect(bound).toBeCloseTo(0.5, 6);
    }
    expect(likelihoodWeight(noiseSchedules.linear, 0.25)).toBe(4);
  });
});

const anyOptions: fc.Arbitrary<NoisingOptions> = fc.record({
  blockLength: fc.integer({ min: 1, max: 40 }),
  maskToken: fc.constant(maskToken),
  low: fc.constantFrom(0.001, 0.1, 0.45),
  high: fc.constantFrom(0.5, 0.95, 1),
  schedule: fc.constantFrom("linear" as const, "cosine" as const),
  per: fc.constantFrom("block" as const, "sequence" as const),
  stratified: fc.boolean(),
  allMasked: fc.constantFrom(0, 0.3, 1),
  resample: fc.boolean(),
  copies: fc.integer({ min: 1, max: 4 }),
  complementary: fc.boolean(),
});

describe("noising", () => {
  it("masks at least one token of every block, keeps the others, and is a function of the seed", () => {
    fc.assert(
      fc.property(anyOptions, fc.nat(100), fc.nat(), (options, length, seed) => {
        const answer = answerOf(length);
        const copies = noiseAnswer(answer, options, createRandom(seed));
        expect(copies).toHaveLength(options.copies!);
        expect(noiseAnswer(answer, options, createRandom(seed))).toEqual(copies);
        copies.forEach(({ tokens, masked, rates, weights }, copy) => {
          const blocks = Math.ceil(length / options.blockLength);
          expect([rates.length, weights.length]).toEqual([blocks, blocks]);
          tokens.forEach((token, index) => {
            expect(token).toBe(masked[index] ? maskToken : answer[index]);
          });
          const complement = options.complementary && copy % 2 === 1;
          for (let block = 0; block < blocks; block++) {
            const cells = masked.subarray(block * options.blockLength, (block + 1) * options.blockLength);
            if (!complement) expect(cells.includes(1)).toBe(true);
            if (!complement && rates[block] === 1) expect(cells.includes(0)).toBe(false);
            expect(Number.isFinite(weights[block])).toBe(true);
          }
        });
      }),
    );
  });

  it("masks exactly what the first copy left clean in its complement", () => {
    const [first, second, third] = noiseAnswer(
      answerOf(64),
      { blockLength: 8, maskToken, copies: 3, complementary: true },
      createRandom(3),
    );
    expect(second.masked).toEqual(first.masked.map((flag) => 1 - flag));
    expect(third.masked).not.toEqual(first.masked);
    first.rates.forEach((rate, block) => {
      expect(second.rates[block]).toBe(1 - rate);
    });
  });

  it("keeps the masked share near the rate it drew, block by block", () => {
    const [{ masked, rates }] = noiseAnswer(answerOf(40_000), { blockLength: 2_000, maskToken }, createRandom(5));
    rates.forEach((rate, block) => {
      const share = masked.subarray(block * 2_000, (block + 1) * 2_000).reduce((sum, flag) => sum + flag, 0) / 2_000;
      expect(Math.abs(share - rate)).toBeLessThan(0.05);
    });
  });

  it.each(["linear", "cosine"] as const)("draws %s rates from the clipped interval, one from each stratum over all copies", (name) => {
    const options = { blockLength: 4, maskToken, low: 0.3, high: 0.8, schedule: name, copies: 2 };
    const drawn = noiseAnswer(answerOf(40), options, createRandom(11)).flatMap(({ rates }) => Array.from(rates));
    const schedule = noiseSchedules[name];
    const from = schedule.timeOf(0.3);
    const strata = drawn
      .map((rate) => Math.floor(((schedule.timeOf(rate) - from) / (schedule.timeOf(0.8) - from)) * 20))
      .sort((a, b) => a - b);
    expect(strata).toEqual(Array.from({ length: 20 }, (_, index) => index));
    for (const rate of drawn) expect(rate >= 0.3 && rate <= 0.8).toBe(true);
    expect(drawn).not.toEqual(drawn.toSorted((a, b) => a - b));
  });

  it("gives a sequence one rate if asked, and whole masks their share", () => {
    const [{ rates }] = noiseAnswer(answerOf(40), { blockLength: 4, maskToken, per: "sequence" }, createRandom(2));
    expect(new Set(rates).size).toBe(1);
    const four = noiseAnswer(answerOf(40), { blockLength: 4, maskToken, low: 0.2, per: "sequence", copies: 4 }, createRandom(2));
    const strata = four.map((copy) => Math.floor((copy.rates[0] - 0.2) / 0.2));
    expect(strata.sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    const [{ rates: mixed }] = noiseAnswer(answerOf(4_000), { blockLength: 4, maskToken, allMasked: 0.25 }, createRandom(2));
    expect(Math.abs(mixed.filter((rate) => rate === 1).length / 1_000 - 0.25)).toBeLessThan(0.05);
  });

  it("redraws until the masked share lies in the interval", () => {
    const options = { blockLength: 16, maskToken, low: 0.4, high: 0.6 };
    const outside = (resample: boolean): number => {
      const [{ masked }] = noiseAnswer(answerOf(16 * 300), { ...options, resample }, createRandom(8));
      let count = 0;
      for (let block = 0; block < 300; block++) {
        const share = masked.subarray(block * 16, (block + 1) * 16).reduce((sum, flag) => sum + flag, 0) / 16;
        if (share < 0.4 || share > 0.6) count++;
      }
      return count;
    };
    expect(outside(false)).toBeGreaterThan(60);
    expect(outside(true)).toBeLessThan(3);
  });

  it("refuses intervals, schedules and answers that make no sense", () => {
    const random = createRandom(1);
    expect(() => noiseAnswer(answerOf(4), { blockLength: 4, maskToken, low: 0.7, high: 0.5 }, random)).toThrow(
      "`high` expected a number from 0.7 to 1, got 0.5",
    );
    expect(() => noiseAnswer(answerOf(4), { blockLength: 4, maskToken, low: 0 }, random)).toThrow(RangeError);
    expect(() => noiseAnswer(answerOf(4), { blockLength: 4, maskToken, schedule: "step" as "linear" }, random)).toThrow(
      "`schedule` expected",
    );
    expect(() => noiseAnswer(Int32Array.of(1, 99), { blockLength: 4, maskToken }, random)).toThrow("`answer` expected no mask token");
  });
});
