/**
 * A parser all of whose work is done in other threads: the caller's event loop only hands on. It looks like any other parser; pages, events and
 * failures are copied across and keep their classes and codes.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { OpenaiRecognizerOptions } from "../engine/openai-recognizer.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { SessionsOptions } from "../engine/sessions.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";
import { unpackError } from "../engine/worker-messages.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { Parser } from "./document-parser.ts";
import type { PageEvent } from "./parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./parser.ts";
import type { Answers, FromParser, ParserStart, Question, ToParser } from "./parser-messages.ts";

/** The compiled worker: beside this file, or in dist/ when this file itself runs as TypeScript. */
function workerFile(): URL {
  const here = import.meta.url;
  const url = here.endsWith(".ts") ? new URL("../../dist/document/parser-worker.js", here) : new URL("./parser-worker.js", here);
  const path = fileURLToPath(url);
  if (!existsSync(path))
    throw new MineruError("runtime-unavailable", `${path} expected to be the compiled worker, got nothing: npm run build`);
  return url;
}

interface Call {
  resolve(value: Answers[keyof Answers]): void;
  reject(reason: unknown): void;
  readonly onProgress?: (progress: ParseProgress) => void;
  readonly onEvent?: (event: never) => void;
}

type Listeners = Pick<Call, "onProgress" | "onEvent">;

/** A view takes all of its buffer along when it is sent; this takes only what it shows. */
const compact = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes));

const compactImage = ({ width, height, data }: RgbImage): RgbImage => ({ width, height, data: compact(data) });

const compactInput = (input: DocumentInput): DocumentInput =>
  typeof input === "string" ? input : "width" in input ? compactImage(input) : compact(input);

const closed = (): TypeError => new TypeError("parser expected to be open, got a closed one");

class WorkerParser implements Parser {
  readonly recognizer: Recognizer<RecognizerIdentity>;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Call>();
  #next = 0;
  /** Calls that are open, whether or not they wait for an answer. */
  #open = 0;
  #ended: Error | null = null;

  constructor(worker: Worker, info: RecognizerIdentity) {
    this.#worker = worker;
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: FromParser) => this.#hear(message));
    worker.once("error", (cause) => this.#end(crash(cause)));
    worker.once("exit", (code) => this.#end(crash(`exit code ${code}`)));
    worker.unref();
    this.recognizer = {
      info,
      recognize: (requests, options) => this.recognize(requests, options),
      close: () => this.close(),
      [Symbol.asyncDispose]: () => this.close(),
    };
  }

  async *parse(input: DocumentInput, options: ParseOptions = {}): AsyncGenerator<DocumentPage, void, undefined> {
    const { signal, choosePages, onProgress, onEvent, ...sent } = options;
    using call = this.#begin(signal, { onProgress, onEvent: onEvent as ((event: PageEvent) => void) | undefined });
    const heard = { progress: onProgress !== undefined, events: onEvent !== undefined };
    await call.ask({ kind: "parse", input: compactInput(input), options: sent, heard });
    let pages = choosePages?.(await call.ask({ kind: "count" }));
    for (;;) {
      const page = await call.ask({ kind: "next", pages });
      if (page === null) return;
      pages = undefined;
      yield page;
    }
  }

  async recognize(requests: readonly RecognitionRequest[], options: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    const { signal, batchSize, onEvent } = options;
    using call = this.#begin(signal, { onEvent: onEvent as ((event: RecognitionEvent) => void) | undefined });
    const sent = requests.map((request) => (request.image ? { ...request, image: compactImage(request.image) } : request));
    return await call.ask({ kind: "recognize", requests: sent, batchSize, heard: onEvent !== undefined });
  }

  async decodeImage(bytes: Uint8Array): Promise<RgbImage> {
    using call = this.#begin();
    return await call.ask({ kind: "decode", bytes: compact(bytes) });
  }

  async encodePng(image: RgbImage): Promise<Uint8Array> {
    using call = this.#begin();
    return await call.ask({ kind: "encode", image: compactImage(image) });
  }

  async close(): Promise<void> {
    if (this.#ended === null) {
      this.#end(closed());
      this.#worker.ref();
      this.#say({ close: true });
    }
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A call that is over when it is disposed of; the thread stops working for it then. */
  #begin(signal?: AbortSignal, listeners: Listeners = {}) {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const call = this.#next++;
    if (this.#open++ === 0) this.#worker.ref();
    const abort = (): void => this.#take(call)?.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    return {
      ask: <Q extends Question>(question: Q): Promise<Answers[Q["kind"]]> =>
        new Promise((resolve, reject) => {
          signal?.throwIfAborted();
          if (this.#ended) throw this.#ended;
          this.#waiting.set(call, { ...listeners, resolve: resolve as Call["resolve"], reject });
          this.#say({ call, question });
        }),
      [Symbol.dispose]: (): void => {
        signal?.removeEventListener("abort", abort);
        if (--this.#open === 0) this.#worker.unref();
        if (this.#ended === null) this.#say({ call, over: true });
      },
    };
  }

  #say(message: ToParser): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromParser): void {
    if (!("call" in message)) return;
    if ("answer" in message) this.#take(message.call)?.resolve(message.answer);
    else if ("failed" in message) this.#take(message.call)?.reject(unpackError(message.failed));
    else {
      const waiting = this.#waiting.get(message.call);
      try {
        if ("progress" in message) waiting?.onProgress?.(message.progress);
        else waiting?.onEvent?.(message.event as never);
      } catch (error) {
        this.#take(message.call)?.reject(error);
      }
    }
  }

  #take(call: number): Call | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    return waiting;
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const call of [...this.#waiting.keys()]) this.#take(call)?.reject(reason);
  }
}

function crash(cause: unknown): MineruError {
  const what = cause instanceof Error ? cause.message : String(cause);
  return new MineruError("runtime-failed", `the parser's thread expected to live until it is closed, got: ${what}; load it again`, {
    cause,
  });
}

function ready(worker: Worker, onWarning: SessionsOptions["onWarning"]): Promise<RecognizerIdentity> {
  return new Promise((resolve, reject) => {
    const hear = (message: FromParser): void => {
      if ("warning" in message) onWarning?.(message.warning);
      else if ("refused" in message) stop(() => reject(unpackError(message.refused)));
      else if ("ready" in message) stop(() => resolve(message.ready));
    };
    const failed = (cause: unknown): void => stop(() => reject(crash(cause)));
    const stop = (settle: () => void): void => {
      worker.off("message", hear).off("error", failed).off("exit", failed);
      settle();
    };
    worker.on("message", hear).on("error", failed).on("exit", failed);
  });
}

/**
 * Loads a checkpoint folder, or reaches a server, from a thread of its own. What the server's options hold must be data.
 * @throws as `loadWorkerRecognizer` and `openaiRecognizer`; MineruError `runtime-failed` if the thread dies.
 */
export async function loadWorkerParser(
  from: { readonly dir: string; readonly sessions: SessionsOptions } | { readonly server: OpenaiRecognizerOptions },
): Promise<Parser> {
  const { onWarning, ...sessions } = "dir" in from ? from.sessions : {};
  const start: ParserStart = "dir" in from ? { dir: from.dir, sessions } : from;
  const worker = new Worker(workerFile(), { workerData: start, execArgv: [] });
  try {
    return new WorkerParser(worker, await ready(worker, onWarning));
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}
