/**
 * Tables between level rules, as books and papers set them: a rule above, one below, often one under the head. Columns are parted by white
 * that goes through nearly every row, rows by rules or by more white than lines of one cell have between them. Refuses to know what the
 * cells say, and running text that happens to stand between two rules.
 */
import { chains, type LinedPage, lineOf, type PrintLine, withDots } from "./lines.ts";
import { around, type Extent, heightOf, median, overlapAcross, overlapDown, type PageMarks, widthOf } from "./marks.ts";
import type { RuledCell, RuledTable } from "./ruled-tables.ts";

/** Rules of a table are at least so long and their ends agree so well, in letter heights. */
const LEAST_RULE = 5;
const AGREE = 2;
/** Letters of a word or two are no further apart than this, in letter heights; columns at least so far. */
const WORD_GAP = 0.75;
const COLUMN_GAP = 0.9;
/** White parts columns if no more than this share of the rows has print in it; of few rows one, a head over several columns. */
const MOST_CROSSED = 0.2;
const FEW_ROWS = 4;
/** A piece belongs to every column it covers so much of. */
const COVERED = 0.3;
/** Levels this close, in letter heights, are one row in any case: something in it stands between two lines. */
const TOUCHING = 0.6;
/** White between rows is so many times that between lines of one cell. */
const BIMODAL = 1.3;
/** Where each rule parts two rows, at least so many bands are there, and this share of them is of one level. */
const RULED_ROWS = { bands: 3, single: 0.5 };
/** Columns this wide, in letter heights, whose lines fill them so far, are running text. */
const WIDE_COLUMN = 14;
const FILLED = 0.8;
/** A rule over so much of a table's width parts rows. */
const LONG_RULE = 0.6;
/** A small mark at least this long stands for something: a dash for no value. */
const LEAST_SIGN = 0.45;

interface Level {
  readonly pieces: readonly PrintLine[];
  /** Where its low letters begin and stand. */
  readonly top: number;
  readonly foot: number;
}

const within = (inner: Extent, outer: Extent): boolean =>
  overlapAcross(inner, outer) > widthOf(inner) / 2 && overlapDown(inner, outer) > heightOf(inner) / 2;

/** Rules of one length above each other, from the uppermost to the lowest, parted where running text stands between. */
function ruleGroups(rules: readonly Extent[], pieces: readonly PrintLine[], letterHeight: number): Extent[][] {
  const level = rules.filter((rule) => widthOf(rule) > LEAST_RULE * letterHeight && heightOf(rule) < letterHeight);
  const groups: Extent[][] = [];
  for (const rule of [...level].sort((a, b) => a.top - b.top)) {
    const group = groups.find((members) => {
      const last = members[members.length - 1];
      const agree = Math.abs(last.left - rule.left) < AGREE * letterHeight && Math.abs(last.right - rule.right) < AGREE * letterHeight;
      return agree && !isRunning({ ...around([last, rule]), top: last.bottom, bottom: rule.top }, pieces, letterHeight);
    });
    if (group) group.push(rule);
    else groups.push([rule]);
  }
  return groups.filter(({ length }) => length > 1);
}

/** Whether what stands in `box` has several lines that no white parts, or sticks out of it. */
function isRunning(box: Extent, pieces: readonly PrintLine[], letterHeight: number): boolean {
  const inside = pieces.filter((piece) => overlapAcross(piece, box) > 0 && overlapDown(piece, box) > heightOf(piece) / 2);
  if (inside.some((piece) => widthOf(piece) > 1.1 * widthOf(box))) return true;
  const rows = levelsOf(inside, letterHeight).map((level) => level.pieces);
  return rows.length > 1 && columnsOf(rows, box, letterHeight).length === 1;
}

/** Pieces on one level and what overlaps them, top to bottom. */
export function levelsOf(pieces: readonly PrintLine[], letterHeight: number): Level[] {
  const levels: { pieces: PrintLine[]; top: number; foot: number }[] = [];
  // Figures are higher than small letters, and yet stand on the same line: one height for all.
  const topOf = ({ foot }: PrintLine): number => foot - letterHeight;
  for (const piece of [...pieces].sort((a, b) => topOf(a) - topOf(b))) {
    const last = levels[levels.length - 1];
    if (last && topOf(piece) < last.foot) {
      last.pieces.push(piece);
      last.foot = Math.max(last.foot, piece.foot);
    } else levels.push({ pieces: [piece], top: topOf(piece), foot: piece.foot });
  }
  return levels;
}

/** Least white between rows: beyond the widest step among the whites there are, 0 if they are much alike. */
function rowWhite(whites: readonly number[], letterHeight: number): number {
  const sorted = whites.filter((white) => white > TOUCHING * letterHeight).sort((a, b) => a - b);
  let [bar, widest] = [0, BIMODAL];
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i] < widest * sorted[i - 1]) continue;
    widest = sorted[i] / sorted[i - 1];
    bar = Math.sqrt(sorted[i] * sorted[i - 1]);
  }
  return Math.max(bar, TOUCHING * letterHeight);
}

/** Levels that are one row: those between two rules with little white between, where there is more elsewhere. */
export function rowsOf(bands: readonly (readonly Level[])[], letterHeight: number): Level[][] {
  const printed = bands.filter(({ length }) => length > 0);
  const single = printed.filter(({ length }) => length === 1).length;
  if (printed.length >= RULED_ROWS.bands && single >= RULED_ROWS.single * printed.length) return printed.map((levels) => [...levels]);
  const whitesOf = (levels: readonly Level[]) => levels.slice(1).map(({ top }, i) => top - levels[i].foot);
  const bar = rowWhite(printed.flatMap(whitesOf), letterHeight);
  return printed.flatMap((levels, band) => {
    const whites = whitesOf(levels);
    const rows: Level[][] = [];
    levels.forEach((level, i) => {
      // Under a head that is set over several columns stand more heads; under one that breaks its line stands less.
      const isHead = band === 0 && printed.length > 1;
      const more = i > 0 ? level.pieces.length - levels[i - 1].pieces.length : 0;
      const isBroken = isHead && more !== 0 ? more < 0 : whites[i - 1] < bar;
      if (i > 0 && isBroken) rows[rows.length - 1].push(level);
      else rows.push([level]);
    });
    return rows;
  });
}

/** Columns of `box`: what white through nearly all rows parts, `[left, right]` in pixels. */
function columnsOf(rows: readonly (readonly PrintLine[])[], box: Extent, letterHeight: number): (readonly [number, number])[] {
  const crossed = new Uint16Array(widthOf(box));
  for (const row of rows) {
    const own = new Uint8Array(crossed.length);
    for (const { left, right } of row) own.fill(1, Math.max(0, left - box.left), Math.max(0, right - box.left));
    for (let x = 0; x < own.length; x++) crossed[x] += own[x];
  }
  const most = rows.length < FEW_ROWS ? 0 : Math.max(1, Math.floor(MOST_CROSSED * rows.length));
  const columns: [number, number][] = [];
  for (let x = 0; x < crossed.length; x++) {
    if (crossed[x] <= most) continue;
    const left = x;
    while (x < crossed.length && crossed[x] > most) x++;
    const last = columns[columns.length - 1];
    if (last && box.left + left - last[1] < COLUMN_GAP * letterHeight) last[1] = box.left + x;
    else columns.push([box.left + left, box.left + x]);
  }
  return columns;
}

/** Whether all columns are wide and their lines fill them. */
function isText(columns: readonly (readonly [number, number])[], rows: readonly (readonly PrintLine[])[], letterHeight: number): boolean {
  return columns.every(([left, right]) => {
    const widths = rows.flatMap((row) => {
      const own = row.filter((piece) => piece.left < right && piece.right > left);
      return own.length > 0 ? [widthOf(around(own))] : [];
    });
    return right - left > WIDE_COLUMN * letterHeight && median(widths) > FILLED * (right - left);
  });
}

/** First and last column that a piece stands in. */
function placeOf(piece: Extent, columns: readonly (readonly [number, number])[]): readonly [first: number, last: number] {
  const shares = columns.map(([left, right]) => overlapAcross(piece, { left, right, top: 0, bottom: 1 }) / (right - left));
  const covered = shares.flatMap((share, i) => (share >= COVERED ? [i] : []));
  if (covered.length > 0) return [covered[0], covered[covered.length - 1]];
  const best = shares.indexOf(Math.max(...shares));
  return [best, best];
}

function cellsOfRow(
  row: readonly Level[],
  at: number,
  columns: readonly (readonly [number, number])[],
  small: readonly Extent[],
  letterHeight: number,
): RuledCell[] {
  const pieces = row.flatMap((level) => level.pieces);
  const places = pieces.map((piece) => placeOf(piece, columns));
  const cells: RuledCell[] = [];
  for (let col = 0; col < columns.length; ) {
    // A piece over several columns takes what begins under it along.
    let last = col;
    for (let i = 0; i < places.length; i++) if (places[i][0] <= last && places[i][1] > last) [last, i] = [places[i][1], -1];
    const own = pieces.filter((_, i) => places[i][0] >= col && places[i][1] <= last);
    const lines = levelsOf(own, letterHeight).map((level) => lineOf(level.pieces.flatMap(({ letters }) => letters)));
    const band = { left: columns[col][0], right: columns[last][1], top: row[0].top, bottom: row[row.length - 1].foot };
    const signs = small.filter((mark) => Math.max(widthOf(mark), heightOf(mark)) > LEAST_SIGN * letterHeight && within(mark, band));
    cells.push({
      row: at,
      col,
      rowspan: 1,
      colspan: last - col + 1,
      lines:
        lines.length > 0
          ? withDots(lines, small, letterHeight)
          : signs.length > 0
            ? [lineOf(signs.map((sign) => ({ ...sign, pixels: 1 })))]
            : [],
    });
    col = last + 1;
  }
  return cells;
}

/** The table between the uppermost and the lowest of `rules`; null where white parts no rows or no columns. */
function tableBetween(
  rules: readonly Extent[],
  all: readonly PrintLine[],
  { dots, letterHeight }: PageMarks,
  isTable: (columns: readonly (readonly [number, number])[], levels: readonly (readonly PrintLine[])[]) => boolean,
): RuledTable | null {
  const box = around(rules);
  const pieces = all.filter((piece) => within(piece, box));
  const bands = rules.slice(1).map((rule, i) => {
    const band = { ...box, top: rules[i].top, bottom: rule.bottom };
    return levelsOf(
      pieces.filter((piece) => within(piece, band)),
      letterHeight,
    );
  });
  const levels = bands.flat().map((level) => level.pieces);
  const columns = columnsOf(levels, box, letterHeight);
  if (!isTable(columns, levels)) return null;
  const rows = rowsOf(bands, letterHeight);
  const small = dots.filter((dot) => within(dot, box));
  const cells = rows.flatMap((row, i) => cellsOfRow(row, i, columns, small, letterHeight));
  return { ...box, rows: rows.length, columns: columns.length, cells };
}

const piecesOf = ({ letters, letterHeight }: PageMarks): PrintLine[] => chains(letters, letterHeight, WORD_GAP).map(lineOf);

/** A picture's only table, which fills `box`, rules or not; null where nothing parts it. */
export function tableWithin(box: Extent, marks: PageMarks): RuledTable | null {
  const { left, top, right, bottom } = box;
  const across = marks.rules.filter((rule) => widthOf(rule) > LONG_RULE * widthOf(box) && heightOf(rule) < marks.letterHeight);
  const inner = across.filter((rule) => rule.top > top + marks.letterHeight && rule.bottom < bottom - marks.letterHeight);
  const rules = [{ left, right, top, bottom: top }, ...inner.sort((a, b) => a.top - b.top), { left, right, top: bottom, bottom }];
  return tableBetween(rules, piecesOf(marks), marks, (columns, levels) => columns.length * levels.length > 1);
}

/** Finds tables between level rules among `lines`; `rest` are the lines in none. */
export function levelTables(marks: PageMarks, lines: readonly PrintLine[]): LinedPage<RuledTable> {
  const { rules, letterHeight } = marks;
  if (letterHeight === 0) return { tables: [], rest: lines };
  const pieces = piecesOf(marks);
  const tables = ruleGroups(rules, pieces, letterHeight).flatMap((group) => {
    const table = tableBetween(
      group,
      pieces,
      marks,
      (columns, levels) => columns.length > 1 && levels.length > 1 && !isText(columns, levels, letterHeight),
    );
    return table && table.rows > 1 ? table : [];
  });
  return { tables, rest: lines.filter((line) => !tables.some((table) => within(line, table))) };
}
