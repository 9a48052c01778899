import { expect, test } from "vitest";
import { rgbImage } from "../image/rgb-image.ts";
import { inkLayout } from "./ink-layout.ts";

/** Print-like lines of 14 px on a pitch of 20: strokes three pixels wide. */
function page(blocks: readonly (readonly [left: number, top: number, width: number, lines: number])[]) {
  const image = rgbImage(600, 800);
  image.data.fill(255);
  for (const [left, top, width, lines] of blocks) {
    for (let line = 0; line < lines; line++) {
      for (let y = top + line * 20; y < top + line * 20 + 14; y++) {
        for (let x = left; x < left + width; x++) if ((x - left) % 7 < 3) image.data.fill(0, (y * 600 + x) * 3, (y * 600 + x) * 3 + 3);
      }
    }
  }
  return image;
}

test("a title over two columns: title, left column, right column", () => {
  const regions = inkLayout(page([[60, 60, 480, 1], [60, 120, 220, 20], [320, 120, 220, 20]])); // biome-ignore format: rows
  expect(regions.map(({ pixelBox }) => pixelBox[0])).toEqual([58, 58, 318]); // two pixels of paper are kept
  expect(regions[1].pixelBox[1]).toBe(118);
  expect(regions.every(({ class: name, angle }) => name === "text" && angle === 0)).toBe(true);
});

test("paragraphs are parted by white, lines are not", () => {
  expect(inkLayout(page([[60, 60, 480, 5], [60, 200, 480, 5]]))).toHaveLength(2); // biome-ignore format: rows
  expect(inkLayout(page([[60, 60, 480, 12]]))).toHaveLength(1);
});

test("boxes hold the ink and lie on the page; a blank page has none", () => {
  const [{ box, pixelBox }] = inkLayout(page([[60, 60, 480, 5]]));
  expect(box[0] * 0.6).toBeLessThanOrEqual(pixelBox[0]);
  expect(box[2] * 0.6).toBeGreaterThanOrEqual(pixelBox[2]);
  expect(inkLayout(page([]))).toEqual([]);
});
