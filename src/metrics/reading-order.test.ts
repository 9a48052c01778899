import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { type OrderedRow, orderFromRows, readingOrderEdit } from "./reading-order.ts";

interface OrderCase {
  id: string;
  rows: { gt_position: (number | "")[]; pred_position: number | "" }[];
  expected: { gt: number[]; pred: number[]; edit: number } | null;
  quirk?: boolean;
}
const rowsOf = (c: OrderCase): OrderedRow[] =>
  c.rows.map((row) => ({
    truthOrders: row.gt_position.map((order) => (order === "" ? null : order)),
    predPosition: row.pred_position === "" ? null : row.pred_position,
  }));
const { readingOrder } = golden<{ readingOrder: OrderCase[] }>("extract-match.json");

describe("reading order", () => {
  it.each(readingOrder.map((c) => [c.id, c] as const))("%s gives the official lists", (_, c) => {
    const expected = c.expected && { truth: c.expected.gt, pred: c.expected.pred, edit: expect.closeTo(c.expected.edit, 9) };
    expect(orderFromRows(rowsOf(c), "strict")).toEqual(expected);
    if (!c.quirk) expect(orderFromRows(rowsOf(c), "sound")).toEqual(expected);
  });

  it("keeps order 0 in sound mode", () => {
    const rows = [
      { truthOrders: [0], predPosition: 5 },
      { truthOrders: [1], predPosition: 0 },
    ];
    expect(orderFromRows(rows, "strict")).toEqual({ truth: [1], pred: [1], edit: 0 });
    expect(orderFromRows(rows, "sound")).toEqual({ truth: [0, 1], pred: [1, 0], edit: 1 });
  });

  it("is 0 for the true order, symmetric and at most 1", () => {
    const order = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 12 });
    fc.assert(
      fc.property(order, order, (a, b) => {
        expect(readingOrderEdit(a, a)).toBe(0);
        expect(readingOrderEdit(a, b)).toBe(readingOrderEdit(b, a));
        expect(readingOrderEdit(a, b)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
