import { readFileSync } from "node:fs";
import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import { describe, expect, test } from "vitest";
import { withoutWhite } from "./answer-text.ts";
import { cellsOf, htmlToOtsl, ownerGrid, parseOtsl, type TableGrid, writeOtsl } from "./otsl.ts";
import { parseTableHtml, tableToHtml } from "./table-html.ts";
import { tableToMarkdown } from "./table-markdown.ts";

interface Case {
  name: string;
  why: string;
  otsl: string;
  grid: TableGrid;
  html: string;
  markdown: string | null;
}

const cases: Case[] = JSON.parse(readFileSync(new URL("../../test/golden/documents/otsl.json", import.meta.url), "utf8"));
const TOKENS = /<(?:fcel|ecel|lcel|ucel|xcel|nl|ched|rhed|srow)>/g;

function expectRectangular(grid: TableGrid): void {
  for (const row of grid) expect(row).toHaveLength(grid[0].length);
  const places = cellsOf(grid).reduce((sum, cell) => sum + cell.rowspan * cell.colspan, 0);
  expect(places).toBe(grid.length * (grid[0]?.length ?? 0));
  ownerGrid(grid);
}

describe("table answers", () => {
  test("the golden file holds all 121 cases", () => expect(cases).toHaveLength(121));

  test.each(cases)("$name: $why", (right) => {
    const grid = parseOtsl(right.otsl);
    expect(grid).toEqual(right.grid);
    expect(tableToHtml(grid)).toBe(right.html);
    expect(tableToMarkdown(grid)).toBe(right.markdown);
    expectRectangular(grid);
  });

  test.each(cases)("HTML read back gives the same table: $name", (right) => {
    const plain = parseOtsl(right.otsl).map((row) => row.map((cell) => cell && { ...cell, header: undefined }));
    expect(parseTableHtml(right.html)).toEqual(plain);
  });
});

describe("any table answer", () => {
  const token = fc.constantFrom("fcel", "ecel", "lcel", "ucel", "xcel", "nl", "ched", "rhed", "srow").map((name) => `<${name}>`);
  const words = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom("a", "b & c", "<b>", "</td>", "表", "<fc", "|", "\\(x\\)"));
  const otsl = fc.array(fc.oneof({ weight: 3, arbitrary: token }, words), { maxLength: 60 }).map((parts) => parts.join(""));

  test("gives a rectangular grid that holds all its text, and so does its HTML", () => {
    fc.assert(
      fc.property(otsl, (text) => {
        fc.pre(!text.includes("<|im_end|>") && !text.startsWith("<table"));
        const grid = parseOtsl(text);
        expectRectangular(grid);
        const words = withoutWhite(text.replace(TOKENS, ""));
        expect(
          withoutWhite(
            cellsOf(grid)
              .map((cell) => cell.text)
              .join(""),
          ),
        ).toBe(words);
        expect(withoutWhite(shownText(tableToHtml(grid)))).toBe(words);
      }),
      { numRuns: 2000 },
    );
  });

  test("is written back as OTSL without loss", () => {
    fc.assert(
      fc.property(otsl, (text) => {
        const grid = parseOtsl(text);
        fc.pre(!cellsOf(grid).some((cell) => cell.text.includes("<")));
        expect(parseOtsl(writeOtsl(grid))).toEqual(grid);
      }),
      { numRuns: 1000 },
    );
  });

  test("its HTML becomes OTSL of the same grid", () => {
    fc.assert(
      fc.property(otsl, (text) => {
        const grid = parseOtsl(text).map((row) => row.map((cell) => cell && { ...cell, header: undefined }));
        fc.pre(!cellsOf(grid).some((cell) => /[<\0\r]/.test(cell.text)));
        expect(parseOtsl(htmlToOtsl(tableToHtml(grid)))).toEqual(grid);
      }),
      { numRuns: 500 },
    );
  });
});

describe("HTML tables from elsewhere", () => {
  test("header sections, line breaks and entities", () => {
    const html =
      "<table><thead><tr><th>A &amp; B</th><th>C</th></tr></thead><tbody><tr><td>1<br>2</td><td><b>x</b></td></tr></tbody></table>";
    expect(htmlToOtsl(html)).toBe("<fcel>A & B<fcel>C<nl><fcel>1\n2<fcel>x<nl>");
    expect(parseTableHtml(html)[0][0]?.header).toBe(true);
  });

  test("overlapping spans go to the earlier cell, short rows are filled, spans end with the table", () => {
    const grid = parseTableHtml('<table><tr><td>a</td><td rowspan="9">b</td></tr><tr><td colspan="2">c</td></tr><tr></tr></table>');
    expectRectangular(grid);
    expect(writeOtsl(grid)).toBe("<fcel>a<fcel>b<nl><fcel>c<ucel><nl><ecel><ucel><nl>");
  });

  test("a rowspan of zero reaches the last row; a table in a cell gives its text", () => {
    const grid = parseTableHtml(
      '<table><tr><td rowspan="0">a</td><td><table><tr><td>in</td><td>ner</td></tr></table></td></tr><tr><td>c</td></tr></table>',
    );
    expect(writeOtsl(grid)).toBe("<fcel>a<fcel>in ner<nl><ucel><fcel>c<nl>");
  });

  test("scripts are no text and no table is an empty grid", () => {
    expect(parseTableHtml("<table><tr><td>a<script>alert(1)</script></td></tr></table>")[0][0]?.text).toBe("a");
    expect(parseTableHtml("<p>none</p>")).toEqual([]);
  });

  test("pipes in formulas do not end a Markdown cell", () => {
    expect(tableToMarkdown(parseOtsl("<fcel>\\(|x|\\)<fcel>l1\nl2<nl>"))).toBe("| $\\vert x\\vert $ | l1 l2 |\n| --- | --- |");
  });
});

function shownText(html: string): string {
  const visit = (node: DefaultTreeAdapterTypes.ChildNode): string =>
    "value" in node ? node.value : "childNodes" in node ? node.childNodes.map(visit).join("") : "";
  return parseFragment(html).childNodes.map(visit).join("");
}
