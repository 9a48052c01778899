import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16, float16Bits, float16Value } from "./float16.ts";

describe("float16", () => {
  it("knows the landmarks", () => {
    const landmarks: [number, number][] = [
      [0, 0x0000],
      [-0, 0x8000],
      [1, 0x3c00],
      [-2, 0xc000],
      [65504, 0x7bff],
      [2 ** -14, 0x0400],
      [2 ** -24, 0x0001],
      [1023 * 2 ** -24, 0x03ff],
      [Infinity, 0x7c00],
      [-Infinity, 0xfc00],
    ];
    for (const [value, bits] of landmarks) {
      expect(float16Bits(value)).toBe(bits);
      expect(Object.is(float16Value(bits), value)).toBe(true);
    }
    expect(float16Value(float16Bits(NaN))).toBeNaN();
  });

  it("gives back every bit pattern", () => {
    const all = Uint16Array.from({ length: 0x10000 }, (_, i) => i);
    const values = decodeFloat16(all);
    const back = encodeFloat16(values);
    const wrong = [...all.keys()].filter((bits) => {
      const isNumber = (bits & 0x7c00) !== 0x7c00 || (bits & 0x3ff) === 0;
      const returned = isNumber ? back[bits] === bits : Number.isNaN(values[bits]) && (back[bits] & 0x3ff) !== 0;
      return !returned || !Object.is(values[bits], float16Value(bits));
    });
    expect(wrong).toEqual([]);
  });

  it("rounds to nearest, ties to even, for each gap between neighbours", () => {
    const wrong = [...Array(0x7c00).keys()].filter((bits) => {
      const low = float16Value(bits);
      const high = bits === 0x7bff ? 65536 : float16Value(bits + 1);
      const tie = float16Bits((low + high) / 2);
      const below = float16Bits(-Math.fround(low + (high - low) * 0.499));
      const above = float16Bits(Math.fround(low + (high - low) * 0.501));
      return tie !== bits + (bits % 2) || below !== (bits | 0x8000) || above !== bits + 1;
    });
    expect(wrong).toEqual([]);
    expect(float16Bits(2 ** -26)).toBe(0);
  });
});

describe("bfloat16", () => {
  it("rounds to nearest, ties to even", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true, max: Math.fround(3e38), min: Math.fround(-3e38) }), (value) => {
        const [nearest] = decodeBfloat16(encodeBfloat16(Float32Array.of(value)));
        const [bits] = encodeBfloat16(Float32Array.of(value));
        const neighbours = [...decodeBfloat16(Uint16Array.of(bits - 1, bits + 1))];
        for (const other of neighbours) {
          if (!Number.isFinite(other)) continue;
          const distance = Math.abs(value - nearest);
          expect(distance).toBeLessThanOrEqual(Math.abs(value - other));
          if (distance === Math.abs(value - other) && other !== nearest) expect(bits % 2).toBe(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("keeps NaN and infinity, and overflows to infinity", () => {
    const bits = Uint32Array.of(0x7f800001, 0xff800000, 0x7f7fffff);
    const [nan, infinity, overflow] = decodeBfloat16(encodeBfloat16(new Float32Array(bits.buffer)));
    expect(nan).toBeNaN();
    expect(infinity).toBe(-Infinity);
    expect(overflow).toBe(Infinity);
  });
});

it("refuses a target of another length", () => {
  expect(() => decodeFloat16(new Uint16Array(3), new Float32Array(2))).toThrow("`target` expected length 3, got 2");
});
