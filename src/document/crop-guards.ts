/**
 * What a crop must pass before the model reads it: a crop that holds next to nothing is not worth asking about, and one too large for the
 * model's image budget is cut into bands whose texts are rejoined. Knows pixels only; which regions are cropped is the policy's affair.
 */
import { type Band, splitAtLineGaps } from "../image/ink.ts";
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

/**
 * Cuts an upright text crop that exceeds the budget into bands that fit it, in the white between its lines; a crop that fits
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
  return splitAtLineGaps(crop, most);
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
function brightness(image: RgbImage, at: number): number {
  return Math.floor((image.data[at] * 299 + image.data[at + 1] * 587 + image.data[at + 2] * 114) / 1000);
}
