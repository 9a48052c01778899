/**
 * Simple ink measures for the document stage: is a region blank, how large is its type, and where can a tall text be cut without going
 * through a line. All work on the ink of each pixel row, so text must run horizontally; skew beyond a line's gap defeats them. They never
 * read, and they answer null rather than guess.
 */
import { type InkMask, inkMask, rowsOfInk, visitMarks } from "./ink-mask.ts";
import type { RgbImage } from "./rgb-image.ts";

/** A mark this large cannot be scanner dirt any more: a full stop at 200 dpi has about this size. */
const MARK_PIXELS = 10;
const MARK_EXTENT = 4;

/** True when nothing on `image` is larger than dirt: not even a full stop. Errs towards false, since reading a blank costs only time. */
export function nearlyEmpty(image: RgbImage): boolean {
  let empty = true;
  visitMarks(inkMask(image), ({ pixels, width, height }) => {
    if (pixels < MARK_PIXELS || Math.max(width, height) < MARK_EXTENT) return true;
    empty = false;
    return "stop";
  });
  return empty;
}

/** Ink pixels of every row, specks left out: `[height]`. */
export function inkProfile(image: RgbImage): Uint32Array {
  return rowsOfInk(inkMask(image));
}

/** A horizontal band of a picture, `bottom` exclusive. */
export interface Band {
  readonly top: number;
  readonly bottom: number;
}

/** A run of rows without (much) ink. */
interface Gap {
  readonly middle: number;
  readonly height: number;
}

/** A cut is looked for down to this part of the greatest band height before a worse kind of gap is taken. */
const REACH = 0.3;
/** Share of the width that may be ink in a gap of a dirty scan. */
const DIRTY_GAP_INK = 0.01;

/**
 * Cuts a picture of text into bands at most `maxHeightPx` high that together cover it, in white gaps between lines, all about equally high.
 * Only where no gap is in reach does a cut follow the row with the least ink. Throws `RangeError` for a bound below 1.
 */
export function splitAtLineGaps(image: RgbImage, maxHeightPx: number): Band[] {
  if (!Number.isInteger(maxHeightPx) || maxHeightPx < 1)
    throw new RangeError(`\`maxHeightPx\` expected a positive integer, got ${maxHeightPx}`);
  if (image.height <= maxHeightPx) return [{ top: 0, bottom: image.height }];
  const rows = withoutSteadyInk(inkProfile(image));
  const clean = gapsOf(rows, 0);
  const dirty = gapsOf(rows, Math.max(1, Math.trunc(image.width * DIRTY_GAP_INK)));
  const bands: Band[] = [];
  let top = 0;
  while (image.height - top > maxHeightPx) {
    const left = image.height - top;
    const target = top + left / Math.ceil(left / maxHeightPx);
    const within: Band = { top: top + Math.max(1, Math.trunc(maxHeightPx * REACH)), bottom: top + maxHeightPx };
    const cut = bestGap(clean, target, within) ?? bestGap(dirty, target, within) ?? lightestRow(rows, target, within);
    bands.push({ top, bottom: cut });
    top = cut;
  }
  bands.push({ top, bottom: image.height });
  return bands;
}

/** Takes off the ink that every row has: the upright rules of a frame or table. */
export function withoutSteadyInk(rows: Uint32Array): Uint32Array {
  const sorted = rows.slice().sort();
  const steady = sorted[Math.trunc(sorted.length * 0.05)];
  const slack = steady === 0 ? 0 : 2 + (steady >> 2);
  return rows.map((count) => (count <= steady + slack ? 0 : count - steady));
}

function gapsOf(rows: Uint32Array, tolerance: number): Gap[] {
  const gaps: Gap[] = [];
  for (let y = 0; y < rows.length; y++) {
    if (rows[y] > tolerance) continue;
    const top = y;
    while (y < rows.length && rows[y] <= tolerance) y++;
    gaps.push({ middle: (top + y) >> 1, height: y - top });
  }
  return gaps;
}

/** The gap in `within` that is near `target` and not narrow against the others there: a fraction bar or an i-dot has gaps too. */
function bestGap(gaps: readonly Gap[], target: number, within: Band): number | null {
  const reachable = gaps.filter(({ middle }) => middle >= within.top && middle <= within.bottom);
  if (reachable.length === 0) return null;
  const heights = reachable.map(({ height }) => height).sort((a, b) => a - b);
  const typical = heights[heights.length >> 1];
  const reach = within.bottom - within.top;
  // Cutting above the target makes one more band likely, so it costs more than cutting below.
  const distance = (middle: number): number => (middle < target ? 3 * (target - middle) : middle - target);
  const cost = ({ middle, height }: Gap): number => distance(middle) / reach - Math.min(1, height / typical);
  return reachable.reduce((best, gap) => (cost(gap) < cost(best) ? gap : best)).middle;
}

function lightestRow(rows: Uint32Array, target: number, within: Band): number {
  let best = within.bottom;
  for (let y = within.bottom; y >= within.top; y--)
    if (rows[y] < rows[best] || (rows[y] === rows[best] && Math.abs(y - target) < Math.abs(best - target))) best = y;
  return best;
}

/** How large the type of a picture is, in pixels. */
export interface LineHeight {
  /** Distance from baseline to baseline; for a single line what such type is usually set at. */
  readonly pitch: number;
  /** Height of a lower-case x; for capitals, digits or CJK alone the height of those. */
  readonly xHeight: number;
  /** Height from baseline to the top of capitals and ascenders. */
  readonly capHeight: number;
  /** Lines the estimate rests on. */
  readonly lines: number;
}

/** The dense middle of a line, between baseline and x-height. */
interface Core {
  readonly top: number;
  readonly bottom: number;
}

const LEAST_X_HEIGHT = 4;
/** Usual pitch over x-height: type of 10 on 12 points has an x-height near 4.5. */
const PITCH_PER_X_HEIGHT = 2.6;
/** A row belongs to a core when it has this part of the ink of a dense row. */
const CORE_INK = 0.42;
/** Rows with less than this part of a core's least ink part two lines, however close they are. */
const PARTING_INK = 0.2;
/** A row still belongs to a line's letters when it has this part. */
const LETTER_INK = 0.06;
/** Strokes per x-height of width in the rows of a core: about 1.5 in print; rules have fewer, screens and noise more. */
const LEAST_STROKES = 0.3;
const MOST_STROKES = 6;

/** Estimates the type size from the ink of the rows; null when the picture has none or does not look like lines of text. */
export function estimateLineHeight(image: RgbImage): LineHeight | null {
  const mask = inkMask(image);
  const rows = withoutSteadyInk(rowsOfInk(mask));
  const cores = coresOf(rows);
  if (cores.length === 0) return null;
  const xHeight = median(cores.map(({ top, bottom }) => bottom - top));
  const lines = cores.filter(({ top, bottom }) => bottom - top >= xHeight * 0.6 && bottom - top <= xHeight * 1.7);
  if (xHeight < LEAST_X_HEIGHT || lines.length * 2 < cores.length) return null;
  const strokes = median(lines.map((core) => strokesPerSquare(mask, core)));
  if (strokes < LEAST_STROKES || strokes > MOST_STROKES) return null;
  const capHeight = median(lines.map((core, i) => core.bottom - letterTop(rows, core, i === 0 ? 0 : lines[i - 1].bottom)));
  if (lines.length === 1) return { pitch: Math.max(xHeight * PITCH_PER_X_HEIGHT, capHeight * 1.3), xHeight, capHeight, lines: 1 };
  const steps = lines.slice(1).map(({ bottom }, i) => bottom - lines[i].bottom);
  return { pitch: commonStep(steps), xHeight, capHeight, lines: lines.length };
}

/** Whether the rows from `top` to `bottom` hold next to no ink: commas between close lines, not the open middle of a line of capitals. */
function parts(rows: Uint32Array, top: number, bottom: number, dense: number): boolean {
  return Math.min(...rows.subarray(top, bottom)) < dense * PARTING_INK;
}

function coresOf(rows: Uint32Array): Core[] {
  const inked = Array.from(rows)
    .filter((count) => count > 0)
    .sort((a, b) => a - b);
  if (inked.length === 0) return [];
  const dense = inked[Math.trunc((inked.length - 1) * 0.8)] * CORE_INK;
  const cores: Core[] = [];
  for (let y = 0; y < rows.length; y++) {
    if (rows[y] < dense) continue;
    const top = y;
    while (y < rows.length && rows[y] >= dense) y++;
    const last = cores.at(-1);
    const joins = last !== undefined && top - last.bottom <= Math.max(1, (y - last.top) * 0.2) && !parts(rows, last.bottom, top, dense);
    if (joins) cores[cores.length - 1] = { top: last.top, bottom: y };
    else cores.push({ top, bottom: y });
  }
  const tallest = Math.max(...cores.map(({ top, bottom }) => bottom - top));
  return cores.filter(({ top, bottom }) => bottom - top >= Math.min(LEAST_X_HEIGHT, tallest));
}

/** First row of the letters whose core this is: ascenders have less ink than the core, the gap above has next to none. */
function letterTop(rows: Uint32Array, core: Core, above: number): number {
  const needed = Math.max(1, median(Array.from(rows.subarray(core.top, core.bottom))) * LETTER_INK);
  let top = core.top;
  while (top > above && rows[top - 1] >= needed && core.bottom - top < (core.bottom - core.top) * 2.2) top--;
  return top;
}

/** Strokes met along the core's rows, per core height of inked width. */
function strokesPerSquare({ width, ink }: InkMask, core: Core): number {
  const counts: number[] = [];
  for (let y = core.top; y < core.bottom; y++) {
    let [strokes, first, last] = [0, -1, 0];
    for (let x = 0; x < width; x++) {
      if (ink[y * width + x] === 0) continue;
      if (first < 0) first = x;
      last = x;
      if (x === 0 || ink[y * width + x - 1] === 0) strokes++;
    }
    if (first >= 0) counts.push((strokes * (core.bottom - core.top)) / (last - first + 1));
  }
  return median(counts);
}

/** The median of the steps between neighbouring lines; wider ones (a paragraph gap, a line not seen) are left out. */
function commonStep(steps: readonly number[]): number {
  const smallest = [...steps].sort((a, b) => a - b)[Math.trunc((steps.length - 1) * 0.25)];
  const near = steps.filter((step) => step < smallest * 1.5);
  return median(near);
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
