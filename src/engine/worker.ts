/**
 * The thread in which a recogniser lives when its caller must stay free: ONNX Runtime computes on the thread that asks. Calls are handed on
 * as they come; the recogniser lets them share its passes. Between steps messages are read, and so calls can be aborted.
 */
import { parentPort, workerData } from "node:worker_threads";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { loadRecognizer, type Recognizer } from "./recognizer.ts";
import type { RecognitionEvent } from "./types.ts";
import { type FromWorker, packError, type ToWorker, type WorkerStart } from "./worker-messages.ts";

const port = parentPort;
if (!port) throw new Error("internal: the recogniser's worker was loaded outside a worker thread");

const say = (message: FromWorker): void => port.postMessage(message);

type Call = Extract<ToWorker, { kind: "recognize" }>;

/** Answers messages until told to close. */
function serve(recognizer: Recognizer): void {
  const running = new Map<number, { readonly controller: AbortController; readonly done: Promise<void> }>();

  const run = async ({ call, requests, batchSize, events }: Call, signal: AbortSignal): Promise<void> => {
    try {
      const onEvent = events ? (event: RecognitionEvent) => say({ kind: "event", call, event }) : undefined;
      say({ kind: "results", call, results: await recognizer.recognize(requests, { batchSize, signal, onEvent }) });
    } catch (error) {
      say({ kind: "failed", call, error: packError(error) });
    }
    running.delete(call);
  };
  const close = async (): Promise<void> => {
    const open = [...running.values()];
    for (const { controller } of open) controller.abort();
    await Promise.all(open.map(({ done }) => done));
    await recognizer.close();
    port?.close();
  };
  port?.on("message", (message: ToWorker) => {
    if (message.kind === "recognize") {
      const controller = new AbortController();
      running.set(message.call, { controller, done: Promise.resolve().then(() => run(message, controller.signal)) });
    } else if (message.kind === "abort") running.get(message.call)?.controller.abort();
    else void close();
  });
}

const { dir, options } = workerData as WorkerStart;
try {
  const recognizer = await loadRecognizer(dir, nodeRuntime, {
    ...options,
    onWarning: (message) => say({ kind: "warning", message }),
  });
  serve(recognizer);
  say({ kind: "ready", info: recognizer.info });
} catch (error) {
  say({ kind: "refused", error: packError(error) });
}
