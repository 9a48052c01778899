import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rgbImage } from "../image/rgb-image.ts";
import { bandsOf, longestAnswer, rejoin } from "./crop-guards.ts";

/** White, with dark lines of text: `height` rows of ink every `pitch` rows. */
function printed(width: number, height: number, pitch: number, ink: number) {
  const image = rgbImage(width, height);
  for (let y = 0; y < height; y++)
    if (y % pitch < ink) for (let x = 2; x < width - 2; x += 3) image.data.fill(0, (y * width + x) * 3, (y * width + x + 1) * 3);
  return image;
}

describe("bands", () => {
  const budget = { tokens: 40, tokenSide: 28 };

  test("a crop within the budget stays whole, a table or formula also up to twice the budget", () => {
    expect(bandsOf(printed(280, 112, 16, 10), "text", budget)).toEqual([{ top: 0, bottom: 112 }]);
    for (const task of ["table", "formula"] as const) {
      expect(bandsOf(printed(280, 220, 16, 10), task, budget)).toHaveLength(1);
      expect(bandsOf(printed(280, 600, 16, 10), task, budget).length).toBeGreaterThan(4);
    }
  });

  test("cuts fall between printed lines", () => {
    const bands = bandsOf(printed(280, 600, 16, 10), "text", budget);
    expect(bands.length).toBeGreaterThan(5);
    for (const { bottom } of bands.slice(0, -1)) expect(bottom % 16).toBeGreaterThanOrEqual(10);
  });

  test("cover the crop, in order, each within the budget", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 2, max: 40 }),
        (width, height, pitch) => {
          const bands = bandsOf(printed(width, height, pitch, pitch >> 1), "text", budget);
          expect(bands[0].top).toBe(0);
          expect(bands[bands.length - 1].bottom).toBe(height);
          bands.forEach((band, i) => {
            expect(band.bottom).toBeGreaterThan(band.top);
            if (i > 0) expect(band.top).toBe(bands[i - 1].bottom);
            expect(Math.ceil(width / 28) * Math.ceil((band.bottom - band.top) / 28)).toBeLessThanOrEqual(40);
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  test("answers are rejoined: lines, rows, lines of a formula", () => {
    expect(rejoin(["one\n", "", " two"], "text")).toBe("one\ntwo");
    expect(rejoin(["<fcel>a<nl>"], "table")).toBe("<fcel>a<nl>");
    expect(rejoin(["<fcel>a<nl>", "<fcel>b<|im_end|>"], "table")).toBe("<fcel>a<nl><fcel>b<nl>");
    expect(rejoin(["\\[ a = b \\]", "c"], "formula")).toBe("\\begin{array}{l} a = b \\\\ c \\end{array}");
    expect(() => bandsOf(rgbImage(5, 5), "text", { tokens: 0, tokenSide: 28 })).toThrow(RangeError);
  });

  test("an answer may grow with its crop", () => {
    expect(longestAnswer({ width: 28, height: 28 }, 1024)).toBe(76);
    expect(longestAnswer({ width: 2800, height: 2800 }, 1024)).toBe(1024);
  });
});
