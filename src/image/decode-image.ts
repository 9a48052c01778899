/**
 * Any supported picture file to RGB: the format is read from the first bytes, the size is bounded before memory is taken, transparency is
 * laid on white, EXIF orientation is applied once, here, and nowhere later. TIFF files may hold several pages; they are decoded one by one
 * when asked for. PDF files are another door (`pdf.ts`).
 */
import { MineruError } from "../error.ts";
import { decodeBmp } from "./decode-bmp.ts";
import { decodeGif } from "./decode-gif.ts";
import { decodeJpeg } from "./decode-jpeg.ts";
import { decodePng } from "./decode-png.ts";
import { openTiff } from "./decode-tiff.ts";
import { decodeWebp } from "./decode-webp.ts";
import { DEFAULT_IMAGE_LIMITS, damaged, type ImageFormat, type ImageLimits, sniffFile, unsupportedFile } from "./image-format.ts";
import type { RgbImage } from "./rgb-image.ts";

/** An opened picture file. */
export interface ImageFile {
  readonly format: ImageFormat;
  readonly pageCount: number;
  /** Decodes page `index` (from 0). Throws `RangeError` beyond `pageCount`, `MineruError` as `decodeImage`. */
  page(index: number): Promise<RgbImage>;
}

/**
 * Recognises `file` and counts pages; pixels are decoded by `page`. Errors: `file-unsupported` (listing what is supported), `file-damaged`,
 * `file-too-large`.
 */
export function openImage(file: Uint8Array, limits: Partial<ImageLimits> = {}): ImageFile {
  const bounds = { ...DEFAULT_IMAGE_LIMITS, ...limits };
  const bytes = new Uint8Array(file.buffer, file.byteOffset, file.byteLength); // a Node Buffer's `slice` would share memory
  const format = sniffFile(bytes);
  if (format === null) throw unsupportedFile(bytes);
  if (format === "pdf")
    throw new MineruError("file-unsupported", "A PDF was given where a picture was expected. Open it as a PDF document instead.");
  const pages = format === "tiff" ? guarded(format, () => openTiff(bytes, bounds)) : null;
  const pageCount = pages?.pageCount ?? 1;
  return {
    format,
    pageCount,
    page: async (index) => {
      if (!Number.isInteger(index) || index < 0 || index >= pageCount)
        throw new RangeError(`\`index\` expected a page from 0 to ${pageCount - 1}, got ${index}`);
      try {
        return await (pages?.page(index) ?? decodeSingle(format, bytes, bounds));
      } catch (error) {
        throw asDamage(format, error);
      }
    },
  };
}

/** Decodes the first (usually only) page of a picture file. */
export async function decodeImage(bytes: Uint8Array, limits: Partial<ImageLimits> = {}): Promise<RgbImage> {
  return openImage(bytes, limits).page(0);
}

/** Decodes all pages, one at a time. */
export async function* decodeImagePages(bytes: Uint8Array, limits: Partial<ImageLimits> = {}): AsyncGenerator<RgbImage> {
  const file = openImage(bytes, limits);
  for (let index = 0; index < file.pageCount; index++) yield await file.page(index);
}

async function decodeSingle(format: ImageFormat, bytes: Uint8Array, limits: ImageLimits): Promise<RgbImage> {
  switch (format) {
    case "png":
      return decodePng(bytes, limits);
    case "jpeg":
      return decodeJpeg(bytes, limits);
    case "webp":
      return decodeWebp(bytes, limits);
    case "gif":
      return decodeGif(bytes, limits);
    case "bmp":
      return decodeBmp(bytes, limits);
    case "tiff":
      return openTiff(bytes, limits).page(0);
  }
}

function guarded<T>(format: ImageFormat, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw asDamage(format, error);
  }
}

/** A decoder reading past the end of a broken file throws `RangeError`; to the caller that is damage like any other. */
function asDamage(format: ImageFormat, error: unknown): unknown {
  return error instanceof RangeError ? damaged(format.toUpperCase(), "offsets and sizes inside the file", error) : error;
}
