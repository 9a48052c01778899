import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom, type RandomState, resumeRandom } from "./random.ts";

describe("random", () => {
  it("is xoshiro128**: the first words from state 1, 2, 3, 4 as published with the reference code", () => {
    const random = resumeRandom([1, 2, 3, 4]);
    const words = Array.from({ length: 10 }, () => random.uint32());
    expect(words).toEqual([11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804]);
  });

  it("resumes to the bit from a state that went through JSON", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(200), (seed, drawn) => {
        const random = createRandom(seed);
        for (let draw = 0; draw < drawn; draw++) random.uniform();
        const resumed = resumeRandom(JSON.parse(JSON.stringify(random.state())) as RandomState);
        for (let draw = 0; draw < 20; draw++) expect(resumed.uniform()).toBe(random.uniform());
        expect(resumed.state()).toEqual(random.state());
      }),
    );
  });

  it("gives every seed and path its own stream", () => {
    const firsts = new Set<number>();
    for (let seed = 0; seed < 50; seed++) for (let path = 0; path < 50; path++) firsts.add(createRandom(seed, path).uniform());
    for (let seed = 0; seed < 50; seed++) firsts.add(createRandom(seed).uniform());
    firsts.add(createRandom(2 ** 32).uniform()).add(createRandom(2 ** 33 + 1).uniform());
    expect(firsts.size).toBe(2552);
  });

  it("draws evenly", () => {
    const random = createRandom(7);
    const counts = new Array<number>(6).fill(0);
    let sum = 0;
    for (let draw = 0; draw < 60_000; draw++) {
      counts[random.integer(6)]++;
      sum += random.uniform();
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    expect(sum / 60_000).toBeCloseTo(0.5, 2);
    let low = 0;
    for (let draw = 0; draw < 10_000; draw++) if (random.integer(3 * 2 ** 30) < 2 ** 30) low++;
    expect(Math.abs(low - 3_333)).toBeLessThan(250);
  });

  it("refuses seeds and states it cannot use", () => {
    expect(() => createRandom(-1)).toThrow(RangeError);
    expect(() => createRandom(0.5)).toThrow("`seed` expected an integer of at least 0, got 0.5");
    expect(() => resumeRandom([0, 0, 0, 0])).toThrow(RangeError);
    expect(() => resumeRandom([1, 2, 3] as unknown as RandomState)).toThrow("`state` expected 4 words, got 3");
    expect(() => createRandom(1).integer(0)).toThrow(RangeError);
  });
});
