/**
 * Which kind of file some bytes are, by their first bytes and never by a name, and the limits every decoder holds itself to.
 * Knows the formats' signatures and nothing of their insides.
 */
import { MineruError } from "../error.ts";

/** Raster formats this room decodes. */
export type ImageFormat = "png" | "jpeg" | "webp" | "tiff" | "gif" | "bmp";

/** What the first bytes say. `pdf` is not an image but is told apart here too. */
export type FileKind = ImageFormat | "pdf";

/** Human list of everything that can be opened, for messages. */
export const SUPPORTED_FORMATS = "PDF, PNG, JPEG, WebP, TIFF, GIF, BMP";

/** Bounds on what is decoded, checked before memory is taken. */
export interface ImageLimits {
  /** Most pixels one picture may have. */
  readonly maxPixels: number;
}

/** 180 million pixels: an A0 sheet at 300 dpi (139 million) fits, a decompression bomb does not. */
export const DEFAULT_IMAGE_LIMITS: ImageLimits = { maxPixels: 180_000_000 };

/** The PDF header may be preceded by junk; readers look for it in the first kilobyte. */
const PDF_HEADER_REACH = 1024;

const UNREAD_FORMATS: readonly (readonly [name: string, offset: number, signature: string])[] = [
  ["HEIC", 4, "ftyphei"],
  ["HEIF", 4, "ftypmif1"],
  ["AVIF", 4, "ftypavif"],
  ["JPEG 2000", 4, "jP  \r\n"],
  ["JPEG 2000", 0, "\xff\x4f\xff\x51"],
  ["JPEG XL", 4, "JXL "],
  ["PostScript", 0, "%!PS"],
  ["DjVu", 0, "AT&TFORM"],
  ["a ZIP archive or Office document", 0, "PK\x03\x04"],
  ["an old Office document", 0, "\xd0\xcf\x11\xe0"],
  ["BigTIFF", 0, "II\x2b\x00"],
  ["BigTIFF", 0, "MM\x00\x2b"],
];

/** Compares the Latin-1 text at `offset`. */
export function startsWith(bytes: Uint8Array, text: string, offset = 0): boolean {
  if (bytes.length < offset + text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[offset + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** The kind of file, or null when the signature is none of ours. */
export function sniffFile(bytes: Uint8Array): FileKind | null {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return "png";
  if (startsWith(bytes, "\xff\xd8\xff")) return "jpeg";
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) return "webp";
  if (startsWith(bytes, "II\x2a\x00") || startsWith(bytes, "MM\x00\x2a")) return "tiff";
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return "gif";
  if (startsWith(bytes, "BM") && bytes.length >= 6 && readable(bytes)) return "bmp";
  const reach = Math.min(PDF_HEADER_REACH, bytes.length);
  for (let i = 0; i < reach; i++) if (bytes[i] === 0x25 && startsWith(bytes, "%PDF-", i)) return "pdf";
  return null;
}

/** "BM" alone also begins plain text; a real bitmap has zero reserved words and a known header size. */
function readable(bytes: Uint8Array): boolean {
  if (bytes.length < 18) return false;
  const headerSize = bytes[14] | (bytes[15] << 8) | (bytes[16] << 16) | (bytes[17] << 24);
  return bytes[6] === 0 && bytes[7] === 0 && bytes[8] === 0 && bytes[9] === 0 && [12, 40, 52, 56, 64, 108, 124].includes(headerSize);
}

/** The error for bytes `sniffFile` does not know: says what they look like and what can be opened. */
export function unsupportedFile(bytes: Uint8Array): MineruError {
  if (bytes.length === 0)
    return new MineruError("file-damaged", "The file is empty (0 bytes). Check that it was written and copied completely.");
  const known = UNREAD_FORMATS.find(([, offset, signature]) => startsWith(bytes, signature, offset));
  const start = Array.from(bytes.subarray(0, 8), (b) => b.toString(16).padStart(2, "0")).join(" ");
  const found = known ? `The file is ${known[0]}, which is not read` : `The file is of no known format (it begins with ${start})`;
  return new MineruError(
    "file-unsupported",
    `${found}. Supported formats: ${SUPPORTED_FORMATS}. Convert it to one of these, for example PNG or PDF.`,
  );
}

/** The error for a file whose signature is right and whose content is not. */
export function damaged(format: string, expected: string, cause?: unknown): MineruError {
  return new MineruError("file-damaged", `The ${format} file is damaged or incomplete: expected ${expected}. Save or download it again.`, {
    cause,
  });
}

/** The error for a legal file that uses a feature nobody here decodes. */
export function unsupportedFeature(format: string, feature: string): MineruError {
  return new MineruError(
    "file-unsupported",
    `The ${format} file uses ${feature}, which is not read. Save it again as 8-bit PNG or baseline JPEG.`,
  );
}

/** Throws `file-damaged` for a size without pixels and `file-too-large` for one above the limit, before anything is allocated. */
export function checkPixels(format: string, width: number, height: number, limits: ImageLimits): void {
  if (!(width >= 1 && height >= 1)) throw damaged(format, `a size of at least 1x1 pixels, got ${width}x${height}`);
  if (width * height > limits.maxPixels)
    throw new MineruError(
      "file-too-large",
      `The ${format} picture has ${width}x${height} = ${width * height} pixels; the limit is ${limits.maxPixels}. Scale it down, or raise \`maxPixels\`.`,
    );
}
