/**
 * Documents in, pages out: opens a file of any supported kind, parses it page by page and forgets each page once it is handed on, so
 * that memory does not grow with the document. A few pages may be on their way at once; they are handed on in order.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import { type ErrorCode, MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { openSource, type PageSource, type SourceOptions } from "../image/sources.ts";
import { readDocumentFile } from "./document-file.ts";
import { neededScale, withoutExcess } from "./page-resolution.ts";
import { type PageParse, type PageParseOptions, parsePage } from "./parse.ts";
import type { ParsedPage } from "./types.ts";

/** A path (in a browser an address), the bytes of a file, or pixels. */
export type DocumentInput = string | Uint8Array | RgbImage;

/** How far a document is. */
export interface ParseProgress {
  readonly stage: "open" | "render" | "layout" | "read" | "done";
  /** Page of the document, from 0. */
  readonly page: number;
  /** Pages of the document. */
  readonly pages: number;
  /** Regions of this page and how many of their pieces are read, while reading. */
  readonly regions?: number;
}

/** How a document is read. */
export interface ParseOptions extends Omit<PageParseOptions, "onEvent" | "layout">, Pick<SourceOptions, "password" | "dpi"> {
  /** Pages to parse, from 0; all if absent. */
  readonly pages?: readonly number[];
  /** Chooses the pages once their number is known; `pages` is then without effect. */
  readonly choosePages?: (pageCount: number) => readonly number[];
  /** Pages on their way at once: that many are in memory. Default 1: a page is begun when the one before it is taken. */
  readonly window?: number;
  /** A page that cannot be rendered or read is kept, empty and with a warning (default), or its error is thrown. */
  readonly failedPages?: "keep" | "throw";
  readonly onProgress?: (progress: ParseProgress) => void;
  readonly onEvent?: PageParseOptions["onEvent"];
}

/** A parsed page. */
export interface DocumentPage extends PageParse {
  /** Pages of the document. */
  readonly pageCount: number;
}

type Source = Pick<PageSource, "kind" | "pageCount" | "page" | "close">;

function singlePage(image: RgbImage): Source {
  return { kind: "image", pageCount: 1, page: async () => image, close: () => {} };
}

/** A page at a resolution that suits its print, unless the caller has chosen one. */
async function pageImage(source: Source, index: number, adapts: boolean): Promise<RgbImage> {
  const image = await source.page(index);
  if (!adapts) return image;
  if (source.kind === "image") return withoutExcess(image);
  const scale = neededScale(image);
  return scale === 1 ? image : source.page(index, scale);
}

/** A page that could not be rendered: it stays in the document, with the reason. */
function failedPage(index: number, error: unknown): ParsedPage {
  const message = error instanceof Error ? error.message : String(error);
  return { index, width: 1, height: 1, regions: [], warnings: [{ kind: "page-failed", message, page: index }] };
}

/** Failures that are the machine's or the server's: the next page would fail as well, and another time this one would not. */
const NOT_THE_PAGE = new Set<ErrorCode>(["network-failed", "server-failed", "runtime-failed", "runtime-unavailable"]);

const isThePage = (error: unknown): boolean => error instanceof MineruError && !NOT_THE_PAGE.has(error.code);

/**
 * Parses a document page by page. A page that cannot be rendered or read is handed on empty, with a `page-failed` warning, and does not
 * stop the others; errors of the document as a whole, of the machine and of a server are thrown.
 * @throws MineruError; RangeError for pages it has not and a window below 1; the signal's reason when it is aborted.
 */
export async function* parseDocument(
  input: DocumentInput,
  recognizer: Recognizer<RecognizerIdentity>,
  options: ParseOptions = {},
): AsyncGenerator<DocumentPage, void, undefined> {
  const { password, dpi, signal, onProgress, window = 1 } = options;
  if (!(Number.isInteger(window) && window >= 1)) throw new RangeError(`\`window\` expected a positive whole number, got ${window}`);
  const source =
    typeof input === "object" && "width" in input
      ? singlePage(input)
      : await openSource(typeof input === "string" ? await readDocumentFile(input) : input, {
          password,
          signal,
          ...(dpi === undefined ? {} : { dpi }),
        });
  const { pageCount } = source;
  // Whoever stops taking pages stops those on their way.
  const abandoned = new AbortController();
  const stop = signal ? AbortSignal.any([signal, abandoned.signal]) : abandoned.signal;

  const parseOne = async (index: number): Promise<DocumentPage> => {
    const at = { page: index, pages: pageCount };
    onProgress?.({ stage: "render", ...at });
    let parsed: DocumentPage;
    try {
      const image = await pageImage(source, index, dpi === undefined);
      onProgress?.({ stage: "layout", ...at });
      const result = await parsePage(image, index, recognizer, {
        ...options,
        signal: stop,
        onEvent: (event) => {
          if (event.kind === "layout") onProgress?.({ stage: "read", ...at, regions: event.regions.length });
          options.onEvent?.(event);
        },
      });
      parsed = { ...result, pageCount };
    } catch (error) {
      const thrown = pageCount === 1 || options.failedPages === "throw";
      if (stop.aborted || thrown || !isThePage(error)) throw error;
      const blank = { width: 1, height: 1, data: new Uint8Array(3).fill(255) };
      parsed = { page: failedPage(index, error), crops: new Map(), image: blank, pageCount };
    }
    onProgress?.({ stage: "done", ...at });
    return parsed;
  };

  const begun: Promise<DocumentPage>[] = [];
  try {
    const wanted = options.choosePages?.(pageCount) ?? options.pages ?? Array.from({ length: pageCount }, (_, i) => i);
    const missing = wanted.find((index) => index >= pageCount);
    if (missing !== undefined) throw new RangeError(`\`pages\` expected numbers up to ${pageCount}, got ${missing + 1}`);
    for (let next = 0; next < wanted.length || begun.length > 0; ) {
      stop.throwIfAborted();
      while (begun.length < window && next < wanted.length) {
        const page = parseOne(wanted[next++]);
        // It is waited for below, perhaps after another one has failed.
        page.catch(() => undefined);
        begun.push(page);
      }
      yield await begun.shift()!;
    }
  } finally {
    abandoned.abort(new DOMException("the pages are no longer wanted", "AbortError"));
    await Promise.allSettled(begun);
    source.close();
  }
}
