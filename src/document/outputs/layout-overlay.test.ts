import { describe, expect, test } from "vitest";
import { rgbImage } from "../../image/rgb-image.ts";
import { glyph } from "./bitmap-font.ts";
import { colourOf, drawLayout } from "./layout-overlay.ts";

const regions = [
  { class: "text", box: [200, 200, 800, 400] as const, angle: 0 as const },
  { class: "table", box: [200, 500, 1000, 1000] as const, angle: 90 as const },
];

function pixel(image: { width: number; data: Uint8Array }, x: number, y: number): number[] {
  return [...image.data.subarray((y * image.width + x) * 3, (y * image.width + x) * 3 + 3)];
}

describe("layout overlay", () => {
  const page = rgbImage(200, 300);
  const drawn = drawLayout(page, regions);

  test("draws frames and tint on a copy", () => {
    expect(page.data.every((byte) => byte === 255)).toBe(true);
    expect(pixel(drawn, 40, 90)).toEqual([...colourOf("text")]);
    expect(pixel(drawn, 100, 119)).toEqual([...colourOf("text")]);
    expect(pixel(drawn, 199, 200)).toEqual([...colourOf("table")]);
    expect(pixel(drawn, 100, 90)).toEqual([243, 224, 234]);
    expect(pixel(drawn, 10, 10)).toEqual([255, 255, 255]);
  });

  test("prints number, class and turn above the box", () => {
    const label = "1 TEXT";
    const rows = Array.from({ length: 7 }, (_, row) =>
      Array.from({ length: label.length * 6 }, (_, x) => (pixel(drawn, 41 + x, 52 + row)[1] === 255 ? "#" : ".")).join(""),
    );
    const right = Array.from(
      { length: 7 },
      (_, row) => `${[...label].map((sign) => glyph(sign)[row].toString(2).padStart(5, "0")).join("0")}0`,
    ).map((bits) => bits.replaceAll("1", "#").replaceAll("0", "."));
    expect(rows).toEqual(right);
  });

  test("labels can be left out; a tint out of range is a wrong argument", () => {
    expect(pixel(drawLayout(page, regions, { labels: false, tint: 0 }), 45, 55)).toEqual([255, 255, 255]);
    expect(() => drawLayout(page, regions, { tint: 2 })).toThrow("`tint` expected a number in 0..1, got 2");
  });

  test("signs differ from one another, unknown ones are boxes", () => {
    const signs = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.% "];
    expect(new Set(signs.map((sign) => glyph(sign).join())).size).toBe(signs.length);
    expect(glyph("a")).toBe(glyph("A"));
    expect(glyph("é")).toEqual([31, 17, 17, 17, 17, 17, 31]);
  });

  test("boxes at the edge of a tiny page stay inside", () => {
    expect(() => drawLayout(rgbImage(3, 2), [{ class: "x", box: [0, 0, 1000, 1000], angle: null }])).not.toThrow();
  });
});
