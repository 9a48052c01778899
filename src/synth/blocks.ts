/**
 * Blocks: the pieces a page is put together from. Each block is typeset on a sheet of its own, as high as it needs to
 * be, so its pixels, its ink and its printed characters are known exactly before it is placed; a page is then an
 * arrangement of finished pictures (compose.ts), and the same block rendered larger is a crop. It refuses to know
 * where blocks go.
 */
import type { PixelBox, RgbImage } from "../image/rgb-image.ts";
import { alignGlyphs } from "./align.ts";
import type { Glyph } from "./rasterise.ts";
import type { SynthSources } from "./text-samples.ts";

/** The classes a synthetic page has (paper section 4; containers and rare classes left out). */
export type BlockClass =
  | "text"
  | "title"
  | "image_caption"
  | "table_caption"
  | "table_footnote"
  | "code"
  | "ref_text"
  | "list"
  | "image"
  | "table"
  | "equation"
  | "header"
  | "footer"
  | "aside_text"
  | "page_number"
  | "page_footnote";

export interface BlockSpec {
  readonly class: BlockClass;
  /** Measure in page units (a unit is a pixel of the full-size page, 200 to the inch). */
  readonly width: number;
  /** Typst content of the block, settings included. */
  readonly body: string;
  /** What is printed, if it is text: checked against the print. */
  readonly text?: string;
  /** OTSL or LaTeX, if it is a table or a formula. */
  readonly truth?: string;
  /** Says whether the print of a table or formula is what was meant. */
  readonly accepts?: (glyphs: readonly Glyph[]) => boolean;
  /** A picture that takes the place of typesetting, drawn at the wanted scale. */
  readonly draw?: (width: number, height: number) => RgbImage;
  /** Height of a drawn picture in page units. */
  readonly height?: number;
  /** White space above and below, in page units. */
  readonly space: readonly [above: number, below: number];
  /** May be cut between lines to go on in the next column. */
  readonly splits?: boolean;
  /** Must not stand at the foot of a column. */
  readonly keepsWithNext?: boolean;
  /** Reads upwards along the page's edge. */
  readonly turned?: boolean;
}

/** Line of a block in its sheet's pixels, with the characters it prints. */
export interface BlockLine {
  readonly top: number;
  readonly bottom: number;
  readonly text: string;
  readonly glyphs: readonly Glyph[];
}

export interface SetBlock {
  readonly spec: BlockSpec;
  readonly image: RgbImage;
  /** Box around everything that is not paper, in pixels of `image`. */
  readonly ink: PixelBox;
  /** Characters in the order of `text`, or in content order for tables and formulas. */
  readonly glyphs: readonly Glyph[];
  /** As printed, "\n" between lines; absent for what is not text. */
  readonly text?: string;
  readonly lines: readonly BlockLine[];
}

/** White around the content of a sheet, in page units. */
export const SHEET_MARGIN = 16;

/** The sheet of a block: as wide as its measure, as high as its content. */
export function blockSheet(spec: BlockSpec): string {
  return `#page(width: ${(spec.width + 2 * SHEET_MARGIN).toFixed(1)}pt, height: auto, margin: ${SHEET_MARGIN}pt)[${spec.body}]\n`;
}

/** Box around the pixels darker than paper; `undefined` if there are none. */
export function inkBoxOf(image: RgbImage): PixelBox | undefined {
  const { width, height, data } = image;
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 3)
      if (data[i] < 245 || data[i + 1] < 245 || data[i + 2] < 245) {
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < top) top = y;
        bottom = y;
      }
  return right < 0 ? undefined : [left, top, right + 1, bottom + 1];
}

function linesOf(text: string, glyphs: readonly Glyph[]): BlockLine[] {
  const lines: BlockLine[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const count = [...line].filter((char) => char.trim() !== "").length;
    const own = glyphs.slice(at, at + count);
    at += count;
    let [top, bottom] = [Infinity, -Infinity];
    for (const glyph of own) {
      top = Math.min(top, glyph.top);
      bottom = Math.max(bottom, glyph.bottom);
    }
    lines.push({ top, bottom, text: line, glyphs: own });
  }
  return lines;
}

/**
 * Typesets `specs` and renders them at each of `scales` (pixels per page unit).
 * @returns per scale, one entry per spec: `undefined` where the print is empty or differs from what was asked for.
 */
export function setBlocks(sources: SynthSources, specs: readonly BlockSpec[], scales: readonly number[]): (SetBlock | undefined)[][] {
  const typeset = specs.filter((spec) => !spec.draw);
  const document = typeset.length > 0 ? sources.rasteriser.open(sources.typesetter.pdf(typeset.map(blockSheet).join(""))) : undefined;
  if (document && document.pageCount !== typeset.length)
    throw new Error(`internal: ${typeset.length} blocks expected on as many sheets, got ${document.pageCount}`);
  const result = scales.map((scale) => {
    let sheet = 0;
    return specs.map((spec): SetBlock | undefined => {
      if (spec.draw) {
        const image = spec.draw(Math.max(8, Math.round(spec.width * scale)), Math.max(8, Math.round((spec.height ?? spec.width) * scale)));
        return { spec, image, ink: [0, 0, image.width, image.height], glyphs: [], lines: [] };
      }
      const page = document!.page(sheet++, scale);
      const ink = inkBoxOf(page.image);
      if (!ink || ink[0] === 0 || ink[2] === page.image.width) return undefined;
      if (spec.accepts && !spec.accepts(page.glyphs)) return undefined;
      if (spec.text === undefined) return { spec, image: page.image, ink, glyphs: page.glyphs, lines: [] };
      const aligned = alignGlyphs(spec.text, page.glyphs);
      if (!aligned) return undefined;
      // Code keeps its indents, which alignment takes for plain white space, unless a line had to be broken.
      const text = spec.class === "code" && aligned.lineCount === spec.text.split("\n").length ? spec.text : aligned.text;
      return { spec, image: page.image, ink, glyphs: aligned.glyphs, text, lines: linesOf(aligned.text, aligned.glyphs) };
    });
  });
  document?.close();
  return result;
}
