/**
 * Random tables, each written twice: as OTSL (the truth) and as a Typst table (the print). Grids of text, numbers, prices,
 * dates and empty cells, with spanning heads, spanning labels, cells of several lines, and the ruling styles of print:
 * full grid, three lines, horizontal lines, frame, none; shaded heads and stripes. It refuses to know where a table
 * stands.
 */
import { type TableCell, type TableGrid, writeOtsl } from "../document/otsl.ts";
import { type Corpus, cleanText, excerpt } from "./corpus.ts";
import type { Random } from "./random.ts";
import type { Glyph } from "./rasterise.ts";
import { date, personName, price, pseudoWord } from "./snippets.ts";
import { typstString } from "./typeset.ts";

export interface Table {
  readonly otsl: string;
  readonly typst: string;
  readonly rows: number;
  readonly columns: number;
  /** Texts of the cells in reading order, empty ones left out. */
  readonly texts: readonly string[];
}

export interface TableLimits {
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
  /** Measure of the table in font sizes. */
  readonly measure: number;
}

type ColumnKind = "label" | "words" | "integer" | "decimal" | "percent" | "price" | "date" | "code" | "name" | "long" | "mark";

const COLUMN_WEIGHTS: Readonly<Record<ColumnKind, number>> = {
  label: 6,
  words: 14,
  integer: 22,
  decimal: 22,
  percent: 10,
  price: 9,
  date: 6,
  code: 7,
  name: 5,
  long: 7,
  mark: 4,
};

/** Words none of which is longer than `longest` letters, so that none leaves its cell. */
function words(corpus: Corpus, random: Random, low: number, high: number, longest: number): string {
  const count = random.int(low, high);
  const picked = Array.from({ length: count }, () =>
    (random.chance(0.75) ? random.pick(corpus.words).toLowerCase() : pseudoWord(random)).slice(0, longest),
  );
  const text = picked.join(" ");
  return random.chance(0.8) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function cellText(kind: ColumnKind, corpus: Corpus, random: Random, longest: number): string {
  switch (kind) {
    case "label":
      return words(corpus, random, 1, 3, longest);
    case "words":
      return words(corpus, random, 1, 2, longest);
    case "integer":
      return random.chance(0.4) ? random.int(0, 99999).toLocaleString("en-US") : String(random.int(0, 9999));
    case "decimal":
      return `${random.chance(0.12) ? "-" : ""}${(10 ** random.range(-1, 2)).toFixed(random.int(1, 3))}${random.chance(0.06) ? ` ± ${random.next().toFixed(2)}` : ""}`;
    case "percent":
      return `${(random.next() * 100).toFixed(random.int(0, 2))}%`;
    case "price":
      return price(random);
    case "date":
      return date(random);
    case "code":
      return `${pseudoWord(random).slice(0, 3).toUpperCase()}-${random.int(1, 999)}`;
    case "name":
      return personName(random);
    case "long":
      return cleanText(excerpt(corpus, random, random.int(18, 60)));
    case "mark":
      return random.pick(["Yes", "No", "N/A", "-", "n.s.", "*", "A", "B", "—", "0"]);
  }
}

/** The narrowest column each kind fits into, in font sizes. */
const NARROWEST: Readonly<Record<ColumnKind, number>> = {
  label: 0,
  words: 0,
  integer: 0,
  decimal: 0,
  percent: 5.5,
  price: 8,
  date: 9,
  code: 6,
  name: 9,
  long: 9,
  mark: 0,
};

const NUMERIC: ReadonlySet<ColumnKind> = new Set(["integer", "decimal", "percent", "price"]);

interface Draft {
  readonly grid: (TableCell | null)[][];
  readonly kinds: readonly ColumnKind[];
  readonly headRows: number;
}

function drawGrid(corpus: Corpus, random: Random, rows: number, columns: number, columnMeasure: number): Draft {
  const kinds = Array.from({ length: columns }, (_, column): ColumnKind => {
    const kind = column === 0 && random.chance(0.7) ? "label" : random.weighted(COLUMN_WEIGHTS);
    return columnMeasure < NARROWEST[kind] ? random.pick(["words", "integer", "decimal"]) : kind;
  });
  const longest = Math.max(3, Math.floor((columnMeasure - 1.6) / 0.58));
  const headRows = random.chance(0.88) ? 1 : 0;
  const grid: (TableCell | null)[][] = Array.from({ length: rows }, () => new Array<TableCell | null>(columns).fill(null));
  const taken = Array.from({ length: rows }, () => new Array<boolean>(columns).fill(false));
  const emptiness = random.chance(0.5) ? 0 : random.range(0.02, 0.25);
  const put = (row: number, col: number, rowspan: number, colspan: number, text: string) => {
    grid[row][col] = { row, col, rowspan, colspan, text };
    for (let r = row; r < row + rowspan; r++) for (let c = col; c < col + colspan; c++) taken[r][c] = true;
  };
  const isFree = (row: number, col: number, rowspan: number, colspan: number) => {
    for (let r = row; r < row + rowspan; r++)
      for (let c = col; c < col + colspan; c++) if (r >= rows || c >= columns || taken[r][c]) return false;
    return true;
  };
  const spans = random.chance(0.4);
  let bodyFrom = headRows;
  if (headRows === 1 && spans && rows >= 4 && columns >= 3 && random.chance(0.6)) {
    // A head of two rows: the first column spans both, groups of columns share a head.
    bodyFrom = 2;
    put(0, 0, 2, 1, words(corpus, random, 1, 2, longest));
    for (let col = 1; col < columns; ) {
      const width = Math.min(columns - col, random.int(1, 3));
      if (width === 1) put(0, col, 2, 1, words(corpus, random, 1, 1, longest));
      else {
        put(0, col, 1, width, words(corpus, random, 1, 2, longest));
        for (let c = col; c < col + width; c++) put(1, c, 1, 1, words(corpus, random, 1, 1, longest));
      }
      col += width;
    }
  } else if (headRows === 1)
    for (let col = 0; col < columns; col++) put(0, col, 1, 1, col === 0 && random.chance(0.25) ? "" : words(corpus, random, 1, 2, longest));
  for (let row = bodyFrom; row < rows; row++)
    for (let col = 0; col < columns; col++) {
      if (taken[row][col]) continue;
      if (spans && col === 0 && random.chance(0.25)) {
        const height = random.int(2, 3);
        if (isFree(row, col, height, 1)) {
          put(row, col, height, 1, cellText(kinds[col], corpus, random, longest));
          continue;
        }
      }
      if (spans && random.chance(0.05)) {
        const width = random.int(2, Math.max(2, columns - col));
        if (isFree(row, col, 1, width)) {
          put(row, col, 1, width, words(corpus, random, 1, 3, longest));
          continue;
        }
      }
      put(row, col, 1, 1, col > 0 && random.chance(emptiness) ? "" : cellText(kinds[col], corpus, random, longest));
    }
  return { grid, kinds, headRows: bodyFrom };
}

interface Ruling {
  readonly stroke: string;
  readonly lines: readonly string[];
}

function ruling(random: Random, headRows: number, rows: number): Ruling {
  const thin = `${random.range(0.8, 2).toFixed(1)}pt`;
  const thick = `${random.range(2, 3.5).toFixed(1)}pt`;
  const grey = random.chance(0.2) ? " + luma(150)" : "";
  const line = (row: number, weight: string) => `table.hline(y: ${row}, stroke: ${weight})`;
  switch (random.weighted({ grid: 38, three: 26, rows: 14, none: 10, frame: 6, columns: 6 })) {
    case "grid":
      return { stroke: `${thin}${grey}`, lines: [] };
    case "three":
      return { stroke: "none", lines: [line(0, thick), ...(headRows > 0 ? [line(headRows, thin)] : []), line(rows, thick)] };
    case "rows":
      return { stroke: `(x: none, y: ${thin}${grey})`, lines: [] };
    case "columns":
      return { stroke: `(x: ${thin}${grey}, y: none)`, lines: headRows > 0 ? [line(headRows, thin)] : [] };
    case "frame":
      return {
        stroke: "none",
        lines: [line(0, thin), line(rows, thin), ...(headRows > 0 && random.chance(0.5) ? [line(headRows, thin)] : [])],
      };
    default:
      return { stroke: "none", lines: random.chance(0.4) && headRows > 0 ? [line(headRows, thin)] : [] };
  }
}

/** The characters of `text` in order of their codes, alphabets and ligatures resolved: equal bags print the same letters. */
function letterBag(text: string): string {
  return [...text.normalize("NFKC").replace(/\s/g, "")].sort().join("");
}

/** True if the glyphs are those of the table's texts and no two cells print over each other. */
export function printsTable(table: Table, glyphs: readonly Glyph[]): boolean {
  if (letterBag(glyphs.map((glyph) => glyph.char).join("")) !== letterBag(table.texts.join(""))) return false;
  for (let i = 0; i < glyphs.length; i++)
    for (let j = i + 2; j < glyphs.length; j++) {
      const [a, b] = [glyphs[i], glyphs[j]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 0.12 * a.size && down > 0.12 * a.size) return false;
    }
  return true;
}

/** Draws a table; font and size are the surroundings' affair. */
export function drawTable(corpus: Corpus, random: Random, limits: TableLimits): Table {
  const columns = random.int(limits.columns[0], limits.columns[1]);
  const rows = random.int(limits.rows[0], limits.rows[1]);
  const { grid, kinds, headRows } = drawGrid(corpus, random, rows, columns, limits.measure / columns);
  const rules = ruling(random, headRows, rows);
  const fullWidth = random.chance(0.45);
  const tracks = kinds.map((kind) =>
    kind === "long" ? `${Math.max(5, (limits.measure / columns) * random.range(0.8, 1.1)).toFixed(1)}em` : fullWidth ? "1fr" : "auto",
  );
  const aligns = kinds.map((kind, column) =>
    NUMERIC.has(kind) ? random.pick(["right", "center", "right"]) : column === 0 ? "left" : random.pick(["left", "center"]),
  );
  const vertical = random.pick(["horizon", "horizon", "top"]);
  const shade = random.chance(0.22)
    ? `(x, y) => if y < ${headRows} { ${random.pick(["luma(225)", "rgb(205, 220, 240)", "luma(200)", "rgb(230, 235, 215)"])} }`
    : undefined;
  const stripes = !shade && random.chance(0.12) ? `(x, y) => if calc.odd(y) { luma(${random.int(228, 244)}) }` : undefined;
  const boldHead = random.chance(0.6);
  const centreHead = random.chance(0.6);
  const inset = `(x: ${random.range(0.3, 0.9).toFixed(2)}em, y: ${random.range(0.2, 0.55).toFixed(2)}em)`;
  const cells = grid.flat().filter((cell) => cell !== null);
  const printed = cells.map((cell) => {
    const isHead = cell.row < headRows;
    const content = cell.text === "" ? "[]" : `text(${isHead && boldHead ? 'weight: "bold", ' : ""}${typstString(cell.text)})`;
    const align =
      isHead && centreHead ? `center + ${vertical}` : cell.colspan > 1 ? `center + ${vertical}` : `${aligns[cell.col]} + ${vertical}`;
    return `table.cell(x: ${cell.col}, y: ${cell.row}, rowspan: ${cell.rowspan}, colspan: ${cell.colspan}, align: ${align}, ${content})`;
  });
  const fill = shade ?? stripes;
  const typst =
    `table(columns: (${tracks.join(", ")},), stroke: ${rules.stroke}, inset: ${inset},${fill ? ` fill: ${fill},` : ""}\n` +
    `${[...rules.lines, ...printed].join(",\n")})`;
  const grids: TableGrid = grid;
  return { otsl: writeOtsl(grids), typst, rows, columns, texts: cells.map((cell) => cell.text).filter((text) => text !== "") };
}
