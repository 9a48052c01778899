/**
 * Documents in, pages out: opens a file of any supported kind, parses it page by page and forgets each page once it is handed on, so
 * that memory does not grow with the document.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { openSource, type PageSource, type SourceOptions } from "../image/sources.ts";
import { readDocumentFile } from "./document-file.ts";
import { type PageParse, type PageParseOptions, parsePage } from "./parse.ts";
import type { ParsedPage } from "./types.ts";

/** A path (in a browser an address), the bytes of a file, or pixels. */
export type DocumentInput = string | Uint8Array | RgbImage;

export interface ParseProgress {
  readonly stage: "open" | "render" | "layout" | "read" | "done";
  /** Page of the document, from 0. */
  readonly page: number;
  /** Pages of the document. */
  readonly pages: number;
  /** Regions of this page and how many of their pieces are read, while reading. */
  readonly regions?: number;
}

export interface ParseOptions extends Omit<PageParseOptions, "onEvent" | "layout">, Pick<SourceOptions, "password" | "dpi"> {
  /** Pages to parse, from 0; all if absent. */
  readonly pages?: readonly number[];
  /** A page that cannot be rendered or read is kept, empty and with a warning (default), or its error is thrown. */
  readonly failedPages?: "keep" | "throw";
  readonly onProgress?: (progress: ParseProgress) => void;
  readonly onEvent?: PageParseOptions["onEvent"];
}

/** A parsed page with its own picture, for overlays. */
export interface DocumentPage extends PageParse {
  readonly image: RgbImage;
  /** Pages of the document. */
  readonly pageCount: number;
}

function singlePage(image: RgbImage): Pick<PageSource, "pageCount" | "page" | "close"> {
  return { pageCount: 1, page: async () => image, close: () => {} };
}

/** A page that could not be rendered: it stays in the document, with the reason. */
function failedPage(index: number, error: unknown): ParsedPage {
  const message = error instanceof Error ? error.message : String(error);
  return { index, width: 1, height: 1, regions: [], warnings: [{ kind: "page-failed", message, page: index }] };
}

/**
 * Parses a document page by page. A page that cannot be rendered or read is handed on empty, with a `page-failed` warning, and does not
 * stop the others; errors of the document as a whole are thrown.
 * @throws MineruError; the signal's reason when it is aborted.
 */
export async function* parseDocument(
  input: DocumentInput,
  recognizer: Recognizer<RecognizerIdentity>,
  options: ParseOptions = {},
): AsyncGenerator<DocumentPage, void, undefined> {
  const { password, dpi, signal, onProgress } = options;
  const source =
    typeof input === "object" && "width" in input
      ? singlePage(input)
      : await openSource(typeof input === "string" ? await readDocumentFile(input) : input, {
          password,
          signal,
          ...(dpi === undefined ? {} : { dpi }),
        });
  try {
    const { pageCount } = source;
    const wanted = options.pages ?? Array.from({ length: pageCount }, (_, i) => i);
    const missing = wanted.find((index) => index >= pageCount);
    if (missing !== undefined) throw new RangeError(`\`pages\` expected numbers up to ${pageCount}, got ${missing + 1}`);
    for (const index of wanted) {
      signal?.throwIfAborted();
      onProgress?.({ stage: "render", page: index, pages: pageCount });
      let parsed: DocumentPage;
      try {
        const image = await source.page(index);
        onProgress?.({ stage: "layout", page: index, pages: pageCount });
        const result = await parsePage(image, index, recognizer, {
          ...options,
          onEvent: (event) => {
            if (event.kind === "layout") onProgress?.({ stage: "read", page: index, pages: pageCount, regions: event.regions.length });
            options.onEvent?.(event);
          },
        });
        parsed = { ...result, image, pageCount };
      } catch (error) {
        const thrown = pageCount === 1 || options.failedPages === "throw";
        if (signal?.aborted || !(error instanceof MineruError) || thrown) throw error;
        parsed = {
          page: failedPage(index, error),
          crops: new Map(),
          image: { width: 1, height: 1, data: new Uint8Array(3).fill(255) },
          pageCount,
        };
      }
      onProgress?.({ stage: "done", page: index, pages: pageCount });
      yield parsed;
    }
  } finally {
    source.close();
  }
}
