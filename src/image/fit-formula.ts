/**
 * Brings a picture of a formula to the size that line-reading weights know: type of about one size, the whole as high as a few rows of image
 * tokens. Training and reading use this same function. It refuses to know what the marks mean.
 */
import { paperColour } from "./fit-line.ts";
import type { FittedRegion } from "./fit-table.ts";
import { inkBounds } from "./ink-bounds.ts";
import { inkMask, visitMarks } from "./ink-mask.ts";
import { resizeBicubic } from "./resample.ts";
import { crop, type RgbImage, rgbImage } from "./rgb-image.ts";

/** Height that a letter, figure or bracket of the larger sort comes to, as a share of a row of tokens. */
const LETTER_SHARE = 0.6;
/** Marks wider than so many times their height are bars and dashes, narrower ones bars too. */
const LETTER_SHAPE = [0.15, 2.5] as const;
/** So many of the marks are lower than the one that is measured. */
const LARGER_SORT = 0.7;
/** Least height of a mark against the highest: points and primes are no letters. */
const LEAST_MARK = 0.12;
/** Paper around the ink, as a share of a row of tokens. */
const MARGIN = { upright: 0.05, side: 0.3 };
/** A formula no higher than this, in rows of tokens, is brought to one row. */
const ONE_ROW = 1.35;

function letterHeight(image: RgbImage): number | null {
  const heights: number[] = [];
  visitMarks(inkMask(image), ({ width, height }) => {
    const shape = width / height;
    if (shape >= LETTER_SHAPE[0] && shape <= LETTER_SHAPE[1]) heights.push(height);
    return true;
  });
  const highest = Math.max(...heights);
  const letters = heights.filter((height) => height >= LEAST_MARK * highest).sort((a, b) => a - b);
  return letters.length === 0 ? null : letters[Math.trunc((letters.length - 1) * LARGER_SORT)];
}

/** Fits a formula; a picture without ink is scaled to one row. `rowPixels` and `tokenSide` in pixels. */
export function fitFormula(image: RgbImage, rowPixels: number, tokenSide: number): FittedRegion {
  const [left, top, right, bottom] = inkBounds(image) ?? [0, 0, image.width, image.height];
  const letters = letterHeight(image) ?? bottom - top;
  const wanted = ((bottom - top) * LETTER_SHARE) / letters + 2 * MARGIN.upright;
  const rows = wanted <= ONE_ROW ? 1 : Math.round(wanted);
  const height = rows * rowPixels;
  const upright = Math.round(MARGIN.upright * rowPixels);
  const scale = (height - 2 * upright) / (bottom - top);
  const width = Math.max(1, Math.round((right - left) * scale));
  const side = Math.round(MARGIN.side * rowPixels);
  const whole = Math.ceil((width + 2 * side) / tokenSide) * tokenSide;
  const fitted = rgbImage(whole, height);
  const paper = paperColour(image);
  for (let i = 0; i < fitted.data.length; i++) fitted.data[i] = paper[i % 3];
  const scaled = resizeBicubic(crop(image, [left, top, right, bottom]), width, height - 2 * upright);
  for (let y = 0; y < scaled.height; y++)
    fitted.data.set(scaled.data.subarray(y * width * 3, (y + 1) * width * 3), ((y + upright) * whole + side) * 3);
  return { image: fitted, place: (x, y) => [(x - left) * scale + side, (y - top) * scale + upright] };
}
