/**
 * Regions without a model, for weights that have not learnt layout and for pages whose layout answer cannot be believed: letters are
 * gathered into lines, lines into paragraphs and tables, and these are put in reading order (`image/white-space/`). Finds titles by their size
 * and weight, pictures, headers and footers by their place. Refuses to read.
 */
import { withEvenLight } from "../image/even-light.ts";
import { inkMask } from "../image/ink-mask.ts";
import { crop, type PixelBox, type QuarterTurn, type RgbImage, rotateCounterClockwise } from "../image/rgb-image.ts";
import { turnCounterClockwise } from "../image/turn.ts";
import { levelTables } from "../image/white-space/level-tables.ts";
import { chains, type PrintLine, printLines } from "../image/white-space/lines.ts";
import {
  around,
  boxOf,
  type Extent,
  heightOf,
  median,
  overlapAcross,
  overlapDown,
  type PageMarks,
  pageMarks,
  widthOf,
} from "../image/white-space/marks.ts";
import { type Paragraph, paragraphs } from "../image/white-space/paragraphs.ts";
import { postureOf } from "../image/white-space/posture.ts";
import { readingOrder } from "../image/white-space/reading-order.ts";
import { ruledTables } from "../image/white-space/ruled-tables.ts";
import { printTables } from "../image/white-space/tables.ts";
import type { Angle, Box, LayoutRegion } from "./types.ts";

/** A page set upright: its picture, the quarters it was turned by, counter-clockwise, and the degrees it lay crooked. */
export interface UprightPage {
  readonly image: RgbImage;
  readonly turn: QuarterTurn;
  readonly skew: number;
}

/** Degrees below which a page counts as level: over a line of print it is less than the line's gap. */
const LEVEL = 0.25;

/** Sets a page upright that lies on its side or crooked. */
export function setUpright(page: RgbImage): UprightPage {
  const { turn, skew } = postureOf(pageMarks(inkMask(withEvenLight(page))));
  const straight = rotateCounterClockwise(page, turn);
  return Math.abs(skew) < LEVEL ? { image: straight, turn, skew: 0 } : { image: turnCounterClockwise(straight, skew), turn, skew };
}

interface Block extends Extent {
  readonly class: string;
  readonly angle: Angle;
  /** Continues the paragraph of the block before it. */
  readonly mergePrev?: true;
}

/** Print of a title is so much larger than that of the page, or a little larger and heavier, or so much heavier. */
const TITLE_SIZE = 1.3;
const LARGER = 1.08;
const LARGER_AND_HEAVIER = 1.28;
const TITLE_WEIGHT = 1.2;
const TITLE_LINES = 3;
/** Headers and footers lie in this part of the page's height and so many letter heights from everything else: the nearer the edge, the fewer. */
const MARGINS_APART: readonly (readonly [share: number, apart: number])[] = [
  [0.08, 3],
  [0.045, 1.2],
];
/** A page with fewer lines has no headers: its first line may be its title. */
const LEAST_LINES = 8;
const NUMBER_LETTERS = 5;

const weightOf = (letters: PrintLine["letters"]): number =>
  letters.reduce((sum, { pixels }) => sum + pixels, 0) / letters.reduce((sum, letter) => sum + widthOf(letter) * heightOf(letter), 1);

/** Size and weight that most letters of the page have. */
function bodyPrint(lines: readonly PrintLine[]): { readonly height: number; readonly weight: number } {
  const usual = (of: (line: PrintLine) => number): number => {
    const values = lines.flatMap((line) => Array<number>(line.letters.length).fill(of(line)));
    return median(values);
  };
  return { height: usual(({ letterHeight }) => letterHeight), weight: usual(({ letters }) => weightOf(letters)) };
}

/** Lines set upwards or downwards beside the text: letters that stand alone on their level, one above the other. */
function sidewaysLines({ letters, letterHeight }: PageMarks): { readonly sides: readonly Extent[]; readonly rest: PageMarks["letters"] } {
  if (letterHeight === 0) return { sides: [], rest: letters };
  const alone = chains(letters, letterHeight, 1).filter((chain) => chain.length <= 2);
  const turned = alone.map((members) => {
    const { left, top, right, bottom } = around(members);
    return { members, left: top, top: left, right: bottom, bottom: right };
  });
  const columns = chains(turned, letterHeight, 1)
    .filter((column) => column.length >= 6)
    .filter((column) => median(gapsDown(column)) < 0.5 * letterHeight);
  const within = new Set(columns.flat().flatMap(({ members }) => members));
  const sides = columns.map((column) => around(column.flatMap(({ members }) => members)));
  return { sides, rest: letters.filter((letter) => !within.has(letter)) };
}

/** Gaps between the members of a column that was turned, as they follow each other. */
function gapsDown(column: readonly Extent[]): number[] {
  const sorted = [...column].sort((a, b) => a.left - b.left);
  return sorted.slice(1).map(({ left }, i) => left - sorted[i].right);
}

function classOf(paragraph: Paragraph, body: { readonly height: number; readonly weight: number }, columns: number): string {
  const { lines, letterHeight } = paragraph;
  const letters = lines.flatMap((line) => line.letters);
  if (lines.length > TITLE_LINES || letters.length < 6) return "text";
  const size = letterHeight / body.height;
  const weight = weightOf(letters) / body.weight;
  if (size >= TITLE_SIZE || (size >= LARGER && size * weight >= LARGER_AND_HEAVIER)) return "title";
  return weight >= TITLE_WEIGHT && size >= 0.95 && lines.length <= 2 && widthOf(paragraph) < 0.7 * columns ? "title" : "text";
}

/** Width of the widest paragraph that has several lines: the page's column. */
const columnWidth = (found: readonly Paragraph[]): number =>
  Math.max(0, ...found.filter(({ lines }) => lines.length > 2).map(widthOf)) || Number.POSITIVE_INFINITY;

/** Names single lines at the upper and lower edge that stand apart from everything else. */
function withMargins(blocks: readonly Block[], found: ReadonlyMap<Block, Paragraph>, page: RgbImage, body: number): Block[] {
  const lineCount = [...found.values()].reduce((sum, { lines }) => sum + lines.length, 0);
  if (lineCount < LEAST_LINES) return [...blocks];
  return blocks.map((block) => {
    const paragraph = found.get(block);
    if (!paragraph || paragraph.lines.length > 1 || paragraph.letterHeight > 1.15 * body) return block;
    const above = block.bottom < page.height / 2;
    const others = blocks.filter((other) => other !== block && (above ? other.bottom > block.bottom + body : other.top < block.top - body));
    const distance = Math.min(...others.map((other) => (above ? other.top - block.bottom : block.top - other.bottom)));
    const edge = (above ? block.bottom : page.height - block.top) / page.height;
    if (!MARGINS_APART.some(([share, apart]) => edge < share && distance > apart * body)) return block;
    const isNumber = paragraph.lines[0].letters.length <= NUMBER_LETTERS && widthOf(block) < 6 * body;
    return { ...block, class: isNumber ? "page_number" : above ? "header" : "footer" };
  });
}

/** Dirt at the very edge of a scan: a line or two of next to nothing. */
function isDirt(paragraph: Paragraph, page: RgbImage, letterHeight: number): boolean {
  const few = paragraph.lines.flatMap(({ letters }) => letters).length <= 3;
  const margin = 0.012 * Math.max(page.width, page.height);
  const atEdge =
    paragraph.left < margin || paragraph.top < margin || paragraph.right > page.width - margin || paragraph.bottom > page.height - margin;
  return atEdge && (few || heightOf(paragraph) < 0.8 * letterHeight);
}

/** Share of a picture's pixels that must be of one brightness for print to be looked for on it. */
const GROUND_SHARE = 0.55;
/** Share of the marks on it that must stand in lines. */
const PRINTED_SHARE = 0.7;

/** The blocks printed on a coloured ground that the page's own ink measure takes for a picture; null if it is one. */
function printOnGround(page: RgbImage, picture: Extent): Block[] | null {
  const image = crop(page, boxOf(picture));
  const histogram = new Uint32Array(64);
  for (let at = 0; at < image.data.length; at += 3) histogram[((image.data[at] + image.data[at + 1] + image.data[at + 2]) / 12) | 0]++;
  if (Math.max(...histogram) < (GROUND_SHARE * image.data.length) / 3) return null;
  const mask = inkMask(image);
  const marks = pageMarks(mask);
  const lines = printLines(mask, marks).filter(({ letters }) => letters.length >= 4);
  const inked = (letters: PageMarks["letters"]): number => letters.reduce((sum, { pixels }) => sum + pixels, 0);
  const all = inked(marks.letters) + marks.pictures.reduce((sum, extent) => sum + widthOf(extent) * heightOf(extent), 0);
  if (lines.length === 0 || lines.reduce((sum, { letters }) => sum + inked(letters), 0) < PRINTED_SHARE * all) return null;
  return paragraphs(lines).map((paragraph) => ({
    ...around([paragraph].map(({ left, top, right, bottom }) => ({ left: left + picture.left, top: top + picture.top, right: right + picture.left, bottom: bottom + picture.top }))), // biome-ignore format: one step
    class: "text",
    angle: 0,
  }));
}

function blocksOf(page: RgbImage): { readonly blocks: Block[]; readonly letterHeight: number } {
  const mask = inkMask(withEvenLight(page));
  const marks = pageMarks(mask);
  const { letterHeight } = marks;
  const { sides, rest: letters } = sidewaysLines(marks);
  const level = printLines(mask, { ...marks, letters });
  const ruled = ruledTables(mask, marks, level);
  const between = levelTables({ ...marks, letters }, ruled.rest);
  const { tables, rest } = printTables(between.rest);
  const body = level.length === 0 ? { height: letterHeight, weight: 1 } : bodyPrint(level);
  const text = paragraphs(rest).filter((paragraph) => !isDirt(paragraph, page, letterHeight));
  const width = columnWidth(text);
  const found = new Map<Block, Paragraph>(
    text.map((paragraph) => {
      const { left, top, right, bottom } = paragraph;
      return [{ left, top, right, bottom, class: classOf(paragraph, body, width), angle: 0 }, paragraph];
    }),
  );
  const grids = [...ruled.tables, ...between.tables, ...tables].map(
    ({ left, top, right, bottom }): Block => ({ left, top, right, bottom, class: "table", angle: 0 }),
  );
  const pictures = marks.pictures.flatMap((picture) => printOnGround(page, picture) ?? [{ ...picture, class: "image", angle: 0 } as Block]);
  const asides = sides.map((extent): Block => ({ ...extent, class: "aside_text", angle: 270 }));
  const named = withMargins([...found.keys(), ...grids, ...pictures], found, page, body.height);
  const inBody = (block: Block) => !MARGINS.has(block.class);
  const ofMargin = (above: boolean) => named.filter((block) => !inBody(block) && block.top < page.height / 2 === above);
  const ordered = [...ofMargin(true), ...readingOrder(named.filter(inBody)), ...ofMargin(false), ...asides];
  const obstacles = [...grids, ...marks.pictures, ...rest];
  const blocks = ordered.flatMap((block) => {
    const paragraph = found.get(block);
    if (!paragraph || paragraph.lines.length < 2) return [block];
    return piecesOf(
      block,
      paragraph,
      obstacles.filter((other) => !paragraph.lines.includes(other as PrintLine)),
    );
  });
  return { blocks, letterHeight };
}

/**
 * A paragraph in pieces whose boxes hold nothing else: one that runs around a picture or beside another column's heading would take parts
 * of it along.
 */
function piecesOf(block: Block, { lines }: Paragraph, others: readonly Extent[]): Block[] {
  const reaches = (extent: Extent) => others.some((other) => overlapAcross(extent, other) > 2 && overlapDown(extent, other) > 2);
  const pieces: (readonly PrintLine[])[] = [];
  for (const line of lines) {
    const last = pieces[pieces.length - 1];
    if (last && !reaches(around([...last, line]))) pieces[pieces.length - 1] = [...last, line];
    else pieces.push([line]);
  }
  return pieces.map((piece, i) => ({ ...block, ...around(piece), ...(i > 0 ? { mergePrev: true } : {}) }));
}

const MARGINS = new Set(["header", "footer", "page_number"]);
/** Paper kept around a block, in letter heights, so that no edge of a letter is cut. */
const MARGIN = 0.15;

/** Blocks of print and pictures on an upright `page`, in reading order; none on a blank one. */
export function inkLayout(page: RgbImage): LayoutRegion[] {
  const { width, height } = page;
  const { blocks, letterHeight } = blocksOf(page);
  const margin = Math.max(2, Math.round(MARGIN * letterHeight));
  const grown = ({ left, top, right, bottom }: Extent): PixelBox => [
    Math.max(0, left - margin),
    Math.max(0, top - margin),
    Math.min(width, right + margin),
    Math.min(height, bottom + margin),
  ];
  const thousandth = (edge: number, length: number, round: (value: number) => number) =>
    Math.min(1000, Math.max(0, round((edge * 1000) / length)));
  return blocks.map((block): LayoutRegion => {
    const pixelBox = grown(block);
    const box: Box = [
      thousandth(pixelBox[0], width, Math.floor),
      thousandth(pixelBox[1], height, Math.floor),
      thousandth(pixelBox[2], width, Math.ceil),
      thousandth(pixelBox[3], height, Math.ceil),
    ];
    return {
      class: block.class,
      box,
      pixelBox,
      angle: block.angle,
      ...(block.mergePrev ? { mergePrev: true } : {}),
    };
  });
}
