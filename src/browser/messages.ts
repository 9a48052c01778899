/**
 * What a page and the worker that holds its parser say to each other. Pages of a document are handed over one by one, the next when it is
 * asked for, so that no more lies in memory than is looked at.
 */
import type { FetchProgress } from "../checkpoint/fetched.ts";
import type { PageEvent } from "../document/parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "../document/parser.ts";
import type { OpenaiRecognizerOptions } from "../engine/openai-recognizer.ts";
import type { RecognizerIdentity } from "../engine/recognizer.ts";
import type { SessionsOptions } from "../engine/sessions.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import type { SentError } from "../engine/worker-messages.ts";
import type { RgbImage } from "../image/rgb-image.ts";
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

/** Options of a parse that can be sent. */
export type SentParseOptions = Omit<ParseOptions, "signal" | "onProgress" | "onEvent">;

export type ToWorker =
  | { readonly kind: "start"; readonly start: WorkerStart }
  /** Answered with a page or the end; each `next` after it as well. */
  | {
      readonly kind: "parse";
      readonly call: number;
      readonly input: DocumentInput;
      readonly options: SentParseOptions;
      /** Whether anyone listens. */
      readonly events: boolean;
    }
  | { readonly kind: "next"; readonly call: number }
  | {
      readonly kind: "recognize";
      readonly call: number;
      readonly requests: readonly RecognitionRequest[];
      readonly batchSize?: number;
      readonly events: boolean;
    }
  | { readonly kind: "decode"; readonly call: number; readonly bytes: Uint8Array }
  | { readonly kind: "encode"; readonly call: number; readonly image: RgbImage }
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready"; readonly info: RecognizerIdentity }
  | { readonly kind: "refused"; readonly error: SentError }
  | { readonly kind: "download"; readonly progress: FetchProgress }
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "event"; readonly call: number; readonly event: PageEvent | RecognitionEvent }
  | { readonly kind: "progress"; readonly call: number; readonly progress: ParseProgress }
  | { readonly kind: "answer"; readonly call: number; readonly answer: Answer }
  | { readonly kind: "failed"; readonly call: number; readonly error: SentError }
  | { readonly kind: "closed" };

/** The next page, null behind the last; results; pixels; or the bytes of a file. */
export type Answer = DocumentPage | null | readonly RecognitionResult[] | RgbImage | Uint8Array;
