/**
 * One door for everything pages come from: PDF documents and picture files, told apart by their first bytes. Pages are made one at a time
 * when asked for, so a long document never lies in memory as pixels. Knows nothing of what is done with a page.
 */
import { openImage } from "./decode-image.ts";
import { type ImageFormat, sniffFile } from "./image-format.ts";
import { DEFAULT_DPI, DEFAULT_MAX_EDGE, openPdf, type RenderOptions } from "./pdf.ts";
import type { RgbImage } from "./rgb-image.ts";

/** How to open a source. `dpi` and `maxEdge` concern PDF pages only; pictures keep their own pixels. */
export interface SourceOptions extends RenderOptions {
  readonly password?: string;
}

/** Pages of a document, whatever it was. */
export interface PageSource extends AsyncDisposable {
  readonly kind: "pdf" | "image";
  readonly format: ImageFormat | "pdf";
  readonly pageCount: number;
  /**
   * The pixels of a page, upright, counted from 0; `scale` times as many along each edge as asked for when it was opened, where the source
   * can be rendered at any size. A failure concerns this page only.
   */
  page(index: number, scale?: number): Promise<RgbImage>;
  /** Size of the page in points; pictures are taken at `dpi` pixels per inch, and decoded if `page` was not called before. */
  pageSize(index: number): Promise<{ width: number; height: number }>;
  close(): void;
}

/** Opens a PDF or picture file. Errors as `openPdf` and `openImage`. */
export async function openSource(bytes: Uint8Array, options: SourceOptions = {}): Promise<PageSource> {
  const { password, signal, dpi = DEFAULT_DPI } = options;
  if (sniffFile(bytes) === "pdf") {
    const document = await openPdf(bytes, { password, signal });
    return {
      kind: "pdf",
      format: "pdf",
      pageCount: document.pageCount,
      page: (index, scale = 1) =>
        document.renderPage(index, { ...options, dpi: dpi * scale, maxEdge: (options.maxEdge ?? DEFAULT_MAX_EDGE) * scale }),
      pageSize: (index) => document.pageSize(index),
      close: () => document.close(),
      [Symbol.asyncDispose]: () => document[Symbol.asyncDispose](),
    };
  }
  const { maxPixels } = options;
  const file = openImage(bytes, maxPixels === undefined ? {} : { maxPixels });
  const sizes = new Map<number, { width: number; height: number }>();
  const page = async (index: number): Promise<RgbImage> => {
    signal?.throwIfAborted();
    const image = await file.page(index);
    sizes.set(index, { width: image.width, height: image.height });
    return image;
  };
  return {
    kind: "image",
    format: file.format,
    pageCount: file.pageCount,
    page,
    pageSize: async (index) => {
      const { width, height } = sizes.get(index) ?? (await page(index));
      return { width: (width * 72) / dpi, height: (height * 72) / dpi };
    },
    close: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
