/**
 * A picture of text as the pictures of its printed lines, each fitted to one height, for weights that read a line at a time. Lines too
 * long for them are parted in the white between words. Knows ink and size, not letters.
 */
import { fitLine } from "./fit-line.ts";
import { estimateLineHeight, nearlyEmpty } from "./ink.ts";
import { inkBounds } from "./ink-bounds.ts";
import { inkMask, visitMarks } from "./ink-mask.ts";
import { crop, type RgbImage } from "./rgb-image.ts";
import { textLines } from "./text-lines.ts";

/** Longest line in image tokens; a longer strip would be padded for its shape, and training draws none. */
export const MAX_LINE_TOKENS = 48;

export interface LinePicture {
  /** Fitted, as `fitLine` gives it. */
  readonly image: RgbImage;
  /** Whether the printed line goes on in the next picture. */
  readonly continues: boolean;
}

/** The middle of the widest run of columns without ink in the middle half, else the middle. */
function partingColumn(image: RgbImage): number {
  const { width, height, ink } = inkMask(image);
  const columns = new Uint32Array(width);
  for (let y = 0, at = 0; y < height; y++) for (let x = 0; x < width; x++, at++) columns[x] += ink[at];
  const [first, last] = [width >> 2, width - (width >> 2)];
  let best = { middle: width >> 1, width: 0 };
  for (let x = first; x < last; x++) {
    if (columns[x] > 0) continue;
    const left = x;
    while (x < last && columns[x] === 0) x++;
    if (x - left > best.width) best = { middle: (left + x) >> 1, width: x - left };
  }
  return best.middle;
}

function parted(line: RgbImage, linePixels: number, tokenSide: number): LinePicture[] {
  const { image } = fitLine(line, linePixels, tokenSide);
  if (image.width <= MAX_LINE_TOKENS * tokenSide || line.width < 4) return [{ image, continues: false }];
  const at = partingColumn(line);
  const [left, right] = [crop(line, [0, 0, at, line.height]), crop(line, [at, 0, line.width, line.height])].map((half) =>
    parted(half, linePixels, tokenSide),
  );
  return [...left.slice(0, -1), { ...left[left.length - 1], continues: true }, ...right];
}

/** A letter this high against all ink stands on a line of its own height: a figure alone in its cell is no pile of lines. */
const WHOLE_MARK = 0.75;
/** A letter is at least so wide against its height and filled so much; rules and frames are not. */
const LETTER = { shape: 0.12, filling: 0.15 };

function isOneLine(image: RgbImage): boolean {
  const bounds = inkBounds(image);
  if (!bounds) return true;
  let highest = 0;
  visitMarks(inkMask(image), ({ width, height, pixels }) => {
    const isLetter = width >= LETTER.shape * height && pixels >= LETTER.filling * width * height;
    if (isLetter) highest = Math.max(highest, height);
    return true;
  });
  return highest >= WHOLE_MARK * (bounds[3] - bounds[1]);
}

/** The lines of `image`, top to bottom, `linePixels` high; blank ones are left out. At least one picture. Sizes in pixels. */
export function linePictures(image: RgbImage, linePixels: number, tokenSide: number): LinePicture[] {
  const pitch = isOneLine(image) ? undefined : estimateLineHeight(image)?.pitch;
  const bands = pitch === undefined ? [] : textLines(image, pitch);
  const lines = bands
    .map(({ top, bottom }) => (top === 0 && bottom === image.height ? image : crop(image, [0, top, image.width, bottom])))
    .filter((line) => !nearlyEmpty(line));
  return (lines.length > 0 ? lines : [image]).flatMap((line) => parted(line, linePixels, tokenSide));
}
