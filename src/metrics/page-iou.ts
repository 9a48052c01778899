/**
 * PageIoU (MinerU2.5, section 4.2.1): how well two sets of boxes cover the same pixels of a page. With P(x) and G(x) the number of
 * predicted and true boxes over pixel x, PageIoU = sum min(P, G) / sum max(P, G) over the foreground pixels M. Precision, recall and
 * F1 divide the same sum of minima by the sums of P, of G, and by their mean; the paper reports these by class. Exact by
 * coordinate compression: counts are constant inside the cells that all box edges cut out. It refuses to know what labels mean.
 */

/** `[x0, y0, x1, y1)` in pixels; parts outside the page and inverted boxes cover nothing. */
export type PixelBox = readonly [number, number, number, number];

export interface LabelledBox {
  readonly box: PixelBox;
  readonly label: string;
}

/** One byte a pixel, row by row, not 0 where the page is not background. */
export interface ForegroundMask {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The pixels that count: `null` all of the page, boxes their union, a mask its set pixels. */
export type Foreground = null | readonly PixelBox[] | ForegroundMask;

export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** Sums over foreground pixels, and the ratios. Nothing on both sides gives 1, on one side 0. */
export interface CoverScore {
  readonly sumMin: number;
  readonly sumMax: number;
  readonly sumPred: number;
  readonly sumTruth: number;
  readonly pageIoU: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

export interface PageIoUResult {
  /** Labels ignored. */
  readonly all: CoverScore;
  /** The same with the boxes of one label only, for every label that occurs. */
  readonly byLabel: ReadonlyMap<string, CoverScore>;
}

/**
 * Compares predicted with true boxes.
 * @throws RangeError if a coordinate is not finite, or not whole with a mask, or the mask is not of the page's size.
 */
export function pageIoU(
  pred: readonly LabelledBox[],
  truth: readonly LabelledBox[],
  page: PageSize,
  foreground: Foreground = null,
): PageIoUResult {
  const isMask = foreground !== null && "data" in foreground;
  if (
    isMask &&
    (foreground.width !== page.width || foreground.height !== page.height || foreground.data.length < page.width * page.height)
  ) {
    throw new RangeError(`\`foreground\` expected ${page.width}x${page.height} bytes, got ${foreground.width}x${foreground.height}`);
  }
  for (const { box } of [...pred, ...truth]) {
    if (!box.every(isMask ? Number.isInteger : Number.isFinite)) {
      throw new RangeError(`\`box\` expected four ${isMask ? "whole" : "finite"} numbers, got [${box.join(", ")}]`);
    }
  }
  const measure = isMask ? maskArea(foreground) : null;
  const shown: readonly PixelBox[] | null = isMask ? null : (foreground as readonly PixelBox[] | null);
  const score = (keep: (item: LabelledBox) => boolean) =>
    coverScore(boxesOf(pred.filter(keep), page), boxesOf(truth.filter(keep), page), shown && clipAll(shown, page), measure);
  const labels = [...new Set([...pred, ...truth].map((item) => item.label))].sort();
  return {
    all: score(() => true),
    byLabel: new Map(labels.map((label) => [label, score((item) => item.label === label)])),
  };
}

type AreaMeasure = (x0: number, y0: number, x1: number, y1: number) => number;

function boxesOf(items: readonly LabelledBox[], page: PageSize): PixelBox[] {
  return clipAll(
    items.map((item) => item.box),
    page,
  );
}

function clipAll(boxes: readonly PixelBox[], { width, height }: PageSize): PixelBox[] {
  return boxes
    .map(([x0, y0, x1, y1]): PixelBox => [Math.max(0, x0), Math.max(0, y0), Math.min(width, x1), Math.min(height, y1)])
    .filter(([x0, y0, x1, y1]) => x0 < x1 && y0 < y1);
}

function coverScore(pred: PixelBox[], truth: PixelBox[], shown: PixelBox[] | null, measure: AreaMeasure | null): CoverScore {
  const xs = edges([...pred, ...truth, ...(shown ?? [])], 0);
  const ys = edges([...pred, ...truth, ...(shown ?? [])], 1);
  const predCover = cover(pred, xs, ys);
  const truthCover = cover(truth, xs, ys);
  const shownCover = shown && cover(shown, xs, ys);
  let sumMin = 0;
  let sumMax = 0;
  let sumPred = 0;
  let sumTruth = 0;
  for (let row = 0; row + 1 < ys.length; row++) {
    for (let column = 0; column + 1 < xs.length; column++) {
      const cell = row * xs.length + column;
      const p = predCover[cell];
      const g = truthCover[cell];
      if (p + g === 0 || (shownCover && shownCover[cell] === 0)) continue;
      const [x0, x1, y0, y1] = [xs[column], xs[column + 1], ys[row], ys[row + 1]];
      const area = measure ? measure(x0, y0, x1, y1) : (x1 - x0) * (y1 - y0);
      sumMin += area * Math.min(p, g);
      sumMax += area * Math.max(p, g);
      sumPred += area * p;
      sumTruth += area * g;
    }
  }
  const ratio = (part: number, whole: number) => (sumPred + sumTruth === 0 ? 1 : whole === 0 ? 0 : part / whole);
  return {
    sumMin,
    sumMax,
    sumPred,
    sumTruth,
    pageIoU: ratio(sumMin, sumMax),
    precision: ratio(sumMin, sumPred),
    recall: ratio(sumMin, sumTruth),
    f1: ratio(2 * sumMin, sumPred + sumTruth),
  };
}

/** Sorted different coordinates of the boxes along one axis. */
function edges(boxes: readonly PixelBox[], axis: 0 | 1): number[] {
  return [...new Set(boxes.flatMap((box) => [box[axis], box[axis + 2]]))].sort((a, b) => a - b);
}

/** Number of boxes over each cell, [ys.length, xs.length] with an unused last row and column, by summing corner differences. */
function cover(boxes: readonly PixelBox[], xs: readonly number[], ys: readonly number[]): Int32Array {
  const columnOf = new Map(xs.map((x, index) => [x, index]));
  const rowOf = new Map(ys.map((y, index) => [y, index]));
  const width = xs.length;
  const counts = new Int32Array(width * ys.length);
  for (const [x0, y0, x1, y1] of boxes) {
    const [left, right, top, bottom] = [columnOf.get(x0)!, columnOf.get(x1)!, rowOf.get(y0)!, rowOf.get(y1)!];
    counts[top * width + left]++;
    counts[top * width + right]--;
    counts[bottom * width + left]--;
    counts[bottom * width + right]++;
  }
  for (let row = 0; row < ys.length; row++) {
    for (let column = 1; column < width; column++) counts[row * width + column] += counts[row * width + column - 1];
  }
  for (let cell = width; cell < counts.length; cell++) counts[cell] += counts[cell - width];
  return counts;
}

/** Number of set pixels in a rectangle, by a summed-area table of [height + 1, width + 1]. */
function maskArea({ width, height, data }: ForegroundMask): AreaMeasure {
  const stride = width + 1;
  const sums = new Float64Array(stride * (height + 1));
  for (let y = 0; y < height; y++) {
    let rowSum = 0;
    for (let x = 0; x < width; x++) {
      rowSum += data[y * width + x] === 0 ? 0 : 1;
      sums[(y + 1) * stride + x + 1] = sums[y * stride + x + 1] + rowSum;
    }
  }
  return (x0, y0, x1, y1) => sums[y1 * stride + x1] - sums[y0 * stride + x1] - sums[y1 * stride + x0] + sums[y0 * stride + x0];
}
