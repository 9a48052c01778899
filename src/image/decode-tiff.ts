/**
 * TIFF pages to RGB (TIFF 6.0 with the usual later compressions): 1 to 16 bit, bilevel, grey, palette, RGB, CMYK, alpha; strips and tiles,
 * planes together or apart; uncompressed, fax (T.4, T.6), LZW, Deflate, PackBits, JPEG. Floating point, 32-bit samples, CIELab and
 * uncompressed YCbCr are refused. Thumbnail and mask directories are not pages.
 */
import { type FaxCoding, inflateFax } from "./ccitt-fax.ts";
import { decodeJpegPixels } from "./decode-jpeg.ts";
import { applyOrientation, asOrientation } from "./exif-orientation.ts";
import { checkPixels, damaged, type ImageLimits, unsupportedFeature } from "./image-format.ts";
import { inflateUpTo } from "./inflate.ts";
import { cmykToRgb, onWhite, scaleTable, sixteenToEight } from "./pixel-conversion.ts";
import type { RgbImage } from "./rgb-image.ts";
import { inflateTiffLzw, undoPredictor, unpackBits } from "./tiff-compression.ts";
import { readTiff, type TiffDirectory, type TiffFile } from "./tiff-directory.ts";

const WHITE_IS_ZERO = 0;
const BLACK_IS_ZERO = 1;
const RGB = 2;
const PALETTE = 3;
const CMYK = 5;
const YCBCR = 6;

const JPEG = 7;

/** Alpha and a few channels nobody reads; more would only cost memory. */
const MAX_EXTRA_SAMPLES = 4;

const BASE_SAMPLES: Record<number, number> = { [WHITE_IS_ZERO]: 1, [BLACK_IS_ZERO]: 1, [RGB]: 3, [PALETTE]: 1, [CMYK]: 4, [YCBCR]: 3 };

/** The pages of a TIFF file, each decoded when asked for. */
export interface TiffPages {
  readonly pageCount: number;
  /** Decodes one page. Errors: `file-damaged`, `file-too-large`, `file-unsupported`. */
  page(index: number): Promise<RgbImage>;
}

/** Reads the directories. Error: `file-damaged`. */
export function openTiff(bytes: Uint8Array, limits: ImageLimits): TiffPages {
  const tiff = readTiff(bytes);
  const pages = tiff.directories.filter((directory) => (directory.first(254, 0) & 0b101) === 0);
  const directories = pages.length > 0 ? pages : tiff.directories.slice(0, 1);
  return { pageCount: directories.length, page: (index) => decodePage(tiff, directories[index], limits) };
}

/** Everything about a page that its strips share. */
interface Layout {
  width: number;
  height: number;
  depth: number;
  samples: number;
  photometric: number;
  compression: number;
  /** Samples in one strip or tile: all, or one when planes are stored apart. */
  chunkSamples: number;
  chunkWidth: number;
  chunkHeight: number;
  tiled: boolean;
}

async function decodePage(tiff: TiffFile, directory: TiffDirectory, limits: ImageLimits): Promise<RgbImage> {
  const layout = readLayout(directory, limits);
  const { width, height } = layout;
  const across = Math.ceil(width / layout.chunkWidth);
  const down = Math.ceil(height / layout.chunkHeight);
  const planes = layout.samples / layout.chunkSamples;
  const offsets = directory.values(layout.tiled ? 324 : 273) ?? [];
  const lengths = directory.values(layout.tiled ? 325 : 279) ?? [];
  if (offsets.length < across * down * planes) throw damaged("TIFF", `${across * down * planes} strips or tiles, got ${offsets.length}`);

  const samples = new Uint8Array(width * height * layout.samples); // [height, width, samples], 8 bit or palette indices
  for (let i = 0; i < across * down * planes; i++) {
    const plane = Math.trunc(i / (across * down));
    const row = Math.trunc((i % (across * down)) / across) * layout.chunkHeight;
    const column = (i % across) * layout.chunkWidth;
    const rows = layout.tiled ? layout.chunkHeight : Math.min(layout.chunkHeight, height - row);
    const length = lengths[i] || tiff.file.length - offsets[i];
    if (offsets[i] + length > tiff.file.length)
      throw damaged("TIFF", `strip ${i} at bytes ${offsets[i]} to ${offsets[i] + length}, the file has ${tiff.file.length}`);
    const packed = tiff.file.subarray(offsets[i], offsets[i] + length);
    const chunk = await unpackChunk(tiff, directory, layout, packed, rows);
    placeChunk(chunk, layout, samples, { plane, row, column, rows: Math.min(rows, height - row) }, tiff.littleEndian);
  }
  const data = toRgb(samples, layout, directory);
  return applyOrientation({ width, height, data }, asOrientation(directory.first(274, 1)));
}

function readLayout(directory: TiffDirectory, limits: ImageLimits): Layout {
  const [width, height] = [directory.first(256, 0), directory.first(257, 0)];
  checkPixels("TIFF", width, height, limits);
  const samples = directory.first(277, 1);
  const depths = directory.values(258) ?? [1];
  const depth = depths[0];
  const compression = directory.first(259, 1);
  const photometric = directory.first(262, samples >= 3 ? RGB : WHITE_IS_ZERO);
  const base = BASE_SAMPLES[photometric];
  if (base === undefined) throw unsupportedFeature("TIFF", `colour model ${photometric}`);
  if (samples < base || samples > base + MAX_EXTRA_SAMPLES)
    throw damaged("TIFF", `${base} to ${base + MAX_EXTRA_SAMPLES} samples a pixel, got ${samples}`);
  if (![1, 2, 4, 8, 16].includes(depth) || depths.some((other) => other !== depth))
    throw unsupportedFeature("TIFF", `${depths} bits a sample`);
  if (directory.first(339, 1) !== 1 && directory.first(339, 1) !== 4) throw unsupportedFeature("TIFF", "signed or floating-point samples");
  if (photometric === PALETTE && depth === 16) throw unsupportedFeature("TIFF", "a 16-bit palette");
  if (photometric === YCBCR && compression !== JPEG) throw unsupportedFeature("TIFF", "YCbCr without JPEG compression");
  const apart = directory.first(284, 1) === 2 && samples > 1;
  const tiled = directory.values(322) !== undefined;
  const chunkWidth = tiled ? directory.first(322, 0) : width;
  const chunkHeight = tiled ? directory.first(323, 0) : Math.min(height, directory.first(278, height) || height);
  checkPixels("TIFF", chunkWidth, chunkHeight, limits);
  return { width, height, depth, samples, photometric, compression, chunkSamples: apart ? 1 : samples, chunkWidth, chunkHeight, tiled };
}

/** One strip or tile, unpacked to rows padded to whole bytes. Throws `file-damaged` when it holds fewer than `rows` rows. */
async function unpackChunk(
  tiff: TiffFile,
  directory: TiffDirectory,
  layout: Layout,
  packed: Uint8Array,
  rows: number,
): Promise<Uint8Array> {
  const { depth, chunkSamples, chunkWidth, compression } = layout;
  const rowBytes = Math.ceil((chunkWidth * chunkSamples * depth) / 8);
  const wanted = rowBytes * rows;
  const bytes = directory.first(266, 1) === 2 && depth < 8 ? reverseBits(packed) : packed;
  let chunk: Uint8Array;
  switch (compression) {
    case 1:
      chunk = new Uint8Array(bytes.subarray(0, wanted));
      break;
    case 2:
    case 3:
    case 4: {
      if (depth !== 1 || chunkSamples !== 1) throw damaged("TIFF", "one bit a pixel with fax compression");
      const coding: FaxCoding =
        compression === 4 ? "t6" : compression === 2 ? "modified-huffman" : directory.first(292, 0) & 1 ? "t4-2d" : "t4-1d";
      const fax = inflateFax(bytes, coding, chunkWidth, rows);
      chunk = fax.data.subarray(0, fax.rows * rowBytes);
      break;
    }
    case 5:
      chunk = inflateTiffLzw(bytes, wanted);
      break;
    case 8:
    case 32946:
      chunk = (await inflateUpTo([bytes], wanted)).bytes;
      break;
    case 32773:
      chunk = unpackBits(bytes, wanted);
      break;
    case JPEG:
      return unpackJpeg(directory, layout, bytes, rows);
    default:
      throw unsupportedFeature("TIFF", `compression ${compression}`);
  }
  if (chunk.length < wanted) throw damaged("TIFF", `${rows} rows in a strip, got ${Math.trunc(chunk.length / rowBytes)}`);
  if (directory.first(317, 1) === 2 && depth >= 8) undoPredictor(chunk, rowBytes, chunkSamples, depth, tiff.littleEndian);
  return chunk;
}

/** A JPEG strip shares its tables with the others: tables without their end mark, then the strip without its start mark. */
function unpackJpeg(directory: TiffDirectory, layout: Layout, strip: Uint8Array, rows: number): Uint8Array {
  const tables = directory.bytes(347);
  const joined = tables ? new Uint8Array([...tables.subarray(0, -2), ...strip.subarray(2)]) : strip;
  const colour = layout.photometric === YCBCR ? "ycc" : layout.photometric === RGB ? "rgb" : layout.photometric === CMYK ? "raw" : "grey";
  const { width, height, channels, data } = decodeJpegPixels(joined, colour);
  if (channels !== layout.chunkSamples) throw damaged("TIFF", `${layout.chunkSamples} components in a JPEG strip, got ${channels}`);
  if (width < layout.chunkWidth || height < rows)
    throw damaged("TIFF", `a JPEG strip of ${layout.chunkWidth}x${rows}, got ${width}x${height}`);
  if (width === layout.chunkWidth) return data;
  const narrow = new Uint8Array(layout.chunkWidth * rows * channels);
  const rowBytes = layout.chunkWidth * channels;
  for (let y = 0; y < rows; y++) narrow.set(data.subarray(y * width * channels, y * width * channels + rowBytes), y * rowBytes);
  return narrow;
}

function reverseBits(bytes: Uint8Array): Uint8Array {
  return bytes.map((b) => ((((b * 0x0802) & 0x22110) | ((b * 0x8020) & 0x88440)) * 0x10101) >> 16);
}

/** Copies a chunk's samples to their place, brought to 8 bit (palette indices stay as they are). */
function placeChunk(
  chunk: Uint8Array,
  layout: Layout,
  target: Uint8Array,
  place: { plane: number; row: number; column: number; rows: number },
  littleEndian: boolean,
): void {
  const { depth, samples, chunkSamples, chunkWidth, width } = layout;
  const rowBytes = Math.ceil((chunkWidth * chunkSamples * depth) / 8);
  const columns = Math.min(chunkWidth, width - place.column);
  const scale = layout.photometric === PALETTE ? Uint8Array.from({ length: 256 }, (_, i) => i) : scaleTable(Math.min(depth, 8));
  const [high, low] = littleEndian ? [1, 0] : [0, 1];
  const mask = (1 << depth) - 1;
  for (let y = 0; y < place.rows; y++) {
    const from = y * rowBytes;
    const to = ((place.row + y) * width + place.column) * samples + place.plane;
    if (depth === 8 && chunkSamples === samples) {
      target.set(chunk.subarray(from, from + columns * samples), to);
      continue;
    }
    for (let i = 0; i < columns * chunkSamples; i++) {
      const at = to + (chunkSamples === samples ? i : i * samples);
      if (depth === 16) target[at] = sixteenToEight((chunk[from + 2 * i + high] << 8) | chunk[from + 2 * i + low]);
      else {
        const bit = i * depth;
        target[at] = scale[(chunk[from + (bit >> 3)] >> (8 - depth - (bit & 7))) & mask];
      }
    }
  }
}

/** `[height, width, samples]` to RGB on white by the colour model. */
function toRgb(samples: Uint8Array, layout: Layout, directory: TiffDirectory): Uint8Array {
  const { photometric, samples: stride } = layout;
  const pixels = layout.width * layout.height;
  const data = new Uint8Array(pixels * 3);
  if (photometric === PALETTE) {
    const map = directory.values(320) ?? [];
    const colours = 1 << layout.depth;
    if (map.length < colours * 3) throw damaged("TIFF", `a colour map of ${colours * 3} values, got ${map.length}`);
    const table = Uint8Array.from({ length: colours * 3 }, (_, i) => map[(i % 3) * colours + Math.trunc(i / 3)] >> 8);
    for (let i = 0; i < pixels; i++) for (let c = 0; c < 3; c++) data[i * 3 + c] = table[samples[i * stride] * 3 + c];
    return data;
  }
  if (photometric === CMYK) {
    for (let i = 0; i < pixels; i++) {
      const at = i * stride;
      cmykToRgb(samples[at], samples[at + 1], samples[at + 2], samples[at + 3], data, i * 3);
    }
    return data;
  }
  const base = BASE_SAMPLES[photometric];
  const inverted = photometric === WHITE_IS_ZERO ? 255 : 0;
  const [green, blue] = base === 3 ? [1, 2] : [0, 0];
  for (let i = 0, at = 0; i < pixels; i++, at += stride) {
    data[i * 3] = samples[at] ^ inverted;
    data[i * 3 + 1] = samples[at + green] ^ inverted;
    data[i * 3 + 2] = samples[at + blue] ^ inverted;
  }
  const extra = stride > base ? directory.first(338, 0) : 0;
  if (extra === 1 || extra === 2)
    for (let i = 0; i < pixels; i++) {
      const alpha = samples[i * stride + base];
      for (let c = i * 3; c < i * 3 + 3; c++) data[c] = extra === 2 ? onWhite(data[c], alpha) : Math.min(255, data[c] + 255 - alpha);
    }
  return data;
}
