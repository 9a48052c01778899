import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findRepetition } from "./repetition.ts";

const repeated = (unit: readonly number[], times: number): number[] =>
  Array.from({ length: unit.length * times }, (_, index) => unit[index % unit.length]);
const prose = (length: number, seed = 0): number[] => Array.from({ length }, (_, index) => 1000 + ((index * index * 31 + seed) % 4001));

describe("repetition", () => {
  it("finds a unit that has run away, wherever it starts and ends", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(80), fc.nat(80), (unit, before, after) => {
        const cycle = Array.from({ length: unit }, (_, index) => index + 1);
        const times = Math.max(4, Math.ceil(200 / unit));
        const found = findRepetition([...prose(before), ...repeated(cycle, times), ...prose(after)]);
        expect(found).toEqual({ start: before, unit, tokens: unit * times });
      }),
    );
  });

  it("names the shortest unit", () => {
    expect(findRepetition(repeated([1, 2, 1, 2, 1, 2], 50))).toEqual({ start: 0, unit: 2, tokens: 300 });
    expect(findRepetition(repeated([1, 1, 1, 2], 100))!.unit).toBe(4);
  });

  it("keeps what a document may well repeat", () => {
    const [open, cell, row, text, dot] = [1, 2, 3, 4, 5];
    const table = Array.from({ length: 30 }, (_, index) => [open, text, open, 100 + index, cell, cell, cell, row]).flat();
    expect(findRepetition(table)).toBeNull();
    expect(findRepetition(repeated([open, text, row], 60))).toBeNull();
    expect(findRepetition([...prose(300), ...repeated([dot], 120), ...prose(300)])).toBeNull();
    const contents = Array.from({ length: 40 }, (_, index) => [...prose(4, index), ...repeated([dot], 60), 200 + index]).flat();
    expect(findRepetition(contents)).toBeNull();
    expect(findRepetition(repeated(prose(64), 3.75))).toBeNull();
  });

  it("is patient with blank forms, but not without end", () => {
    const [cell, row] = [2, 3];
    const form = repeated([cell, cell, cell, cell, cell, row], 60);
    expect(findRepetition(form)).toEqual({ start: 0, unit: 6, tokens: 360 });
    expect(findRepetition(form, { blankTokens: [cell, row] })).toBeNull();
    expect(findRepetition(repeated([cell, row], 600), { blankTokens: [cell, row] })).not.toBeNull();
    expect(findRepetition(repeated([cell, 7], 150), { blankTokens: [cell, row] })).not.toBeNull();
  });

  it("obeys its limits and refuses ones that make no sense", () => {
    expect(findRepetition(repeated([1, 2], 20), { leastTokens: 40 })).not.toBeNull();
    expect(findRepetition(repeated([1, 2], 20), { leastTokens: 41 })).toBeNull();
    expect(findRepetition(repeated([1, 2, 3], 100), { longestUnit: 2 })).toBeNull();
    expect(findRepetition([])).toBeNull();
    expect(() => findRepetition([1], { leastRepeats: 1 })).toThrow("`leastRepeats` expected an integer of at least 2, got 1");
  });
});
