/**
 * Tables drawn with rules: a frame parted by lines across and down. Its cells are what no line parts, over one place of the grid or several,
 * so that spans and empty places are known and not guessed. Refuses to know what the cells say, and frames without a grid.
 */
import type { InkMask } from "../ink-mask.ts";
import { levelsOf, rowsOf } from "./level-tables.ts";
import type { LinedPage, PrintLine } from "./lines.ts";
import { type Extent, heightOf, overlapAcross, overlapDown, type PageMarks, widthOf } from "./marks.ts";

export interface RuledCell {
  readonly row: number;
  readonly col: number;
  readonly rowspan: number;
  readonly colspan: number;
  readonly lines: readonly PrintLine[];
}

export interface RuledTable extends Extent {
  readonly rows: number;
  readonly columns: number;
  /** Row by row; together they cover the grid. */
  readonly cells: readonly RuledCell[];
}

/** A frame is at least so wide and high, in letter heights. */
const LEAST_FRAME = { width: 8, height: 3 };
/** Unbroken ink of this length is a line and no stroke of a letter, in letter heights. */
const LEAST_RULE = { across: 2.5, down: 2.2 };
/** Lines closer than this are one, in letter heights; an edge of the frame without a line is one from here on. */
const APART = 0.7;
/** A line parts two places if it is drawn along so much of their side. */
const DRAWN = 0.6;
/** A frame whose cells hold more lines than this, at the middle, sets out a page and no table. */
const MOST_LINES = 6;

/** In a table with so few ruled rows, cells of so many lines are columns with unruled rows in them. */
const FEW_ROWS = 3;
const MANY_LINES = 3;

/** A line of the grid, at `at` across its direction; `drawn[i]` where along the frame it is inked. */
interface GridLine {
  readonly at: number;
  readonly drawn: Uint8Array;
}

/** Lines in one direction: lanes (pixel rows or columns) with long runs, neighbouring ones taken together. */
function gridLines({ ink, width }: InkMask, frame: Extent, direction: "across" | "down", letterHeight: number): GridLine[] {
  const [lanes, length] = direction === "across" ? [heightOf(frame), widthOf(frame)] : [widthOf(frame), heightOf(frame)];
  const [laneStep, step] = direction === "across" ? [width, 1] : [1, width];
  const first = frame.top * width + frame.left;
  const least = LEAST_RULE[direction] * letterHeight;
  const found: { from: number; to: number; drawn: Uint8Array }[] = [];
  for (let lane = 0; lane < lanes; lane++) {
    const start = first + lane * laneStep;
    let open = found[found.length - 1];
    for (let i = 0; i < length; i++) {
      if (ink[start + i * step] === 0) continue;
      const from = i;
      while (i < length && ink[start + i * step] === 1) i++;
      if (i - from < least) continue;
      if (!open || lane > open.to + 1 + APART * letterHeight) {
        open = { from: lane, to: lane, drawn: new Uint8Array(length) };
        found.push(open);
      }
      open.to = lane;
      open.drawn.fill(1, from, i);
    }
  }
  return found.map(({ from, to, drawn }) => ({ at: (from + to) / 2, drawn }));
}

/** The lines with the frame's own edges, where those are not drawn but the lines across end. */
function withEdges(lines: readonly GridLine[], end: number, length: number, letterHeight: number): GridLine[] {
  const edge = (at: number): GridLine => ({ at, drawn: new Uint8Array(length) });
  const reach = 2 * APART * letterHeight;
  return [
    ...(lines.length === 0 || lines[0].at > reach ? [edge(0)] : []),
    ...lines,
    ...(lines.length === 0 || lines[lines.length - 1].at < end - reach ? [edge(end)] : []),
  ];
}

/** Whether `line` parts the places between `from` and `to`. */
function parts({ drawn }: GridLine, from: number, to: number): boolean {
  let inked = 0;
  const [first, last] = [Math.ceil(from), Math.floor(to)];
  for (let i = first; i < last; i++) inked += drawn[i];
  return inked >= DRAWN * (last - first);
}

/** Cells of a grid of `rows` × `columns` places, given which neighbours are parted; null if one would not be a rectangle. */
function cellsOf(
  rows: number,
  columns: number,
  partedBelow: (row: number, col: number) => boolean,
  partedRight: (row: number, col: number) => boolean,
): Omit<RuledCell, "lines">[] | null {
  const taken = Array.from({ length: rows }, () => new Uint8Array(columns));
  const cells: Omit<RuledCell, "lines">[] = [];
  for (let row = 0; row < rows; row++)
    for (let col = 0; col < columns; col++) {
      if (taken[row][col] === 1) continue;
      let [colspan, rowspan] = [1, 1];
      while (col + colspan < columns && !partedRight(row, col + colspan - 1)) colspan++;
      while (row + rowspan < rows && !partedBelow(row + rowspan - 1, col)) rowspan++;
      for (let r = row; r < row + rowspan; r++)
        for (let c = col; c < col + colspan; c++) {
          const open = (c + 1 < col + colspan && partedRight(r, c)) || (r + 1 < row + rowspan && partedBelow(r, c));
          if (taken[r][c] === 1 || open) return null;
          taken[r][c] = 1;
        }
      cells.push({ row, col, rowspan, colspan });
    }
  return cells;
}

const within = (line: PrintLine, box: Extent): boolean =>
  overlapAcross(line, box) > widthOf(line) / 2 && overlapDown(line, box) > heightOf(line) / 2;

function tableIn(frame: Extent, page: InkMask, lines: readonly PrintLine[], letterHeight: number): RuledTable | null {
  const [width, height] = [widthOf(frame), heightOf(frame)];
  const levels = withEdges(gridLines(page, frame, "across", letterHeight), height, width, letterHeight);
  const uprights = withEdges(gridLines(page, frame, "down", letterHeight), width, height, letterHeight);
  const [rows, columns] = [levels.length - 1, uprights.length - 1];
  if (rows < 2 || columns < 2) return null;
  const places = cellsOf(
    rows,
    columns,
    (row, col) => parts(levels[row + 1], uprights[col].at, uprights[col + 1].at),
    (row, col) => parts(uprights[col + 1], levels[row].at, levels[row + 1].at),
  );
  if (!places || places.length < 3) return null;
  const printed = lines.filter((line) => within(line, frame));
  const cells = places.map(({ row, col, rowspan, colspan }): RuledCell => {
    const box = {
      left: frame.left + uprights[col].at,
      right: frame.left + uprights[col + colspan].at,
      top: frame.top + levels[row].at,
      bottom: frame.top + levels[row + rowspan].at,
    };
    return { row, col, rowspan, colspan, lines: printed.filter((line) => within(line, box)).sort((a, b) => a.top - b.top) };
  });
  const counts = cells.map((cell) => cell.lines.length).filter((count) => count > 0);
  // A line that lies in no cell goes through a rule: this is no grid of cells.
  if (counts.length < 2 || counts.reduce((a, b) => a + b, 0) < printed.length) return null;
  if (counts.sort((a, b) => a - b)[counts.length >> 1] > MOST_LINES) return null;
  return withUnruledRows({ ...frame, rows, columns, cells }, letterHeight);
}

/**
 * Rows that stand in one ruled row: each a set of lines. Few rules and many lines part by white; else lines on the same levels in every cell
 * are rows, and any others one.
 */
function rowsWithin(cells: readonly RuledCell[], ruledRows: number, letterHeight: number): (readonly PrintLine[])[] {
  const printed = cells.filter(({ lines }) => lines.length > 0);
  const all = printed.flatMap(({ lines }) => lines);
  const levels = levelsOf(all, letterHeight);
  if (ruledRows <= FEW_ROWS && printed.filter(({ lines }) => lines.length >= MANY_LINES).length > 1)
    return rowsOf([levels], letterHeight).map((row) => row.flatMap(({ pieces }) => pieces));
  const least = printed.length > 2 ? 2 : 3;
  const agree =
    levels.every(({ pieces }) => pieces.length === printed.length) && printed.every(({ lines }) => lines.length === levels.length);
  return printed.length > 1 && levels.length >= least && agree ? levels.map(({ pieces }) => pieces) : [all];
}

/** A table ruled here and there has rows without rules. */
function withUnruledRows(table: RuledTable, letterHeight: number): RuledTable {
  const cells: RuledCell[] = [];
  /** First row that each ruled row has become. */
  const starts: number[] = [];
  let rows = 0;
  for (let row = 0; row < table.rows; row++) {
    starts.push(rows);
    const own = table.cells.filter((cell) => cell.row === row);
    const whole = own.reduce((sum, { colspan }) => sum + colspan, 0) === table.columns && own.every(({ rowspan }) => rowspan === 1);
    const parted = whole ? rowsWithin(own, table.rows, letterHeight) : [own.flatMap(({ lines }) => lines)];
    for (const [i, printed] of parted.entries())
      for (const cell of own) cells.push({ ...cell, row: rows + i, lines: cell.lines.filter((line) => printed.includes(line)) });
    rows += parted.length;
  }
  const ends = [...starts.slice(1), rows];
  const stretched = cells.map((cell) => {
    const ruled = starts.findLastIndex((start) => start <= cell.row);
    return cell.rowspan === 1 ? cell : { ...cell, rowspan: ends[ruled + cell.rowspan - 1] - cell.row };
  });
  return { ...table, rows, cells: stretched };
}

/** Finds tables with rules; `rest` are the lines in none. */
export function ruledTables(page: InkMask, { rules, letterHeight }: PageMarks, lines: readonly PrintLine[]): LinedPage<RuledTable> {
  const frames = rules.filter(
    (rule) => widthOf(rule) > LEAST_FRAME.width * letterHeight && heightOf(rule) > LEAST_FRAME.height * letterHeight,
  );
  const tables = frames.flatMap((frame) => tableIn(frame, page, lines, letterHeight) ?? []);
  const inside = new Set(tables.flatMap(({ cells }) => cells.flatMap((cell) => cell.lines)));
  return { tables, rest: lines.filter((line) => !inside.has(line)) };
}
