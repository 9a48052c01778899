/**
 * Brings a picture of one printed line to the one size that line-reading weights know: blank margins cut off, scaled to a fixed height,
 * filled up with paper to whole image tokens. Training and reading use this same function. It refuses to know where lines are.
 */

import { inkBounds } from "./ink-bounds.ts";
import { resizeBicubic } from "./resample.ts";
import { crop, type PixelBox, type RgbImage, rgbImage } from "./rgb-image.ts";

/** Paper kept above and below the ink, as a share of its height. */
const UPRIGHT_MARGIN = 0.06;
/** Paper kept at both ends: a full stop may be taken for a speck, and must stay. */
const SIDE_MARGIN = 0.35;
/** A dash is not blown up to the height of letters: no more than this share of the picture's height is cut away. */
const LEAST_SHARE = 0.3;

export interface FittedLine {
  /** `heightPx` high, its width a multiple of `tokenSide`. */
  readonly image: RgbImage;
  /** Where pixel x of the original went: (x − left) · scale. */
  readonly left: number;
  readonly scale: number;
}

/** Paper's colour: the mean of the pixels of the most common brightness. */
export function paperColour({ data }: RgbImage): readonly [number, number, number] {
  const sums = new Float64Array(64 * 4);
  for (let at = 0; at < data.length; at += 3) {
    const bin = ((data[at] + data[at + 1] + data[at + 2]) / 12) | 0;
    sums[bin * 4]++;
    for (let c = 0; c < 3; c++) sums[bin * 4 + 1 + c] += data[at + c];
  }
  let best = 0;
  for (let bin = 0; bin < 64; bin++) if (sums[bin * 4] > sums[best * 4]) best = bin;
  const count = Math.max(1, sums[best * 4]);
  return [1, 2, 3].map((c) => Math.round(sums[best * 4 + c] / count)) as unknown as readonly [number, number, number];
}

function lineBox(image: RgbImage): PixelBox {
  const bounds = inkBounds(image);
  if (!bounds) return [0, 0, image.width, image.height];
  const [left, top, right, bottom] = bounds;
  const height = bottom - top;
  const wanted = Math.max(height + 2 * Math.max(1, Math.round(UPRIGHT_MARGIN * height)), Math.round(LEAST_SHARE * image.height));
  const above = Math.max(0, Math.min(top - ((wanted - height) >> 1), image.height - wanted));
  const side = Math.round(SIDE_MARGIN * height);
  return [Math.max(0, left - side), above, Math.min(image.width, right + side), Math.min(image.height, above + wanted)];
}

/** Fits one line; a picture without ink is scaled as it is. `heightPx` and `tokenSide` in pixels. */
export function fitLine(image: RgbImage, heightPx: number, tokenSide: number): FittedLine {
  const box = lineBox(image);
  const cut = crop(image, box);
  const scale = heightPx / cut.height;
  const width = Math.max(1, Math.round(cut.width * scale));
  const scaled = resizeBicubic(cut, width, heightPx);
  const whole = Math.ceil(width / tokenSide) * tokenSide;
  const fitted = rgbImage(whole, heightPx);
  const paper = paperColour(cut);
  for (let y = 0; y < heightPx; y++) {
    const row = y * whole * 3;
    fitted.data.set(scaled.data.subarray(y * width * 3, (y + 1) * width * 3), row);
    for (let at = row + width * 3; at < row + whole * 3; at++) fitted.data[at] = paper[(at - row) % 3];
  }
  return { image: fitted, left: box[0], scale };
}
