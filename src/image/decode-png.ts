/**
 * PNG to RGB (PNG specification, third edition): every colour type and depth, both interlace methods, transparency on white, `eXIf`
 * orientation. Inflation is the platform's and bounded by the size in the header. Animated PNG gives its default picture; colour profiles
 * and gamma are ignored, as the reference pipeline does.
 */
import { applyOrientation, type Orientation, readExifOrientation } from "./exif-orientation.ts";
import { checkPixels, damaged, type ImageLimits } from "./image-format.ts";
import { inflateUpTo } from "./inflate.ts";
import { onWhite, scaleTable, sixteenToEight } from "./pixel-conversion.ts";
import { crc32 } from "./png-crc.ts";
import type { RgbImage } from "./rgb-image.ts";

const GREY = 0;
const COLOUR = 2;
const PALETTE = 3;
const GREY_ALPHA = 4;
const COLOUR_ALPHA = 6;

const CHANNELS: Record<number, number> = { [GREY]: 1, [COLOUR]: 3, [PALETTE]: 1, [GREY_ALPHA]: 2, [COLOUR_ALPHA]: 4 };
const DEPTHS: Record<number, readonly number[]> = {
  [GREY]: [1, 2, 4, 8, 16],
  [COLOUR]: [8, 16],
  [PALETTE]: [1, 2, 4, 8],
  [GREY_ALPHA]: [8, 16],
  [COLOUR_ALPHA]: [8, 16],
};

/** The seven passes of Adam7: first column and row, column and row step. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

interface Header {
  width: number;
  height: number;
  depth: number;
  colourType: number;
  interlaced: boolean;
}

interface Chunks {
  header: Header;
  data: Uint8Array[];
  palette: Uint8Array;
  transparency: Uint8Array | null;
  orientation: Orientation;
}

/** Decodes a PNG file. Errors: `file-damaged`, `file-too-large`. */
export async function decodePng(bytes: Uint8Array, limits: ImageLimits): Promise<RgbImage> {
  const chunks = readChunks(bytes, limits);
  const { header } = chunks;
  const { width, height } = header;
  const bitsPerPixel = CHANNELS[header.colourType] * header.depth;
  const passes = (header.interlaced ? ADAM7 : ([[0, 0, 1, 1]] as const))
    .map(([x, y, stepX, stepY]) => ({ x, y, stepX, stepY, columns: Math.ceil((width - x) / stepX), rows: Math.ceil((height - y) / stepY) }))
    .filter((pass) => pass.columns > 0 && pass.rows > 0)
    .map((pass) => ({ ...pass, rowBytes: Math.ceil((pass.columns * bitsPerPixel) / 8) }));
  const wanted = passes.reduce((sum, pass) => sum + pass.rows * (pass.rowBytes + 1), 0);
  const { bytes: raw, failure } = await inflateUpTo(chunks.data, wanted);
  if (raw.length < wanted) throw damaged("PNG", `${wanted} bytes of pixel data, got ${raw.length}`, failure);

  const data = new Uint8Array(width * height * 3);
  const writeRow = rowWriter(chunks, data);
  const distance = Math.max(1, bitsPerPixel >> 3);
  let at = 0;
  for (const pass of passes) {
    let above: Uint8Array = new Uint8Array(pass.rowBytes);
    for (let row = 0; row < pass.rows; row++) {
      const line = raw.subarray(at + 1, at + 1 + pass.rowBytes);
      unfilter(raw[at], line, above, distance);
      at += pass.rowBytes + 1;
      writeRow(line, pass.columns, ((pass.y + row * pass.stepY) * width + pass.x) * 3, pass.stepX * 3);
      above = line;
    }
  }
  return applyOrientation({ width, height, data }, chunks.orientation);
}

function readChunks(bytes: Uint8Array, limits: ImageLimits): Chunks {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | null = null;
  const result: Omit<Chunks, "header"> = { data: [], palette: new Uint8Array(0), transparency: null, orientation: 1 };
  for (let at = 8; at + 8 <= bytes.length; ) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const content = bytes.subarray(at + 8, at + 8 + length);
    const complete = at + 12 + length <= bytes.length;
    const critical = type.charCodeAt(0) < 0x60;
    if (complete && critical && crc32(bytes.subarray(at + 4, at + 8 + length)) !== view.getUint32(at + 8 + length))
      throw damaged("PNG", `chunk ${type} at byte ${at} to match its checksum`);
    if (!complete && type !== "IDAT") throw damaged("PNG", `chunk ${type} at byte ${at} to have ${length} bytes, the file ends before`);
    if (header === null && type !== "IHDR") throw damaged("PNG", `chunk IHDR first, got ${type}`);
    if (type === "IHDR") header = readHeader(content, limits);
    else if (type === "IDAT") result.data.push(content);
    else if (type === "PLTE") result.palette = content;
    else if (type === "tRNS") result.transparency = content;
    else if (type === "eXIf") result.orientation = readExifOrientation(content);
    else if (type === "IEND") break;
    at += 12 + length;
  }
  if (header === null) throw damaged("PNG", "a header chunk IHDR, the file ends before");
  if (header.colourType === PALETTE && result.palette.length < 3) throw damaged("PNG", "a palette chunk PLTE");
  return { header, ...result };
}

function readHeader(content: Uint8Array, limits: ImageLimits): Header {
  if (content.length !== 13) throw damaged("PNG", `13 bytes in chunk IHDR, got ${content.length}`);
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const [depth, colourType, compression, filter, interlace] = content.subarray(8);
  if (!DEPTHS[colourType]?.includes(depth))
    throw damaged("PNG", `a legal colour type and depth, got type ${colourType} with ${depth} bits`);
  if (compression !== 0 || filter !== 0 || interlace > 1)
    throw damaged("PNG", `compression 0, filter 0, interlace 0 or 1, got ${compression}, ${filter}, ${interlace}`);
  checkPixels("PNG", width, height, limits);
  return { width, height, depth, colourType, interlaced: interlace === 1 };
}

/** Undoes the row filter in place; `distance` is the bytes of one pixel. */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array, distance: number): void {
  const n = line.length;
  switch (filter) {
    case 0:
      return;
    case 1:
      for (let i = distance; i < n; i++) line[i] += line[i - distance];
      return;
    case 2:
      for (let i = 0; i < n; i++) line[i] += above[i];
      return;
    case 3:
      for (let i = 0; i < n; i++) line[i] += ((i < distance ? 0 : line[i - distance]) + above[i]) >> 1;
      return;
    case 4:
      for (let i = 0; i < Math.min(distance, n); i++) line[i] += above[i];
      for (let i = distance; i < n; i++) {
        const left = line[i - distance];
        const up = above[i];
        const corner = above[i - distance];
        const towardLeft = Math.abs(up - corner);
        const towardUp = Math.abs(left - corner);
        const towardCorner = Math.abs(left + up - corner - corner);
        line[i] += towardLeft <= towardUp && towardLeft <= towardCorner ? left : towardUp <= towardCorner ? up : corner;
      }
      return;
    default:
      throw damaged("PNG", `a row filter of 0..4, got ${filter}`);
  }
}

type RowWriter = (line: Uint8Array, columns: number, to: number, step: number) => void;

/** How one unfiltered row is written into the RGB target: `to` is the first byte, `step` the bytes from pixel to pixel. */
function rowWriter({ header, palette, transparency }: Chunks, data: Uint8Array): RowWriter {
  const { depth, colourType } = header;
  const wide = depth === 16;
  const sample = wide
    ? (line: Uint8Array, i: number) => sixteenToEight((line[2 * i] << 8) | line[2 * i + 1])
    : (line: Uint8Array, i: number) => line[i];
  if (colourType === PALETTE) return tableWriter(depth, paletteTable(palette, transparency), data, true);
  if (colourType === GREY && !wide) {
    const clear = transparency && transparency.length >= 2 ? (transparency[0] << 8) | transparency[1] : -1;
    const grey = scaleTable(depth).map((value, i) => (i === clear ? 255 : value));
    return tableWriter(
      depth,
      Uint8Array.from({ length: grey.length * 3 }, (_, i) => grey[Math.trunc(i / 3)]),
      data,
      false,
    );
  }
  if (colourType === COLOUR_ALPHA || colourType === GREY_ALPHA) {
    const colours = colourType === COLOUR_ALPHA ? 3 : 1;
    return (line, columns, to, step) => {
      for (let x = 0, i = 0; x < columns; x++, i += colours + 1, to += step) {
        const alpha = sample(line, i + colours);
        for (let c = 0; c < 3; c++) data[to + c] = onWhite(sample(line, i + (colours === 3 ? c : 0)), alpha);
      }
    };
  }
  const colours = colourType === COLOUR ? 3 : 1;
  const key = transparency && transparency.length >= colours * 2 ? transparency : null;
  const isClear = (line: Uint8Array, i: number): boolean => {
    if (key === null) return false;
    for (let c = 0; c < colours; c++) {
      const low = key[2 * c + 1];
      if (wide ? line[2 * (i + c)] !== key[2 * c] || line[2 * (i + c) + 1] !== low : line[i + c] !== low || key[2 * c] !== 0) return false;
    }
    return true;
  };
  if (colours === 3 && !wide && key === null)
    return (line, columns, to, step) => {
      if (step === 3) return data.set(line, to);
      for (let x = 0, i = 0; x < columns; x++, i += 3, to += step) {
        data[to] = line[i];
        data[to + 1] = line[i + 1];
        data[to + 2] = line[i + 2];
      }
    };
  return (line, columns, to, step) => {
    for (let x = 0, i = 0; x < columns; x++, i += colours, to += step) {
      const clear = isClear(line, i);
      for (let c = 0; c < 3; c++) data[to + c] = clear ? 255 : sample(line, i + (colours === 3 ? c : 0));
    }
  };
}

function paletteTable(palette: Uint8Array, transparency: Uint8Array | null): Uint8Array {
  const colours = Math.trunc(palette.length / 3);
  const table = new Uint8Array(colours * 3);
  for (let i = 0; i < table.length; i++) table[i] = onWhite(palette[i], transparency?.[Math.trunc(i / 3)] ?? 255);
  return table;
}

/** Rows of 1, 2, 4 or 8-bit indices into `table` (`[entries, 3]`). An index beyond the table is damage in a palette picture. */
function tableWriter(depth: number, table: Uint8Array, data: Uint8Array, checked: boolean): RowWriter {
  const mask = (1 << depth) - 1;
  return (line, columns, to, step) => {
    for (let x = 0; x < columns; x++, to += step) {
      const bit = x * depth;
      const index = ((line[bit >> 3] >> (8 - depth - (bit & 7))) & mask) * 3;
      if (checked && index >= table.length) throw damaged("PNG", `palette indices below ${table.length / 3}, got ${index / 3}`);
      data[to] = table[index];
      data[to + 1] = table[index + 1];
      data[to + 2] = table[index + 2];
    }
  };
}
