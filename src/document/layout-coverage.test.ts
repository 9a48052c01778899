import { expect, test } from "vitest";
import { rgbImage } from "../image/rgb-image.ts";
import { inkCoverage } from "./layout-coverage.ts";

function page() {
  const image = rgbImage(100, 100);
  image.data.fill(255);
  for (const left of [10, 60]) for (let y = 20; y < 60; y++) image.data.fill(0, (y * 100 + left) * 3, (y * 100 + left + 20) * 3);
  return image;
}

test("the share of ink that regions cover", () => {
  expect(inkCoverage(page(), [])).toBe(0);
  expect(inkCoverage(page(), [{ pixelBox: [0, 0, 50, 100] }])).toBeCloseTo(0.5);
  expect(inkCoverage(page(), [{ pixelBox: [0, 0, 50, 100] }, { pixelBox: [0, 0, 100, 100] }])).toBe(1);
});

test("a page without ink is covered", () => {
  const blank = rgbImage(20, 20);
  blank.data.fill(255);
  expect(inkCoverage(blank, [])).toBe(1);
});
