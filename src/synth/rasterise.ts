/**
 * Pixels and glyphs of a typeset PDF, through PDFium: the very path a user's PDF takes. For each page it gives the
 * raster and, for each printed character, its Unicode and its box in pixels. It refuses to know what the page
 * was meant to say; `alignGlyphs` (align.ts) checks that.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";

/** Colour image, 3 bytes per pixel, rows top to bottom, no padding. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** [height, width, 3] */
  readonly data: Uint8Array;
}

/** One printed character; the box is tight around its ink, in pixels of the page raster, y downwards. */
export interface Glyph {
  readonly char: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** y of the baseline. */
  readonly baseline: number;
  /** Font size in pixels. */
  readonly size: number;
}

export interface RasterPage {
  readonly image: RgbImage;
  /** In the order of the PDF's content, white space left out. */
  readonly glyphs: readonly Glyph[];
}

export interface RasterDocument {
  readonly pageCount: number;
  /** Renders page `index` at `scale` pixels per point. */
  page(index: number, scale: number): RasterPage;
  close(): void;
}

export interface Rasteriser {
  open(pdf: Uint8Array): RasterDocument;
}

const FORMAT_BGR = 2;
const REVERSE_BYTE_ORDER = 0x10;

export async function openRasteriser(): Promise<Rasteriser> {
  const file = await readFile(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"));
  const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer;
  const pdfium = await init({ wasmBinary });
  pdfium.PDFiumExt_Init();
  const heap = pdfium.pdfium as unknown as {
    HEAPU8: Uint8Array;
    HEAPF32: Float32Array;
    HEAPF64: Float64Array;
    wasmExports: { malloc(size: number): number; free(at: number): void };
  };
  const scratch = heap.wasmExports.malloc(64);

  const readGlyphs = (textPage: number, pageHeightPt: number, scaleX: number, scaleY: number): Glyph[] => {
    const glyphs: Glyph[] = [];
    const count = pdfium.FPDFText_CountChars(textPage);
    for (let i = 0; i < count; i++) {
      if (pdfium.FPDFText_IsGenerated(textPage, i) === 1) continue;
      const unit = pdfium.FPDFText_GetUnicode(textPage, i);
      // A letter beyond 16 bits (those of mathematics) is reported half by half, both with its box.
      const code = isHighSurrogate(unit) && i + 1 < count ? codePoint(unit, pdfium.FPDFText_GetUnicode(textPage, ++i)) : unit;
      // PDFium reports a hyphen that ends a line as the control code 2.
      const char = pdfium.FPDFText_IsHyphen(textPage, i) === 1 || code === 2 ? "-" : String.fromCodePoint(code);
      if (code !== 2 && (code <= 32 || code === 0xa0 || code === 0xfffe || char.trim() === "")) continue;
      pdfium.FPDFText_GetCharBox(textPage, i, scratch, scratch + 8, scratch + 16, scratch + 24);
      pdfium.FPDFText_GetCharOrigin(textPage, i, scratch + 32, scratch + 40);
      const at = scratch >> 3; // left, right, bottom, top, origin x, origin y; points, y upwards
      glyphs.push({
        char,
        left: heap.HEAPF64[at] * scaleX,
        right: heap.HEAPF64[at + 1] * scaleX,
        bottom: (pageHeightPt - heap.HEAPF64[at + 2]) * scaleY,
        top: (pageHeightPt - heap.HEAPF64[at + 3]) * scaleY,
        baseline: (pageHeightPt - heap.HEAPF64[at + 5]) * scaleY,
        size: pdfium.FPDFText_GetFontSize(textPage, i) * scaleY,
      });
    }
    return splitLigatures(glyphs);
  };

  return {
    open(pdf) {
      const at = heap.wasmExports.malloc(pdf.length);
      heap.HEAPU8.set(pdf, at);
      const document = pdfium.FPDF_LoadMemDocument(at, pdf.length, "");
      if (!document) {
        heap.wasmExports.free(at);
        throw new Error("internal: PDFium refused a typeset PDF");
      }
      return {
        pageCount: pdfium.FPDF_GetPageCount(document),
        page(index, scale) {
          const page = pdfium.FPDF_LoadPage(document, index);
          const widthPt = pdfium.FPDF_GetPageWidthF(page);
          const heightPt = pdfium.FPDF_GetPageHeightF(page);
          const width = Math.max(1, Math.round(widthPt * scale));
          const height = Math.max(1, Math.round(heightPt * scale));
          const image = renderPage(pdfium, heap, page, width, height);
          const textPage = pdfium.FPDFText_LoadPage(page);
          // Edges are rounded to whole pixels, so the two axes are not scaled quite alike.
          const glyphs = readGlyphs(textPage, heightPt, width / widthPt, height / heightPt);
          pdfium.FPDFText_ClosePage(textPage);
          pdfium.FPDF_ClosePage(page);
          return { image, glyphs };
        },
        close() {
          pdfium.FPDF_CloseDocument(document);
          heap.wasmExports.free(at);
        },
      };
    },
  };
}

function renderPage(pdfium: WrappedPdfiumModule, heap: { HEAPU8: Uint8Array }, page: number, width: number, height: number): RgbImage {
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, FORMAT_BGR, 0, 0);
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
  pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, REVERSE_BYTE_ORDER);
  const buffer = pdfium.FPDFBitmap_GetBuffer(bitmap);
  const stride = pdfium.FPDFBitmap_GetStride(bitmap);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const row = buffer + y * stride;
    data.set(heap.HEAPU8.subarray(row, row + width * 3), y * width * 3);
  }
  pdfium.FPDFBitmap_Destroy(bitmap);
  return { width, height, data };
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

const codePoint = (high: number, low: number): number => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);

/** The letters of a ligature share one box in PDFium; each is given an equal share of its width. */
function splitLigatures(glyphs: readonly Glyph[]): Glyph[] {
  const result: Glyph[] = [];
  for (let start = 0; start < glyphs.length; ) {
    const first = glyphs[start];
    let end = start + 1;
    while (end < glyphs.length && sameBox(first, glyphs[end])) end++;
    const share = (first.right - first.left) / (end - start);
    for (let i = start; i < end; i++) {
      const left = first.left + share * (i - start);
      result.push({ ...glyphs[i], left, right: left + share });
    }
    start = end;
  }
  return result;
}

function sameBox(a: Glyph, b: Glyph): boolean {
  return a.left === b.left && a.right === b.right && a.top === b.top && a.bottom === b.bottom;
}
