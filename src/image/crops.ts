/**
 * From a layout box to the picture its text is read from: box to pixels (floor and ceil, never empty), the turn that sets the region
 * upright, and the two size rules of the reference page pipeline (very long strips get white added, very small ones are enlarged).
 * Knows nothing of region types; which regions are read is the document room's business.
 */
import { resizeBicubic } from "./resample.ts";
import { crop, type PixelBox, pasteOnWhite, type QuarterTurn, type RgbImage, rotateCounterClockwise } from "./rgb-image.ts";
import { roundHalfEven } from "./smart-resize.ts";

/** Layout box in thousandths of the page, `[x1, y1, x2, y2]`; the corners may come in any order. */
export type LayoutBox = readonly [x1: number, y1: number, x2: number, y2: number];

/** A region to cut out of a page. */
export interface CropRequest {
  readonly box: LayoutBox;
  /** Counter-clockwise turn that sets the region upright; none when left out or null. */
  readonly angle?: QuarterTurn | null;
}

const MIN_EDGE = 28;
const MAX_ASPECT_RATIO = 50;

/**
 * Pixels of `box` on a page of `width` x `height`: floor of the left and top, ceil of the right and bottom, in double precision as the
 * reference computes them. Throws `RangeError` for coordinates outside 0..1000 and for boxes without area.
 */
export function pixelBoxOf(box: LayoutBox, width: number, height: number): PixelBox {
  if (box.length !== 4 || box.some((c) => !(c >= 0 && c <= 1000)))
    throw new RangeError(`\`box\` expected four numbers in 0..1000, got [${box}]`);
  const [x1, x2] = box[0] <= box[2] ? [box[0], box[2]] : [box[2], box[0]];
  const [y1, y2] = box[1] <= box[3] ? [box[1], box[3]] : [box[3], box[1]];
  if (x1 === x2 || y1 === y2) throw new RangeError(`\`box\` expected an area above zero, got [${box}]`);
  const left = Math.min(width - 1, Math.floor((x1 / 1000) * width));
  const top = Math.min(height - 1, Math.floor((y1 / 1000) * height));
  const right = Math.max(left + 1, Math.min(width, Math.ceil((x2 / 1000) * width)));
  const bottom = Math.max(top + 1, Math.min(height, Math.ceil((y2 / 1000) * height)));
  return [left, top, right, bottom];
}

/** Cuts a region, turns it upright and brings it to a size the model can read. Errors as `pixelBoxOf`. */
export function cropRegion(page: RgbImage, request: CropRequest): RgbImage {
  const region = crop(page, pixelBoxOf(request.box, page.width, page.height));
  return resizeByNeed(rotateCounterClockwise(region, request.angle ?? 0));
}

/**
 * The size rules for anything read whole: an aspect ratio above 50 is padded with white down to 50, content in the middle; a short edge
 * below 28 is enlarged to 28. Pictures that need neither come back as they are.
 */
export function resizeByNeed(image: RgbImage): RgbImage {
  const padded = padLongStrip(image);
  const shortEdge = Math.min(padded.width, padded.height);
  if (shortEdge >= MIN_EDGE) return padded;
  const scale = MIN_EDGE / shortEdge;
  return resizeBicubic(padded, roundHalfEven(padded.width * scale), roundHalfEven(padded.height * scale));
}

function padLongStrip(image: RgbImage): RgbImage {
  const { width, height } = image;
  if (Math.max(width, height) <= MAX_ASPECT_RATIO * Math.min(width, height)) return image;
  if (width > height) {
    const newHeight = Math.ceil(width / MAX_ASPECT_RATIO);
    return pasteOnWhite(image, width, newHeight, 0, Math.trunc((newHeight - height) / 2));
  }
  const newWidth = Math.ceil(height / MAX_ASPECT_RATIO);
  return pasteOnWhite(image, newWidth, height, Math.trunc((newWidth - width) / 2), 0);
}
