/**
 * The EXIF orientation of photos: reading the number (1..8) out of an EXIF block and turning the picture upright. It is applied once, when a
 * file is decoded, so that nothing later ever sees a turned page. Every other EXIF entry is ignored.
 */
import { mirror, type RgbImage, rotateCounterClockwise, transpose } from "./rgb-image.ts";

/** 1 upright; 2 mirrored; 3 upside down; 4 flipped; 5 transposed; 6 needs a clockwise turn; 7 transversed; 8 needs a counter-clockwise turn. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

const ORIENTATION_TAG = 0x0112;

/** Reads the orientation from a TIFF-structured EXIF block (with or without the leading "Exif\0\0"). Anything unreadable counts as upright. */
export function readExifOrientation(block: Uint8Array): Orientation {
  const hasPrefix = block.length > 6 && block[0] === 0x45 && block[1] === 0x78 && block[2] === 0x69 && block[3] === 0x66;
  const exif = hasPrefix ? block.subarray(6) : block;
  if (exif.length < 14) return 1;
  const view = new DataView(exif.buffer, exif.byteOffset, exif.byteLength);
  const byteOrder = view.getUint16(0);
  if (byteOrder !== 0x4949 && byteOrder !== 0x4d4d) return 1;
  const little = byteOrder === 0x4949;
  const directory = view.getUint32(4, little);
  if (directory + 2 > exif.length) return 1;
  const entries = view.getUint16(directory, little);
  for (let i = 0; i < entries; i++) {
    const at = directory + 2 + i * 12;
    if (at + 12 > exif.length) return 1;
    if (view.getUint16(at, little) === ORIENTATION_TAG) return asOrientation(view.getUint16(at + 8, little));
  }
  return 1;
}

/** 1..8 as it is, anything else upright. */
export function asOrientation(value: number): Orientation {
  return value >= 1 && value <= 8 && Number.isInteger(value) ? (value as Orientation) : 1;
}

/** Turns a stored picture upright. */
export function applyOrientation(image: RgbImage, orientation: Orientation): RgbImage {
  switch (orientation) {
    case 1:
      return image;
    case 2:
      return mirror(image);
    case 3:
      return rotateCounterClockwise(image, 180);
    case 4:
      return mirror(rotateCounterClockwise(image, 180));
    case 5:
      return transpose(image);
    case 6:
      return rotateCounterClockwise(image, 270);
    case 7:
      return rotateCounterClockwise(transpose(image), 180);
    case 8:
      return rotateCounterClockwise(image, 90);
  }
}
