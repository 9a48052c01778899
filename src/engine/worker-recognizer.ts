/**
 * A recogniser that computes in a thread of its own, so that timers, sockets and signals of the caller go on while it reads. It looks
 * like any other recogniser: requests are copied to the thread, events and results come back, failures keep their class and code.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { MineruError } from "../error.ts";
import type { Recognizer, RecognizerInfo } from "./recognizer.ts";
import type { SessionsOptions } from "./sessions.ts";
import type { RecognitionRequest, RecognitionResult, RecognizeOptions } from "./types.ts";
import { type FromWorker, type ToWorker, unpackError, type WorkerStart } from "./worker-messages.ts";

/** The compiled worker: beside this file, or in dist/ when this file itself runs as TypeScript. */
function workerFile(): URL {
  const here = import.meta.url;
  const url = here.endsWith(".ts") ? new URL("../../dist/engine/worker.js", here) : new URL("./worker.js", here);
  const path = fileURLToPath(url);
  if (!existsSync(path))
    throw new MineruError("runtime-unavailable", `${path} expected to be the compiled worker, got nothing: npm run build`);
  return url;
}

interface PendingCall {
  readonly onEvent?: RecognizeOptions["onEvent"];
  resolve(results: readonly RecognitionResult[]): void;
  reject(reason: unknown): void;
}

/** Copies of the pictures and prompts, each once, and the buffers to hand over with them. */
function copied(requests: readonly RecognitionRequest[]): { requests: RecognitionRequest[]; buffers: ArrayBuffer[] } {
  const pictures = new Map<Uint8Array, Uint8Array<ArrayBuffer>>();
  const buffers: ArrayBuffer[] = [];
  const copies = requests.map((request): RecognitionRequest => {
    const { image, promptIds } = request;
    const copy = promptIds && new Int32Array(promptIds);
    if (copy) buffers.push(copy.buffer);
    if (!image) return { ...request, promptIds: copy };
    const data = pictures.get(image.data) ?? new Uint8Array(image.data);
    if (!pictures.has(image.data)) buffers.push(data.buffer);
    pictures.set(image.data, data);
    return { ...request, image: { width: image.width, height: image.height, data }, promptIds: copy };
  });
  return { requests: copies, buffers };
}

class WorkerRecognizer implements Recognizer {
  readonly info: RecognizerInfo;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #calls = new Map<number, PendingCall>();
  #next = 0;
  /** Why no more calls are taken. */
  #ended: Error | null = null;

  constructor(worker: Worker, info: RecognizerInfo) {
    this.info = info;
    this.#worker = worker;
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: FromWorker) => this.#hear(message));
    worker.once("error", (cause) => this.#end(crash(cause)));
    worker.once("exit", (code) => this.#end(crash(`exit code ${code}`)));
    // An idle recogniser keeps no process alive.
    worker.unref();
  }

  recognize(requests: readonly RecognitionRequest[], options: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    const { signal, batchSize, onEvent } = options;
    return new Promise<RecognitionResult[]>((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#ended) throw this.#ended;
      const call = this.#next++;
      const abort = (): void => {
        this.#say({ kind: "abort", call });
        this.#settle(call)?.reject(signal?.reason);
      };
      const finish =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener("abort", abort);
          settle(value);
        };
      const copy = copied(requests);
      this.#say({ kind: "recognize", call, requests: copy.requests, batchSize, events: onEvent !== undefined }, copy.buffers);
      if (this.#calls.size === 0) this.#worker.ref();
      this.#calls.set(call, { onEvent, resolve: finish(resolve as PendingCall["resolve"]), reject: finish(reject) });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  async close(): Promise<void> {
    if (this.#ended === null) {
      this.#end(
        new TypeError("recogniser expected to be open, got a closed one"),
        new DOMException("the recogniser was closed", "AbortError"),
      );
      this.#worker.ref();
      this.#say({ kind: "close" });
    }
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #say(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #hear(message: FromWorker): void {
    if (message.kind === "results") this.#settle(message.call)?.resolve(message.results);
    else if (message.kind === "failed") this.#settle(message.call)?.reject(unpackError(message.error));
    else if (message.kind === "event") {
      try {
        this.#calls.get(message.call)?.onEvent?.(message.event);
      } catch (error) {
        this.#say({ kind: "abort", call: message.call });
        this.#settle(message.call)?.reject(error);
      }
    }
  }

  /** Takes a call from the list; undefined if it was settled before. */
  #settle(call: number): PendingCall | undefined {
    const pending = this.#calls.get(call);
    if (this.#calls.delete(call) && this.#calls.size === 0) this.#worker.unref();
    return pending;
  }

  #end(later: Error, pending: unknown = later): void {
    this.#ended ??= later;
    for (const call of [...this.#calls.keys()]) this.#settle(call)?.reject(pending);
  }
}

function crash(cause: unknown): MineruError {
  const what = cause instanceof Error ? cause.message : String(cause);
  return new MineruError("runtime-failed", `the recogniser's thread expected to live until it is closed, got: ${what}; load it again`, {
    cause,
  });
}

/** Resolves with what the thread says of itself once the checkpoint is loaded. */
function loaded(worker: Worker, onWarning: SessionsOptions["onWarning"]): Promise<RecognizerInfo> {
  return new Promise((resolve, reject) => {
    const hear = (message: FromWorker): void => {
      if (message.kind === "warning") onWarning?.(message.message);
      else if (message.kind === "refused") stop(() => reject(unpackError(message.error)));
      else if (message.kind === "ready") stop(() => resolve(message.info));
    };
    const failed = (cause: unknown): void => stop(() => reject(crash(cause)));
    const exited = (code: number): void => stop(() => reject(crash(`exit code ${code}`)));
    const stop = (settle: () => void): void => {
      worker.off("message", hear).off("error", failed).off("exit", exited);
      settle();
    };
    worker.on("message", hear).on("error", failed).on("exit", exited);
  });
}

/**
 * Loads a checkpoint folder in a thread of its own.
 * @throws as `loadRecognizer`; MineruError `runtime-unavailable` if the worker is not compiled, `runtime-failed` if the thread dies.
 */
export async function loadWorkerRecognizer(dir: string, options: SessionsOptions = {}): Promise<Recognizer> {
  const { onWarning, ...sent } = options;
  const start: WorkerStart = { dir, options: sent };
  // Flags of the caller's own start, such as --input-type, are not for a file.
  const worker = new Worker(workerFile(), { workerData: start, execArgv: [] });
  try {
    return new WorkerRecognizer(worker, await loaded(worker, onWarning));
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}
