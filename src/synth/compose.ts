/**
 * Puts finished blocks on a page: bands of columns filled from top to bottom, paragraphs cut between lines where a
 * column ends, running heads and feet at their places. Every placed piece keeps its ink box and its characters, so the
 * page's layout is known to the pixel; reading order is band by band, column by column. It refuses to know what a page
 * is about.
 */
import { crop, type PixelBox, type RgbImage, rgbImage, rotateCounterClockwise } from "../image/rgb-image.ts";
import { type BlockSpec, inkBoxOf, type SetBlock, SHEET_MARGIN } from "./blocks.ts";
import type { Glyph } from "./rasterise.ts";

export interface Band<Block> {
  readonly columns: number;
  /** White between columns, in page units. */
  readonly gutter: number;
  readonly blocks: readonly Block[];
  /** Largest height in page units; the rest of the page if left out. */
  readonly height?: number;
  /** Draws a line between columns. */
  readonly ruled?: boolean;
}

/** A block at a place of its own; x and y are its upper left corner in page units. */
export interface Fixture<Block> {
  readonly block: Block;
  readonly x: number;
  readonly y: number;
  /** Before the bands in reading order, or after them. */
  readonly first: boolean;
}

export interface PagePlan<Block = BlockSpec> {
  readonly kind: string;
  readonly width: number;
  readonly height: number;
  /** left, top, right, bottom */
  readonly margins: readonly [number, number, number, number];
  readonly bands: readonly Band<Block>[];
  readonly fixtures: readonly Fixture<Block>[];
  /** The page is cut below its content: `height` is only the most it may have. */
  readonly fitsContent?: boolean;
}

/** A block, or the part of it that stands in one column. */
export interface PlacedBlock {
  readonly spec: BlockSpec;
  /** Ink on the page, in pixels. */
  readonly box: PixelBox;
  /** Turn that sets it upright, in degrees counter-clockwise. */
  readonly angle: 0 | 90 | 180 | 270;
  readonly text?: string;
  readonly glyphs: readonly Glyph[];
}

export interface ComposedPage {
  readonly image: RgbImage;
  /** In reading order. */
  readonly blocks: readonly PlacedBlock[];
}

/** Prints `source` on `target` with its upper left corner at (x, y); white is transparent. Parts outside are lost. */
function printOn(target: RgbImage, source: RgbImage, x: number, y: number, fromRow: number, toRow: number): void {
  for (let row = Math.max(fromRow, -y); row < Math.min(toRow, target.height - y); row++)
    for (let column = Math.max(0, -x); column < Math.min(source.width, target.width - x); column++) {
      const from = (row * source.width + column) * 3;
      const to = ((y + row) * target.width + x + column) * 3;
      for (let c = 0; c < 3; c++) {
        const value = source.data[from + c];
        if (value < 255) target.data[to + c] = (target.data[to + c] * value) / 255;
      }
    }
}

function shifted(glyphs: readonly Glyph[], dx: number, dy: number): Glyph[] {
  return glyphs.map((glyph) => ({
    ...glyph,
    left: glyph.left + dx,
    right: glyph.right + dx,
    top: glyph.top + dy,
    bottom: glyph.bottom + dy,
    baseline: glyph.baseline + dy,
  }));
}

/** The part of a block between two lines. */
interface Piece {
  readonly block: SetBlock;
  readonly fromLine: number;
  readonly toLine: number;
}

class Composer {
  readonly image: RgbImage;
  readonly placed: PlacedBlock[] = [];
  readonly scale: number;
  readonly margin: number;

  constructor(width: number, height: number, scale: number) {
    this.image = rgbImage(Math.round(width * scale), Math.round(height * scale));
    this.scale = scale;
    this.margin = SHEET_MARGIN * scale;
  }

  /** Rows of the block's sheet that a piece takes: whole content, or cut half-way between lines. */
  private rows({ block, fromLine, toLine }: Piece): [number, number] {
    if (block.spec.draw) return [0, block.image.height];
    const { lines } = block;
    const top = fromLine === 0 ? this.margin : (lines[fromLine - 1].bottom + lines[fromLine].top) / 2;
    const bottom = toLine >= lines.length ? block.image.height - this.margin : (lines[toLine - 1].bottom + lines[toLine].top) / 2;
    return [Math.round(top), Math.round(bottom)];
  }

  heightOf(piece: Piece): number {
    const [top, bottom] = this.rows(piece);
    return bottom - top;
  }

  /** Places a piece with its content's upper left corner at (x, y); false if it would leave the page. */
  place(piece: Piece, x: number, y: number): boolean {
    const { block } = piece;
    const [top, bottom] = this.rows(piece);
    const whole = piece.fromLine === 0 && piece.toLine >= block.lines.length;
    const inset = block.spec.draw ? 0 : this.margin;
    let picture = block.image;
    let [left, rowTop] = [Math.round(x - inset), Math.round(y) - top];
    let glyphs = whole ? block.glyphs : block.lines.slice(piece.fromLine, piece.toLine).flatMap((line) => line.glyphs);
    let ink = whole ? block.ink : inkBetween(block, top, bottom);
    if (!ink) return true;
    let angle: PlacedBlock["angle"] = 0;
    if (block.spec.turned) {
      picture = rotateCounterClockwise(block.image, 90);
      ink = [block.ink[1], picture.height - block.ink[2], block.ink[3], picture.height - block.ink[0]];
      glyphs = [];
      angle = 270;
      [left, rowTop] = [Math.round(x) - ink[0], Math.round(y) - ink[1]];
    }
    const box: PixelBox = [left + ink[0], rowTop + ink[1], left + ink[2], rowTop + ink[3]];
    if (box[0] < 0 || box[1] < 0 || box[2] > this.image.width || box[3] > this.image.height) return false;
    // Accents and descenders reach over the content's edge: a whole block is printed with its white margins.
    if (block.spec.turned || whole) printOn(this.image, picture, left, rowTop, 0, picture.height);
    else
      printOn(
        this.image,
        picture,
        left,
        rowTop,
        piece.fromLine === 0 ? 0 : top,
        piece.toLine >= block.lines.length ? picture.height : bottom,
      );
    const text =
      block.text === undefined
        ? undefined
        : whole
          ? block.text
          : block.lines
              .slice(piece.fromLine, piece.toLine)
              .map((line) => line.text)
              .join("\n");
    this.placed.push({ spec: block.spec, box, angle, text, glyphs: shifted(glyphs, left, rowTop) });
    return true;
  }

  /** Fills columns from `top` (pixels); returns the lowest row reached. */
  flow(band: Band<SetBlock>, left: number, width: number, top: number, bottom: number): number {
    const { scale } = this;
    const columnWidth = (width - band.gutter * (band.columns - 1)) / band.columns;
    const pieces: Piece[] = band.blocks.map((block) => ({ block, fromLine: 0, toLine: block.lines.length }));
    let lowest = top;
    let next = 0;
    for (let column = 0; column < band.columns && next < pieces.length; column++) {
      const x = (left + column * (columnWidth + band.gutter)) * scale;
      let y = top;
      while (next < pieces.length) {
        const piece = pieces[next];
        const [above, below] = piece.block.spec.space.map((space) => space * scale);
        const start = y === top ? y : y + above;
        const height = this.heightOf(piece);
        const follower = piece.block.spec.keepsWithNext && next + 1 < pieces.length ? this.leastHeight(pieces[next + 1]) : 0;
        if (start + height + follower <= bottom) {
          this.place(piece, x, start);
          y = start + height + below;
          lowest = Math.max(lowest, start + height);
          next++;
          continue;
        }
        const fitting = piece.block.spec.splits ? this.linesThatFit(piece, bottom - start) : 0;
        if (fitting >= 2 && piece.toLine - (piece.fromLine + fitting) >= 1) {
          const cut = piece.fromLine + fitting;
          const head: Piece = { ...piece, toLine: cut };
          this.place(head, x, start);
          lowest = Math.max(lowest, start + this.heightOf(head));
          pieces[next] = { ...piece, fromLine: cut };
        } else if (y === top) next++; // taller than an empty column: left out
        break;
      }
      if (band.ruled && column > 0) this.rule(x - (band.gutter * scale) / 2, top, bottom);
    }
    return lowest;
  }

  /** What must stand below a heading or caption at least: two lines of a paragraph, the whole of anything else. */
  private leastHeight(piece: Piece): number {
    return this.heightOf(piece.block.spec.splits ? { ...piece, toLine: Math.min(piece.toLine, piece.fromLine + 2) } : piece);
  }

  private linesThatFit(piece: Piece, room: number): number {
    let count = 0;
    while (piece.fromLine + count < piece.toLine && this.heightOf({ ...piece, toLine: piece.fromLine + count + 1 }) <= room) count++;
    return count;
  }

  private rule(x: number, top: number, bottom: number): void {
    const column = Math.round(x);
    if (column < 0 || column >= this.image.width) return;
    for (let y = Math.round(top); y < Math.min(this.image.height, bottom); y++)
      this.image.data.fill(120, (y * this.image.width + column) * 3, (y * this.image.width + column) * 3 + 3);
  }
}

function inkBetween(block: SetBlock, top: number, bottom: number): PixelBox | undefined {
  const { width, data } = block.image;
  const part = { width, height: bottom - top, data: data.subarray(top * width * 3, bottom * width * 3) };
  const ink = inkBoxOf(part);
  return ink && [ink[0], ink[1] + top, ink[2], ink[3] + top];
}

/** Space between bands, in page units. */
const BAND_GAP = 24;

/** Arranges set blocks as planned; what finds no room is left out. */
export function composePage(plan: PagePlan<SetBlock | undefined>, scale: number): ComposedPage {
  const composer = new Composer(plan.width, plan.height, scale);
  const place = ({ block, x, y }: Fixture<SetBlock | undefined>) => {
    if (block) composer.place({ block, fromLine: 0, toLine: block.lines.length }, x * scale, y * scale);
  };
  for (const fixture of plan.fixtures) if (fixture.first) place(fixture);
  const [left, top, right, bottom] = plan.margins;
  const floor = (plan.height - bottom) * scale;
  let y = top * scale;
  for (const band of plan.bands) {
    const limit = band.height === undefined ? floor : Math.min(floor, y + band.height * scale);
    if (limit - y < 20 * scale) break;
    const blocks = band.blocks.filter((block, i): block is SetBlock => {
      const isOrphan = block?.spec.class === "table_caption" && i + 1 < band.blocks.length && band.blocks[i + 1] === undefined;
      return block !== undefined && !isOrphan;
    });
    const reached = composer.flow({ ...band, blocks }, left, plan.width - left - right, y, limit);
    if (reached > y) y = reached + BAND_GAP * scale;
  }
  for (const fixture of plan.fixtures) if (!fixture.first) place(fixture);
  const { image, placed } = composer;
  if (!plan.fitsContent || placed.length === 0) return { image, blocks: placed };
  const height = Math.min(image.height, Math.ceil(Math.max(...placed.map((block) => block.box[3])) + bottom * scale));
  return { image: crop(image, [0, 0, image.width, height]), blocks: placed };
}
