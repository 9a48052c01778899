import { expect, test } from "vitest";
import { fitTable } from "./fit-table.ts";
import { type PixelBox, type RgbImage, rgbImage } from "./rgb-image.ts";

const PAPER = 240;

function sheet(width: number, height: number): RgbImage {
  const image = rgbImage(width, height);
  image.data.fill(PAPER);
  return image;
}

function ink({ width, data }: RgbImage, [left, top, right, bottom]: PixelBox): void {
  for (let y = top; y < bottom; y++) data.fill(20, (y * width + left) * 3, (y * width + right) * 3);
}

/** A word of upright strokes, 20 high. */
function word(image: RgbImage, left: number, top: number, strokes: number): void {
  for (let i = 0; i < strokes; i++) ink(image, [left + 8 * i, top, left + 8 * i + 3, top + 20]);
}

const isDark = ({ width, data }: RgbImage, x: number, y: number): boolean => data[(Math.round(y) * width + Math.round(x)) * 3] < 130;

test("every printed line fills a row of tokens, rules and white between lines do not count", () => {
  const image = sheet(400, 220);
  for (const top of [20, 90, 160]) {
    word(image, 30, top, 6);
    word(image, 250, top, 4);
  }
  for (const y of [5, 70, 140, 210]) ink(image, [5, y, 395, y + 2]);
  for (const x of [5, 200, 393]) ink(image, [x, 5, x + 2, 212]);
  const { image: fitted, place } = fitTable(image, 28, 28);
  expect(fitted.height).toBe(3 * 28);
  expect(fitted.width % 28).toBe(0);
  // The white from 80 to 250 has become a token and a half.
  const scale = 28 / (20 * 1.12);
  expect(place(250, 30)[0] - place(73, 30)[0]).toBeCloseTo(42 + scale, -1);
  for (const [row, top] of [20, 90, 160].entries()) {
    const [x, y] = place(31.5, top + 10);
    expect(Math.floor(y / 28)).toBe(row);
    expect(isDark(fitted, x, y)).toBe(true);
    const [second] = place(251.5, top + 10);
    expect(isDark(fitted, second, y)).toBe(true);
    expect(isDark(fitted, (x + second) / 2 + 20, y)).toBe(false);
  }
});

test("a rule between two lines is drawn above the lower one, as long as it was", () => {
  const image = sheet(300, 130);
  for (const top of [10, 50, 90]) {
    word(image, 20, top, 5);
    word(image, 160, top, 5);
  }
  ink(image, [140, 40, 290, 42]);
  const { image: fitted, place } = fitTable(image, 28, 28);
  const [left] = place(22, 60);
  const [right] = place(205, 60);
  expect(isDark(fitted, right, 28)).toBe(true);
  expect(isDark(fitted, left + 4, 28)).toBe(false);
  expect(isDark(fitted, right, 56)).toBe(false);
});

test("what is higher than a line takes several rows and is not cut", () => {
  const image = sheet(300, 150);
  for (const top of [10, 100]) word(image, 20, top, 5);
  word(image, 20, 40, 5);
  word(image, 20, 70, 5);
  word(image, 160, 54, 5); // a cell centred beside one of two lines
  const { image: fitted, place } = fitTable(image, 28, 28);
  expect(fitted.height).toBe(28 + 3 * 28 + 28);
  const [x, y] = place(161.5, 64);
  expect(isDark(fitted, x, y)).toBe(true);
  expect(isDark(fitted, x, y - 10)).toBe(true);
});

test("a picture without ink comes back as one white token", () => {
  expect(fitTable(sheet(90, 70), 28, 28).image).toEqual(rgbImage(28, 28));
});
