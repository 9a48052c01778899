/**
 * The marks of a page sorted by what they can be: letters, rules, pictures, dirt at the edge of a scan. Judged by size, shape and filling
 * alone, against the height that letters mostly have. Refuses to know lines and columns.
 */
import { type InkMask, visitMarks } from "../ink-mask.ts";
import type { PixelBox } from "../rgb-image.ts";

/** A mark, or several taken together: edges in pixels, right and bottom exclusive. */
export interface Extent {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A mark with the number of its pixels that are ink. */
export interface Letter extends Extent {
  readonly pixels: number;
}

export interface PageMarks {
  /** Height that letters mostly have, in pixels: between x-height and capitals. 0 on a page without letters. */
  readonly letterHeight: number;
  readonly letters: readonly Letter[];
  /** Dots, commas, accents: too small to begin a line. */
  readonly dots: readonly Extent[];
  readonly pictures: readonly Extent[];
  /** Straight lines, level or upright, and frames. */
  readonly rules: readonly Extent[];
}

export const heightOf = (extent: Extent): number => extent.bottom - extent.top;
export const widthOf = (extent: Extent): number => extent.right - extent.left;
export const boxOf = ({ left, top, right, bottom }: Extent): PixelBox => [left, top, right, bottom];

/** How far two extents overlap across and down, in pixels; negative where there is a gap between them. */
export const overlapAcross = (a: Extent, b: Extent): number => Math.min(a.right, b.right) - Math.max(a.left, b.left);
export const overlapDown = (a: Extent, b: Extent): number => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);

/** The smallest extent that holds all of `parts`, of which there is at least one. */
export function around(parts: readonly Extent[]): Extent {
  let { left, top, right, bottom } = parts[0];
  for (const part of parts) {
    left = Math.min(left, part.left);
    top = Math.min(top, part.top);
    right = Math.max(right, part.right);
    bottom = Math.max(bottom, part.bottom);
  }
  return { left, top, right, bottom };
}

/** The value that `share` of `values` lie below; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Letters are at least so high, in pixels, and at most this part of the page. */
const LEAST_LETTER = 5;
const MOST_LETTER = 1 / 12;
/** In letter heights: dots are lower and narrower, pictures higher than letters of a heading, rules thinner. */
const DOT = 0.5;
const PICTURE = 6;
const RULE = 0.4;
/** A rule is so many times longer than thick, and longer than a dash, in letter heights. */
const RULE_SHAPE = 10;
const RULE_LENGTH = 4;
/** A large mark with less ink than this in its box is a frame or a grid. */
const FRAME_FILLING = 0.12;

/** The height below which half of the ink of letter-like marks lies. */
function usualHeight(marks: readonly Letter[], page: InkMask): number {
  const most = Math.max(page.height, page.width) * MOST_LETTER;
  const like = marks.filter((mark) => heightOf(mark) >= LEAST_LETTER && heightOf(mark) <= most && widthOf(mark) < 4 * heightOf(mark));
  like.sort((a, b) => heightOf(a) - heightOf(b));
  const half = like.reduce((sum, { pixels }) => sum + pixels, 0) / 2;
  let sum = 0;
  for (const mark of like) {
    sum += mark.pixels;
    if (sum >= half) return heightOf(mark);
  }
  return 0;
}

/** Pictures that touch or nearly touch are one. */
function joinedPictures(pictures: readonly Extent[], reach: number): Extent[] {
  const joined: Extent[] = [];
  for (const picture of pictures) {
    let whole = picture;
    for (let i = 0; i < joined.length; ) {
      if (overlapAcross(whole, joined[i]) < -reach || overlapDown(whole, joined[i]) < -reach) i++;
      else {
        whole = around([whole, joined[i]]);
        joined.splice(i, 1);
        i = 0;
      }
    }
    joined.push(whole);
  }
  return joined;
}

/** Share of `inner`'s area that lies in `outer`. */
function shareWithin(inner: Extent, outer: Extent): number {
  const shared = Math.max(0, overlapAcross(inner, outer)) * Math.max(0, overlapDown(inner, outer));
  return shared / (widthOf(inner) * heightOf(inner));
}

/** Finds and sorts the marks of a page. Marks within a picture are part of it. */
export function pageMarks(page: InkMask): PageMarks {
  const marks: Letter[] = [];
  visitMarks(page, ({ pixels, left, top, width, height }) => {
    marks.push({ pixels, left, top, right: left + width, bottom: top + height });
    return true;
  });
  const letterHeight = usualHeight(marks, page);
  const found = { letters: [] as Letter[], dots: [] as Extent[], pictures: [] as Extent[], rules: [] as Extent[] };
  if (letterHeight === 0) return { letterHeight, ...found };
  for (const mark of marks) {
    const [width, height] = [widthOf(mark), heightOf(mark)];
    const [long, thin] = [Math.max(width, height), Math.min(width, height)];
    const atEdge = mark.left <= 1 || mark.top <= 1 || mark.right >= page.width - 1 || mark.bottom >= page.height - 1;
    if (thin <= Math.max(3, RULE * letterHeight) && long > RULE_LENGTH * letterHeight && long > RULE_SHAPE * thin) {
      if (!atEdge) found.rules.push(mark);
    } else if (long > PICTURE * letterHeight && thin > RULE * letterHeight) {
      const covers = width > 0.9 * page.width && height > 0.9 * page.height;
      if (mark.pixels < FRAME_FILLING * width * height || covers) found.rules.push(mark);
      else if (!atEdge || thin > PICTURE * letterHeight) found.pictures.push(mark);
    } else if (height < DOT * letterHeight) found.dots.push(mark);
    else found.letters.push(mark);
  }
  const pictures = joinedPictures(found.pictures, letterHeight);
  const free = (mark: Extent): boolean => !pictures.some((picture) => shareWithin(mark, picture) > 0.6);
  return { letterHeight, letters: found.letters.filter(free), dots: found.dots.filter(free), pictures, rules: found.rules.filter(free) };
}
