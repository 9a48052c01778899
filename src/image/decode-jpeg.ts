/**
 * JPEG to RGB (ITU-T T.81, baseline, extended and progressive, 8 bit): grey, YCbCr, RGB, CMYK and YCCK, EXIF orientation applied. The bytes
 * are those libjpeg gives, so a photo or scan reaches the model as the reference pipeline would feed it. Arithmetic coding, lossless and
 * 12-bit files are refused; a file that stops early is damage, not a grey remainder.
 */
import { applyOrientation } from "./exif-orientation.ts";
import { checkPixels, damaged, type ImageLimits, unsupportedFeature } from "./image-format.ts";
import { decodeScan, type HuffmanTable, huffmanTable, type ScanComponent, ZIGZAG } from "./jpeg-entropy.ts";
import { type JpegColour, nextMarker, readJpegHeader } from "./jpeg-header.ts";
import { inverseDct, type SamplePlane, upsampleRow } from "./jpeg-samples.ts";
import { cmykToRgb } from "./pixel-conversion.ts";
import type { RgbImage } from "./rgb-image.ts";

/** Decodes a JPEG file. Errors: `file-damaged`, `file-too-large`, `file-unsupported`. */
export function decodeJpeg(bytes: Uint8Array, limits: ImageLimits): RgbImage {
  const header = readJpegHeader(bytes);
  checkPixels("JPEG", header.width, header.height, limits);
  if (header.frameMarker > 0xc2)
    throw unsupportedFeature("JPEG", header.frameMarker >= 0xc9 ? "arithmetic coding" : "lossless or layered coding");
  if (header.precision !== 8) throw unsupportedFeature("JPEG", `${header.precision} bits a sample`);
  if (![1, 3, 4].includes(header.components)) throw unsupportedFeature("JPEG", `${header.components} components`);
  const { width, height, channels, data } = decodeJpegPixels(bytes, header.colour);
  return applyOrientation({ width, height, data: channels === 3 ? data : greyToRgb(data) }, header.orientation);
}

/** Interleaved samples of a JPEG stream. `raw` leaves the components as stored; `grey` gives one channel, the other models three. */
export function decodeJpegPixels(
  bytes: Uint8Array,
  colour: JpegColour | "raw",
): { width: number; height: number; channels: number; data: Uint8Array } {
  const { width, height, planes } = decodePlanes(bytes);
  const rowWidth = Math.max(width, ...planes.map((plane) => plane.width * plane.across));
  const rows = planes.map(() => new Uint8Array(rowWidth));
  const channels = colour === "raw" ? planes.length : colour === "grey" ? 1 : 3;
  const expected = { grey: 1, rgb: 3, ycc: 3, cmyk: 4, ycck: 4, raw: planes.length }[colour];
  if (planes.length !== expected) throw damaged("JPEG", `${expected} components, got ${planes.length}`);
  const data = new Uint8Array(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < planes.length; i++) upsampleRow(planes[i], y, rows[i]);
    const to = y * width * channels;
    if (colour === "ycc") yccRow(rows, width, data, to);
    else if (colour === "ycck" || colour === "cmyk") {
      if (colour === "ycck") yccToRgbInPlace(rows, width);
      // Adobe files store inks inverted; what libjpeg calls YCCK's inks is already the inverse of its RGB.
      const invert = colour === "cmyk" ? 255 : 0;
      for (let x = 0; x < width; x++)
        cmykToRgb(rows[0][x] ^ invert, rows[1][x] ^ invert, rows[2][x] ^ invert, rows[3][x] ^ 255, data, to + x * 3);
    } else for (let x = 0, at = to; x < width; x++) for (let i = 0; i < channels; i++) data[at++] = rows[i][x];
  }
  return { width, height, channels, data };
}

function greyToRgb(grey: Uint8Array): Uint8Array {
  const data = new Uint8Array(grey.length * 3);
  for (let i = 0, to = 0; i < grey.length; i++, to += 3) data[to] = data[to + 1] = data[to + 2] = grey[i];
  return data;
}

/** 16-bit fixed-point tables of the JFIF colour equations, by chroma byte. */
const RED_OF_CR = chromaTable(1.402, true);
const BLUE_OF_CB = chromaTable(1.772, true);
const GREEN_OF_CR = chromaTable(-0.71414, false);
const GREEN_OF_CB = chromaTable(-0.34414, false).map((value) => value + 32768);

function chromaTable(factor: number, shifted: boolean): Int32Array<ArrayBuffer> {
  const fixed = Math.sign(factor) * Math.trunc(Math.abs(factor) * 65536 + 0.5);
  return Int32Array.from({ length: 256 }, (_, i) => (shifted ? (fixed * (i - 128) + 32768) >> 16 : fixed * (i - 128)));
}

function clampByte(value: number): number {
  return value < 0 ? 0 : Math.min(value, 255);
}

function yccRow([luma, cb, cr]: readonly Uint8Array[], width: number, target: Uint8Array, start: number): void {
  for (let x = 0, to = start; x < width; x++, to += 3) {
    const y = luma[x];
    target[to] = clampByte(y + RED_OF_CR[cr[x]]);
    target[to + 1] = clampByte(y + ((GREEN_OF_CB[cb[x]] + GREEN_OF_CR[cr[x]]) >> 16));
    target[to + 2] = clampByte(y + BLUE_OF_CB[cb[x]]);
  }
}

function yccToRgbInPlace(rows: readonly Uint8Array[], width: number): void {
  const [first, second, third] = rows;
  for (let x = 0; x < width; x++) {
    const [y, cb, cr] = [first[x], second[x], third[x]];
    first[x] = clampByte(y + RED_OF_CR[cr]);
    second[x] = clampByte(y + ((GREEN_OF_CB[cb] + GREEN_OF_CR[cr]) >> 16));
    third[x] = clampByte(y + BLUE_OF_CB[cb]);
  }
}

/** A component while its scans are read. */
interface Component extends ScanComponent {
  readonly id: number;
  readonly plane: SamplePlane;
  readonly quantiserId: number;
}

interface Frame {
  width: number;
  height: number;
  progressive: boolean;
  unitsPerRow: number;
  unitRows: number;
  components: Component[];
}

function decodePlanes(bytes: Uint8Array): { width: number; height: number; planes: SamplePlane[] } {
  const quantisers: Uint16Array[] = [];
  const dcTables: HuffmanTable[] = [];
  const acTables: HuffmanTable[] = [];
  let frame: Frame | null = null;
  let restartInterval = 0;
  let at = 2;
  for (;;) {
    const marker = nextMarker(bytes, at);
    if (marker === null) throw damaged("JPEG", "an end-of-image marker, the file ends before");
    at = marker.end;
    if (marker.code === 0xd9) break;
    if ((marker.code >= 0xd0 && marker.code <= 0xd8) || marker.code === 0x01) continue;
    const length = (bytes[at] << 8) | bytes[at + 1];
    if (length < 2 || at + length > bytes.length) throw damaged("JPEG", `a segment of ${length} bytes at byte ${at}, the file ends before`);
    const content = bytes.subarray(at + 2, at + length);
    at += length;
    if (marker.code === 0xdb) readQuantisers(content, quantisers);
    else if (marker.code === 0xc4) readHuffmanTables(content, dcTables, acTables);
    else if (marker.code === 0xdd) restartInterval = (content[0] << 8) | content[1];
    else if (marker.code >= 0xc0 && marker.code <= 0xc2) {
      if (frame !== null) throw damaged("JPEG", "one frame");
      frame = readFrame(content, marker.code === 0xc2, quantisers);
    } else if (marker.code === 0xda) {
      if (frame === null) throw damaged("JPEG", "a frame before the first scan");
      at = readScan(bytes, content, at, frame, dcTables, acTables, restartInterval);
    }
  }
  if (frame === null) throw damaged("JPEG", "a frame");
  for (const component of frame.components) finishProgressive(component, quantisers);
  return { width: frame.width, height: frame.height, planes: frame.components.map((component) => component.plane) };
}

function readQuantisers(content: Uint8Array, quantisers: Uint16Array[]): void {
  for (let at = 0; at < content.length; ) {
    const wide = content[at] >> 4 !== 0;
    const table = new Uint16Array(64);
    const id = content[at++] & 15;
    if (at + (wide ? 128 : 64) > content.length) throw damaged("JPEG", "64 values in a quantisation table");
    for (let k = 0; k < 64; k++, at += wide ? 2 : 1) table[ZIGZAG[k]] = wide ? (content[at] << 8) | content[at + 1] : content[at];
    quantisers[id] = table;
  }
}

function readHuffmanTables(content: Uint8Array, dcTables: HuffmanTable[], acTables: HuffmanTable[]): void {
  for (let at = 0; at + 17 <= content.length; ) {
    const selector = content[at];
    const counts = content.subarray(at + 1, at + 17);
    const symbols = counts.reduce((sum, count) => sum + count, 0);
    if (at + 17 + symbols > content.length) throw damaged("JPEG", `${symbols} symbols in a Huffman table`);
    (selector >> 4 === 0 ? dcTables : acTables)[selector & 15] = huffmanTable(counts, content.subarray(at + 17, at + 17 + symbols));
    at += 17 + symbols;
  }
}

function readFrame(content: Uint8Array, progressive: boolean, quantisers: readonly Uint16Array[]): Frame {
  const height = (content[1] << 8) | content[2];
  const width = (content[3] << 8) | content[4];
  const count = content[5];
  if (content.length < 6 + count * 3 || count < 1 || width < 1 || height < 1) throw damaged("JPEG", "a complete frame header");
  const factors = Array.from({ length: count }, (_, i) => [content[7 + i * 3] >> 4, content[7 + i * 3] & 15] as const);
  if (factors.some(([h, v]) => h < 1 || h > 4 || v < 1 || v > 4)) throw damaged("JPEG", "sampling factors of 1..4");
  const largestH = Math.max(...factors.map(([h]) => h));
  const largestV = Math.max(...factors.map(([, v]) => v));
  const unitsPerRow = Math.ceil(width / (8 * largestH));
  const unitRows = Math.ceil(height / (8 * largestV));
  const components = factors.map(([horizontal, vertical], i): Component => {
    if (largestH % horizontal !== 0 || largestV % vertical !== 0) throw unsupportedFeature("JPEG", "fractional chroma sampling");
    const sampleWidth = Math.ceil((width * horizontal) / largestH);
    const sampleHeight = Math.ceil((height * vertical) / largestV);
    const storedColumns = unitsPerRow * horizontal;
    const storedRows = unitRows * vertical;
    const stride = storedColumns * 8;
    const samples = new Uint8Array(stride * storedRows * 8);
    const quantiserId = content[8 + i * 3];
    const plane = { samples, stride, width: sampleWidth, height: sampleHeight, across: largestH / horizontal, down: largestV / vertical };
    return {
      id: content[6 + i * 3],
      plane,
      quantiserId,
      horizontal,
      vertical,
      blockColumns: Math.ceil(sampleWidth / 8),
      blockRows: Math.ceil(sampleHeight / 8),
      storedColumns,
      coefficients: progressive ? new Int16Array(storedColumns * storedRows * 64) : null,
      finish: (block, row, column) =>
        inverseDct(block, 0, quantiserOf(quantisers, quantiserId), samples, row * 8 * stride + column * 8, stride),
      dcTable: undefined,
      acTable: undefined,
      predictor: 0,
    };
  });
  return { width, height, progressive, unitsPerRow, unitRows, components };
}

function quantiserOf(quantisers: readonly Uint16Array[], id: number): Uint16Array {
  const table = quantisers[id];
  if (table === undefined) throw damaged("JPEG", `quantisation table ${id}`);
  return table;
}

function readScan(
  bytes: Uint8Array,
  content: Uint8Array,
  position: number,
  frame: Frame,
  dcTables: readonly HuffmanTable[],
  acTables: readonly HuffmanTable[],
  restartInterval: number,
): number {
  const count = content[0];
  if (content.length < 4 + count * 2 || count < 1) throw damaged("JPEG", "a complete scan header");
  const components = Array.from({ length: count }, (_, i) => {
    const component = frame.components.find(({ id }) => id === content[1 + i * 2]);
    if (component === undefined) throw damaged("JPEG", `component ${content[1 + i * 2]} of a scan in the frame`);
    component.dcTable = dcTables[content[2 + i * 2] >> 4];
    component.acTable = acTables[content[2 + i * 2] & 15];
    component.predictor = 0;
    return component;
  });
  const [spectralStart, spectralEnd, successive] = content.subarray(1 + count * 2);
  if (frame.progressive && (spectralEnd > 63 || spectralStart > spectralEnd || (spectralStart > 0 && count !== 1)))
    throw damaged("JPEG", "a legal band of coefficients in a scan");
  return decodeScan(bytes, position, {
    components,
    progressive: frame.progressive,
    spectralStart,
    spectralEnd,
    successiveHigh: successive >> 4,
    successiveLow: successive & 15,
    restartInterval,
    unitsPerRow: frame.unitsPerRow,
    unitRows: frame.unitRows,
  });
}

function finishProgressive(component: Component, quantisers: readonly Uint16Array[]): void {
  const { coefficients, plane, storedColumns } = component;
  if (coefficients === null) return;
  const quantiser = quantiserOf(quantisers, component.quantiserId);
  for (let row = 0; row < component.blockRows; row++)
    for (let column = 0; column < component.blockColumns; column++)
      inverseDct(
        coefficients,
        (row * storedColumns + column) * 64,
        quantiser,
        plane.samples,
        row * 8 * plane.stride + column * 8,
        plane.stride,
      );
}
