/**
 * Tables of a Markdown page as olmOCR-bench asks about them: a graph of cells that know their neighbours on each side, spans
 * included, and their headings at the top and at the left. Reads pipe tables and HTML tables; strict mode splits a pipe row at escaped
 * pipes too. It refuses to know what a cell ought to say.
 */
import type { MetricMode } from "./mode.ts";
import { PYTHON_SPACE, strip } from "./python-text.ts";
import { findTags, parseSoup, type SoupTag } from "./soup-html.ts";

export interface LinkedCell {
  /** Place of its upper left corner in the grid. */
  readonly row: number;
  readonly column: number;
  readonly text: string;
  readonly isHeading: boolean;
  readonly up: LinkedCell[];
  readonly down: LinkedCell[];
  readonly left: LinkedCell[];
  readonly right: LinkedCell[];
}

export interface LinkedTable {
  /** Row by row. */
  readonly cells: readonly LinkedCell[];
  /** True if no place of the grid is without a cell. */
  readonly isRectangular: boolean;
}

/** Headings above or left of a cell: heading cells on the way to the edge, or else the cells at the edge. */
export function headingsOf(cell: LinkedCell, side: "up" | "left"): LinkedCell[] {
  const headings = new Set<LinkedCell>();
  const ends = new Set<LinkedCell>();
  const seen = new Set([cell]);
  for (const current of seen) {
    if (current !== cell && current.isHeading) headings.add(current);
    if (current !== cell && current[side].length === 0) ends.add(current);
    for (const next of current[side]) seen.add(next);
  }
  return [...(headings.size > 0 ? headings : ends)];
}

interface CellSource {
  readonly text: string;
  readonly rowSpan: number;
  readonly columnSpan: number;
  readonly isHeading: boolean;
}

/** Lays cells out in a grid and links them; null if there is none. */
function linkCells(rows: readonly (readonly CellSource[])[]): LinkedTable | null {
  const grid: (LinkedCell | null)[][] = [];
  const cells: (LinkedCell & { readonly rowSpan: number; readonly columnSpan: number })[] = [];
  const hanging: ({ cell: LinkedCell; rows: number } | null)[] = [];
  const hang = (column: number): LinkedCell | null => {
    const entry = hanging[column];
    if (!entry) return null;
    hanging[column] = entry.rows > 1 ? { cell: entry.cell, rows: entry.rows - 1 } : null;
    return entry.cell;
  };
  rows.forEach((sources, row) => {
    const line: (LinkedCell | null)[] = [];
    let used = 0;
    while (used < sources.length || line.length < hanging.length) {
      const column = line.length;
      if (hanging[column] || used === sources.length) {
        line.push(hang(column));
        continue;
      }
      const cell = { ...sources[used++], row, column, up: [], down: [], left: [], right: [] };
      cells.push(cell);
      for (let offset = 0; offset < cell.columnSpan; offset++) {
        line.push(cell);
        hanging[column + offset] = cell.rowSpan > 1 ? { cell, rows: cell.rowSpan - 1 } : null;
      }
    }
    grid.push(line);
  });
  while (hanging.some((entry) => entry !== null)) grid.push(hanging.map((_, column) => hang(column)));
  if (cells.length === 0) return null;
  const width = Math.max(...grid.map((line) => line.reduce((last, cell, column) => (cell ? column + 1 : last), 0)));
  const at = (row: number, column: number) => grid[row]?.[column] ?? null;
  const link = (cell: LinkedCell, row: number, column: number, dy: number, dx: number, neighbours: LinkedCell[]) => {
    for (let y = row + dy, x = column + dx; y >= 0 && y < grid.length && x >= 0 && x < width; y += dy, x += dx) {
      const neighbour = at(y, x);
      if (neighbour === null || neighbour === cell) continue;
      if (!neighbours.includes(neighbour)) neighbours.push(neighbour);
      return;
    }
  };
  for (const cell of cells) {
    const lastRow = cell.row + cell.rowSpan - 1;
    const lastColumn = cell.column + cell.columnSpan - 1;
    for (let row = cell.row; row <= lastRow; row++) {
      link(cell, row, lastColumn, 0, 1, cell.right);
      link(cell, row, cell.column, 0, -1, cell.left);
    }
    for (let column = cell.column; column <= lastColumn; column++) {
      link(cell, lastRow, column, 1, 0, cell.down);
      link(cell, cell.row, column, -1, 0, cell.up);
    }
  }
  const isRectangular = grid.every((_, row) =>
    Array.from({ length: width }, (__, column) => at(row, column)).every((cell) => cell !== null),
  );
  return { cells, isRectangular };
}

/** Pipe tables: runs of at least two lines with a pipe; their first row and first column are headings. */
export function pipeTables(markdown: string, mode: MetricMode = "sound"): LinkedTable[] {
  const runs: string[][] = [[]];
  for (const line of strip(markdown).split("\n")) {
    if (line.includes("|")) runs[runs.length - 1].push(line);
    else runs.push([]);
  }
  return runs
    .filter((lines) => lines.length >= 2)
    .map((lines) =>
      linkCells(
        pipeRows(lines, mode).map((row, y) => row.map((text, x) => ({ text, rowSpan: 1, columnSpan: 1, isHeading: y === 0 || x === 0 }))),
      ),
    )
    .filter((table) => table !== null);
}

function pipeRows(lines: readonly string[], mode: MetricMode): string[][] {
  const separator = lines.findIndex((line) => /^[- :]+$/.test(strip(line.replaceAll("|", ""))));
  return lines
    .filter((line, index) => index !== separator && !(strip(line) !== "" && /^[- :|]*$/.test(line)))
    .map((line) => {
      const cells = mode === "strict" ? line.split("|") : line.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|"));
      const texts = cells.map(strip);
      if (texts[0] === "") texts.shift();
      if (texts.at(-1) === "") texts.pop();
      return texts;
    })
    .filter((cells) => cells.length > 0);
}

/** HTML tables; headings are `th` and all that stands in a `thead`. */
export function htmlCellTables(html: string): LinkedTable[] {
  return findTags(parseSoup(html), "table")
    .map((table) => {
      const rows = rowsBelow(table, false);
      return linkCells(rows.map(({ tag, isHead }, index) => cellsOfRow(tag, isHead, rows.length - index)));
    })
    .filter((table) => table !== null);
}

function rowsBelow(tag: SoupTag, isHead: boolean): { tag: SoupTag; isHead: boolean }[] {
  return tag.children.flatMap((child) => {
    if (child.kind !== "tag") return [];
    const below = rowsBelow(child, isHead || child.name === "thead");
    return child.name === "tr" ? [{ tag: child, isHead }, ...below] : below;
  });
}

function cellsOfRow(row: SoupTag, isHead: boolean, rowsLeft: number): CellSource[] {
  return row.children
    .filter((child) => child.kind === "tag" && (child.name === "td" || child.name === "th"))
    .map((child) => {
      const cell = child as SoupTag;
      const rowSpan = strip(cell.attributes.get("rowspan") ?? "");
      return {
        text: strip(textOf(cell)),
        rowSpan: rowSpan === "0" ? rowsLeft : spanOf(rowSpan),
        columnSpan: spanOf(cell.attributes.get("colspan") ?? ""),
        isHeading: isHead || cell.name === "th",
      };
    });
}

const INTEGER = new RegExp(`^[${PYTHON_SPACE}]*\\+?\\d+(?:_\\d+)*[${PYTHON_SPACE}]*$`);
/** More columns or rows than this is a slip of the writer. */
const WIDEST_SPAN = 10_000;

function spanOf(value: string): number {
  if (!INTEGER.test(value)) return 1;
  return Math.min(WIDEST_SPAN, Math.max(1, Number(strip(value).replaceAll("_", ""))));
}

function textOf(tag: SoupTag): string {
  return tag.children
    .map((child) => {
      if (child.kind === "text") return child.text;
      if (child.kind === "markup") return "";
      return child.name === "br" ? "\n" : textOf(child);
    })
    .join("");
}
