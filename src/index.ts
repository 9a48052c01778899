/**
 * The library. `load()` gives a parser; `parser.parse(file)` yields pages as they are read.
 *
 *   import { load } from "mineru-diffusion";
 *   await using parser = await load();
 *   for await (const { page } of parser.parse("paper.pdf")) console.log(page.regions);
 */
import { embeddedCheckpoint } from "./checkpoint/embedded.ts";
import { openCheckpoint } from "./checkpoint/folder.ts";
import { type Parser, parserOf } from "./document/document-parser.ts";
import { loadWorkerParser } from "./document/worker-parser.ts";
import { type OpenaiRecognizerOptions, openaiRecognizer } from "./engine/openai-recognizer.ts";
import { loadRecognizer } from "./engine/recognizer.ts";
import type { SessionsOptions } from "./engine/sessions.ts";
import { loadWorkerRecognizer } from "./engine/worker-recognizer.ts";
import { nodeRuntime } from "./runtime/onnxruntime.node.ts";
import { loadTokenizer } from "./text/tokenizer.ts";

export { embeddedCheckpoint } from "./checkpoint/embedded.ts";
export {
  cacheFolder as hubCacheFolder,
  type DownloadOptions,
  type DownloadProgress,
  downloadCheckpoint,
  type HubSource,
} from "./checkpoint/hub.ts";
export { decodeBlocks } from "./diffusion/block-decoder.ts";
export { type CommitRuleOptions, type CommitStrategy, commitStrategies } from "./diffusion/commit-rules.ts";
export { type Recording, replay, replaySteps } from "./diffusion/replay.ts";
export { type ContentListEntry, type ContentListOptions, writeContentList } from "./document/assembly/content-list.ts";
export { type MarkdownOptions, writeMarkdown } from "./document/assembly/markdown.ts";
export { type AssemblyOptions, assemble } from "./document/assembly.ts";
export { type DecodingPolicy, type PolicyRule, parsePolicy } from "./document/decoding-policy.ts";
export { readDocumentFile } from "./document/document-file.ts";
export { type Parser, parserOf } from "./document/document-parser.ts";
export { type DocumentEvent, documentEvents, recognitionEvents, settledText } from "./document/event-stream.ts";
export { parseFormula } from "./document/formula.ts";
export { parseLayout, writeLayout } from "./document/layout-text.ts";
export { parseOtsl } from "./document/otsl.ts";
export {
  type DocumentJson,
  documentFromJson,
  documentToJson,
  type PageJson,
  pageFromJson,
  pageToJson,
} from "./document/outputs/document-json.ts";
export { documentHtml, type HtmlOptions } from "./document/outputs/html.ts";
export { drawLayout } from "./document/outputs/layout-overlay.ts";
export { LayoutPdf } from "./document/outputs/layout-pdf.ts";
export { documentToMiddleJson } from "./document/outputs/middle-json.ts";
export { readNdjson, writeNdjson } from "./document/outputs/ndjson.ts";
export { type ZipEntry, zip } from "./document/outputs/zip.ts";
export type { PageEvent, PageParse, PageParseOptions } from "./document/parse.ts";
export type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./document/parser.ts";
export { tableToHtml } from "./document/table-html.ts";
export type * from "./document/types.ts";
export {
  type CheckpointDescription,
  describeCheckpoint,
  type FoundCheckpoint,
  listCheckpoints,
} from "./engine/checkpoint-catalogue.ts";
export { type OpenaiRecognizerOptions, openaiRecognizer } from "./engine/openai-recognizer.ts";
export { type ReadingProfile, writeReadingProfile } from "./engine/reading-profile.ts";
export type { Recognizer, RecognizerIdentity, RecognizerInfo } from "./engine/recognizer.ts";
export type * from "./engine/types.ts";
export { defaultCacheDir as weightCacheFolder } from "./engine/weight-cache.ts";
export { type ErrorCode, MineruError } from "./error.ts";
export { decodeImage } from "./image/decode-image.ts";
export { encodePng } from "./image/encode-png.ts";
export type { RgbImage } from "./image/rgb-image.ts";
export { openSource, type PageSource, type SourceOptions } from "./image/sources.ts";
export { type TaskName, taskNames, taskOfPrompt, tasks } from "./text/prompts.ts";

/** How a model is loaded. */
export interface LoadOptions extends SessionsOptions {
  /** Checkpoint folder; the embedded `mini` if absent. */
  readonly model?: string;
  /**
   * Where work is done. `worker` (default): the model computes in a thread of its own, pages are rendered and cut in the caller's. `pages`: these
   * too in a thread, so that the caller's event loop never waits, as a server needs it. `own`: all in the caller's.
   */
  readonly thread?: "worker" | "pages" | "own";
  /** Computes at this server instead; all other options are then without effect. */
  readonly server?: OpenaiRecognizerOptions;
}

/** @throws MineruError `checkpoint-missing`, `checkpoint-invalid`, `runtime-unavailable`; with `server` as `openaiRecognizer` */
export async function load(options: LoadOptions = {}): Promise<Parser> {
  const { model = embeddedCheckpoint(), thread = "worker", server, ...sessions } = options;
  if (thread === "pages") return loadPagesThread(server, model, sessions);
  if (server) return parserOf(await openaiRecognizer(server));
  return parserOf(await (thread === "worker" ? loadWorkerRecognizer(model, sessions) : loadRecognizer(model, nodeRuntime, sessions)));
}

function loadPagesThread(server: LoadOptions["server"], dir: string, { onWarning, ...sessions }: SessionsOptions): Promise<Parser> {
  if (!server) return loadWorkerParser({ dir, sessions }, onWarning);
  const { fetch, signal, ...sent } = server;
  if (fetch || signal)
    throw new TypeError('`server` expected neither `fetch` nor `signal` with thread "pages", got one: they cannot be sent');
  return loadWorkerParser({ server: sent });
}

/**
 * What turns tokens of a checkpoint folder (the embedded `mini` if absent) into text, special tokens kept.
 * @throws MineruError `checkpoint-missing`, `checkpoint-invalid`
 */
export async function loadTokenText(model: string = embeddedCheckpoint()): Promise<(tokens: ArrayLike<number>) => string> {
  await using checkpoint = await openCheckpoint(model);
  const tokenizer = loadTokenizer(checkpoint.tokenizerFiles);
  return (tokens) => tokenizer.decode(tokens);
}
