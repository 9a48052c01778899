/**
 * The worker in which a browser's parser lives: it fetches the checkpoint, renders PDF pages and computes, so that the page stays free to be
 * used. One worker holds one parser.
 */
import { fetchCheckpoint } from "../checkpoint/fetched.ts";
import { type Parser, parserOf } from "../document/document-parser.ts";
import type { FromParser, ToParser } from "../document/parser-messages.ts";
import { serveParser } from "../document/serve-parser.ts";
import { localRecognizer } from "../engine/local-recognizer.ts";
import { openaiRecognizer } from "../engine/openai-recognizer.ts";
import { packInMemory } from "../engine/packed-tensors.ts";
import { setWasmSource } from "../image/wasm-binaries.ts";
import { webRuntime } from "../runtime/onnxruntime.web.ts";
import type { Notice, ToWorker, WorkerStart } from "./messages.ts";

/** The worker's own scope; typed here, since the page's types are loaded too. */
const scope = globalThis as unknown as {
  onmessage: (event: { data: ToWorker }) => void;
  postMessage(message: FromParser<Notice>): void;
};

const tell = (notice: Notice): void => scope.postMessage({ notice });

async function loadParser(start: WorkerStart): Promise<Parser> {
  const { pdfium, webp, runtime: builds } = start.assets;
  if (pdfium !== undefined) setWasmSource("pdfium", pdfium);
  if (webp !== undefined) setWasmSource("webp", webp);
  if (start.kind === "server") return parserOf(await openaiRecognizer(start.server));
  const { modelUrl, sessions } = start;
  const checkpoint = await fetchCheckpoint(modelUrl, { onProgress: (download) => tell({ download }) });
  const runtime = webRuntime({ graphics: sessions.device !== "cpu", builds });
  const onWarning = (warning: string): void => tell({ warning });
  return parserOf(await localRecognizer(checkpoint, runtime, packInMemory, { ...sessions, onWarning }));
}

scope.onmessage = ({ data }) => {
  if (!("start" in data)) throw new Error("internal: the worker was asked something before it was started");
  void serveParser(
    () => loadParser(data.start),
    (message) => scope.postMessage(message as FromParser<Notice>),
    (answer) => {
      scope.onmessage = ({ data: message }) => void answer(message as ToParser);
    },
  );
};
