import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { EndlessLatexError, LatexTextError } from "./latex-nodes.ts";
import { latexToText } from "./latex-text.ts";

interface TextCase {
  id: string;
  input: string;
  output?: string;
  timeout?: boolean;
  error?: string;
}
const { functions } = golden<{ functions: { function: string; cases: TextCase[] }[] }>("normalise.json");
const { cases } = functions.find((f) => f.function === "latex_to_text")!;

describe("LaTeX as text", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s reads as in pylatexenc", (_, c) => {
    if (c.timeout) expect(() => latexToText(c.input)).toThrow(EndlessLatexError);
    else if (c.error) expect(() => latexToText(c.input)).toThrow(LatexTextError);
    else expect(latexToText(c.input)).toBe(c.output);
  });

  it("loses what a mistake interrupts, from the innermost construct outwards", () => {
    expect(latexToText("a $b \\text{c} d} e$ f")).toBe("a  e");
    expect(latexToText("a } b")).toBe("");
  });

  it("gives nothing for today's date", () => {
    expect(latexToText("on \\today")).toBe("on ");
  });
});
