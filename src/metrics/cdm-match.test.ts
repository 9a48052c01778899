import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { type CdmScore, canonicalToken, type FormulaImage, matchFormulas } from "./cdm-match.ts";
import { NumpyRandom } from "./numpy-random.ts";

interface CdmCase {
  id: string;
  note: string;
  truth: FormulaImage;
  pred: FormulaImage;
  odb15: CdmScore;
  unimer2509: CdmScore;
  quirk?: boolean;
}
const { cases, sameToken } = golden<{ cases: CdmCase[]; sameToken: { token: string; odb15: string; unimer2509: string }[] }>(
  "cdm-match.json",
);
const variants = ["odb15", "unimer2509"] as const;

describe("matching of formula boxes", () => {
  it.each(cases.map((c) => [`${c.id} ${c.note}`, c] as const))("%s has the official pairs, inliers and scores", (_, c) => {
    for (const variant of variants) {
      const { pairs, inliers, recall, precision, f1 } = c[variant];
      expect(matchFormulas(c.pred, c.truth, variant, "strict")).toEqual({ pairs, inliers, recall, precision, f1 });
      if (!c.quirk) expect(matchFormulas(c.pred, c.truth, variant, "sound").f1).toBe(f1);
    }
  });

  it.each(sameToken.map((c) => [c.token, c] as const))("%s stands for the official token", (token, c) => {
    for (const variant of variants) expect(canonicalToken(token, variant, "strict")).toBe(c[variant]);
  });

  it("keeps arrows and big operators apart in sound mode", () => {
    for (const variant of variants) {
      expect(canonicalToken("\\leftarrow", variant)).not.toBe(canonicalToken("\\rightarrow", variant));
      expect(canonicalToken("\\bigcup", variant)).toBe("\\bigcup");
      expect(canonicalToken("\\Bigg\\rangle", variant)).toBe("\\rangle");
      expect(canonicalToken("\\left(", variant)).toBe("(");
    }
  });

  it("is 1 for equal formulas wherever they stand, and at most 1", () => {
    const box = fc.record({ token: fc.constantFrom("x", "y", "+"), x: fc.nat(300), y: fc.nat(80) });
    const image = fc
      .array(box, { minLength: 1, maxLength: 9 })
      .map(
        (items): FormulaImage => ({ size: [340, 120], boxes: items.map(({ token, x, y }) => ({ token, bbox: [x, y, x + 14, y + 22] })) }),
      );
    fc.assert(
      fc.property(image, image, (a, b) => {
        for (const variant of variants) {
          const moved: FormulaImage = {
            size: a.size,
            boxes: a.boxes.map(({ token, bbox: [x0, y0, x1, y1] }) => ({ token, bbox: [x0 + 9, y0 + 5, x1 + 9, y1 + 5] })),
          };
          expect(matchFormulas(moved, a, variant).f1).toBe(1);
          expect(matchFormulas(a, b, variant).f1).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("gives nothing for a side without ink", () => {
    const none: FormulaImage = { size: [26, 26], boxes: [] };
    expect(matchFormulas(none, cases[0].truth, "odb15").f1).toBe(0);
    expect(matchFormulas(none, none, "odb15", "sound").f1).toBe(1);
    expect(matchFormulas(none, none, "odb15", "strict").f1).toBe(0);
  });
});

describe("NumPy's generator", () => {
  it("draws what `default_rng(42).choice(n, k, replace=False)` draws", () => {
    const random = new NumpyRandom(42);
    expect(NUMPY_DRAWS.map(([population, draw]) => [population, random.choose(population, draw.length)])).toEqual(NUMPY_DRAWS);
  });
});

/** Population and draw, one after the other from one generator; NumPy 1.24.4. */
const NUMPY_DRAWS: [number, number[]][] = [
  [5, [4, 0, 3]],
  [5, [0, 3, 2]],
  [12, [5, 10, 8]],
  [12, [6, 8]],
  [50, [25, 40, 22]],
  [7, [5, 6]],
  [4, [3, 0, 2]],
  [100, [9, 22, 55]],
  [3, [2, 1]],
  [1000, [165, 630, 758]],
];
