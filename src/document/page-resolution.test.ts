import { expect, test } from "vitest";
import { type RgbImage, rgbImage } from "../image/rgb-image.ts";
import { neededScale, printHeight, withoutExcess } from "./page-resolution.ts";

/** Lines of letters: boxes `height` high, with paper between. */
function printed(width: number, pageHeight: number, height: number): RgbImage {
  const page = rgbImage(width, pageHeight);
  for (let y = height; y + height < pageHeight; y += 3 * height)
    for (let x = height; x + height < width; x += height + Math.ceil(height / 3))
      for (let row = y; row < y + height; row++) page.data.fill(0, (row * width + x) * 3, (row * width + x + Math.ceil(height * 0.6)) * 3);
  return page;
}

test("usual print is read as it is, small print larger, up to twice", () => {
  expect(printHeight(printed(400, 300, 16))).toBe(16);
  expect(neededScale(printed(400, 300, 16))).toBe(1);
  expect(neededScale(printed(400, 300, 8))).toBe(1.75);
  expect(neededScale(printed(400, 300, 5))).toBe(2);
  expect(neededScale(rgbImage(400, 300))).toBe(1);
});

test("an enormous picture is made smaller as far as its print allows", () => {
  const blank = withoutExcess(rgbImage(1000, 600), 36_000);
  expect([blank.width, blank.height]).toEqual([245, 147]);
  expect(withoutExcess(printed(1000, 600, 14), 36_000).width).toBe(1000);
  expect(withoutExcess(printed(1000, 600, 28), 36_000).width).toBe(500);
  expect(withoutExcess(printed(400, 300, 60)).width).toBe(400);
});
