/**
 * The marker segments of a JPEG file (ITU-T T.81, annex B) before any pixel is decoded: size, kind of compression, colour model, orientation,
 * and whether the file is whole. Decodes no coefficients.
 */
import { type Orientation, readExifOrientation } from "./exif-orientation.ts";
import { damaged, startsWith } from "./image-format.ts";

/** How the components are to be read as colours. */
export type JpegColour = "grey" | "rgb" | "ycc" | "cmyk" | "ycck";

/** What the segments say. */
export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly precision: number;
  readonly components: number;
  /** Start-of-frame marker, 0xc0 (baseline) to 0xcf. */
  readonly frameMarker: number;
  readonly colour: JpegColour;
  readonly orientation: Orientation;
}

/** Reads the segments. Throws `file-damaged` for a file without a frame, or one that ends before its end-of-image marker. */
export function readJpegHeader(bytes: Uint8Array): JpegHeader {
  let frame: { at: number; marker: number } | null = null;
  let orientation: Orientation = 1;
  let adobeTransform = -1;
  let hasJfif = false;
  let at = 2;
  for (;;) {
    const marker = nextMarker(bytes, at);
    if (marker === null) throw damaged("JPEG", "an end-of-image marker, the file ends before");
    at = marker.end;
    if (marker.code === 0xd9) break;
    if (isStandalone(marker.code)) continue;
    if (at + 2 > bytes.length) throw damaged("JPEG", "a complete segment, the file ends inside one");
    const length = (bytes[at] << 8) | bytes[at + 1];
    const content = bytes.subarray(at + 2, at + length);
    if (marker.code === 0xe0 && startsWith(content, "JFIF\0")) hasJfif = true;
    else if (marker.code === 0xe1 && startsWith(content, "Exif\0\0")) orientation = readExifOrientation(content);
    else if (marker.code === 0xee && startsWith(content, "Adobe") && content.length >= 12) adobeTransform = content[11];
    else if (isFrame(marker.code)) frame ??= { at: at + 2, marker: marker.code };
    at += length;
  }
  if (frame === null) throw damaged("JPEG", "a start-of-frame segment");
  const head = bytes.subarray(frame.at, frame.at + 6);
  const components = head[5];
  const ids = Array.from({ length: components }, (_, i) => bytes[frame.at + 6 + i * 3]);
  return {
    precision: head[0],
    height: (head[1] << 8) | head[2],
    width: (head[3] << 8) | head[4],
    components,
    frameMarker: frame.marker,
    colour: colourOf(ids, adobeTransform, hasJfif),
    orientation,
  };
}

/** The guesses every decoder makes, in the order libjpeg makes them. */
function colourOf(ids: number[], adobeTransform: number, hasJfif: boolean): JpegColour {
  if (ids.length === 1) return "grey";
  if (ids.length === 4) return adobeTransform === 2 ? "ycck" : "cmyk";
  if (hasJfif) return "ycc";
  if (adobeTransform >= 0) return adobeTransform === 0 ? "rgb" : "ycc";
  return ids[0] === 0x52 && ids[1] === 0x47 && ids[2] === 0x42 ? "rgb" : "ycc";
}

function isStandalone(code: number): boolean {
  return (code >= 0xd0 && code <= 0xd8) || code === 0x01;
}

function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
}

/** The next real marker at or after `at`, skipping entropy-coded data, stuffed zeros and fill bytes. */
export function nextMarker(bytes: Uint8Array, at: number): { code: number; end: number } | null {
  for (let i = at; i + 1 < bytes.length; i++) {
    if (bytes[i] !== 0xff) continue;
    const code = bytes[i + 1];
    if (code !== 0x00 && code !== 0xff) return { code, end: i + 2 };
  }
  return null;
}
