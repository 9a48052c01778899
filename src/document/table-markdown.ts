/**
 * A grid as a Markdown (GFM) table, where Markdown can say it: no cell wider or deeper than one place. Text is escaped so that a renderer
 * shows exactly the cell's characters; formulas become `$…$`. Refuses to know where the table stands.
 */
import { trimWhite } from "./answer-text.ts";
import type { TableGrid } from "./otsl.ts";

/** Writes `grid` as a Markdown table, first row as header; null if there is no row or a cell spans several places. */
export function tableToMarkdown(grid: TableGrid, inline: readonly [string, string] = ["$", "$"]): string | null {
  if (grid.length === 0) return null;
  const rows: string[] = [];
  for (const row of grid) {
    const texts: string[] = [];
    for (const cell of row) {
      if (cell === null || cell.rowspan > 1 || cell.colspan > 1) return null;
      texts.push(cellToMarkdown(cell.text, inline));
    }
    rows.push(`| ${texts.join(" | ")} |`);
  }
  rows.splice(1, 0, `| ${grid[0].map(() => "---").join(" | ")} |`);
  return rows.join("\n");
}

/** `grid` with every cell in one place: one that spans several stands in the first of them, the others are empty. */
export function withoutSpans(grid: TableGrid): TableGrid {
  const single = (text: string, row: number, col: number) => ({ text, row, col, rowspan: 1, colspan: 1 });
  return grid.map((row, r) => row.map((cell, c) => single(cell?.text ?? "", r, c)));
}

/** How many cells of `grid` span several places. */
export function spanningCells(grid: TableGrid): number {
  return grid.flat().filter((cell) => cell !== null && cell.rowspan * cell.colspan > 1).length;
}

/** A formula in its delimiters, innermost pair. */
const FORMULA = /\\\(((?:(?!\\[()])[\s\S])*)\\\)/;

function cellToMarkdown(text: string, [open, close]: readonly [string, string]): string {
  return text
    .split(FORMULA)
    .map((part, i) => {
      const line = part.replace(/\s*[\r\n]\s*/g, " ");
      if (i % 2 === 0) return escapeCell(line);
      const latex = trimWhite(line);
      return latex === "" ? "" : `${open}${withoutPipes(latex)}${close}`;
    })
    .join("");
}

function escapeCell(text: string): string {
  return text
    .replace(/\\/g, "\\\\")
    .replace(/[|*_`~$]/g, "\\$&")
    .replace(/<(?=[A-Za-z/!?])/g, "\\<")
    .replace(/&(?=#\d+;|#[xX][\dA-Fa-f]+;|[A-Za-z][A-Za-z\d]*;)/g, "\\&");
}

/** GFM ends a cell at every pipe, even in a formula; `\vert` and `\Vert` print the same. */
function withoutPipes(latex: string): string {
  return latex.replace(/\\\||\|/g, (sign) => (sign === "|" ? "\\vert " : "\\Vert "));
}
