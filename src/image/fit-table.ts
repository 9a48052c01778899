/**
 * Brings a picture of a table to the one size that line-reading weights know: every printed line fills a row of image tokens, all at one
 * scale, so that columns stay above each other; white between columns is cut to a little, white between lines away, and a rule between two
 * lines is drawn again above the lower one. Training and reading use this same function. It refuses to know what a cell is.
 */
import { paperColour } from "./fit-line.ts";
import { type InkMask, inkMask, rowsOfInk } from "./ink-mask.ts";
import { resizeBicubic } from "./resample.ts";
import { crop, type RgbImage, rgbImage } from "./rgb-image.ts";
import { inkedLines } from "./text-lines.ts";

/** Unbroken ink of this share of an edge, and of so many pixels at least, is a rule and no letter. */
const RULE_ACROSS = { share: 0.07, pixels: 36 };
const RULE_DOWN = { share: 0.2, pixels: 50 };
/** Paper above and below the ink of a line, together, as a share of its height. */
const UPRIGHT_MARGIN = 0.12;
/** A line up to so many times as high as others is pressed into one row of tokens; a higher one takes several. */
const MOST_PRESSED = 1.45;
/** White between columns that stays, in image tokens. */
const KEPT_GAP = 1.5;
/** Paper kept at both ends, as a share of the usual line's height. */
const SIDE_MARGIN = 0.35;
/** A line of the table as high as this share of all lines' ink has is the usual one. */
const USUAL_LINE = 0.4;
const RULE_PIXELS = 2;
const RULE_SHADE = 60;

export interface FittedRegion {
  /** Width and height are multiples of the token's side. */
  readonly image: RgbImage;
  /** Where the original's point came to stand. */
  place(x: number, y: number): readonly [x: number, y: number];
}

/** Lengths of unbroken ink: calls `found` with the first index, the step between indices and the length of every run of at least `least`. */
function longRuns(
  ink: Uint8Array,
  lanes: number,
  length: number,
  laneStep: number,
  step: number,
  least: number,
  found: (start: number, run: number) => void,
): void {
  for (let lane = 0; lane < lanes; lane++) {
    for (let i = 0, at = lane * laneStep; i < length; i++, at += step) {
      if (ink[at] === 0) continue;
      const start = at;
      let run = 0;
      while (i < length && ink[at] === 1) {
        i++;
        run++;
        at += step;
      }
      if (run >= least) found(start, run);
    }
  }
}

/** Wipes the rules out of the mask, their blurred edges with them. Returns where those across stood: `[height, width]`. */
function takeRules({ width, height, ink }: InkMask): Uint8Array {
  const across = new Uint8Array(ink.length);
  const down: (readonly [number, number])[] = [];
  longRuns(ink, height, width, width, 1, Math.max(RULE_ACROSS.pixels, RULE_ACROSS.share * width), (start, run) =>
    across.fill(1, start, start + run),
  );
  longRuns(ink, width, height, 1, width, Math.max(RULE_DOWN.pixels, RULE_DOWN.share * height), (start, run) => down.push([start, run]));
  for (const [start, run] of down)
    for (let i = 0, at = start; i < run; i++, at += width) for (const near of [at - 1, at, at + 1]) if (near in ink) ink[near] = 0;
  for (let at = 0; at < across.length; at++)
    if (across[at] === 1) for (const near of [at - width, at, at + width]) if (near in ink) ink[near] = 0;
  return across;
}

interface InkLine {
  readonly top: number;
  readonly bottom: number;
}

/** Height of the usual printed line: at least that of the lines with `USUAL_LINE` of the ink. */
function usualHeight(lines: readonly InkLine[], rows: Uint32Array): number {
  const weighed = lines
    .map(({ top, bottom }) => ({ height: bottom - top, weight: rows.subarray(top, bottom).reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => a.height - b.height);
  let left = weighed.reduce((sum, { weight }) => sum + weight, 0) * USUAL_LINE;
  for (const { height, weight } of weighed) {
    left -= weight;
    if (left <= 0) return height;
  }
  return weighed[weighed.length - 1].height;
}

/** Runs of columns that stay, left to right: all but the middle of wide white. */
function keptColumns({ width, height, ink }: InkMask, mostWhite: number, margin: number): (readonly [number, number])[] {
  const inked = new Uint8Array(width);
  for (let y = 0, at = 0; y < height; y++) for (let x = 0; x < width; x++, at++) if (ink[at] === 1) inked[x] = 1;
  const first = inked.indexOf(1);
  const last = inked.lastIndexOf(1);
  const kept: [number, number][] = [[Math.max(0, first - margin), first]];
  for (let x = first; x <= last; x++) {
    const white = x;
    while (inked[x] === 0) x++;
    const half = mostWhite >> 1;
    if (x - white > mostWhite) {
      kept[kept.length - 1][1] = white + half;
      kept.push([x - (mostWhite - half), x]);
    }
    kept[kept.length - 1][1] = x + 1;
  }
  kept[kept.length - 1][1] = Math.min(width, last + 1 + margin);
  return kept;
}

function onlyColumns(image: RgbImage, kept: readonly (readonly [number, number])[]): RgbImage {
  const width = kept.reduce((sum, [from, to]) => sum + to - from, 0);
  const result = rgbImage(width, image.height);
  for (let y = 0, to = 0; y < image.height; y++)
    for (const [from, end] of kept) {
      result.data.set(image.data.subarray((y * image.width + from) * 3, (y * image.width + end) * 3), to);
      to += (end - from) * 3;
    }
  return result;
}

/** Where column `x` of the original stands among those kept; one that fell out stands at its nearest neighbour. */
function amongKept(kept: readonly (readonly [number, number])[], x: number): number {
  let before = 0;
  for (const [from, to] of kept) {
    if (x < to) return before + Math.max(0, x - from);
    before += to - from;
  }
  return before;
}

interface TokenLine extends InkLine {
  readonly scale: number;
  /** First pixel row on the fitted picture, and rows taken. */
  readonly at: number;
  readonly pixels: number;
  /** Pixel row of the original that stands at `at`. */
  readonly origin: number;
}

function tokenLines(lines: readonly InkLine[], scale: number, rowPixels: number): TokenLine[] {
  let at = 0;
  return lines.map(({ top, bottom }) => {
    const high = (bottom - top) * (1 + UPRIGHT_MARGIN) * scale;
    const rows = high <= MOST_PRESSED * rowPixels ? 1 : Math.ceil(((bottom - top) * scale) / rowPixels);
    const pixels = rows * rowPixels;
    const own = Math.min(scale, (scale * pixels) / high);
    const line = { top, bottom, scale: own, at, pixels, origin: (top + bottom) / 2 - pixels / (2 * own) };
    at += pixels;
    return line;
  });
}

/** Fits a table; a picture without ink comes back as white. `rowPixels` and `tokenSide` in pixels. */
export function fitTable(image: RgbImage, rowPixels: number, tokenSide: number): FittedRegion {
  const mask = inkMask(image);
  const rules = takeRules(mask);
  const rows = rowsOfInk(mask);
  const lines = inkedLines(rows);
  if (lines.length === 0) return { image: rgbImage(tokenSide, rowPixels), place: () => [0, 0] };
  const usual = usualHeight(lines, rows);
  const scale = rowPixels / (usual * (1 + UPRIGHT_MARGIN));
  const kept = keptColumns(mask, Math.round((KEPT_GAP * tokenSide) / scale), Math.round(SIDE_MARGIN * usual));
  const narrow = onlyColumns(image, kept);
  const width = Math.max(1, Math.round(narrow.width * scale));
  const placed = tokenLines(lines, scale, rowPixels);
  const height = placed.reduce((sum, { pixels }) => sum + pixels, 0);
  const fitted = rgbImage(Math.ceil(width / tokenSide) * tokenSide, height);
  const paper = paperColour(image);
  for (let i = 0; i < fitted.data.length; i++) fitted.data[i] = paper[i % 3];
  for (const [i, line] of placed.entries()) {
    const above = i === 0 ? 0 : (lines[i - 1].bottom + line.top) >> 1;
    const below = i === lines.length - 1 ? image.height : (line.bottom + lines[i + 1].top + 1) >> 1;
    const from = Math.max(above, Math.floor(line.origin));
    const to = Math.min(below, Math.ceil(line.origin + line.pixels / line.scale));
    const high = Math.min(line.pixels, Math.max(1, Math.round((to - from) * line.scale)));
    const cut = resizeBicubic(crop(narrow, [0, from, narrow.width, to]), width, high);
    const start = Math.max(0, Math.min(line.pixels - high, Math.round((from - line.origin) * line.scale)));
    for (let y = 0; y < high; y++)
      fitted.data.set(cut.data.subarray(y * width * 3, (y + 1) * width * 3), (line.at + start + y) * fitted.width * 3);
    drawRule(fitted, line.at, rules, image.width, kept, scale, i === 0 ? 0 : lines[i - 1].bottom, line.top);
  }
  return {
    image: fitted,
    place(x, y) {
      const line = placed.find(({ bottom }, i) => y < (i + 1 < lines.length ? (bottom + lines[i + 1].top) / 2 : Number.POSITIVE_INFINITY))!;
      const down = Math.max(0, Math.min(line.pixels - 1, (y - line.origin) * line.scale));
      return [amongKept(kept, x) * scale, line.at + down];
    },
  };
}

/** Draws at row `at` what rules stand in rows `top` to `bottom` of the original. */
function drawRule(
  fitted: RgbImage,
  at: number,
  rules: Uint8Array,
  sourceWidth: number,
  kept: readonly (readonly [number, number])[],
  scale: number,
  top: number,
  bottom: number,
): void {
  let column = 0;
  for (const [from, to] of kept)
    for (let x = from; x < to; x++, column++) {
      let ruled = false;
      for (let y = top; y < bottom && !ruled; y++) ruled = rules[y * sourceWidth + x] === 1;
      if (!ruled) continue;
      const [left, right] = [Math.floor(column * scale), Math.ceil((column + 1) * scale)];
      for (let y = at; y < at + RULE_PIXELS; y++)
        fitted.data.fill(RULE_SHADE, (y * fitted.width + left) * 3, (y * fitted.width + right) * 3);
    }
}
