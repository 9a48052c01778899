import { expect, test } from "vitest";
import { fitLine } from "./fit-line.ts";
import { linePictures, MAX_LINE_TOKENS } from "./line-pictures.ts";
import { type RgbImage, rgbImage } from "./rgb-image.ts";

/** Paper with dark bars of `height` in words of `letters` strokes, one row per entry of `tops`. */
function page(
  width: number,
  height: number,
  tops: readonly number[],
  barHeight: number,
  words: readonly (readonly [number, number])[],
): RgbImage {
  const image = rgbImage(width, height);
  image.data.fill(240);
  for (const top of tops)
    for (const [from, to] of words)
      for (let x = from; x < to; x++) {
        if (x % 6 > 1) continue;
        for (let y = top; y < top + barHeight; y++) image.data.fill(20, (y * width + x) * 3, (y * width + x) * 3 + 3);
      }
  return image;
}

test("a fitted line has the height asked for, whole tokens of width and paper at its end", () => {
  const line = page(300, 60, [20], 20, [[40, 200]]);
  const { image, left, scale } = fitLine(line, 28, 28);
  expect(image.height).toBe(28);
  expect(image.width % 28).toBe(0);
  expect(Math.abs(scale - 28 / 22)).toBeLessThan(0.1);
  expect(left).toBe(42 - 7);
  expect(image.data[(14 * image.width + image.width - 1) * 3]).toBe(240);
  // The first stroke stands where `left` and `scale` say.
  const x = Math.round((42.8 - left) * scale);
  expect(image.data[(14 * image.width + x) * 3]).toBeLessThan(60);
});

test("a dash is not blown up to the height of letters", () => {
  const dash = page(60, 40, [19], 3, [[20, 40]]);
  expect(fitLine(dash, 28, 28).scale).toBeLessThanOrEqual(28 / 12);
});

test("a paragraph becomes its lines, top to bottom", () => {
  const paragraph = page(320, 130, [10, 50, 90], 18, [[10, 300]]);
  const lines = linePictures(paragraph, 28, 28);
  expect(lines).toHaveLength(3);
  expect(lines.every(({ continues, image }) => !continues && image.height === 28)).toBe(true);
});

test("a line too long for the weights is parted between words", () => {
  const long = page(2600, 40, [10], 20, [
    [10, 1200],
    [1240, 2590],
  ]);
  const parts = linePictures(long, 28, 28);
  expect(parts.map(({ continues }) => continues)).toEqual([...parts.slice(1).map(() => true), false]);
  expect(parts.length).toBeGreaterThan(1);
  for (const { image } of parts) expect(image.width).toBeLessThanOrEqual(MAX_LINE_TOKENS * 28);
});

test("a blank picture is one picture", () => {
  const blank = rgbImage(50, 30);
  blank.data.fill(255);
  expect(linePictures(blank, 28, 28)).toHaveLength(1);
});
