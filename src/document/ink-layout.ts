/**
 * Regions from white space, for pages whose layout answer cannot be believed: the page's ink is cut recursively at its widest gaps, between
 * paragraphs and between columns (the XY-cut of Nagy and Seth, 1984). Finds blocks of print in reading order; every one counts as text.
 */
import { estimateLineHeight } from "../image/ink.ts";
import { type InkMask, inkMask } from "../image/ink-mask.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { Box, LayoutRegion } from "./types.ts";

type PixelBox = LayoutRegion["pixelBox"];

/** White between paragraphs and between columns, in line pitches. */
const PARAGRAPH_GAP = 0.85;
const COLUMN_GAP = 1.1;
/** Over fewer lines than this, white that runs down may be word spaces that happen to meet; it must be wider then. */
const COLUMN_LINES = 3;
const SHORT_COLUMN_GAP = 3;
/** Pitch of print where it cannot be measured, as a share of the page's height. */
const USUAL_PITCH = 1 / 60;
/** A block smaller than this many square pitches is dirt. */
const LEAST_AREA = 0.05;

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Ink per row (`across` false) or per column of a box. */
function profile({ width, ink }: InkMask, [left, top, right, bottom]: PixelBox, across: boolean): Uint32Array {
  const counts = new Uint32Array(across ? right - left : bottom - top);
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) counts[across ? x - left : y - top] += ink[y * width + x];
  }
  return counts;
}

/** First and last inked place of a profile, and the widest run without ink between them. */
function span(counts: Uint32Array): { readonly first: number; readonly last: number; readonly gap: Gap } | null {
  const first = counts.findIndex((count) => count > 0);
  if (first < 0) return null;
  let last = first;
  let gap: Gap = { from: first, to: first };
  for (let i = first; i < counts.length; i++) {
    if (counts[i] === 0) continue;
    if (i - last - 1 > gap.to - gap.from) gap = { from: last + 1, to: i };
    last = i;
  }
  return { first, last: last + 1, gap };
}

function cut(mask: InkMask, box: PixelBox, pitch: number): PixelBox[] {
  const rows = span(profile(mask, box, false));
  const columns = span(profile(mask, box, true));
  if (!rows || !columns) return [];
  const tight: PixelBox = [box[0] + columns.first, box[1] + rows.first, box[0] + columns.last, box[1] + rows.last];
  const [left, top, right, bottom] = tight;
  const leastColumn = (bottom - top > COLUMN_LINES * pitch ? COLUMN_GAP : SHORT_COLUMN_GAP) * pitch;
  const down = (rows.gap.to - rows.gap.from) / (PARAGRAPH_GAP * pitch);
  const across = (columns.gap.to - columns.gap.from) / leastColumn;
  if (Math.max(down, across) < 1) return (right - left) * (bottom - top) < LEAST_AREA * pitch ** 2 ? [] : [tight];
  if (down >= across) {
    const at = box[1] + rows.gap.from;
    return [...cut(mask, [left, top, right, at], pitch), ...cut(mask, [left, at, right, bottom], pitch)];
  }
  const at = box[0] + columns.gap.from;
  return [...cut(mask, [left, top, at, bottom], pitch), ...cut(mask, [at, top, right, bottom], pitch)];
}

/** Blocks of print on `page`, in reading order; none on a blank one. */
export function inkLayout(page: RgbImage): LayoutRegion[] {
  const { width, height } = page;
  const pitch = estimateLineHeight(page)?.pitch ?? height * USUAL_PITCH;
  return cut(inkMask(page), [0, 0, width, height], pitch).map((pixelBox): LayoutRegion => {
    const thousandth = (edge: number, length: number, round: (value: number) => number) =>
      Math.min(1000, Math.max(0, round((edge * 1000) / length)));
    const box: Box = [
      thousandth(pixelBox[0], width, Math.floor),
      thousandth(pixelBox[1], height, Math.floor),
      thousandth(pixelBox[2], width, Math.ceil),
      thousandth(pixelBox[3], height, Math.ceil),
    ];
    return { class: "text", box, pixelBox, angle: 0 };
  });
}
