import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { normaliseOlmOcrText, type OlmOcrTest, repeatsAtEnd, runOlmOcrTest } from "./olmocr.ts";
import { formulasOf, mathmlRenderer, type RenderedFormula, sameRendering } from "./olmocr-math.ts";
import { headingsOf, htmlCellTables, type LinkedCell, type LinkedTable, pipeTables } from "./olmocr-table.ts";

interface PageCase {
  id: string;
  test: OlmOcrTest;
  markdown: string;
  pass: boolean | string;
  invalid?: string;
  quirk?: boolean;
}
interface MathCase extends PageCase {
  firstFormula?: string;
  sameRendering?: boolean;
  rendered?: Record<string, RenderedFormula & { error: string | null }>;
}
interface TableShape {
  cells: ({ at: number[]; text: string; heading: boolean } & Record<string, unknown>)[];
  rectangular: boolean;
}
const { cases, math, normaliseText, tables } = golden<{
  cases: PageCase[];
  math: MathCase[];
  normaliseText: { id: string; input: string; output: string; quirk?: boolean }[];
  tables: { id: string; input: string; markdown: TableShape[]; html: TableShape[] }[];
}>("olmocr.json");

/** What the definition means where the official answer is flagged. */
const SOUND_PASS: Record<string, boolean> = {
  "olmocr-008": true,
  "olmocr-015": false,
  "olmocr-018": false,
  "olmocr-064": false,
  "olmocr-081": false,
  "olmocr-math-05": false,
  "olmocr-math-13": true,
  "olmocr-math-16": false,
  "olmocr-math-18": true,
  "olmocr-math-20": true,
  "olmocr-math-23": true,
  "olmocr-math-48": false,
};
const SOUND_TEXT: Record<string, string> = {
  "olmocr-norm-05": "snake_case_name",
  "olmocr-norm-06": "2 * 3 * 4",
  "olmocr-norm-13": "init",
};
const renderer = (c: MathCase) => (latex: string) => {
  const rendered = c.rendered?.[latex];
  return rendered && rendered.error === null ? rendered : null;
};

describe("tests of olmOCR-bench", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s passes or fails as officially", (_, c) => {
    if (c.invalid) {
      for (const mode of ["strict", "sound"] as const) expect(() => runOlmOcrTest(c.test, c.markdown, { mode })).toThrow(RangeError);
      return;
    }
    expect(runOlmOcrTest(c.test, c.markdown, { mode: "strict" })).toBe(c.pass);
    expect(runOlmOcrTest(c.test, c.markdown)).toBe(c.quirk ? SOUND_PASS[c.id] : c.pass);
  });

  it.each(math.map((c) => [c.id, c] as const))("%s compares formulas as officially", async (_, c) => {
    const render = renderer(c);
    const withoutBoxes = await mathmlRenderer();
    if (c.firstFormula !== undefined) {
      expect(formulasOf(c.markdown, !(c.test.type === "math" && c.test.ignore_dollar_delimited))[0]).toBe(c.firstFormula);
      const truth = render(c.test.type === "math" ? c.test.math : "");
      const answer = render(c.firstFormula);
      if (truth && answer && c.sameRendering !== undefined && c.sameRendering !== null)
        expect(sameRendering(truth, answer, "strict")).toBe(c.sameRendering);
    }
    expect(runOlmOcrTest(c.test, c.markdown, { mode: "strict", render })).toBe(c.pass);
    expect(runOlmOcrTest(c.test, c.markdown, { render: (latex) => render(latex) ?? withoutBoxes(latex) })).toBe(
      c.quirk ? SOUND_PASS[c.id] : c.pass,
    );
  });

  it("compares MathML where nobody measured boxes", async () => {
    const render = await mathmlRenderer();
    const passes = (math: string, page: string) => runOlmOcrTest({ type: "math", math }, page, { render });
    expect(passes("\\frac{1}{2}", "\\(\\frac12\\)")).toBe(true);
    expect(passes("x_{1}^{2}", "$x_1^2$")).toBe(true);
    expect(passes("\\sqrt{x}", "$x$")).toBe(false);
    expect(passes("x", "$x+y$")).toBe(false);
    expect(passes("a=b", "$a=c$ and $b\\undefinedcommand$")).toBe(false);
  });

  it.each(normaliseText.map((c) => [c.id, c] as const))("%s has the official text", (_, c) => {
    expect(normaliseOlmOcrText(c.input, "strict")).toBe(c.output);
    expect(normaliseOlmOcrText(c.input)).toBe(SOUND_TEXT[c.id] ?? c.output);
  });

  it.each(tables.map((c) => [c.id, c] as const))("%s has the official cells and neighbours", (_, c) => {
    const places = (list: readonly LinkedCell[]) => list.map((cell) => [cell.row, cell.column]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const shape = ({ cells, isRectangular }: LinkedTable) => ({
      cells: cells.map((cell) => ({
        at: [cell.row, cell.column],
        text: cell.text,
        heading: cell.isHeading,
        up: places(cell.up),
        down: places(cell.down),
        left: places(cell.left),
        right: places(cell.right),
        topHeading: places(headingsOf(cell, "up")),
        leftHeading: places(headingsOf(cell, "left")),
      })),
      rectangular: isRectangular,
    });
    for (const mode of ["strict", "sound"] as const) expect(pipeTables(c.input, mode).map(shape)).toEqual(c.markdown);
    expect(htmlCellTables(c.input).map(shape)).toEqual(c.html);
  });

  it("keeps an escaped pipe in its cell only in sound mode", () => {
    const page = "| a \\| b | c |\n|---|---|\n| 1 | 2 |";
    expect(runOlmOcrTest({ type: "table", cell: "a | b", right: "c" }, page)).toBe(true);
    expect(runOlmOcrTest({ type: "table", cell: "a | b", right: "c" }, page, { mode: "strict" })).toBe(false);
  });

  it("needs both texts at the same mark only in sound mode", () => {
    const test: OlmOcrTest = { type: "footnote", marker: "1", appears_before_marker: "harbour", appears_after_marker: "burns" };
    const page = "The harbour<sup>1</sup> sleeps. The lamp<sup>1</sup> burns.";
    expect(runOlmOcrTest(test, page)).toBe(false);
    expect(runOlmOcrTest(test, page, { mode: "strict" })).toBe(true);
    expect(runOlmOcrTest(test, "The harbour¹ burns.")).toBe(true);
    expect(runOlmOcrTest({ ...test, marker: "[a]" }, "The harbour[^[a]] burns.")).toBe(true);
  });

  it("takes no <br> for bold text in sound mode", () => {
    const page = "x<br>pier</b>";
    expect(runOlmOcrTest({ type: "format", format: "bold", text: "pier" }, page, { mode: "strict" })).toBe(true);
    expect(runOlmOcrTest({ type: "format", format: "bold", text: "pier" }, page)).toBe(false);
  });

  it("finds what it takes out of a page, and nothing absent passes as present", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "ç", " "), minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(letters, letters, letters, (start, middle, end) => {
        fc.pre(middle.trim() !== "");
        const page = start + middle + end;
        for (const mode of ["strict", "sound"] as const) {
          expect(runOlmOcrTest({ type: "present", text: middle }, page, { mode })).toBe(true);
          expect(runOlmOcrTest({ type: "absent", text: middle }, page, { mode })).toBe(false);
          expect(runOlmOcrTest({ type: "absent", text: `${middle}z` }, page, { mode })).toBe(true);
        }
      }),
    );
  });

  it("counts repeats at the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 }), (count, size) => {
        const piece = "abcdefghijkl".slice(0, size);
        expect(repeatsAtEnd(`.${piece.repeat(count)}`, 12)).toBe(count);
      }),
    );
    expect(repeatsAtEnd("", 5)).toBe(0);
  });

  it("refuses tests that ask for nothing", () => {
    for (const test of [
      { type: "present", text: " " },
      { type: "present", text: "a", max_diffs: -1 },
      { type: "footnote", marker: "a b" },
      { type: "math", math: " " },
      { type: "format", text: "a", format: "underlined" },
    ] as unknown as OlmOcrTest[]) {
      expect(() => runOlmOcrTest(test, "page")).toThrow(RangeError);
    }
  });
});
