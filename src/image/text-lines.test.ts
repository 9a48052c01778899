import { expect, test } from "vitest";
import { rgbImage } from "./rgb-image.ts";
import { textLines } from "./text-lines.ts";

/** A page with black bars at the given rows, `breadth` wide. */
function bars(height: number, rows: readonly (readonly [number, number, number])[]) {
  const image = rgbImage(300, height);
  image.data.fill(255);
  for (const [top, bottom, breadth] of rows) {
    for (let y = top; y < bottom; y++)
      for (let x = 20; x < 20 + breadth; x++) if (x % 9 < 4) image.data.fill(0, (y * 300 + x) * 3, (y * 300 + x) * 3 + 3);
  }
  return image;
}

test("one band per line, short last lines too, covering the picture", () => {
  const lines = textLines(bars(140, [[10, 30, 250], [44, 64, 250], [78, 98, 250], [112, 132, 40]]), 34); // biome-ignore format: rows
  expect(lines).toHaveLength(4);
  expect(lines[0].top).toBe(0);
  expect(lines.at(-1)!.bottom).toBe(140);
  lines.forEach(({ bottom }, i) => {
    if (i + 1 < lines.length) expect(bottom).toBe(lines[i + 1].top);
  });
});

test("dots and accents stay with their line", () => {
  expect(textLines(bars(80, [[8, 11, 30], [14, 30, 250], [42, 45, 30], [48, 64, 250]]), 34)).toEqual([{ top: 0, bottom: 36 }, { top: 36, bottom: 80 }]); // biome-ignore format: rows
});

test("touching lines are cut where the ink is least", () => {
  const lines = textLines(bars(110, [[10, 40, 250], [40, 44, 20], [44, 74, 250], [74, 78, 20], [78, 104, 250]]), 34); // biome-ignore format: rows
  expect(lines).toHaveLength(3);
  expect(lines[0].bottom).toBeGreaterThanOrEqual(40);
  expect(lines[0].bottom).toBeLessThan(44);
});

test("a blank picture is one band; a pitch must be positive", () => {
  expect(textLines(bars(50, []), 30)).toEqual([{ top: 0, bottom: 50 }]);
  expect(() => textLines(bars(50, []), 0)).toThrow(/`pitch` expected a positive number, got 0/);
});
