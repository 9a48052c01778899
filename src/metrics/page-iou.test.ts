import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { type CoverScore, type LabelledBox, type PixelBox, pageIoU } from "./page-iou.ts";

interface LayoutCase {
  id: string;
  width: number;
  height: number;
  pred: LabelledBox[];
  truth: LabelledBox[];
  foreground: PixelBox[] | null;
  all: CoverScore;
  byLabel: Record<string, CoverScore>;
}
const { cases } = golden<{ cases: LayoutCase[] }>("layout.json");

function maskOf(boxes: readonly PixelBox[], width: number, height: number) {
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (boxes.some(([x0, y0, x1, y1]) => x >= x0 && x < x1 && y >= y0 && y < y1)) data[y * width + x] = 255;
    }
  }
  return { width, height, data };
}

describe("PageIoU", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the reference sums", (_, c) => {
    const result = pageIoU(c.pred, c.truth, c, c.foreground);
    expect(result.all).toEqual(c.all);
    expect(Object.fromEntries(result.byLabel)).toEqual(c.byLabel);
    if (c.foreground) expect(pageIoU(c.pred, c.truth, c, maskOf(c.foreground, c.width, c.height))).toEqual(result);
  });

  const coordinate = fc.integer({ min: -3, max: 23 });
  const boxes = fc.array(
    fc.record({ box: fc.tuple(coordinate, coordinate, coordinate, coordinate), label: fc.constantFrom("text", "table") }),
    { maxLength: 6 },
  );
  const page = { width: 20, height: 20 };

  it("is symmetric, 1 for equal sets and between 0 and 1", () => {
    fc.assert(
      fc.property(boxes, boxes, (a, b) => {
        const there = pageIoU(a, b, page).all;
        const back = pageIoU(b, a, page).all;
        expect(pageIoU(a, a, page).all.pageIoU).toBe(1);
        expect(there.pageIoU).toBe(back.pageIoU);
        expect(there.precision).toBe(back.recall);
        for (const value of [there.pageIoU, there.precision, there.recall, there.f1]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("equals a count pixel by pixel", () => {
    fc.assert(
      fc.property(boxes, boxes, fc.array(fc.tuple(coordinate, coordinate, coordinate, coordinate), { maxLength: 3 }), (a, b, shown) => {
        const covers = (items: readonly LabelledBox[], x: number, y: number) =>
          items.filter(({ box: [x0, y0, x1, y1] }) => x >= x0 && x < x1 && y >= y0 && y < y1).length;
        const mask = maskOf(shown, page.width, page.height);
        let sumMin = 0;
        let sumMax = 0;
        for (let y = 0; y < page.height; y++) {
          for (let x = 0; x < page.width; x++) {
            if (mask.data[y * page.width + x] === 0) continue;
            sumMin += Math.min(covers(a, x, y), covers(b, x, y));
            sumMax += Math.max(covers(a, x, y), covers(b, x, y));
          }
        }
        expect(pageIoU(a, b, page, shown).all).toMatchObject({ sumMin, sumMax });
        expect(pageIoU(a, b, page, mask).all).toMatchObject({ sumMin, sumMax });
      }),
    );
  });

  it("refuses coordinates that are no numbers and masks of another size", () => {
    expect(() => pageIoU([{ box: [0, 0, Number.NaN, 1], label: "text" }], [], page)).toThrow(RangeError);
    expect(() => pageIoU([{ box: [0, 0, 1.5, 1], label: "text" }], [], page, maskOf([], 20, 20))).toThrow(/whole/);
    expect(() => pageIoU([], [], page, maskOf([], 19, 20))).toThrow(/20x20/);
  });
});
