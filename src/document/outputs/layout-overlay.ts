/**
 * The layout drawn on the page: a tinted box for every region in the colour of its class, with its number in reading order, class, and
 * turn if it is not upright. For looking at what the model saw. Draws on a copy.
 */
import type { RgbImage } from "../../image/rgb-image.ts";
import type { LayoutRegion } from "../types.ts";
import { GLYPH_ADVANCE, GLYPH_HEIGHT, GLYPH_WIDTH, glyph } from "./bitmap-font.ts";

type Colour = readonly [red: number, green: number, blue: number];

/** How the layout is drawn. */
export interface OverlayOptions {
  /** Print number and class. Default true. */
  readonly labels?: boolean;
  /** Strength of the tint inside boxes, 0..1. Default 0.12. */
  readonly tint?: number;
}

const COLOURS: readonly (readonly [RegExp, Colour])[] = [
  [/^(?:header|footer|page_number|aside_text|page_footnote|unknown)$/, [158, 158, 158]],
  [/title/, [102, 102, 255]],
  [/caption|footnote/, [255, 102, 0]],
  [/^table/, [204, 170, 0]],
  [/^(?:image|image_block|chart)$/, [70, 160, 20]],
  [/equation|formula/, [0, 150, 60]],
  [/^(?:list|index|ref_text)/, [40, 169, 92]],
  [/^(?:code|algorithm)$/, [102, 0, 204]],
];
const TEXT_COLOUR: Colour = [153, 0, 76];
const WHITE: Colour = [255, 255, 255];

/**
 * Draws `regions` on a copy of `page`, in their order. Boxes are taken in thousandths, so the picture may have any size. Throws
 * `RangeError` for a tint outside 0..1.
 */
export function drawLayout(
  page: RgbImage,
  regions: readonly Pick<LayoutRegion, "class" | "box" | "angle">[],
  options: OverlayOptions = {},
): RgbImage {
  const { labels = true, tint = 0.12 } = options;
  if (!(tint >= 0 && tint <= 1)) throw new RangeError(`\`tint\` expected a number in 0..1, got ${tint}`);
  const canvas = { width: page.width, height: page.height, data: page.data.slice() };
  const scale = Math.max(1, Math.round(Math.min(page.width, page.height) / 600));
  regions.forEach((region, i) => {
    const colour = colourOf(region.class);
    const [left, top, right, bottom] = region.box.map((edge, axis) =>
      Math.round((edge / 1000) * (axis % 2 === 0 ? page.width : page.height)),
    );
    fill(canvas, left, top, right, bottom, colour, tint);
    fill(canvas, left, top, right, top + scale, colour, 1);
    fill(canvas, left, bottom - scale, right, bottom, colour, 1);
    fill(canvas, left, top, left + scale, bottom, colour, 1);
    fill(canvas, right - scale, top, right, bottom, colour, 1);
    if (labels) drawLabel(canvas, left, top, `${i + 1} ${region.class}${region.angle ? ` ${region.angle}` : ""}`, colour, scale);
  });
  return canvas;
}

/** The colour a class is drawn in. */
export function colourOf(name: string): Colour {
  return COLOURS.find(([pattern]) => pattern.test(name))?.[1] ?? TEXT_COLOUR;
}

function drawLabel(canvas: RgbImage, left: number, top: number, label: string, colour: Colour, scale: number): void {
  const signs = [...label];
  const width = (signs.length * GLYPH_ADVANCE + 1) * scale;
  const height = (GLYPH_HEIGHT + 2) * scale;
  const x = Math.max(0, Math.min(left, canvas.width - width));
  const y = Math.max(0, top >= height ? top - height : top);
  fill(canvas, x, y, x + width, y + height, colour, 1);
  signs.forEach((sign, i) => {
    glyph(sign).forEach((bits, row) => {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if (((bits >> (GLYPH_WIDTH - 1 - column)) & 1) === 0) continue;
        const dotX = x + (1 + i * GLYPH_ADVANCE + column) * scale;
        const dotY = y + (1 + row) * scale;
        fill(canvas, dotX, dotY, dotX + scale, dotY + scale, WHITE, 1);
      }
    });
  });
}

function fill(canvas: RgbImage, left: number, top: number, right: number, bottom: number, colour: Colour, strength: number): void {
  const [x0, y0] = [Math.max(0, left), Math.max(0, top)];
  const [x1, y1] = [Math.min(canvas.width, right), Math.min(canvas.height, bottom)];
  for (let y = y0; y < y1; y++) {
    for (let at = (y * canvas.width + x0) * 3, end = (y * canvas.width + x1) * 3; at < end; at += 3)
      for (let channel = 0; channel < 3; channel++)
        canvas.data[at + channel] = Math.round(canvas.data[at + channel] * (1 - strength) + colour[channel] * strength);
  }
}
