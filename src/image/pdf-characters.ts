/**
 * The text layer of a PDF page, character by character, in the page as it is seen: points, origin at the top left, y downwards, page rotation
 * and crop box applied. Ground truth of synthetic pages comes from here, so nothing is guessed or joined: order and content are the file's.
 */
import type { PdfEngine } from "./pdf-engine.ts";

/** Box in points on the page as seen: `[left, top, right, bottom]`, origin top left. */
export type PointBox = readonly [left: number, top: number, right: number, bottom: number];

/** One character of the text layer. */
export interface PdfCharacter {
  /** The character, one code point (surrogates joined). */
  readonly text: string;
  /** Tight box of the glyph's ink; empty (no width or height) for blanks. */
  readonly box: PointBox;
  /** Box of the font's full height and the glyph's advance, equal in height along a line. */
  readonly cell: PointBox;
  /** Font size in points as drawn, scaling of the text matrix included. */
  readonly fontSize: number;
  /** Direction of writing on the page as seen, in degrees counter-clockwise; 0 is left to right. */
  readonly angle: number;
  /** True for blanks and line breaks PDFium put in where the page has only a gap. */
  readonly generated: boolean;
}

/** How PDF user space lies on the page as seen. */
export interface PageGeometry {
  /** Visible box in user space: left, bottom, right, top. */
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
  /** Clockwise quarter turns of the page, 0..3. */
  readonly quarterTurns: number;
}

/** Rectangle of user space (y upwards) to the page as seen. */
export function toPageBox(geometry: PageGeometry, left: number, bottom: number, right: number, top: number): PointBox {
  switch (geometry.quarterTurns) {
    case 1:
      return [bottom - geometry.bottom, left - geometry.left, top - geometry.bottom, right - geometry.left];
    case 2:
      return [geometry.right - right, bottom - geometry.bottom, geometry.right - left, top - geometry.bottom];
    case 3:
      return [geometry.top - top, geometry.right - right, geometry.top - bottom, geometry.right - left];
    default:
      return [left - geometry.left, geometry.top - top, right - geometry.left, geometry.top - bottom];
  }
}

const NOT_A_CHARACTER = 0xfffe;

/** Reads all characters of a loaded page (PDFium handle). */
export function readCharacters(engine: PdfEngine, page: number, geometry: PageGeometry): PdfCharacter[] {
  const { api } = engine;
  const textPage = api.FPDFText_LoadPage(page);
  if (textPage === 0) return [];
  try {
    return engine.withBytes(72, (scratch) => {
      const [box, cell, matrix] = [scratch, scratch + 32, scratch + 48];
      const characters: PdfCharacter[] = [];
      const views = (): [Float64Array, Float32Array] => {
        const { buffer } = engine.memory();
        return [new Float64Array(buffer, box, 4), new Float32Array(buffer, cell, 10)];
      };
      // left, right, bottom, top of the box; left, top, right, bottom of the cell and the matrix a, b, c, d
      let [doubles, floats] = views();
      const count = api.FPDFText_CountChars(textPage);
      let highSurrogate = 0;
      for (let i = 0; i < count; i++) {
        const unit = api.FPDFText_GetUnicode(textPage, i);
        if (unit >= 0xd800 && unit <= 0xdbff) {
          highSurrogate = unit;
          continue;
        }
        const isLow = unit >= 0xdc00 && unit <= 0xdfff;
        const code = isLow && highSurrogate !== 0 ? 0x10000 + ((highSurrogate - 0xd800) << 10) + (unit - 0xdc00) : unit;
        highSurrogate = 0;
        if (code === 0 || code >= 0x110000 || code === NOT_A_CHARACTER || (code >= 0xd800 && code <= 0xdfff)) continue;
        api.FPDFText_GetCharBox(textPage, i, box, box + 8, box + 16, box + 24);
        api.FPDFText_GetLooseCharBox(textPage, i, cell);
        api.FPDFText_GetMatrix(textPage, i, matrix);
        if (engine.memory().buffer !== doubles.buffer) [doubles, floats] = views();
        const radians = Math.atan2(floats[5], floats[4]);
        characters.push({
          text: String.fromCodePoint(code),
          box: toPageBox(geometry, doubles[0], doubles[2], doubles[1], doubles[3]),
          cell: toPageBox(geometry, floats[0], floats[3], floats[2], floats[1]),
          fontSize: api.FPDFText_GetFontSize(textPage, i) * Math.hypot(floats[6], floats[7]),
          angle: ((((radians * 180) / Math.PI - geometry.quarterTurns * 90) % 360) + 360) % 360,
          generated: api.FPDFText_IsGenerated(textPage, i) === 1,
        });
      }
      return characters;
    });
  } finally {
    api.FPDFText_ClosePage(textPage);
  }
}
