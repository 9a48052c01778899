/**
 * PDF pages to pixels (PDFium): opening with or without a password, page sizes as seen, rendering at a resolution bounded before anything is
 * rasterised, and the text layer. Annotations and filled form fields are drawn; page rotation and crop box are applied by PDFium. Scripts
 * are never run. What a page means is not known here.
 */
import { MineruError } from "../error.ts";
import { DEFAULT_IMAGE_LIMITS, damaged, sniffFile, unsupportedFile } from "./image-format.ts";
import { type PageGeometry, type PdfCharacter, readCharacters } from "./pdf-characters.ts";
import { type PdfEngine, pdfEngine } from "./pdf-engine.ts";
import type { RgbImage } from "./rgb-image.ts";

/** Resolution the reference pipeline renders at. */
export const DEFAULT_DPI = 200;
/** Longest edge the reference pipeline renders, in pixels; larger sheets come out at a lower resolution. */
export const DEFAULT_MAX_EDGE = 3500;

const POINTS_PER_INCH = 72;

/** How to open a document. */
export interface PdfOpenOptions {
  readonly password?: string;
  readonly signal?: AbortSignal;
}

/** How to render a page; all bounds hold together, the smallest wins. */
export interface RenderOptions {
  /** Pixels per inch; 200 when left out. */
  readonly dpi?: number;
  /** Bound on the longer edge, in pixels; 3500 when left out. */
  readonly maxEdge?: number;
  /** Bound on width times height; 180 million when left out. */
  readonly maxPixels?: number;
  readonly signal?: AbortSignal;
}

/** An open PDF document. Pages are counted from 0. Must be closed; `await using` does it. */
export interface PdfDocument extends AsyncDisposable {
  readonly pageCount: number;
  /** Width and height of the page as seen, in points (1/72 inch). */
  pageSize(index: number): Promise<{ width: number; height: number }>;
  /** Renders a page on white. Errors: `file-damaged` (this page only; others may still be fine), `limit-exceeded`. */
  renderPage(index: number, options?: RenderOptions): Promise<RgbImage>;
  /** Characters of the text layer in the file's order; empty for scans. */
  pageCharacters(index: number): Promise<PdfCharacter[]>;
  /** Text of the text layer, lines broken by "\n". */
  pageText(index: number): Promise<string>;
  close(): void;
}

/** FPDF_GetLastError codes that mean something to a user. */
const ERROR_PASSWORD = 4;
const ERROR_SECURITY = 5;

const BITMAP_BGR = 2;
const RENDER_ANNOTATIONS = 0x01;
const REVERSE_BYTE_ORDER = 0x10;

/**
 * Opens a PDF held in memory. Errors: `file-encrypted` (no or wrong password), `file-damaged`, `file-unsupported` (not a PDF),
 * `runtime-unavailable`. `bytes` is kept, not copied; do not change it while the document is open.
 */
export async function openPdf(bytes: Uint8Array, options: PdfOpenOptions = {}): Promise<PdfDocument> {
  options.signal?.throwIfAborted();
  const kind = sniffFile(bytes);
  if (kind !== "pdf") throw unsupportedFile(kind === null ? bytes : bytes.subarray(0, 8));
  const session = await openSession(bytes, options.password);
  options.signal?.throwIfAborted();
  return new OpenDocument(bytes, options.password, session);
}

/** A document inside one engine. */
interface Session {
  engine: PdfEngine;
  document: number;
  file: number;
  formInfo: number;
  form: number;
}

async function openSession(bytes: Uint8Array, password: string | undefined): Promise<Session> {
  const engine = await pdfEngine();
  const { api } = engine;
  const file = engine.allocate(bytes.length);
  engine.memory().set(bytes, file);
  const document = engine.guard("opening the document", () => api.FPDF_LoadMemDocument(file, bytes.length, password ?? ""));
  if (document === 0) {
    const code = api.FPDF_GetLastError();
    engine.free(file);
    throw openingError(code, password);
  }
  const formInfo = api.PDFiumExt_OpenFormFillInfo();
  const form = engine.guard("reading the form fields", () => api.PDFiumExt_InitFormFillEnvironment(document, formInfo));
  return { engine, document, file, formInfo, form };
}

function openingError(code: number, password: string | undefined): MineruError {
  if (code === ERROR_PASSWORD)
    return new MineruError(
      "file-encrypted",
      password === undefined || password === ""
        ? "The PDF is encrypted and needs a password. Give it with `--password` (in code: the `password` option)."
        : "The PDF is encrypted and the password given does not open it. Check the password given with `--password` (in code: the `password` option).",
    );
  if (code === ERROR_SECURITY)
    return new MineruError(
      "file-encrypted",
      "The PDF uses an encryption that is not read (not the standard password handler). Remove the protection with the program that made it.",
    );
  return damaged("PDF", "a readable cross-reference table and page tree", code);
}

function closeSession({ engine, document, file, formInfo, form }: Session): void {
  if (!engine.healthy) return;
  engine.guard("closing the document", () => {
    if (form !== 0) engine.api.PDFiumExt_ExitFormFillEnvironment(form);
    engine.api.PDFiumExt_CloseFormFillInfo(formInfo);
    engine.api.FPDF_CloseDocument(document);
    engine.free(file);
  });
}

class OpenDocument implements PdfDocument {
  readonly pageCount: number;
  readonly #bytes: Uint8Array;
  readonly #password: string | undefined;
  #session: Session | null;
  #reopening: Promise<Session> | null = null;

  constructor(bytes: Uint8Array, password: string | undefined, session: Session) {
    this.#bytes = bytes;
    this.#password = password;
    this.#session = session;
    this.pageCount = session.engine.api.FPDF_GetPageCount(session.document);
    if (this.pageCount < 1) {
      this.close();
      throw damaged("PDF", "at least one page, got none");
    }
  }

  async pageSize(index: number): Promise<{ width: number; height: number }> {
    return this.#withPage(index, ({ engine }, page) => ({
      width: engine.api.FPDF_GetPageWidthF(page),
      height: engine.api.FPDF_GetPageHeightF(page),
    }));
  }

  async renderPage(index: number, options: RenderOptions = {}): Promise<RgbImage> {
    options.signal?.throwIfAborted();
    return this.#withPage(index, (session, page) => {
      const { api } = session.engine;
      const size = rasterSize(api.FPDF_GetPageWidthF(page), api.FPDF_GetPageHeightF(page), options);
      return rasterise(session, page, size.width, size.height);
    });
  }

  async pageCharacters(index: number): Promise<PdfCharacter[]> {
    return this.#withPage(index, ({ engine }, page) => readCharacters(engine, page, pageGeometry(engine, page)));
  }

  async pageText(index: number): Promise<string> {
    const characters = await this.pageCharacters(index);
    return characters
      .map(({ text }) => text)
      .join("")
      .replaceAll("\r\n", "\n")
      .replaceAll("\r", "\n");
  }

  close(): void {
    if (this.#session !== null) closeSession(this.#session);
    this.#session = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #withPage<T>(index: number, use: (session: Session, page: number) => T): Promise<T> {
    if (!Number.isInteger(index) || index < 0 || index >= this.pageCount)
      throw new RangeError(`\`index\` expected a page from 0 to ${this.pageCount - 1}, got ${index}`);
    const session = await this.#liveSession();
    const { engine } = session;
    return engine.guard(`page ${index + 1}`, () => {
      const page = engine.api.FPDF_LoadPage(session.document, index);
      if (page === 0) throw damaged("PDF", `page ${index + 1} to be readable`);
      try {
        return use(session, page);
      } finally {
        if (engine.healthy) engine.api.FPDF_ClosePage(page);
      }
    });
  }

  /** The session, reopened in a fresh engine when another document's trap took the old one down. */
  async #liveSession(): Promise<Session> {
    if (this.#session === null) throw new TypeError("`document` expected an open PDF document, got a closed one");
    if (this.#session.engine.healthy) return this.#session;
    this.#reopening ??= openSession(this.#bytes, this.#password).finally(() => {
      this.#reopening = null;
    });
    this.#session = await this.#reopening;
    return this.#session;
  }
}

/** Pixels of a page at the wanted resolution within the bounds. Throws `RangeError` for bounds that are not positive. */
export function rasterSize(pointsWide: number, pointsHigh: number, options: RenderOptions): { width: number; height: number } {
  const { dpi = DEFAULT_DPI, maxEdge = DEFAULT_MAX_EDGE, maxPixels = DEFAULT_IMAGE_LIMITS.maxPixels } = options;
  for (const [name, value] of Object.entries({ dpi, maxEdge, maxPixels }))
    if (!(value > 0)) throw new RangeError(`\`${name}\` expected a positive number, got ${value}`);
  if (!(pointsWide > 0 && pointsHigh > 0)) throw damaged("PDF", `a page with a positive size, got ${pointsWide}x${pointsHigh} points`);
  const scale = Math.min(
    dpi / POINTS_PER_INCH,
    maxEdge / Math.max(pointsWide, pointsHigh),
    Math.sqrt(maxPixels / (pointsWide * pointsHigh)),
  );
  return { width: Math.max(1, Math.round(pointsWide * scale)), height: Math.max(1, Math.round(pointsHigh * scale)) };
}

function rasterise({ engine, form }: Session, page: number, width: number, height: number): RgbImage {
  const { api } = engine;
  const stride = width * 3;
  return engine.withBytes(stride * height, (pixels) => {
    engine.memory().fill(255, pixels, pixels + stride * height);
    const bitmap = api.FPDFBitmap_CreateEx(width, height, BITMAP_BGR, pixels, stride);
    if (bitmap === 0)
      throw new MineruError("limit-exceeded", `PDFium cannot make a ${width}x${height} bitmap. Render with a smaller \`dpi\`.`);
    try {
      const flags = RENDER_ANNOTATIONS | REVERSE_BYTE_ORDER;
      api.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags);
      if (form !== 0) api.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, flags);
    } finally {
      api.FPDFBitmap_Destroy(bitmap);
    }
    return { width, height, data: new Uint8Array(engine.memory().subarray(pixels, pixels + stride * height)) };
  });
}

function pageGeometry(engine: PdfEngine, page: number): PageGeometry {
  const { api } = engine;
  return engine.withBytes(16, (box) => {
    api.FPDF_GetPageBoundingBox(page, box);
    const [left, top, right, bottom] = new Float32Array(engine.memory().buffer, box, 4);
    return { left, bottom, right, top, quarterTurns: api.FPDFPage_GetRotation(page) };
  });
}
