/**
 * A parser whose work is done in a worker: what a page holds. It looks like any other parser; documents go over, pages, events and failures
 * come back with their class and code.
 */
import type { FetchProgress } from "../checkpoint/fetched.ts";
import type { Parser } from "../document/document-parser.ts";
import type { PageEvent } from "../document/parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "../document/parser.ts";
import type { RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";
import { unpackError } from "../engine/worker-messages.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { Answer, FromWorker, ToWorker, WorkerStart } from "./messages.ts";

/** The part of a `Worker` that is used. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface WorkerParserOptions {
  readonly signal?: AbortSignal;
  readonly onDownload?: (progress: FetchProgress) => void;
  readonly onWarning?: (message: string) => void;
}

interface Listener {
  onEvent?(event: PageEvent | RecognitionEvent): void;
  onProgress?(progress: ParseProgress): void;
}

interface Call extends Listener {
  settle: { resolve(answer: Answer): void; reject(reason: unknown): void } | null;
}

class WorkerParser implements Parser {
  readonly recognizer: Parser["recognizer"];
  readonly #worker: WorkerLike;
  readonly #calls = new Map<number, Call>();
  #next = 0;
  #ended: Error | null = null;
  #closed: Promise<void> | null = null;
  #heardClosed: () => void = () => undefined;

  constructor(worker: WorkerLike, info: RecognizerIdentity) {
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#hear(data as FromWorker);
    worker.onerror = (event) => this.#end(crash(event));
    this.recognizer = {
      info,
      recognize: (requests, options) => this.recognize(requests, options),
      close: () => this.close(),
      [Symbol.asyncDispose]: () => this.close(),
    };
  }

  async *parse(input: DocumentInput, options: ParseOptions = {}): AsyncGenerator<DocumentPage, void, undefined> {
    const { signal, onProgress, onEvent, ...sent } = options;
    const listener: Listener = { onProgress, onEvent: onEvent as Listener["onEvent"] };
    const call = this.#open(listener);
    try {
      const first: ToWorker = { kind: "parse", call, input, options: sent, events: onEvent !== undefined };
      for (let message: ToWorker = first; ; message = { kind: "next", call }) {
        const page = (await this.#ask(call, message, signal)) as DocumentPage | null;
        if (page === null) return;
        yield page;
      }
    } finally {
      this.#forget(call);
    }
  }

  async decodeImage(bytes: Uint8Array): Promise<RgbImage> {
    return (await this.#once((call) => ({ kind: "decode", call, bytes }))) as RgbImage;
  }

  async encodePng(image: RgbImage): Promise<Uint8Array> {
    return (await this.#once((call) => ({ kind: "encode", call, image }))) as Uint8Array;
  }

  async recognize(requests: readonly RecognitionRequest[], options: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    const { signal, batchSize, onEvent } = options;
    const listener = { onEvent: onEvent as Listener["onEvent"] };
    const events = onEvent !== undefined;
    return (await this.#once(
      (call) => ({ kind: "recognize", call, requests, batchSize, events }),
      listener,
      signal,
    )) as RecognitionResult[];
  }

  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#heardClosed = resolve;
      const crashed = this.#ended !== null;
      this.#end(new TypeError("parser expected to be open, got a closed one"), new DOMException("the parser was closed", "AbortError"));
      if (crashed) resolve();
      else this.#worker.postMessage({ kind: "close" });
    }).then(() => this.#worker.terminate());
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(listener: Listener): number {
    if (this.#ended) throw this.#ended;
    this.#calls.set(this.#next, { ...listener, settle: null });
    return this.#next++;
  }

  /** A call with one answer. */
  async #once(messageOf: (call: number) => ToWorker, listener: Listener = {}, signal?: AbortSignal): Promise<Answer> {
    const call = this.#open(listener);
    try {
      return await this.#ask(call, messageOf(call), signal);
    } finally {
      this.#forget(call);
    }
  }

  async #ask(call: number, message: ToWorker, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted();
    const entry = this.#calls.get(call);
    if (!entry) throw this.#ended ?? new Error("internal: a call was asked on after its end");
    let abort: (() => void) | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        entry.settle = { resolve, reject };
        abort = () => reject(signal?.reason);
        signal?.addEventListener("abort", abort, { once: true });
        this.#worker.postMessage(message);
      });
    } finally {
      entry.settle = null;
      if (abort) signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends a call; the worker passes over calls it has ended itself. */
  #forget(call: number): void {
    if (this.#calls.delete(call) && this.#ended === null) this.#worker.postMessage({ kind: "abort", call });
  }

  #hear(message: FromWorker): void {
    if (message.kind === "closed") this.#heardClosed();
    if (!("call" in message)) return;
    const call = this.#calls.get(message.call);
    if (message.kind === "answer") call?.settle?.resolve(message.answer);
    else if (message.kind === "failed") call?.settle?.reject(unpackError(message.error));
    else {
      try {
        if (message.kind === "event") call?.onEvent?.(message.event);
        else call?.onProgress?.(message.progress);
      } catch (error) {
        call?.settle?.reject(error);
      }
    }
  }

  #end(later: Error, pending: unknown = later): void {
    this.#ended ??= later;
    for (const { settle } of this.#calls.values()) settle?.reject(pending);
    this.#calls.clear();
  }
}

function crash({ message }: ErrorEvent): MineruError {
  const what = message || "it could not be started";
  return new MineruError("runtime-failed", `the parser's worker expected to live until it is closed, got: ${what}; load it again`);
}

/** Starts a parser in `worker`. Errors as the parser's loading; the signal's reason. A worker that did not start is ended. */
export async function startWorkerParser(worker: WorkerLike, start: WorkerStart, options: WorkerParserOptions = {}): Promise<Parser> {
  const { signal, onDownload, onWarning } = options;
  let abort: (() => void) | undefined;
  try {
    const info = await new Promise<RecognizerIdentity>((resolve, reject) => {
      signal?.throwIfAborted();
      abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      worker.onerror = (event) => reject(crash(event));
      worker.onmessage = ({ data }) => {
        const message = data as FromWorker;
        if (message.kind === "ready") resolve(message.info);
        else if (message.kind === "refused") reject(unpackError(message.error));
        else if (message.kind === "download") onDownload?.(message.progress);
        else if (message.kind === "warning") onWarning?.(message.message);
      };
      worker.postMessage({ kind: "start", start });
    });
    return new WorkerParser(worker, info);
  } catch (error) {
    worker.terminate();
    throw error;
  } finally {
    if (abort) signal?.removeEventListener("abort", abort);
  }
}
