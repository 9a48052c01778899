import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { assignMinimum } from "./assignment.ts";

const { assignment } = golden<{ assignment: { id: string; cost: number[][]; rows: number[]; cols: number[]; total: number }[] }>(
  "extract-match.json",
);

describe("assignment", () => {
  it.each(assignment.map((c) => [c.id, c] as const))("%s is the one SciPy takes", (_, c) => {
    expect(assignMinimum(c.cost)).toEqual({ rows: c.rows, columns: c.cols });
  });

  it("is as cheap as the best of all assignments", () => {
    const best = (cost: number[][], row: number, free: number[]): number =>
      row === cost.length
        ? 0
        : Math.min(
            ...free.map(
              (column) =>
                cost[row][column] +
                best(
                  cost,
                  row + 1,
                  free.filter((c) => c !== column),
                ),
            ),
          );
    const matrix = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 4, max: 5 })).chain(([rows, columns]) =>
      fc.array(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: columns, maxLength: columns }), {
        minLength: rows,
        maxLength: rows,
      }),
    );
    fc.assert(
      fc.property(matrix, (cost) => {
        const { rows, columns } = assignMinimum(cost);
        expect(new Set(columns).size).toBe(rows.length);
        const total = rows.reduce((sum, row, index) => sum + cost[row][columns[index]], 0);
        expect(total).toBe(
          best(
            cost,
            0,
            cost[0].map((_, column) => column),
          ),
        );
        const turned = cost[0].map((_, column) => cost.map((row) => row[column]));
        const back = assignMinimum(turned);
        expect(back.rows.reduce((sum, row, index) => sum + turned[row][back.columns[index]], 0)).toBe(total);
      }),
    );
  });

  it("refuses uneven rows and costs that are no numbers", () => {
    expect(() => assignMinimum([[1, 2], [3]])).toThrow(RangeError);
    expect(() => assignMinimum([[Number.NaN]])).toThrow(/finite/);
  });
});
