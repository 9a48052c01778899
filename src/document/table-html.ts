/**
 * HTML tables in both directions. Writing gives the plain form that benchmarks read (`table`, `tr`, `td`, spans, escaped text, nothing
 * else). Reading lays a table out by the HTML table algorithm, settles overlaps in favour of the earlier cell, and takes plain text only,
 * so no markup a model wrote gets through. Refuses to know OTSL.
 */
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import { trimWhite } from "./answer-text.ts";
import type { TableCell, TableGrid } from "./otsl.ts";

/** Text as HTML character data, safe in attributes too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]);
}

/** Writes a grid as an HTML table without white space between tags; no rows give the empty string. `cellHtml` renders a cell's text. */
export function tableToHtml(grid: TableGrid, cellHtml: (text: string) => string = escapeHtml): string {
  if (grid.length === 0) return "";
  const rows = grid.map((row) => {
    const cells = row.map((cell) => {
      if (cell === null) return "";
      const rowspan = cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : "";
      const colspan = cell.colspan > 1 ? ` colspan="${cell.colspan}"` : "";
      return `<td${rowspan}${colspan}>${cellHtml(cell.text)}</td>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<table>${rows.join("")}</table>`;
}

/** Reads the first table of `html` as a grid; tables inside its cells give their text. No table gives an empty grid. Never throws. */
export function parseTableHtml(html: string): TableGrid {
  const table = firstTable(parseFragment(html));
  return table === null ? [] : laidOut(rowsOf(table));
}

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.DocumentFragment;
type Element = DefaultTreeAdapterTypes.Element;

const MOST_COLUMNS = 1000;
const MOST_ROWS = 65534;
const BLOCK_ELEMENTS = new Set(["br", "p", "div", "li", "tr", "ul", "ol"]);
const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

/** Puts the cells of each row into the grid (HTML standard, forming a table), fills holes with empty cells, cuts spans at the last row. */
function laidOut(rows: Element[][]): TableGrid {
  const owners: (TableCell | undefined)[][] = rows.map(() => []);
  const cells: TableCell[] = [];
  rows.forEach((elements, row) => {
    let col = 0;
    for (const element of elements) {
      while (owners[row][col] !== undefined) col++;
      const wanted = spanOf(element, "colspan", MOST_COLUMNS);
      const deep = attribute(element, "rowspan") === "0" ? MOST_ROWS : spanOf(element, "rowspan", MOST_ROWS);
      let colspan = 1;
      while (colspan < wanted && owners[row][col + colspan] === undefined) colspan++;
      const rowspan = Math.min(deep, rows.length - row);
      const header = element.tagName === "th" ? { header: true as const } : {};
      const cell: TableCell = { text: trimWhite(textOf(element)), row, col, rowspan, colspan, ...header };
      cells.push(cell);
      for (let r = row; r < row + rowspan; r++) for (let c = col; c < col + colspan; c++) owners[r][c] ??= cell;
      col += colspan;
    }
  });
  const width = owners.reduce((most, row) => Math.max(most, row.length), 0);
  const grid: TableGrid = rows.map(() => Array(width).fill(null));
  for (const cell of cells) grid[cell.row][cell.col] = cell;
  owners.forEach((row, r) => {
    for (let c = 0; c < width; c++) if (row[c] === undefined) grid[r][c] = { text: "", row: r, col: c, rowspan: 1, colspan: 1 };
  });
  return grid;
}

function rowsOf(table: Element): Element[][] {
  const rows: Element[][] = [];
  const visit = (parent: Element) => {
    for (const child of parent.childNodes) {
      if (!("tagName" in child)) continue;
      if (child.tagName === "tr")
        rows.push(child.childNodes.filter((n): n is Element => "tagName" in n && (n.tagName === "td" || n.tagName === "th")));
      else if (child.tagName === "thead" || child.tagName === "tbody" || child.tagName === "tfoot") visit(child);
    }
  };
  visit(table);
  return rows;
}

function firstTable(node: Node): Element | null {
  if ("tagName" in node && node.tagName === "table") return node;
  if (!("childNodes" in node)) return null;
  for (const child of node.childNodes) {
    const found = firstTable(child);
    if (found !== null) return found;
  }
  return null;
}

function textOf(node: Node): string {
  if ("value" in node) return node.value;
  if (!("childNodes" in node) || ("tagName" in node && (node.tagName === "script" || node.tagName === "style"))) return "";
  const inner = node.childNodes.map(textOf).join("");
  if (!("tagName" in node)) return inner;
  if (node.tagName === "br") return "\n";
  if (node.tagName === "td" || node.tagName === "th") return `${inner} `;
  return BLOCK_ELEMENTS.has(node.tagName) ? `${inner}\n` : inner;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((a) => a.name === name)?.value.trim();
}

function spanOf(element: Element, name: string, most: number): number {
  const value = Number.parseInt(attribute(element, name) ?? "", 10);
  return value >= 1 ? Math.min(value, most) : 1;
}
