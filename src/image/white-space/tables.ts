/**
 * Tables among lines: neighbouring rows of several short pieces whose edges agree down the page. Columns of running text fill their width
 * line by line and are none. A table becomes a grid of the lines that stand in its places. Refuses to know what the cells say.
 */
import type { LinedPage, PrintLine } from "./lines.ts";
import { around, type Extent, heightOf, median, overlapAcross, overlapDown, widthOf } from "./marks.ts";

export interface PrintTable extends Extent {
  /** Lines of the cells, row by row, column by column: one below the other where a cell has several. */
  readonly cells: readonly (readonly (readonly PrintLine[])[])[];
}

const LEAST_ROWS = 3;
/** Rows of a table are no further apart than this many letter heights. */
const ROW_GAP = 4;
/** A row is no larger than this against the one above: figures are half as high again as small letters. */
const LIKE_SIZE = 2;
/** Lines that fill more of their column, at the middle, are running text. */
const MOST_FILLED = 0.8;
/** A column of so many letter heights holds figures and words, not sentences. */
const NARROW = 14;
/** Columns whose pieces agree in an edge, as a share of all. */
const LEAST_ALIGNED = 0.7;
/** Rows that say something in at least two places, as a share of all. */
const LEAST_SHARED = 0.6;

/** Lines side by side, left to right; rows top to bottom. */
function rowsOf(lines: readonly PrintLine[]): PrintLine[][] {
  const rows: PrintLine[][] = [];
  for (const line of [...lines].sort((a, b) => a.top - b.top)) {
    const row = rows.find((members) => members.some((other) => overlapDown(line, other) > 0.5 * Math.min(heightOf(line), heightOf(other))));
    if (row) row.push(line);
    else rows.push([line]);
  }
  return rows.map((row) => row.sort((a, b) => a.left - b.left));
}

/** Columns: extents across that no piece of another column reaches into. Pieces that span several are given to none. */
function columnsOf(rows: readonly (readonly PrintLine[])[]): Extent[] {
  const pieces = rows.filter((row) => row.length > 1).flat();
  const columns: Extent[] = [];
  for (const piece of [...pieces].sort((a, b) => widthOf(a) - widthOf(b))) {
    const touched = columns.flatMap((column, i) => (overlapAcross(column, piece) > 0 ? [i] : []));
    if (touched.length === 0) columns.push(piece);
    else if (touched.length === 1) columns[touched[0]] = around([columns[touched[0]], piece]);
  }
  return columns.sort((a, b) => a.left - b.left);
}

function isTable(rows: readonly (readonly PrintLine[])[], columns: readonly Extent[]): boolean {
  if (rows.length < LEAST_ROWS || columns.length < 2) return false;
  const shared = rows.filter((row) => row.length > 1);
  if (shared.length < LEAST_ROWS || shared.length < LEAST_SHARED * rows.length) return false;
  const filled = columns.map((column) => {
    const widths = shared
      .flat()
      .filter((line) => overlapAcross(line, column) > 0)
      .map((line) => Math.min(widthOf(line), widthOf(column)));
    return median(widths) / widthOf(column);
  });
  const level = shared.every((row) => {
    const bottoms = row.map(({ bottom }) => bottom);
    return Math.max(...bottoms) - Math.min(...bottoms) < 0.8 * row[0].letterHeight;
  });
  if (columns.filter((column) => isAligned(column, shared)).length < LEAST_ALIGNED * columns.length) return false;
  const { letterHeight } = rows[0][0];
  const narrow = columns.filter((column) => widthOf(column) < NARROW * letterHeight);
  // Columns of figures and words are a table however well they fill; of wider ones, two are text beside text unless the first is narrow.
  if (!level || narrow.length === columns.length) return level;
  return columns.length > 2 ? median(filled) <= MOST_FILLED : narrow.includes(columns[0]) && Math.min(...filled) <= MOST_FILLED;
}

/** Whether the pieces of a column agree in their left edge, their right edge or their middle. */
function isAligned(column: Extent, rows: readonly (readonly PrintLine[])[]): boolean {
  const pieces = rows.flat().filter((line) => overlapAcross(line, column) > 0 && widthOf(line) <= widthOf(column));
  if (pieces.length < 2) return false;
  return [({ left }: Extent) => left, ({ right }: Extent) => right, ({ left, right }: Extent) => (left + right) / 2].some((edge) => {
    const usual = median(pieces.map(edge));
    const near = pieces.filter((piece) => Math.abs(edge(piece) - usual) < piece.letterHeight);
    return near.length >= LEAST_SHARED * pieces.length;
  });
}

function gridOf(rows: readonly (readonly PrintLine[])[], columns: readonly Extent[]): PrintTable {
  const cells = rows.map((row) => {
    const places: PrintLine[][] = columns.map(() => []);
    for (const line of row) {
      const shares = columns.map((column) => overlapAcross(column, line));
      const at = shares.findIndex((share) => share > 0);
      places[Math.max(0, at)].push(line);
    }
    return places;
  });
  return { ...around(rows.flat()), cells };
}

/** Finds tables; `rest` are the lines in none. */
export function printTables(lines: readonly PrintLine[]): LinedPage<PrintTable> {
  const tables: PrintTable[] = [];
  const within = new Set<PrintLine>();
  let open: PrintLine[][] = [];
  const close = (): void => {
    while (open.length > 0 && open[open.length - 1].length < 2) open.pop();
    const columns = columnsOf(open);
    if (isTable(open, columns)) {
      tables.push(gridOf(open, columns));
      for (const line of open.flat()) within.add(line);
    }
    open = [];
  };
  for (const row of rowsOf(lines)) {
    const last = open[open.length - 1];
    const near = last === undefined || around(row).top - around(last).bottom < ROW_GAP * row[0].letterHeight;
    const like = last === undefined || row[0].letterHeight < LIKE_SIZE * last[0].letterHeight;
    if (open.length > 0 && (!near || !like || (row.length < 2 && last.length < 2))) close();
    if (row.length > 1 || open.length > 0) open.push(row);
  }
  close();
  return { tables, rest: lines.filter((line) => !within.has(line)) };
}
