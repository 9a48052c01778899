import katex from "katex";
import { beforeAll, describe, expect, it } from "vitest";
import { setBlocks } from "./blocks.ts";
import { displayFormula, type Formula, inlineFormula } from "./formulas.ts";
import { openSynth, type SynthSources } from "./index.ts";
import { createRandom } from "./random.ts";

const FORMULAS: Formula[] = Array.from({ length: 240 }, (_, i) => {
  const random = createRandom("formula-test", i);
  return i % 4 === 0 ? inlineFormula(random) : displayFormula(random, ((i % 3) + 1) as 1 | 2 | 3);
});

/** Basic letters and digits that LaTeX source prints, in alphabetical order. */
function lettersOfLatex(latex: string): string {
  const printed = latex
    .replaceAll("\\\\", " ")
    .replace(/\\(begin|end)\{[a-z]+\}/g, " ")
    .replace(/\\(sin|cos|tan|log|ln|exp|max|min|det|lim)(?![A-Za-z])/g, " $1 ")
    .replace(/\\[A-Za-z]+/g, " ");
  return [...printed.replace(/[^A-Za-z0-9]/g, "")].sort().join("");
}

let sources: SynthSources;
beforeAll(async () => {
  sources = await openSynth();
}, 120_000);

describe("formulas", () => {
  it("are LaTeX that KaTeX reads", () => {
    for (const { latex } of FORMULAS)
      expect(() => katex.renderToString(latex, { displayMode: true, throwOnError: true, strict: "ignore" }), latex).not.toThrow();
  });

  it("print the letters and digits that the LaTeX says", () => {
    const specs = FORMULAS.map((formula) => ({
      class: "equation" as const,
      width: 2600,
      truth: formula.latex,
      body: `#set text(size: 24pt)\n#show math.equation: set text(font: "New Computer Modern Math")\n#set align(left)\n#math.equation(block: true, $ ${formula.typst} $)`,
      space: [0, 0] as const,
    }));
    const [blocks] = setBlocks(sources, specs, [0.5]);
    let seen = 0;
    for (const block of blocks) {
      if (!block) continue;
      seen++;
      const printed = block.glyphs
        .map((glyph) => glyph.char)
        .join("")
        .normalize("NFKD")
        .replace(/[^A-Za-z0-9]/g, "");
      expect([...printed].sort().join(""), block.spec.truth).toBe(lettersOfLatex(block.spec.truth!));
    }
    expect(seen).toBeGreaterThan(235);
  });
});
