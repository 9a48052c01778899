/**
 * Windows bitmap to RGB: 1, 4 and 8-bit palettes, 16-bit (555 or masks), 24 and 32 bit, top-down or bottom-up. Run-length packed and
 * embedded JPEG/PNG bitmaps are refused. 32-bit alpha counts only where the header declares a mask for it.
 */
import { checkPixels, damaged, type ImageLimits, unsupportedFeature } from "./image-format.ts";
import { onWhite } from "./pixel-conversion.ts";
import type { RgbImage } from "./rgb-image.ts";

const UNCOMPRESSED = 0;
const BIT_FIELDS = 3;
const ALPHA_BIT_FIELDS = 6;

/** Decodes a BMP file. Errors: `file-damaged`, `file-too-large`, `file-unsupported`. */
export function decodeBmp(bytes: Uint8Array, limits: ImageLimits): RgbImage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerSize = view.getUint32(14, true);
  const old = headerSize === 12;
  if (bytes.length < 14 + headerSize) throw damaged("BMP", `a header of ${headerSize} bytes, the file ends before`);
  const width = old ? view.getUint16(18, true) : view.getInt32(18, true);
  const signedHeight = old ? view.getUint16(20, true) : view.getInt32(22, true);
  const height = Math.abs(signedHeight);
  const depth = view.getUint16(old ? 24 : 28, true);
  const compression = old ? UNCOMPRESSED : view.getUint32(30, true);
  checkPixels("BMP", width, height, limits);
  if (compression !== UNCOMPRESSED && compression !== BIT_FIELDS && compression !== ALPHA_BIT_FIELDS)
    throw unsupportedFeature("BMP", `compression ${compression}`);
  if (![1, 4, 8, 16, 24, 32].includes(depth)) throw damaged("BMP", `1, 4, 8, 16, 24 or 32 bits a pixel, got ${depth}`);

  const rowBytes = Math.ceil((width * depth) / 32) * 4;
  const start = view.getUint32(10, true);
  if (start + rowBytes * height > bytes.length)
    throw damaged("BMP", `${rowBytes * height} bytes of pixels from byte ${start}, the file ends before`);
  const writePixel = depth <= 8 ? paletteReader(bytes, view, headerSize, depth) : directReader(view, headerSize, depth, compression);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const row = start + (signedHeight < 0 ? y : height - 1 - y) * rowBytes;
    for (let x = 0; x < width; x++) writePixel(row, x, data, (y * width + x) * 3);
  }
  return { width, height, data };
}

type PixelReader = (row: number, x: number, target: Uint8Array, to: number) => void;

function paletteReader(bytes: Uint8Array, view: DataView, headerSize: number, depth: number): PixelReader {
  const entryBytes = headerSize === 12 ? 3 : 4;
  const declared = headerSize === 12 ? 0 : view.getUint32(46, true);
  const entries = declared === 0 ? 1 << depth : Math.min(declared, 1 << depth);
  const palette = 14 + headerSize;
  const mask = (1 << depth) - 1;
  return (row, x, target, to) => {
    const bit = x * depth;
    const index = (bytes[row + (bit >> 3)] >> (8 - depth - (bit & 7))) & mask;
    if (index >= entries) throw damaged("BMP", `palette indices below ${entries}, got ${index}`);
    const from = palette + index * entryBytes;
    target[to] = bytes[from + 2];
    target[to + 1] = bytes[from + 1];
    target[to + 2] = bytes[from];
  };
}

function directReader(view: DataView, headerSize: number, depth: number, compression: number): PixelReader {
  if (depth === 24)
    return (row, x, target, to) => {
      for (let c = 0; c < 3; c++) target[to + c] = view.getUint8(row + x * 3 + 2 - c);
    };
  const masked = compression !== UNCOMPRESSED;
  const hasAlpha = masked && (headerSize >= 56 || compression === ALPHA_BIT_FIELDS);
  const defaults = depth === 16 ? [0x7c00, 0x03e0, 0x001f, 0] : [0xff0000, 0x00ff00, 0x0000ff, 0];
  const channels = defaults.map((fallback, i) => bitField(masked && (i < 3 || hasAlpha) ? view.getUint32(54 + i * 4, true) : fallback));
  return (row, x, target, to) => {
    const packed = depth === 16 ? view.getUint16(row + x * 2, true) : view.getUint32(row + x * 4, true);
    const alpha = channels[3](packed, 255);
    for (let c = 0; c < 3; c++) target[to + c] = onWhite(channels[c](packed, 0), alpha);
  };
}

/** Reads the bits under `mask` and scales them to 0..255; `absent` where the mask is empty. */
function bitField(mask: number): (packed: number, absent: number) => number {
  if (mask === 0) return (_packed, absent) => absent;
  const shift = 31 - Math.clz32(mask & -mask);
  const largest = mask >>> shift;
  return (packed) => Math.round((((packed & mask) >>> shift) * 255) / largest);
}
