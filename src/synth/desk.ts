/**
 * What every kind of document is drawn with: the sheet, the running matter of a column, the heads and feet in the margins.
 * Lengths are in page units (200 to the inch). It refuses to know the kinds of documents.
 */
import type { BlockSpec } from "./blocks.ts";
import type { Fixture } from "./compose.ts";
import type { Elements } from "./elements.ts";
import type { PageStyle } from "./page-style.ts";
import type { Random } from "./random.ts";

export interface Desk {
  readonly random: Random;
  readonly style: PageStyle;
  readonly elements: Elements;
}

type Margins = readonly [number, number, number, number];

/** Rough height of a block, enough to know how many fill a column. */
function estimate(spec: BlockSpec, size: number): number {
  const pitch = size * 1.25;
  const characters = spec.text?.length ?? 0;
  const lines = spec.text === undefined ? 3 : Math.ceil((characters * size * 0.47) / spec.width);
  return (spec.height ?? lines * pitch) + spec.space[0] + spec.space[1];
}

/** Draws blocks until they would fill `height`. */
export function fill(height: number, size: number, draw: () => readonly BlockSpec[]): BlockSpec[] {
  const blocks: BlockSpec[] = [];
  for (let used = 0, count = 0; used < height && count < 60; count++) {
    for (const block of draw()) {
      blocks.push(block);
      used += estimate(block, size);
    }
  }
  return blocks;
}

export function columnWidth(width: number, columns: number, gutter: number): number {
  return (width - gutter * (columns - 1)) / columns;
}

/** What a column of running matter holds: mostly paragraphs, with everything else between them. */
export function matter({ random, elements, style }: Desk, width: number, weights: Partial<Record<string, number>> = {}): BlockSpec[] {
  const size = style.size;
  const kind = random.weighted({ text: 62, title: 11, equation: 6, list: 5, figure: 5, table: 5, code: 2, ...weights } as Record<
    string,
    number
  >);
  const characters = () => Math.round(random.range(2, 12) * (width / (size * 0.47)));
  switch (kind) {
    case "title":
      return [elements.title(width, random.pick([1, 2, 2, 3])), elements.paragraph(width, characters())];
    case "equation":
      return [elements.equation(width), ...(random.chance(0.3) ? [elements.equation(width)] : [])];
    case "list":
      return [elements.list(width, random.int(2, 7))];
    case "figure": {
      const figureWidth = width * (random.chance(0.6) ? 1 : random.range(0.5, 0.9));
      return [
        elements.figure(figureWidth, figureWidth * random.range(0.4, 0.8)),
        ...(random.chance(0.8) ? [elements.caption(width, "image")] : []),
      ];
    }
    case "table": {
      const table = elements.table(width, { rows: [2, 9], columns: [2, Math.max(2, Math.min(7, Math.floor(width / (size * 7))))] });
      const parts = [
        ...(random.chance(0.7) ? [elements.caption(width, "table")] : []),
        table,
        ...(random.chance(0.25) ? [elements.tableNote(width)] : []),
      ];
      return parts;
    }
    case "code":
      return [elements.code(width, random.int(3, 14))];
    default:
      return [elements.paragraph(width, characters())];
  }
}

export interface Sheet {
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

export function portrait(random: Random): Sheet {
  const [width, height] = random.chance(0.5) ? [1654, 2339] : [1700, 2200];
  const [side, top] = [random.range(90, 260), random.range(130, 300)];
  return { width, height, margins: [side, top, side * random.range(0.8, 1.2), random.range(150, 300)] };
}

/** Running head, foot and page number in the margins, each with its chance. */
export function furniture(
  { random, elements }: Desk,
  sheet: Sheet,
  chances: { head: number; foot: number; number: number },
): Fixture<BlockSpec>[] {
  const { width, height, margins } = sheet;
  const [left, top, right, bottom] = margins;
  const measure = width - left - right;
  const fixtures: Fixture<BlockSpec>[] = [];
  if (random.chance(chances.head))
    fixtures.push({ block: elements.header(measure), x: left, y: Math.max(30, top - random.range(60, 110)), first: true });
  if (random.chance(chances.foot))
    fixtures.push({ block: elements.footer(measure), x: left, y: height - bottom + random.range(30, 60), first: false });
  if (random.chance(chances.number))
    fixtures.push({ block: elements.pageNumber(measure), x: left, y: height - Math.min(bottom - 70, random.range(70, 130)), first: false });
  return fixtures;
}
