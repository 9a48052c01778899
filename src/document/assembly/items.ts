/**
 * The regions of one page made ready for assembly: their texts cleaned, and what needs no block of its own set aside: empty regions,
 * text a table already holds, pictures that are parts of a larger one. Refuses to merge anything.
 */
import { isBlank, trimWhite, withoutWhite } from "../answer-text.ts";
import { area, shareInside } from "../boxes.ts";
import { cellsOf, parseOtsl, type TableGrid } from "../otsl.ts";
import type { ReadPage, ReadRegion } from "../types.ts";
import type { Source } from "./blocks.ts";
import { withoutDoubt } from "./scripts.ts";

/** A region on its way into a block. `used`: it is part of another item's block, or nothing of it remains. */
export interface Item {
  readonly region: ReadRegion;
  readonly source: Source;
  /** The class it is treated as: what was read decides where it and the layout's class disagree. */
  readonly name: string;
  /** Text, or LaTeX, trimmed; empty for tables and pictures. */
  text: string;
  /** Rows of a table; empty for anything else. */
  readonly grid: TableGrid;
  used: boolean;
  /** Items whose text went into this one. */
  readonly absorbed: Item[];
}

/** Share of a region that must lie within a table or picture for it to count as part of it. */
const INSIDE = 0.9;
const CONTAINERS = new Set(["image", "chart", "list", "image_block", "equation_block", "table"]);

/** Makes the items of a page; `textOf` gives the text of a text region. */
export function itemsOf(page: ReadPage, textOf: (region: ReadRegion) => string): Item[] {
  const items = page.regions.map((region, i): Item => {
    const { content } = region;
    const text = content.kind === "text" ? textOf(region) : content.kind === "formula" ? content.latex : "";
    const name = nameOf(region);
    const grid = name !== "table" || content.kind === "none" ? [] : parseOtsl(content.kind === "table" ? content.otsl : withoutDoubt(text));
    const source = { page: page.index, region: i, box: region.box };
    return { region, source, name, text: name === "table" ? "" : cleaned(text, name), grid, used: false, absorbed: [] };
  });
  for (const item of items) if (isEmpty(item)) item.used = true;
  setAsideTextInTables(items);
  setAsidePartsOfPictures(items);
  return items;
}

/** Makes `part` a part of `whole`. */
export function absorb(whole: Item, part: Item): void {
  whole.absorbed.push(part);
  part.used = true;
}

/** The sources of an item and of all it has absorbed. */
export function sourcesOf(item: Item): Source[] {
  return [item.source, ...item.absorbed.flatMap(sourcesOf)];
}

/** The smallest container among `containers` that holds at least `share` of the item. */
export function containerOf(item: Item, containers: readonly Item[], share: number): Item | undefined {
  return containers
    .filter((container) => container !== item && shareInside(item.region.box, container.region.box) >= share)
    .sort((a, b) => area(a.region.box) - area(b.region.box))[0];
}

function nameOf({ class: name, content }: ReadRegion): string {
  if (content.kind === "table") return "table";
  if (content.kind === "formula") return "equation";
  return content.kind === "text" && (name === "equation" || name === "equation_block") ? "text" : name;
}

function cleaned(text: string, name: string): string {
  const lines = text.replace(/\r\n?/g, "\n");
  return name === "code" || name === "algorithm" ? lines : trimWhite(lines);
}

function isEmpty(item: Item): boolean {
  if (CONTAINERS.has(item.name)) return false;
  if (item.grid.length > 0) return false;
  if (item.name === "equation") return isBlank(item.text) && item.region.image === undefined;
  return isBlank(withoutDoubt(item.text)) || trimWhite(withoutDoubt(item.text)) === "[Non-Text]";
}

function setAsideTextInTables(items: readonly Item[]): void {
  const tables = items.filter((item) => item.name === "table" && item.grid.length > 0);
  for (const item of items) {
    if (item.used || (item.name !== "text" && item.name !== "equation")) continue;
    const own = withoutWhite(withoutDoubt(item.text));
    for (const table of tables) {
      if (own === "" || shareInside(item.region.box, table.region.box) < INSIDE) continue;
      const held = withoutWhite(
        cellsOf(table.grid)
          .map((cell) => cell.text)
          .join(""),
      );
      if (!held.includes(own)) continue;
      absorb(table, item);
      break;
    }
  }
}

function setAsidePartsOfPictures(items: readonly Item[]): void {
  const blocks = items.filter((item) => item.name === "image_block" && item.region.image !== undefined);
  for (const item of items) {
    if ((item.name !== "image" && item.name !== "chart") || item.text !== "") continue;
    const block = containerOf(item, blocks, INSIDE);
    if (block !== undefined) absorb(block, item);
  }
}
