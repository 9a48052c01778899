import { expect, test } from "vitest";
import { fitFormula } from "./fit-formula.ts";
import { type PixelBox, type RgbImage, rgbImage } from "./rgb-image.ts";

function formula(width: number, height: number, marks: readonly PixelBox[]): RgbImage {
  const image = rgbImage(width, height);
  for (const [left, top, right, bottom] of marks)
    for (let y = top; y < bottom; y++) image.data.fill(0, (y * width + left) * 3, (y * width + right) * 3);
  return image;
}

/** A fraction: letters over and under a bar, `k` times as large. */
const fraction = (k: number): RgbImage =>
  formula(100 * k, 80 * k, [
    [20 * k, 10 * k, 32 * k, 26 * k],
    [40 * k, 10 * k, 52 * k, 26 * k],
    [10 * k, 36 * k, 80 * k, 38 * k],
    [30 * k, 48 * k, 42 * k, 64 * k],
  ]);

test("a formula's type comes to one size, whatever its resolution", () => {
  const [small, large] = [fitFormula(fraction(1), 28, 28).image, fitFormula(fraction(3), 28, 28).image];
  expect([large.width, large.height]).toEqual([small.width, small.height]);
  expect(small.height).toBe(56);
});

test("one line of letters fills one row of tokens and places are kept", () => {
  const image = formula(90, 60, [
    [10, 20, 22, 40],
    [40, 20, 52, 40],
  ]);
  const { image: fitted, place } = fitFormula(image, 28, 28);
  expect(fitted.height).toBe(28);
  expect(fitted.width % 28).toBe(0);
  const [x, y] = place(46, 30);
  expect(fitted.data[(Math.round(y) * fitted.width + Math.round(x)) * 3]).toBeLessThan(60);
  const [between] = place(31, 30);
  expect(fitted.data[(Math.round(y) * fitted.width + Math.round(between)) * 3]).toBeGreaterThan(200);
});

test("a bar alone and a blank picture are brought to one row", () => {
  expect(fitFormula(formula(80, 30, [[10, 14, 70, 16]]), 28, 28).image.height).toBe(28);
  expect(fitFormula(rgbImage(80, 30), 28, 28).image.height).toBe(28);
});
