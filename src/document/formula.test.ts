import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renders } from "./formula/katex.ts";
import { sourceOf, tokenise } from "./formula/latex-tokens.ts";
import { parseFormula } from "./formula.ts";

interface Case {
  name: string;
  why: string;
  input: string;
  expect: string;
  expectAny?: string[];
  katexOk: boolean;
  flagged: boolean;
}

const cases: Case[] = JSON.parse(readFileSync(new URL("../../test/golden/documents/formulas.json", import.meta.url), "utf8"));

/** Drops all white space but the one that parts a command of letters from a letter. */
function normalForm(latex: string): string {
  return latex
    .replace(/(\\[A-Za-z]+)\s+(?=[A-Za-z])/g, "$1\u0000")
    .replace(/\s+/g, "")
    .replace(/\u0000/g, " ");
}

describe("formula answers", () => {
  test("the golden file holds all 120 cases", () => expect(cases).toHaveLength(120));

  test.each(cases)("$name: $why", (right) => {
    const reading = parseFormula(right.input);
    if (right.name.startsWith("fine-")) expect(reading.latex).toBe(right.expect);
    else expect([right.expect, ...(right.expectAny ?? [])].map(normalForm)).toContain(normalForm(reading.latex));
    expect(reading.renders).toBe(right.katexOk);
    expect(reading.flagged).toBe(right.flagged);
    expect(renders(reading.latex)).toBe(right.katexOk);
  });
});

describe("formulas beyond the golden cases", () => {
  test.each([
    ["\\( a \\) + \\( b \\)", "a  +  b"],
    ["\\sum \\limits _ { i } a \\timesb", "\\sum \\limits _ { i } a \\times b"],
    ["f ' ^ { 2 }", "f ' {}^ { 2 }"],
    ["x ^ { a \\begin{array}{l} b } + c", "x ^ { a \\begin{array}{l} b \\end{array} } + c"],
    ["\\begin{array}{l} \\hline a \\right) \\\\ b \\end{array}", "\\begin{array}{l} \\hline \\left. a \\right) \\\\ b \\end{array}"],
    ["\\frac{ \\substack{a \\\\ b} ", "\\frac{ \\substack{a \\\\ b}}{}"],
    ["\\left( a \\\\ b \\right) + \\timesb", "\\left( a \\\\ b \\right) + \\times b"],
    ["\\text{a_b $c_d$ e_f}", "\\text{a\\_b $c_d$ e\\_f}"],
  ])("%s", (input, right) => {
    const reading = parseFormula(input);
    expect(normalForm(reading.latex)).toBe(normalForm(right));
    expect(reading.renders).toBe(true);
  });

  test("names its repairs", () => {
    expect(parseFormula("\\frac{a}{b").repairs).toEqual(["braces"]);
    expect(parseFormula("5 % + x_{a}_{b}").repairs).toEqual(["percent", "scripts"]);
    expect(parseFormula("a + b").repairs).toEqual([]);
  });
});

describe("any formula answer", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\\frac ",
      "\\sqrt ",
      "{",
      "}",
      "_",
      "^",
      "'",
      "&",
      "\\\\",
      "\\left(",
      "\\right)",
      "\\left{",
      "\\rightarrow ",
      "\\text{",
      "$",
      "#",
      "%",
    ),
    fc.constantFrom(
      "\\begin{array}",
      "{ll}",
      "\\begin{cases}",
      "\\end{array}",
      "\\end{cases}",
      "\\tag{1}",
      "\\limits ",
      "\\alphax",
      "\\[",
      "\\]",
      "\\label{",
    ),
    fc.constantFrom("a", "b", "x ", " ", "+", "=", "\\alpha ", "\\hline ", "表", "\\"),
  );
  const latex = fc.array(piece, { maxLength: 25 }).map((parts) => parts.join(""));

  test("is either rendered or verbatim and flagged", () => {
    fc.assert(
      fc.property(latex, (text) => {
        const reading = parseFormula(text);
        expect(renders(reading.latex)).toBe(reading.renders);
        if (!reading.renders) expect(reading.flagged).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("keeps every letter that prints", () => {
    fc.assert(
      fc.property(latex, (text) => {
        fc.pre(!text.includes("\\label"));
        const reading = parseFormula(text);
        expect(letters(reading.latex)).toBe(letters(text));
      }),
      { numRuns: 500 },
    );
  });

  test("splits into tokens that join to the same text", () => {
    fc.assert(
      fc.property(fc.oneof(latex, fc.string({ unit: "binary" })), (text) => {
        expect(sourceOf(tokenise(text))).toBe(text);
      }),
    );
  });
});

/** Single letters that print, whatever commands stand around them. */
function letters(latex: string): string {
  return latex
    .replace(/\\\\/g, " ")
    .replace(/\\alpha\s*x/g, " x")
    .replace(/\\(?:begin|end)\s*\{[a-z]*\}/g, " ")
    .replace(/\\[A-Za-z]+/g, " ")
    .replace(/\{l+\}/g, " ")
    .replace(/[^ab表x]/g, "");
}
