/**
 * What a crop must pass before the model reads it: one too large for the model's image budget is cut into bands whose answers are
 * rejoined, and an answer may grow no longer than what the crop can hold. Knows pixels only; which regions are cropped is the policy's
 * affair.
 */
import { type Band, splitAtLineGaps } from "../image/ink.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { cutAtStop, isBlank, trimWhite } from "./answer-text.ts";
import type { RecognitionTask } from "./types.ts";

/** The model's image budget: tokens of one image, and the side of the square of pixels that makes one token. */
export interface ImageBudget {
  readonly tokens: number;
  readonly tokenSide: number;
}

/** The published checkpoint's budget: 2048 tokens of 28 x 28 pixels. */
export const IMAGE_BUDGET: ImageBudget = { tokens: 2048, tokenSide: 28 };

/** How far over its budget a crop may be before it is cut; below, it is made smaller. A table in bands loses spans that cross a cut. */
const SLACK: Readonly<Record<RecognitionTask, number>> = { text: 1, table: 2, formula: 2 };
/** No band is lower than this, in pixels. */
const MIN_BAND = 28;

/**
 * Cuts an upright crop that exceeds the budget into bands that fit it, in the white between its lines or rows; a crop that fits gives one
 * band. One too wide for bands stays whole. Throws `RangeError` for a budget below one token.
 */
export function bandsOf(crop: RgbImage, task: RecognitionTask, budget: ImageBudget = IMAGE_BUDGET): Band[] {
  if (!(budget.tokens >= 1 && budget.tokenSide >= 1))
    throw new RangeError(`\`budget\` expected at least one token of one pixel, got ${budget.tokens} of ${budget.tokenSide}`);
  const whole = [{ top: 0, bottom: crop.height }];
  const across = Math.ceil(crop.width / budget.tokenSide);
  if (across * Math.ceil(crop.height / budget.tokenSide) <= SLACK[task] * budget.tokens) return whole;
  const most = Math.floor(budget.tokens / across) * budget.tokenSide;
  if (most < MIN_BAND) return whole;
  return splitAtLineGaps(crop, most);
}

/** Joins the answers of a region's bands: texts line by line, rows of a table one after the other, formulas as rows of an array. */
export function rejoin(answers: readonly string[], task: RecognitionTask): string {
  if (answers.length === 1) return answers[0];
  const filled = answers.map((answer) => trimWhite(cutAtStop(answer))).filter((answer) => !isBlank(answer));
  if (task === "text" || filled.length < 2) return filled.join("\n");
  if (task === "table") return filled.map((rows) => (rows.endsWith("<nl>") ? rows : `${rows}<nl>`)).join("");
  return `\\begin{array}{l} ${filled.map(withoutDisplay).join(" \\\\ ")} \\end{array}`;
}

const withoutDisplay = (formula: string): string => trimWhite(formula.replace(/^\\\[|\\\]$/g, ""));

/** Most tokens that print on one token's square of pixels can need, tags of table cells included, and what any answer may need. */
const TOKENS_PER_SQUARE = 12;
const LEAST_TOKENS = 64;

/** Longest answer a crop can need, in tokens, at most `most`; an answer that outgrows it has run away. */
export function longestAnswer(crop: Pick<RgbImage, "width" | "height">, most: number, { tokenSide }: ImageBudget = IMAGE_BUDGET): number {
  const squares = Math.ceil(crop.width / tokenSide) * Math.ceil(crop.height / tokenSide);
  return Math.min(most, LEAST_TOKENS + TOKENS_PER_SQUARE * squares);
}
