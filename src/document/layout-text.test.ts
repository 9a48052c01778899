import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLayout, writeLayout } from "./layout-text.ts";

interface Case {
  name: string;
  why: string;
  input: string;
  page: { width: number; height: number };
  expect: { regions: unknown[]; warnings: string[] };
}

const cases: Case[] = JSON.parse(readFileSync(new URL("../../test/golden/documents/layout.json", import.meta.url), "utf8"));

describe("layout answers", () => {
  test("the golden file holds all 85 cases", () => expect(cases).toHaveLength(85));

  test.each(cases)("$name: $why", ({ input, page, expect: right }) => {
    const reading = parseLayout(input, page);
    expect(reading.regions).toEqual(right.regions);
    expect(reading.warnings.map((w) => w.kind)).toEqual(right.warnings);
  });

  test.each(cases)("writing is the inverse of reading: $name", ({ input, page }) => {
    const { regions } = parseLayout(input, page);
    const again = parseLayout(writeLayout(regions), page);
    expect(again.regions).toEqual(regions);
  });

  test("a page without pixels is a wrong argument", () => {
    expect(() => parseLayout("", { width: 0, height: 5 })).toThrow("`page.width` expected a positive integer, got 0");
  });
});

describe("any layout answer", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "<|box_start|>",
      "<|box_end|>",
      "<|ref_start|>",
      "<|ref_end|>",
      "<|rotate_up|>",
      "<|rotate_left|>",
      "<|txt_contd_tgt|>",
      "<|im_end|>",
    ),
    fc.integer({ min: -50, max: 1200 }).map((n) => ` ${n} `),
    fc.constantFrom("text", "table", " ", "\n", ",", "<|", "表"),
    fc.string({ maxLength: 4 }),
  );
  const entry = fc
    .tuple(fc.array(fc.integer({ min: -20, max: 1100 }), { minLength: 4, maxLength: 4 }), fc.constantFrom("text", "image", "x y"), piece)
    .map(([box, name, tail]) => `<|box_start|>${box.join(" ")}<|box_end|><|ref_start|>${name}<|ref_end|>${tail}`);
  const answer = fc.array(fc.oneof(piece, entry), { maxLength: 30 }).map((parts) => parts.join(""));

  test("gives boxes inside the page, each with at least one pixel", () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 3000 }), (text, width, height) => {
        for (const { box, pixelBox } of parseLayout(text, { width, height }).regions) {
          expect(box.every((n) => Number.isInteger(n) && n >= 0 && n <= 1000)).toBe(true);
          expect(box[0] < box[2] && box[1] < box[3]).toBe(true);
          expect(pixelBox[0] >= 0 && pixelBox[1] >= 0 && pixelBox[2] <= width && pixelBox[3] <= height).toBe(true);
          expect(pixelBox[0] < pixelBox[2] && pixelBox[1] < pixelBox[3]).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("survives being written and read again", () => {
    fc.assert(
      fc.property(answer, (text) => {
        const page = { width: 800, height: 1100 };
        const { regions } = parseLayout(text, page);
        expect(parseLayout(writeLayout(regions), page).regions).toEqual(regions);
      }),
      { numRuns: 300 },
    );
  });
});
