/**
 * At which resolution a page is read: very small print is rendered larger, an enormous picture made smaller as far as its print allows.
 * Judged by the height of letters in the middle of the page. Refuses to render.
 */
import { inkMask } from "../image/ink-mask.ts";
import { resizeBicubic } from "../image/resample.ts";
import { crop, type RgbImage } from "../image/rgb-image.ts";
import { pageMarks } from "../image/white-space/marks.ts";

/** Letters lower than this, in pixels, are read at a higher resolution, so that they become this high… */
const SMALL = 9;
const READABLE = 14;
/** …but at no more than this many times the usual one. */
const MOST_LARGER = 2;
/** A picture of more pixels than this is made smaller, to this many, unless its letters would then be lower than readable. */
const ENORMOUS = 36_000_000;
/** Pixels of the band that is looked at. */
const BAND = 4_000_000;

/** Height that letters mostly have in the middle of the page, in pixels; 0 where there are none. */
export function printHeight(page: RgbImage): number {
  const height = Math.max(1, Math.min(page.height, Math.floor(BAND / page.width)));
  const width = Math.min(page.width, BAND);
  const [left, top] = [(page.width - width) >> 1, (page.height - height) >> 1];
  return pageMarks(inkMask(crop(page, [left, top, left + width, top + height]))).letterHeight;
}

/** How many times larger a page should be rendered for its print to be read: 1 if it is fine as it is. */
export function neededScale(page: RgbImage): number {
  const height = printHeight(page);
  return height === 0 || height >= SMALL ? 1 : Math.min(MOST_LARGER, READABLE / height);
}

/** `page`, made smaller if it has more than `mostPixels`. */
export function withoutExcess(page: RgbImage, mostPixels = ENORMOUS): RgbImage {
  const pixels = page.width * page.height;
  if (pixels <= mostPixels) return page;
  const height = printHeight(page);
  const scale = Math.max(Math.sqrt(mostPixels / pixels), height === 0 ? 0 : READABLE / height);
  return scale >= 1 ? page : resizeBicubic(page, Math.max(1, Math.round(page.width * scale)), Math.max(1, Math.round(page.height * scale)));
}
