/**
 * Tables as the model writes them: OTSL, a row of cell tokens for every printed row, where `lcel`, `ucel` and `xcel` say that a place
 * belongs to the cell at its left, above, or both (paper section 4). Any answer gives a rectangular grid that holds all its text and in
 * which cells neither overlap nor leave holes; rules in test/golden/documents/README.md. Refuses to know how tables are shown.
 */
import { cutAtStop, isBlank, trimWhite } from "./answer-text.ts";
import { parseTableHtml } from "./table-html.ts";

/** A cell at its upper left place. `text` is plain, formulas in `\( \)`. */
export interface TableCell {
  readonly text: string;
  readonly row: number;
  readonly col: number;
  readonly rowspan: number;
  readonly colspan: number;
  readonly header?: true;
}

/** Rows of equal length; null where a cell from the left or from above covers the place. */
export type TableGrid = (TableCell | null)[][];

const TOKEN = /<(fcel|ecel|lcel|ucel|xcel|nl|ched|rhed|srow)>/g;
const HEADER_TOKENS = new Set(["ched", "rhed", "srow"]);
const SPAN_TOKENS = new Set(["lcel", "ucel", "xcel"]);

interface Place {
  /** `full`, `empty`, or the span token. */
  readonly kind: string;
  readonly text: string;
  readonly header: boolean;
}

const EMPTY_PLACE: Place = { kind: "empty", text: "", header: false };

/** Reads a table answer: OTSL, or an HTML table where the model wrote one. No rows give an empty array. Never throws. */
export function parseOtsl(answer: string): TableGrid {
  const text = trimWhite(cutAtStop(answer));
  if (text.startsWith("<table") && text.endsWith("</table>")) return parseTableHtml(text);
  return spanned(padded(readRows(text)));
}

/** Writes a grid as OTSL; {@link parseOtsl} gives the same grid back as long as no cell text holds an OTSL token. Header marks are kept. */
export function writeOtsl(grid: TableGrid): string {
  const owners = ownerGrid(grid);
  return grid
    .map((row, r) => {
      const places = row.map((cell, c) => {
        if (cell !== null) return cell.header ? `<ched>${cell.text}` : cell.text === "" ? "<ecel>" : `<fcel>${cell.text}`;
        const owner = owners[r][c];
        if (owner.row === r) return "<lcel>";
        return owner.col === c ? "<ucel>" : "<xcel>";
      });
      return `${places.join("")}<nl>`;
    })
    .join("");
}

/** Reads an HTML table and writes it as OTSL without header marks, the form the model is taught. */
export function htmlToOtsl(html: string): string {
  return writeOtsl(parseTableHtml(html).map((row) => row.map((cell) => cell && { ...cell, header: undefined })));
}

/** The cell that each place belongs to. Throws an internal error when the grid has a hole. */
export function ownerGrid(grid: TableGrid): TableCell[][] {
  const owners: TableCell[][] = grid.map(() => []);
  for (const cell of grid.flat()) {
    if (cell === null) continue;
    for (let r = cell.row; r < cell.row + cell.rowspan; r++) for (let c = cell.col; c < cell.col + cell.colspan; c++) owners[r][c] = cell;
  }
  grid.forEach((row, r) => {
    for (let c = 0; c < row.length; c++)
      if (owners[r][c] === undefined) throw new Error(`internal: table grid has a hole at row ${r}, column ${c}`);
  });
  return owners;
}

function readRows(text: string): Place[][] {
  const rows: Place[][] = [];
  let row: Place[] = [];
  let from = 0;
  let token: string | null = null;
  const closePlace = (to: number) => {
    const own = trimWhite(text.slice(from, to));
    if (token === null) {
      if (own !== "") row.push({ kind: "full", text: own, header: false });
    } else if (SPAN_TOKENS.has(token) && own === "") row.push({ kind: token, text: "", header: false });
    else row.push({ kind: token === "ecel" && own === "" ? "empty" : "full", text: own, header: HEADER_TOKENS.has(token) });
  };
  const closeRow = () => {
    if (row.length > 0) rows.push(row);
    row = [];
  };
  for (const match of text.matchAll(TOKEN)) {
    closePlace(match.index);
    from = match.index + match[0].length;
    token = match[1];
    if (token === "nl") {
      closeRow();
      token = null;
    }
  }
  closePlace(text.length);
  closeRow();
  return rows;
}

function padded(rows: Place[][]): Place[][] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return rows.map((row) => [...row, ...Array<Place>(width - row.length).fill(EMPTY_PLACE)]);
}

/** Settles the spans: width before depth, earlier cells before later ones. */
function spanned(places: Place[][]): TableGrid {
  const covered = places.map((row) => row.map(() => false));
  const grid: TableGrid = places.map((row) => row.map(() => null));
  places.forEach((row, r) => {
    row.forEach((place, c) => {
      if (covered[r][c]) return;
      let colspan = 1;
      while (c + colspan < row.length && !covered[r][c + colspan] && isOneOf(row[c + colspan], "lcel", "xcel")) colspan++;
      let rowspan = 1;
      while (r + rowspan < places.length && continuesDown(places[r + rowspan], covered[r + rowspan], c, colspan)) rowspan++;
      for (let y = r; y < r + rowspan; y++) covered[y].fill(true, c, c + colspan);
      grid[r][c] = { text: place.text, row: r, col: c, rowspan, colspan, ...(place.header ? { header: true as const } : {}) };
    });
  });
  return grid;
}

function continuesDown(row: Place[], covered: boolean[], col: number, colspan: number): boolean {
  if (!isOneOf(row[col], "ucel", "xcel")) return false;
  for (let c = col; c < col + colspan; c++) if (covered[c] || !SPAN_TOKENS.has(row[c].kind)) return false;
  return true;
}

function isOneOf(place: Place, ...kinds: string[]): boolean {
  return kinds.includes(place.kind);
}

/** All cells of a grid in reading order. */
export function cellsOf(grid: TableGrid): TableCell[] {
  return grid.flat().filter((cell) => cell !== null);
}

/** Whether the grid holds any text. */
export function hasText(grid: TableGrid): boolean {
  return cellsOf(grid).some((cell) => !isBlank(cell.text));
}
