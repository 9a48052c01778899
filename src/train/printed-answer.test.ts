import { expect, test } from "vitest";
import { asLatex, withCells, withSpaces } from "./printed-answer.ts";

const printed = (text: string, y = 0, x = 0) => [...text].map((char, i) => ({ char, x: x + 10 * i, y }));
const said = (placed: readonly { readonly char: string }[]) => placed.map(({ char }) => char).join("");

test("spaces stand in the middle of their gap", () => {
  const letters = [...printed("ab"), ...printed("c", 0, 40)];
  expect(withSpaces("ab c", letters)[2]).toEqual({ char: " ", x: 25, y: 0 });
});

test("marks of cells stand at their letters, those of a row's end at its last one", () => {
  const otsl = "<fcel>a b<ecel><nl><ecel><fcel>c<nl>";
  const placed = withCells(otsl, [...printed("ab"), ...printed("c", 30, 50)]);
  expect(said(placed)).toBe(otsl);
  expect(placed.filter(({ char }) => char === "<nl>").map(({ x, y }) => [x, y])).toEqual([
    [10, 0],
    [50, 30],
  ]);
  expect(placed[0]).toEqual({ char: "<fcel>", x: 0, y: 0 });
});

test("a cell over several rows may be printed last", () => {
  const otsl = "<fcel>tall<fcel>x<nl><ucel><fcel>y<nl>";
  expect(said(withCells(otsl, [...printed("x"), ...printed("y", 30), ...printed("tall", 15, -50)]))).toBe(otsl);
});

test("a line's end within a cell has no space, and disagreement leaves the letters alone", () => {
  const twoLines = [...printed("ab"), ...printed("cd", 30)];
  expect(said(withCells("<fcel>ab cd<nl>", twoLines))).toBe("<fcel>abcd<nl>");
  expect(withCells("<fcel>ab ce<nl>", twoLines)).toBe(twoLines);
  expect(withCells("<fcel>ab<nl>", twoLines)).toBe(twoLines);
});

test("signs of formulas are written as commands, letters of mathematics as letters", () => {
  expect(asLatex(printed("𝑥≤𝛼−∑ℝ1")).map(({ char }) => char)).toEqual(["x", "\\leq", "\\alpha", "-", "\\sum", "R", "1"]);
});
