/**
 * Which pixels of a scan are ink: what stands out from the most common brightness, be it dark on light or light on dark, without the specks
 * a scanner adds. A measure, not a reading: letters, rules and pictures are all ink here.
 */
import type { RgbImage } from "./rgb-image.ts";

/** Ink of a picture: `[height, width]`, 1 where there is ink. */
export interface InkMask {
  readonly width: number;
  readonly height: number;
  readonly ink: Uint8Array;
}

/** Least difference in brightness (0..255) that counts as ink; paper grain and JPEG ringing stay below. */
const LEAST_CONTRAST = 36;
/** Ink begins at this part of the way from background to the strongest ink. */
const INK_THRESHOLD = 0.4;
/** The strongest ink is what so many pixels have at least: more than a speck, no more than a full stop. */
const STRONGEST_PIXELS = 12;
/** A connected mark of at most this many pixels and this extent is a speck. */
const SPECK_PIXELS = 7;
const SPECK_EXTENT = 3;

/** Finds the ink of `image`; specks are left out. */
export function inkMask(image: RgbImage): InkMask {
  const { width, height, data } = image;
  const brightness = new Uint8Array(width * height);
  const histogram = new Uint32Array(256);
  for (let i = 0, from = 0; i < brightness.length; i++, from += 3) {
    const value = (data[from] * 77 + data[from + 1] * 151 + data[from + 2] * 28) >> 8;
    brightness[i] = value;
    histogram[value]++;
  }
  const background = mostCommon(histogram);
  const strongest = strongestContrast(histogram, background);
  const ink = new Uint8Array(width * height);
  if (strongest >= LEAST_CONTRAST) {
    const threshold = Math.max(LEAST_CONTRAST, strongest * INK_THRESHOLD);
    const isInk = Uint8Array.from({ length: 256 }, (_, value) => (Math.abs(value - background) >= threshold ? 1 : 0));
    for (let i = 0; i < ink.length; i++) ink[i] = isInk[brightness[i]];
  }
  const mask = { width, height, ink };
  removeSpecks(mask);
  return mask;
}

/** The most common brightness, neighbours counted in, so that a slightly uneven background wins over one exact level of ink. */
function mostCommon(histogram: Uint32Array): number {
  let best = 0;
  let bestCount = -1;
  for (let value = 0; value < 256; value++) {
    let count = 0;
    for (let near = Math.max(0, value - 4); near <= Math.min(255, value + 4); near++) count += histogram[near];
    if (count < bestCount) continue;
    best = value;
    bestCount = count;
  }
  return best;
}

function strongestContrast(histogram: Uint32Array, background: number): number {
  let count = 0;
  for (let contrast = 255; contrast > 0; contrast--) {
    if (background - contrast >= 0) count += histogram[background - contrast];
    if (background + contrast <= 255) count += histogram[background + contrast];
    if (count >= STRONGEST_PIXELS) return contrast;
  }
  return 0;
}

/** A connected mark of ink (diagonals connect): its pixels and the smallest box that holds it. */
export interface Mark {
  readonly pixels: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Calls `see` for every mark; marks for which it answers false are wiped out of the mask. Stops early when it answers "stop". */
export function visitMarks(mask: InkMask, see: (mark: Mark) => boolean | "stop"): void {
  const { width, height, ink } = mask;
  const seen = new Uint8Array(ink.length);
  const stack: number[] = [];
  for (let start = 0; start < ink.length; start++) {
    if (ink[start] === 0 || seen[start] === 1) continue;
    let [pixels, left, right, top, bottom] = [0, width, 0, height, 0];
    const members: number[] = [];
    seen[start] = 1;
    stack.push(start);
    while (stack.length > 0) {
      const at = stack.pop()!;
      const y = Math.trunc(at / width);
      const x = at - y * width;
      pixels++;
      if (pixels <= SPECK_PIXELS) members.push(at);
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
      const lastX = x + 1 < width ? x + 1 : x;
      const lastY = y + 1 < height ? y + 1 : y;
      for (let ny = y > 0 ? y - 1 : y; ny <= lastY; ny++)
        for (let nx = x > 0 ? x - 1 : x; nx <= lastX; nx++) {
          const next = ny * width + nx;
          if (ink[next] === 0 || seen[next] === 1) continue;
          seen[next] = 1;
          stack.push(next);
        }
    }
    const answer = see({ pixels, left, top, width: right - left + 1, height: bottom - top + 1 });
    if (answer === "stop") return;
    if (!answer) for (const at of members) ink[at] = 0;
  }
}

function removeSpecks(mask: InkMask): void {
  visitMarks(mask, ({ pixels, width, height }) => pixels > SPECK_PIXELS || Math.max(width, height) > SPECK_EXTENT);
}

/** Ink pixels of every row: `[height]`. */
export function rowsOfInk({ width, height, ink }: InkMask): Uint32Array {
  const rows = new Uint32Array(height);
  for (let y = 0, at = 0; y < height; y++) {
    let count = 0;
    for (const end = at + width; at < end; at++) count += ink[at];
    rows[y] = count;
  }
  return rows;
}
