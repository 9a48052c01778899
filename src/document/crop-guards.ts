/**
 * What a crop must pass before the model reads it: a crop that holds next to nothing is not worth asking about, and one too large for the
 * model's image budget is cut into bands whose texts are rejoined. Knows pixels only; which regions are cropped is the policy's affair.
 */
import type { RgbImage } from "../image/rgb-image.ts";
import { isBlank, trimWhite } from "./answer-text.ts";
import type { RecognitionTask } from "./types.ts";

/** When a crop counts as empty. */
export interface EmptyOptions {
  /** A pixel is ink if its brightness differs by more than this from the crop's ground. Default 40 of 255. */
  readonly contrast?: number;
  /** Fewer ink pixels than this are dust. Default 6. */
  readonly leastInk?: number;
}

/** Whether a crop holds next to nothing; asking the model about it would invite invention. The ground is the most frequent brightness. */
export function isNearEmpty(crop: RgbImage, options: EmptyOptions = {}): boolean {
  const { contrast = 40, leastInk = 6 } = options;
  const histogram = new Uint32Array(256);
  for (let at = 0; at < crop.data.length; at += 3) histogram[brightness(crop, at)]++;
  const ground = histogram.indexOf(Math.max(...histogram));
  let ink = 0;
  for (let level = 0; level < 256; level++) if (Math.abs(level - ground) > contrast) ink += histogram[level];
  return ink < leastInk;
}

/** The model's image budget: tokens of one image, and the side of the square of pixels that makes one token. */
export interface ImageBudget {
  readonly tokens: number;
  readonly tokenSide: number;
}

/** The published checkpoint's budget: 2048 tokens of 28 x 28 pixels. */
export const IMAGE_BUDGET: ImageBudget = { tokens: 2048, tokenSide: 28 };

/** Rows of a crop, bottom exclusive. */
export interface Band {
  readonly top: number;
  readonly bottom: number;
}

/**
 * Cuts an upright text crop that exceeds the budget into bands that fit it, each cut on the emptiest row near its place; a crop that fits
 * gives one band. Tables and formulas are never cut: they go to the model made smaller. Throws `RangeError` for a budget below one token.
 */
export function bandsOf(crop: RgbImage, task: RecognitionTask, budget: ImageBudget = IMAGE_BUDGET): Band[] {
  if (!(budget.tokens >= 1 && budget.tokenSide >= 1))
    throw new RangeError(`\`budget\` expected at least one token of one pixel, got ${budget.tokens} of ${budget.tokenSide}`);
  const whole = [{ top: 0, bottom: crop.height }];
  const across = Math.ceil(crop.width / budget.tokenSide);
  if (task !== "text" || across * Math.ceil(crop.height / budget.tokenSide) <= budget.tokens) return whole;
  const most = Math.floor(budget.tokens / across) * budget.tokenSide;
  if (most < MIN_BAND) return whole;
  const ink = rowInk(crop);
  const bands: Band[] = [];
  let top = 0;
  while (crop.height - top > most) {
    const left = Math.ceil((crop.height - top) / most);
    const ideal = top + Math.round((crop.height - top) / left);
    const slack = Math.floor(most * CUT_SLACK);
    const cut = emptiestRow(ink, Math.max(top + MIN_BAND, ideal - slack), Math.min(top + most, ideal + slack));
    bands.push({ top, bottom: cut });
    top = cut;
  }
  bands.push({ top, bottom: crop.height });
  return bands;
}

/** Joins the answers of a region's bands. Throws `RangeError` for several answers of a table or formula, which are not cut. */
export function rejoin(answers: readonly string[], task: RecognitionTask): string {
  if (task !== "text" && answers.length > 1) throw new RangeError(`\`answers\` expected one for a ${task}, got ${answers.length}`);
  if (answers.length === 1) return answers[0];
  return answers
    .filter((answer) => !isBlank(answer))
    .map(trimWhite)
    .join("\n");
}

/** No band is lower than this, in pixels. */
const MIN_BAND = 28;
/** How far from its place a cut may move, as a share of the tallest band. */
const CUT_SLACK = 0.2;

function brightness(image: RgbImage, at: number): number {
  return Math.floor((image.data[at] * 299 + image.data[at + 1] * 587 + image.data[at + 2] * 114) / 1000);
}

/** Ink of every row: how much neighbouring pixels of the row differ, which is nothing on any even ground. */
function rowInk(image: RgbImage): Float64Array {
  const ink = new Float64Array(image.height);
  for (let y = 0; y < image.height; y++) {
    const row = y * image.width * 3;
    let before = brightness(image, row);
    for (let x = 1; x < image.width; x++) {
      const here = brightness(image, row + x * 3);
      ink[y] += Math.abs(here - before);
      before = here;
    }
  }
  return ink;
}

/** The middle of the emptiest stretch of rows in `from`..`to`, so that a cut keeps clear of letters on both sides. */
function emptiestRow(ink: Float64Array, from: number, to: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let y = from; y <= to; y++) least = Math.min(least, ink[y]);
  let best = { start: from, length: 0 };
  for (let y = from; y <= to; ) {
    let end = y;
    while (end <= to && ink[end] <= least) end++;
    if (end - y > best.length) best = { start: y, length: end - y };
    y = Math.max(end, y + 1);
  }
  return best.start + Math.floor(best.length / 2);
}
