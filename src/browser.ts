/**
 * The library in a browser. `load()` gives the same parser as in Node; it lives in a worker and computes there, or asks a server.
 *
 *   import { load } from "mineru-diffusion/browser";
 *   await using parser = await load({ modelUrl: "/models/mini", assets: { pdfium: "/pdfium.wasm" } });
 *   for await (const { page } of parser.parse(new Uint8Array(await file.arrayBuffer()))) console.log(page.regions);
 */
import type { BrowserAssets, WorkerStart } from "./browser/messages.ts";
import { startWorkerParser, type WorkerLike, type WorkerParserOptions } from "./browser/worker-parser.ts";
import type { Parser } from "./document/document-parser.ts";
import type { OpenaiRecognizerOptions } from "./engine/openai-recognizer.ts";
import type { SessionsOptions } from "./engine/sessions.ts";

export type { BrowserAssets } from "./browser/messages.ts";
export type { FetchProgress } from "./checkpoint/fetched.ts";
export type { Candidate, DenoiseQuestion, StepRecord } from "./diffusion/conversation.ts";
export { type Recording, replay, replaySteps } from "./diffusion/replay.ts";
export { type ContentListEntry, writeContentList } from "./document/assembly/content-list.ts";
export { type MarkdownOptions, writeMarkdown } from "./document/assembly/markdown.ts";
export { type AssemblyOptions, assemble } from "./document/assembly.ts";
export type { Parser } from "./document/document-parser.ts";
export { type DocumentJson, documentToJson } from "./document/outputs/document-json.ts";
export { blockHtml, documentHtml, type HtmlOptions } from "./document/outputs/html.ts";
export { type ZipEntry, zip } from "./document/outputs/zip.ts";
export type { PageEvent } from "./document/parse.ts";
export type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./document/parser.ts";
export type * from "./document/types.ts";
export type { RecognizerIdentity, RecognizerInfo } from "./engine/recognizer.ts";
export type * from "./engine/types.ts";
export { type ErrorCode, MineruError } from "./error.ts";
export { encodePng } from "./image/encode-png.ts";
export type { RgbImage } from "./image/rgb-image.ts";

/** Where the model is, or the server that has it. */
export interface BrowserLoadOptions extends WorkerParserOptions, Omit<SessionsOptions, "cacheDir" | "onWarning"> {
  /** Address of a checkpoint folder. Needed without `server`. */
  readonly modelUrl?: string | URL;
  /** Computes at this server instead; device, precision and threads are then without effect. */
  readonly server?: Omit<OpenaiRecognizerOptions, "fetch" | "signal">;
  /** Where the WebAssembly binaries are. */
  readonly assets?: BrowserAssets;
  /** Makes the worker, for bundlers that do not find it by themselves. */
  readonly worker?: () => WorkerLike;
}

const defaultWorker = (): WorkerLike => new Worker(new URL("./browser/parser-worker.js", import.meta.url), { type: "module" });

/**
 * Loads a model in a worker. `device` is "auto" unless told otherwise: WebGPU where it is there and faster, else the processor.
 * @throws TypeError without `modelUrl` and `server`; MineruError `checkpoint-missing`, `checkpoint-invalid`, `network-failed`,
 * `runtime-unavailable`, with `server` also `server-failed`; the signal's reason.
 */
export async function load(options: BrowserLoadOptions): Promise<Parser> {
  const { modelUrl, server, assets = {}, worker = defaultWorker, signal, onDownload, onWarning, ...sessions } = options;
  if (modelUrl === undefined && server === undefined) throw new TypeError("`modelUrl` expected the address of a checkpoint, got nothing");
  const start: WorkerStart = server
    ? { kind: "server", server, assets }
    : { kind: "local", modelUrl: String(new URL(modelUrl!, location.href)), sessions: { device: "auto", ...sessions }, assets };
  return startWorkerParser(worker(), start, { signal, onDownload, onWarning });
}
