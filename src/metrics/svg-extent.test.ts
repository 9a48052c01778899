import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { common, join, pathExtent, placed, placement } from "./svg-extent.ts";

const number = fc.integer({ min: -500, max: 500 });

describe("extremes of outlines", () => {
  it("are the ends of lines, wherever the pen started", () => {
    expect(pathExtent("M100 200L300 250H50V-10Z")).toEqual({ x0: 50, y0: -10, x1: 300, y1: 250 });
    expect(pathExtent("M10 10L20 20ZM100 100 110 130Z")).toEqual({ x0: 10, y0: 10, x1: 110, y1: 130 });
    expect(pathExtent("")).toBeNull();
  });

  it("hold all points of a curve and are reached by it", () => {
    fc.assert(
      fc.property(fc.tuple(number, number, number, number, number, number, number, number), (p) => {
        for (const [command, points] of [
          ["Q", 3],
          ["C", 4],
        ] as const) {
          const xs = Array.from({ length: points }, (_, k) => p[2 * k]);
          const ys = Array.from({ length: points }, (_, k) => p[2 * k + 1]);
          const handles = xs.slice(1).map((x, k) => `${x} ${ys[k + 1]}`);
          const box = pathExtent(`M${xs[0]} ${ys[0]}${command}${handles.join(" ")}`);
          if (!box) throw new Error("no box");
          const between = (list: readonly number[], t: number): number =>
            list.length === 1 ? list[0] : (1 - t) * between(list.slice(0, -1), t) + t * between(list.slice(1), t);
          const at = Array.from({ length: 401 }, (_, k) => [between(xs, k / 400), between(ys, k / 400)]);
          expect(box.x0).toBeLessThanOrEqual(Math.min(...at.map(([x]) => x)) + 1e-6);
          expect(box.x1).toBeGreaterThanOrEqual(Math.max(...at.map(([x]) => x)) - 1e-6);
          expect(box.y0).toBeGreaterThan(Math.min(...at.map(([, y]) => y)) - 0.1);
          expect(box.y1).toBeLessThan(Math.max(...at.map(([, y]) => y)) + 0.1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("mirror the handle of a smooth curve", () => {
    expect(pathExtent("M0 0C0 100 100 100 100 0S200 -100 200 0")).toEqual(pathExtent("M0 0C0 100 100 100 100 0C100 -100 200 -100 200 0"));
    expect(pathExtent("M0 0Q50 100 100 0T200 0")).toEqual(pathExtent("M0 0Q50 100 100 0Q150 -100 200 0"));
  });

  it("follow translations and scales from the outside in", () => {
    const inner = placement(placement(null, "scale(1,-1) translate(10, 20)"), "translate(5) scale(0.5)");
    expect(placed(inner, { x0: 0, y0: 0, x1: 10, y1: 20 })).toEqual({ x0: 15, y0: -30, x1: 20, y1: -20 });
    expect(() => placement(null, "rotate(45)")).toThrow("internal:");
    expect(() => pathExtent("M0 0a1 1 0 0 0 1 1")).toThrow("internal:");
  });

  it("join and cut", () => {
    const a = { x0: 0, y0: 0, x1: 10, y1: 10 };
    const b = { x0: 5, y0: -5, x1: 20, y1: 5 };
    expect(join(a, b)).toEqual({ x0: 0, y0: -5, x1: 20, y1: 10 });
    expect(common(a, b)).toEqual({ x0: 5, y0: 0, x1: 10, y1: 5 });
    expect(common(a, { ...b, x0: 11 })).toBeNull();
  });
});
