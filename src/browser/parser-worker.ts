/**
 * The worker in which a browser's parser lives: it fetches the checkpoint, renders PDF pages and computes, so that the page stays free to be
 * used. One worker holds one parser.
 */
import { fetchCheckpoint } from "../checkpoint/fetched.ts";
import { type Parser, parserOf } from "../document/document-parser.ts";
import type { DocumentPage } from "../document/parser.ts";
import { localRecognizer } from "../engine/local-recognizer.ts";
import { openaiRecognizer } from "../engine/openai-recognizer.ts";
import { packInMemory } from "../engine/packed-tensors.ts";
import type { RecognitionEvent } from "../engine/types.ts";
import { packError } from "../engine/worker-messages.ts";
import { setWasmSource } from "../image/wasm-binaries.ts";
import { webRuntime } from "../runtime/onnxruntime.web.ts";
import type { Answer, FromWorker, ToWorker, WorkerStart } from "./messages.ts";

/** The worker's own scope; typed here, since the page's types are loaded too. */
const scope = globalThis as unknown as {
  onmessage: (event: { data: ToWorker }) => void;
  postMessage(message: FromWorker): void;
};

const say = (message: FromWorker): void => scope.postMessage(message);

interface Call {
  readonly controller: AbortController;
  /** Of documents. */
  readonly pages?: AsyncGenerator<DocumentPage, void, undefined>;
}

async function loadParser(start: WorkerStart): Promise<Parser> {
  const { pdfium, webp, runtime: builds } = start.assets;
  if (pdfium !== undefined) setWasmSource("pdfium", pdfium);
  if (webp !== undefined) setWasmSource("webp", webp);
  if (start.kind === "server") return parserOf(await openaiRecognizer(start.server));
  const { modelUrl, sessions } = start;
  const checkpoint = await fetchCheckpoint(modelUrl, { onProgress: (progress) => say({ kind: "download", progress }) });
  const runtime = webRuntime({ graphics: sessions.device !== "cpu", builds });
  const onWarning = (message: string): void => say({ kind: "warning", message });
  return parserOf(await localRecognizer(checkpoint, runtime, packInMemory, { ...sessions, onWarning }));
}

/** Answers messages until told to close. */
function serve(parser: Parser): (message: ToWorker) => void {
  const calls = new Map<number, Call>();

  /** Answers with what `work` gives; a call that failed or ended is forgotten. */
  const answer = async (call: number, work: () => Promise<Answer>): Promise<void> => {
    try {
      const found = await work();
      if (found === null || !calls.get(call)?.pages) calls.delete(call);
      say({ kind: "answer", call, answer: found });
    } catch (error) {
      calls.delete(call);
      say({ kind: "failed", call, error: packError(error) });
    }
  };
  const nextPage = (call: number): void => {
    const pages = calls.get(call)?.pages;
    if (pages) void answer(call, async () => (await pages.next()).value ?? null);
  };
  const close = async (): Promise<void> => {
    for (const { controller } of calls.values()) controller.abort();
    await parser.close();
    say({ kind: "closed" });
  };

  return (message) => {
    if (message.kind === "close") void close();
    else if (message.kind === "next") nextPage(message.call);
    else if (message.kind === "abort") {
      const { controller, pages } = calls.get(message.call) ?? {};
      calls.delete(message.call);
      controller?.abort();
      void pages?.return();
    } else if (message.kind === "parse") {
      const { call, input, options, events } = message;
      const controller = new AbortController();
      const pages = parser.parse(input, {
        ...options,
        signal: controller.signal,
        onProgress: (progress) => say({ kind: "progress", call, progress }),
        ...(events ? { onEvent: (event) => say({ kind: "event", call, event }) } : {}),
      });
      calls.set(call, { controller, pages });
      nextPage(call);
    } else if (message.kind === "decode") void answer(message.call, () => parser.decodeImage(message.bytes));
    else if (message.kind === "encode") void answer(message.call, () => parser.encodePng(message.image));
    else if (message.kind === "recognize") {
      const { call, requests, batchSize, events } = message;
      const controller = new AbortController();
      calls.set(call, { controller });
      const onEvent = events ? (event: RecognitionEvent) => say({ kind: "event", call, event }) : undefined;
      const options = { batchSize, signal: controller.signal, onEvent };
      void answer(call, () => parser.recognize(requests, options));
    }
  };
}

scope.onmessage = ({ data }) => {
  if (data.kind !== "start") throw new Error(`internal: the worker was told to ${data.kind} before it was started`);
  loadParser(data.start).then(
    (parser) => {
      const hear = serve(parser);
      scope.onmessage = ({ data: message }) => hear(message);
      say({ kind: "ready", info: parser.recognizer.info });
    },
    (error) => say({ kind: "refused", error: packError(error) }),
  );
};
