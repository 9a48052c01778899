/**
 * Tables that go on over the page break: the last block of a page and the first of the next are one table when width and columns agree,
 * no footnote closes the first and no caption of its own opens the second. Header rows printed again are dropped. Chains of any length.
 */
import { withoutWhite } from "../answer-text.ts";
import { widthOf } from "../boxes.ts";
import type { TableCell, TableGrid } from "../otsl.ts";
import type { Block, VisualBlock } from "./blocks.ts";
import { plainText } from "./running-text.ts";
import { withoutDoubt } from "./scripts.ts";

const MOST_WIDTH_DIFFERENCE = 0.1;
const MOST_HEADER_ROWS = 5;

/** Joins continued tables. `pages` are the blocks of each page, in order, with the index of the page. */
export function mergeTables(pages: readonly { readonly index: number; readonly blocks: readonly Block[] }[]): Block[][] {
  const kept = pages.map((page) => [...page.blocks]);
  let tail: { table: TableBlock; whole: TableBlock; page: number } | null = null;
  pages.forEach((page, i) => {
    const body = page.blocks.filter((block) => block.kind !== "paratext");
    const first = asTable(body[0]);
    let whole: TableBlock | null = null;
    if (tail !== null && first !== null && page.index === tail.page + 1 && goesOn(tail, first)) {
      whole = tail.whole;
      whole.body = { ...whole.body, grid: appended(whole.body.grid, first.body.grid) };
      whole.notes.push(...first.notes.filter((note) => note.role === "footnote").map((note) => ({ ...note, before: false })));
      whole.sources.push(...first.sources);
      kept[i].splice(kept[i].indexOf(first), 1);
    }
    const last = asTable(body[body.length - 1]);
    tail = last === null ? null : { table: last, whole: last === first && whole !== null ? whole : last, page: page.index };
  });
  return kept;
}

type TableBlock = VisualBlock & { body: { readonly type: "table"; readonly path: string; readonly grid: TableGrid } };

function asTable(block: Block | undefined): TableBlock | null {
  return block?.kind === "visual" && block.body.type === "table" && block.body.grid.length > 0 ? (block as TableBlock) : null;
}

function goesOn(before: { readonly table: TableBlock; readonly whole: TableBlock }, after: TableBlock): boolean {
  const widths = [widthOf(before.table.box), widthOf(after.box)];
  if (Math.abs(widths[0] - widths[1]) >= MOST_WIDTH_DIFFERENCE * Math.max(...widths)) return false;
  if (before.whole.body.grid[0].length !== after.body.grid[0].length) return false;
  if (before.whole.notes.some((note) => note.role === "footnote")) return false;
  return after.notes.every((note) => note.role === "footnote" || saysItGoesOn(withoutDoubt(plainText(note.text))));
}

function saysItGoesOn(caption: string): boolean {
  return /[(（]\s*(?:continued|cont\.?|cont[’']?d\.?|续|续上表|续表)\s*[)）]|^(?:continued|续表|续上表)[.:：]?$|\bcontinued\s*[.)]?$|^续表|续表$/iu.test(
    caption.trim(),
  );
}

/** `more` under `grid`, without the leading rows that repeat the first rows of `grid`. */
function appended(grid: TableGrid, more: TableGrid): TableGrid {
  const most = Math.min(MOST_HEADER_ROWS, grid.length, more.length - 1);
  let equal = 0;
  while (equal < most && sameRow(grid[equal], more[equal])) equal++;
  while (equal > 0 && more.slice(0, equal).some((row) => row.some((cell) => cell !== null && cell.row + cell.rowspan > equal))) equal--;
  const shift = grid.length - equal;
  return [...grid, ...more.slice(equal).map((row) => row.map((cell) => cell && { ...cell, row: cell.row + shift }))];
}

function sameRow(a: readonly (TableCell | null)[], b: readonly (TableCell | null)[]): boolean {
  return a.every((cell, c) => {
    const other = b[c];
    if (cell === null || other === null) return cell === other;
    return cell.rowspan === other.rowspan && cell.colspan === other.colspan && withoutWhite(cell.text) === withoutWhite(other.text);
  });
}
