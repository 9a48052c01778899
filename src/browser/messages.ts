/** How a browser's parser is started, and what it tells while it is loaded. What comes after stands in the document room's messages. */
import type { FetchProgress } from "../checkpoint/fetched.ts";
import type { ToParser } from "../document/parser-messages.ts";
import type { OpenaiRecognizerOptions } from "../engine/openai-recognizer.ts";
import type { SessionsOptions } from "../engine/sessions.ts";
import type { WebRuntimeOptions } from "../runtime/onnxruntime.web.ts";

/** Addresses of the WebAssembly binaries, absolute. */
export interface BrowserAssets {
  /** Of `@embedpdf/pdfium/pdfium.wasm`; needed for PDF files. */
  readonly pdfium?: string;
  /** Of `@jsquash/webp/codec/dec/webp_dec.wasm`; needed for WebP files. */
  readonly webp?: string;
  /** Of onnxruntime-web; where bundlers put them if absent. */
  readonly runtime?: WebRuntimeOptions["builds"];
}

/** Where the weights are: at an address, to be computed with here, or behind a server that computes. */
export type WorkerStart = { readonly assets: BrowserAssets } & (
  | { readonly kind: "local"; readonly modelUrl: string; readonly sessions: Omit<SessionsOptions, "cacheDir" | "onWarning"> }
  | { readonly kind: "server"; readonly server: Omit<OpenaiRecognizerOptions, "fetch" | "signal"> }
);

/** The first message starts the parser. */
export type ToWorker = { readonly start: WorkerStart } | ToParser;

export type Notice = { readonly download: FetchProgress } | { readonly warning: string };
