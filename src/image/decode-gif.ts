/**
 * GIF to RGB: the first frame, drawn on white, transparent pixels white. Interlaced and local palettes are handled; later frames are ignored.
 */
import { checkPixels, damaged, type ImageLimits } from "./image-format.ts";
import { type RgbImage, rgbImage } from "./rgb-image.ts";

const IMAGE = 0x2c;
const EXTENSION = 0x21;
const GRAPHIC_CONTROL = 0xf9;

/** First row and step of the four interlace passes. */
const PASSES = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const;

/** Decodes the first frame of a GIF file. Errors: `file-damaged`, `file-too-large`. */
export function decodeGif(bytes: Uint8Array, limits: ImageLimits): RgbImage {
  if (bytes.length < 13) throw damaged("GIF", "a screen descriptor, the file ends before");
  const word = (at: number): number => bytes[at] | (bytes[at + 1] << 8);
  const [width, height] = [word(6), word(8)];
  checkPixels("GIF", width, height, limits);
  const globalColours = bytes[10] & 0x80 ? 2 << (bytes[10] & 7) : 0;
  let palette = bytes.subarray(13, 13 + globalColours * 3);
  let clear = -1;
  let at = 13 + globalColours * 3;
  while (at < bytes.length && bytes[at] === EXTENSION) {
    if (bytes[at + 1] === GRAPHIC_CONTROL && bytes[at + 3] & 1) clear = bytes[at + 6];
    at = skipBlocks(bytes, at + 2);
  }
  if (bytes[at] !== IMAGE || at + 11 > bytes.length) throw damaged("GIF", "an image descriptor, the file ends before");
  const [left, top, columns, rows] = [word(at + 1), word(at + 3), word(at + 5), word(at + 7)];
  const flags = bytes[at + 9];
  at += 10;
  if (flags & 0x80) {
    const colours = 2 << (flags & 7);
    palette = bytes.subarray(at, at + colours * 3);
    at += colours * 3;
  }
  checkPixels("GIF", columns, rows, limits);
  const indices = inflateLzw(bytes, at, columns * rows);
  const image = rgbImage(width, height);
  const order = flags & 0x40 ? PASSES.flatMap(([first, step]) => rowsFrom(first, step, rows)) : rowsFrom(0, 1, rows);
  order.forEach((row, line) => {
    if (top + row >= height) return;
    for (let x = 0; x < columns && left + x < width; x++) {
      const index = indices[line * columns + x];
      if (index === clear) continue;
      if (index * 3 + 3 > palette.length) throw damaged("GIF", `colour indices below ${palette.length / 3}, got ${index}`);
      image.data.set(palette.subarray(index * 3, index * 3 + 3), ((top + row) * width + left + x) * 3);
    }
  });
  return image;
}

function rowsFrom(first: number, step: number, rows: number): number[] {
  const list: number[] = [];
  for (let row = first; row < rows; row += step) list.push(row);
  return list;
}

function skipBlocks(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += bytes[at] + 1;
  return at + 1;
}

/** GIF's LZW: codes least significant bit first, in sub-blocks, deferred clear. */
function inflateLzw(bytes: Uint8Array, start: number, pixels: number): Uint8Array {
  const minimum = bytes[start];
  if (!(minimum >= 1 && minimum <= 8)) throw damaged("GIF", `a code size of 1..8, got ${minimum}`);
  const clearCode = 1 << minimum;
  const prefix = new Uint16Array(4096);
  const suffix = new Uint8Array(4096);
  const length = new Uint16Array(4096);
  for (let i = 0; i < clearCode; i++) {
    suffix[i] = i;
    length[i] = 1;
  }
  const output = new Uint8Array(pixels);
  let filled = 0;
  let [next, size, previous, buffer, bits] = [clearCode + 2, minimum + 1, -1, 0, 0];
  let at = start + 1;
  let blockLeft = 0;
  while (filled < pixels) {
    while (bits < size) {
      if (blockLeft === 0) {
        blockLeft = bytes[at++] ?? 0;
        if (blockLeft === 0) throw damaged("GIF", `${pixels} pixels, got ${filled}`);
      }
      if (at >= bytes.length) throw damaged("GIF", `${pixels} pixels, got ${filled}`);
      buffer |= bytes[at++] << bits;
      blockLeft--;
      bits += 8;
    }
    const code = buffer & ((1 << size) - 1);
    buffer >>>= size;
    bits -= size;
    if (code === clearCode) {
      [next, size, previous] = [clearCode + 2, minimum + 1, -1];
      continue;
    }
    if (code === clearCode + 1) throw damaged("GIF", `${pixels} pixels, got ${filled}`);
    if (code > next || (code === next && previous < 0) || (previous < 0 && code >= clearCode))
      throw damaged("GIF", "a legal code sequence");
    if (previous >= 0 && next < 4096) {
      prefix[next] = previous;
      length[next] = length[previous] + 1;
      let first = code === next ? previous : code;
      while (length[first] > 1) first = prefix[first];
      suffix[next] = suffix[first];
      next++;
      if (next === 1 << size && size < 12) size++;
    }
    const run = length[code];
    for (let entry = code, to = filled + run - 1; to >= filled; to--, entry = prefix[entry]) if (to < pixels) output[to] = suffix[entry];
    filled += run;
    previous = code;
  }
  return output;
}
