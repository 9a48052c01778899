import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import type { MetricMode } from "./mode.ts";
import {
  cleanString,
  inlineFormulasNormalised,
  inlineFormulasToText,
  normaliseFormula,
  normaliseHtmlTable,
  normaliseText,
  toHalfWidth,
} from "./omnidocbench-normalise.ts";

interface NormaliseCase {
  id: string;
  input: string;
  output?: string;
  timeout?: boolean;
  quirk?: boolean;
}
const { functions } = golden<{ functions: { function: string; cases: NormaliseCase[] }[] }>("normalise.json");

const ours: Record<string, (input: string, mode: MetricMode) => string> = {
  clean_string: cleanString,
  textblock2unicode: inlineFormulasToText,
  text: normaliseText,
  normalized_formula: normaliseFormula,
  textblock_with_norm_formula: inlineFormulasNormalised,
  normalized_html_table: normaliseHtmlTable,
  fullwidth_to_halfwidth: toHalfWidth,
};

/** Cases not marked as quirks that still lose combining marks, `/n` or the name of a command (points 10 of the unsound behaviour). */
const LOSSY = new Set("clean_string-04 clean_string-33 clean_string-41 clean_string-45 text-04 text-24 text-41 text-45".split(" "));

describe.each(Object.entries(ours))("%s", (name, normalise) => {
  const { cases } = functions.find((f) => f.function === name)!;
  it.each(cases.map((c) => [c.id, c] as const))("%s equals the official output", (_, c) => {
    expect(normalise(c.input, "strict")).toBe(c.output);
    if (!c.quirk && !LOSSY.has(c.id)) expect(normalise(c.input, "sound")).toBe(c.output);
  });
});

describe("sound normal forms", () => {
  it("keep what the official ones lose", () => {
    expect(cleanString("and/then or/not", "sound")).toBe("andthenornot");
    expect(cleanString("and/then or/not", "strict")).toBe("andhenorot");
    expect(normaliseFormula("a\\leftarrow b", "sound")).toBe("a\\leftarrowb");
    expect(normaliseFormula("a\\leftarrow b", "strict")).toBe("aarrowb");
    expect(normaliseHtmlTable("<TABLE><TR><TD>1 &lt; 2</TD></TR></TABLE>", "sound")).toContain("<td>1 &lt; 2</td>");
  });

  it("do not change a normal form", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "B", "1", "_", " ", "/", "t", "é", "北", ".", "\n"), maxLength: 20 });
    fc.assert(fc.property(text, (t) => void expect(cleanString(cleanString(t))).toBe(cleanString(t))));
  });
});
