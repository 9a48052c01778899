/**
 * The one PDFium of this process: the WebAssembly module, loaded once and shared by all documents. PDFium is called from one thread and never
 * re-entered. When a broken file makes it trap, the module is thrown away and the next call gets a fresh one, so that one bad page cannot
 * spoil the documents after it. Knows memory and error codes, not pages.
 */
import type { PdfiumModule, WrappedPdfiumModule } from "@embedpdf/pdfium";
import { MineruError } from "../error.ts";
import { wasmBinary } from "./wasm-binaries.ts";

/** A loaded PDFium with its memory. Views of `memory()` die whenever PDFium allocates; take a new one after each call. */
export interface PdfEngine {
  readonly api: WrappedPdfiumModule;
  memory(): Uint8Array;
  /** Bytes for `run`, freed after it. */
  withBytes<T>(size: number, run: (pointer: number) => T): T;
  /** Bytes the caller frees. Error: `limit-exceeded`. */
  allocate(size: number): number;
  free(pointer: number): void;
  /** False once a trap has spoiled this engine. */
  readonly healthy: boolean;
  /** Runs `call`; a trap inside marks the engine spoiled and becomes `file-damaged` about `what`. */
  guard<T>(what: string, call: () => T): T;
}

let shared: Promise<PdfEngine> | null = null;

/** The shared engine; a new one when there is none or the last was spoiled. Error: `runtime-unavailable`. */
export async function pdfEngine(): Promise<PdfEngine> {
  for (;;) {
    shared ??= startEngine();
    const current = shared;
    const engine = await current.catch((error) => {
      if (shared === current) shared = null;
      throw error;
    });
    if (engine.healthy) return engine;
    if (shared === current) shared = null;
  }
}

async function startEngine(): Promise<PdfEngine> {
  const [{ init }, binary] = await Promise.all([import("@embedpdf/pdfium"), wasmBinary("pdfium")]);
  const silent = (): void => undefined;
  const options = { wasmBinary: binary as Uint8Array<ArrayBuffer>, print: silent, printErr: silent };
  const api = await init(options as unknown as Partial<PdfiumModule>);
  api.PDFiumExt_Init();
  const wasm = api.pdfium as unknown as { HEAPU8: Uint8Array; wasmExports: { malloc(size: number): number; free(pointer: number): void } };
  let healthy = true;
  const engine: PdfEngine = {
    api,
    memory: () => wasm.HEAPU8,
    allocate: (size) => {
      const pointer = wasm.wasmExports.malloc(size) >>> 0;
      if (pointer === 0)
        throw new MineruError(
          "limit-exceeded",
          `PDFium has no room for ${size} more bytes. Close other documents, or render with a smaller \`dpi\`.`,
        );
      return pointer;
    },
    free: (pointer) => wasm.wasmExports.free(pointer),
    withBytes: (size, run) => {
      const pointer = engine.allocate(size);
      try {
        return run(pointer);
      } finally {
        if (healthy) engine.free(pointer);
      }
    },
    get healthy() {
      return healthy;
    },
    guard: (what, call) => {
      try {
        return call();
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError)) throw error;
        healthy = false;
        throw new MineruError(
          "file-damaged",
          `PDFium broke off at ${what}. The file is damaged or uses something PDFium cannot handle; print it to a new PDF.`,
          {
            cause: error,
          },
        );
      }
    },
  };
  return engine;
}
