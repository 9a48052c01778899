import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { FormulaError, prepareFormula } from "./formula-normalise.ts";
import { tokeniseFormula } from "./formula-tokens.ts";

interface Steps {
  tokenised: boolean;
  tokens: string;
  normalised: string;
  visible: string[];
  coloured: string;
}
interface TokenCase {
  id: string;
  latex: string;
  odb15: Steps;
  unimer2509: Steps | "same";
}
const { cases } = golden<{ cases: TokenCase[] }>("formula-tokens.json");

describe("formulas before rendering", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the official tokens and marks", (_, c) => {
    for (const variant of ["odb15", "unimer2509"] as const) {
      const { tokenised, tokens, normalised, visible, text } = prepareFormula(c.latex, variant);
      const expected = variant === "odb15" || c.unimer2509 === "same" ? c.odb15 : c.unimer2509;
      expect({ tokenised, tokens, normalised, visible, coloured: text }).toEqual({
        tokenised: expected.tokenised,
        tokens: expected.tokens,
        normalised: expected.normalised,
        visible: expected.visible,
        coloured: expected.coloured,
      });
    }
  });

  it("writes the same tokens for other spellings of the same formula", () => {
    const same = [
      ["\\frac12", "\\dfrac{1}{2}"],
      ["x^2_1", "x_{1}^{2}"],
      ["f'", "f^{\\prime}"],
      ["\\sum\\limits_{i}", "\\sum_i"],
      ["\\operatorname*{max}", "\\max"],
      ["\\begin{align*}a&=b\\\\\\end{align*}", "\\begin{aligned} a & = b \\end{aligned}"],
      ["\\mbox{a b}", "\\text{a b}"],
      ["{n \\choose k}", "{\\binom n k}"],
    ];
    for (const [a, b] of same) expect(tokeniseFormula(a).text).toBe(tokeniseFormula(b).text);
  });

  it("gives up on what is not well formed", () => {
    for (const latex of [
      "x_{1",
      "}",
      "\\left( x",
      "\\begin{array}{l} a",
      "a & b",
      "x^1^2",
      "\\begin{nothing}x\\end{nothing}",
      "\\frac{a}",
    ]) {
      expect(tokeniseFormula(latex).tokenised).toBe(false);
    }
    expect(() => prepareFormula("\\sqrt [ 3")).toThrow(FormulaError);
  });

  it("does not change its own form", () => {
    const leaf = fc.constantFrom("a", "b", "1", "+", "\\alpha", "\\sin");
    const { formula } = fc.letrec<{ formula: string }>((tie) => ({
      formula: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.tuple(tie("formula"), tie("formula")).map(([a, b]) => `${a} ${b}`),
        fc.tuple(tie("formula"), tie("formula")).map(([a, b]) => `\\frac{${a}}{${b}}`),
        fc.tuple(leaf, tie("formula")).map(([a, b]) => `${a}^{${b}}`),
        tie("formula").map((a) => `\\sqrt{${a}}`),
        tie("formula").map((a) => `\\left( ${a} \\right)`),
      ),
    }));
    fc.assert(
      fc.property(formula, (latex) => {
        const once = tokeniseFormula(latex);
        expect(once.tokenised).toBe(true);
        expect(tokeniseFormula(once.text)).toEqual(once);
      }),
    );
  });
});
