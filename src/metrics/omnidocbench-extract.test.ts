import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { extractElements, htmlTables, latexTables, type PageElement, removeFences, replaceRepeated } from "./omnidocbench-extract.ts";
import { pipeTablesToHtml } from "./pipe-table.ts";

interface FunctionCase<T> {
  id: string;
  input: string;
  output: T;
  quirk?: boolean;
}
interface GoldenElement {
  position: [number, number];
  content: string;
  fine_category_type?: string;
}
interface MatchCase {
  id: string;
  markdown: string;
  quirk?: boolean;
  expected: { elements: Record<string, GoldenElement[]> };
}
const { functions } = golden<{ functions: { function: string; cases: FunctionCase<never>[] }[] }>("normalise.json");
const { cases } = golden<{ cases: MatchCase[] }>("extract-match.json");

function casesOf<T>(name: string): (readonly [string, FunctionCase<T>])[] {
  return functions.find((f) => f.function === name)!.cases.map((c) => [c.id, c] as const);
}

function byCategory(elements: readonly PageElement[]): Record<string, GoldenElement[]> {
  const groups: Record<string, GoldenElement[]> = {};
  for (const { category, fine, position, content } of elements) {
    groups[category] ??= [];
    groups[category].push({ position: [position[0], position[1]], content, ...(fine && { fine_category_type: fine }) });
  }
  return groups;
}

function withoutPositions(groups: Record<string, GoldenElement[]>) {
  return Object.fromEntries(
    Object.entries(groups).map(([name, items]) => [
      name,
      items.map(({ position: _, ...rest }) => rest).toSorted((a, b) => (a.content < b.content ? -1 : 1)),
    ]),
  );
}

/** Cases not marked as quirks in which a tabular is cut a character late. */
const CUT_LATE = new Set(["extract_tex_table-25", "extract_tex_table-26", "extract_tex_table-31"]);

/** Cases not marked as quirks in which a table in capitals, an empty one, or one inside an unclosed table is passed over. */
const PASSED_OVER = new Set(["05", "13", "28", "31"].map((number) => `extract_html_table-${number}`));

function inCodePoints(text: string, { start, end }: { start: number; end: number }): [number, number] {
  const from = Array.from(text.slice(0, start)).length;
  return [from, from + Array.from(text.slice(start, end)).length + Math.max(0, end - text.length)];
}

describe("extraction", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the official elements", (_, c) => {
    expect(byCategory(extractElements(c.markdown, "strict"))).toEqual(c.expected.elements);
    if (!c.quirk) expect(withoutPositions(byCategory(extractElements(c.markdown, "sound")))).toEqual(withoutPositions(c.expected.elements));
  });

  it.each(casesOf<string>("remove_markdown_fences"))("%s", (_, c) => expect(removeFences(c.input)).toBe(c.output));
  it.each(casesOf<string>("replace_repeated_chars"))("%s", (_, c) => expect(replaceRepeated(c.input)).toBe(c.output));
  it.each(casesOf<string>("convert_markdown_to_html"))("%s", (_, c) => expect(pipeTablesToHtml(c.input, "strict")).toBe(c.output));
  it.each(casesOf<{ items: string[]; positions: [number, number][] }>("extract_tex_table"))("%s", (_, c) => {
    const spans = latexTables(c.input, "strict");
    expect({ items: spans.map((s) => s.text), positions: spans.map((s) => inCodePoints(c.input, s)) }).toEqual(c.output);
    if (!c.quirk && !CUT_LATE.has(c.id)) expect(latexTables(c.input, "sound").map((s) => s.text)).toEqual(c.output.items);
  });
  it.each(casesOf<{ items: string[]; positions: [number, number][] }>("extract_html_table"))("%s", (_, c) => {
    const spans = htmlTables(c.input, "strict");
    expect({ items: spans.map((s) => s.text), positions: spans.map((s) => inCodePoints(c.input, s)) }).toEqual(c.output);
    if (!c.quirk && !PASSED_OVER.has(c.id)) expect(htmlTables(c.input, "sound").map((s) => s.text)).toEqual(c.output.items);
  });
});

describe("sound extraction", () => {
  it("keeps every cell of a pipe table and the line above it", () => {
    const [text, table] = extractElements("Departures:\n| Boat | Time |\n|:-|-:|\n| Vik | 7:15 |\n| a \\| b | $|x|$ |");
    expect(text.content).toBe("Departures:");
    expect(table.content.replaceAll(' colspan="1" rowspan="1"', "")).toBe(
      '<table border="1" ><tr><td>Boat</td><td>Time</td></tr><tr><td>Vik</td><td>7:15</td></tr><tr><td>a | b</td><td>$|x|$</td></tr></table>',
    );
  });

  it("reads two prices as prices", () => {
    expect(extractElements("It costs $5 today.\n\nIt was $4 once.").every((e) => e.category === "text_all")).toBe(true);
  });

  it("takes code without its fence", () => {
    expect(extractElements("```python\nprint(1)\n```").map((e) => e.content)).toEqual(["print(1)"]);
  });

  it("finds tables in capitals and inside an unclosed one", () => {
    expect(htmlTables("<TABLE><tr></TABLE>").map((s) => s.text)).toEqual(["<TABLE><tr></TABLE>"]);
    expect(htmlTables("<table>open <table>closed</table>").map((s) => s.text)).toEqual(["<table>closed</table>"]);
  });

  it("ends a LaTeX table at its end", () => {
    expect(latexTables("\\begin{tabular}{l}x\\end{tabular} y").map((s) => s.text)).toEqual(["\\begin{tabular}{l}x\\end{tabular}"]);
  });
});
