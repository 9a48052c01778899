import { expect, test } from "vitest";
import { bookTable, DrawnPage } from "../../../test/drawn-page.ts";
import { tableCells } from "./table-cells.ts";

const cellsOf = (page: DrawnPage) => tableCells(page.image) ?? [];

test("rows of short pieces are a grid, row by row, empty places empty", () => {
  const page = new DrawnPage(900, 600);
  for (let row = 0; row < 5; row++)
    for (const [column, left] of [60, 300, 520].entries())
      if (row !== 2 || column !== 1) page.line(left, 250 + 40 * row, [4 + ((row + column) % 3)]);
  const cells = cellsOf(page);
  expect(cells).toHaveLength(15);
  expect(cells.filter(({ print }) => print === null).map(({ row, col }) => [row, col])).toEqual([[2, 1]]);
  expect(cells.find(({ row, col }) => row === 1 && col === 2)?.print?.[0]).toBeGreaterThan(510);
});

/** Lines across at `levels` and down at `uprights`, but for the given stretches of them. */
const grid = (
  page: DrawnPage,
  levels: readonly (readonly [number, number, number])[],
  uprights: readonly (readonly [number, number, number])[],
) => {
  for (const [y, from, to] of levels) page.fill(from, y, to - from + 2, 2);
  for (const [x, from, to] of uprights) page.fill(x, from, 2, to - from + 2);
};

test("rules make a grid: spans, empty places and cells of several lines are what they part", () => {
  const page = new DrawnPage(900, 500);
  grid(
    page,
    [[50, 60, 700], [100, 280, 700], [150, 60, 700], [230, 60, 700]], // biome-ignore format: rows
    [[60, 50, 230], [280, 50, 230], [490, 100, 230], [700, 50, 230]], // biome-ignore format: columns
  );
  page.line(80, 105, [6]);
  page.line(420, 82, [7]);
  page.line(300, 132, [5]);
  page.line(520, 132, [6]);
  page.line(80, 180, [6, 3]);
  page.line(80, 206, [8]);
  page.line(300, 190, [5]);
  expect(cellsOf(page).map(({ row, col, rowspan, colspan, print }) => [row, col, rowspan, colspan, print !== null])).toEqual([
    [0, 0, 2, 1, true],
    [0, 1, 1, 2, true],
    [1, 1, 1, 1, true],
    [1, 2, 1, 1, true],
    [2, 0, 1, 1, true],
    [2, 1, 1, 1, true],
    [2, 2, 1, 1, false],
  ]);
  const [, , , , lines] = cellsOf(page);
  expect((lines.print?.[3] ?? 0) - (lines.print?.[1] ?? 0)).toBeGreaterThan(35);
});

test("rows without rules between them are rows all the same, if every cell has a line on each level", () => {
  const page = new DrawnPage(900, 400);
  grid(page, [[50, 60, 700], [100, 60, 700], [210, 60, 700]], [[60, 50, 210], [280, 50, 210], [490, 50, 210], [700, 50, 210]]); // biome-ignore format: rows
  for (const foot of [82, 130, 160, 190]) for (const left of [80, 300, 510]) page.line(left, foot, [4, 3]);
  expect(cellsOf(page).map(({ row, col }) => [row, col])).toEqual([0, 1, 2, 3].flatMap((row) => [0, 1, 2].map((col) => [row, col])));
});

test("rules above, below and under the head bound a table; white parts its rows and columns", () => {
  const page = new DrawnPage(700, 500);
  bookTable(page, 60);
  const cells = cellsOf(page);
  expect(cells.map(({ row, col }) => [row, col])).toEqual([0, 1, 2, 3].flatMap((row) => [0, 1, 2].map((col) => [row, col])));
  expect(cells.filter(({ print }) => !print).map(({ row, col }) => [row, col])).toEqual([[3, 1]]);
  const twoLines = cells.find(({ row, col }) => row === 2 && col === 0)?.print;
  expect((twoLines?.[3] ?? 0) - (twoLines?.[1] ?? 0)).toBeGreaterThan(30);
});

test("a head over several columns spans them", () => {
  const page = new DrawnPage(700, 300);
  for (const y of [60, 130, 210]) page.fill(60, y, 560, 2);
  page.line(320, 88, [24]);
  for (const left of [80, 300, 500]) page.line(left, 118, [5]);
  for (const foot of [158, 196]) for (const left of [80, 300, 500]) page.line(left, foot, [6]);
  expect(cellsOf(page).map(({ row, col, colspan }) => [row, col, colspan])).toEqual([
    [0, 0, 1],
    [0, 1, 2],
    ...[1, 2, 3].flatMap((row) => [0, 1, 2].map((col) => [row, col, 1])),
  ]);
});

test("what nothing parts has no cells", () => {
  expect(tableCells(new DrawnPage(300, 100).image)).toBeNull();
  const page = new DrawnPage(300, 100);
  page.line(20, 60, [6]);
  expect(tableCells(page.image)).toBeNull();
});
