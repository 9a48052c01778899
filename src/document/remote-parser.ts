/**
 * A parser all of whose work is done in another thread: the caller's own only hands on. It looks like any other parser; pages, events and
 * failures are copied across and keep their classes and codes. Knows no kind of thread: what it needs of one is a `ParserThread`.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";
import { unpackError } from "../engine/worker-messages.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { Parser } from "./document-parser.ts";
import type { PageEvent } from "./parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./parser.ts";
import type { Answers, FromParser, Question, ToParser } from "./parser-messages.ts";

/** A thread that serves a parser. */
export interface ParserThread<Notice> {
  say(message: ToParser): void;
  /** Hands on what the thread says, and why it died if it does. */
  listen(heard: (message: FromParser<Notice>) => void, died: (why: unknown) => void): void;
  /** Whether anyone waits for an answer; an idle thread need not keep a process alive. */
  busy?(busy: boolean): void;
  /** Ends it, after its parser is closed or when it is of no use. */
  end(): unknown;
}

interface Waiting {
  resolve(value: Answers[keyof Answers]): void;
  reject(reason: unknown): void;
}

interface Listeners {
  readonly onProgress?: (progress: ParseProgress) => void;
  readonly onEvent?: (event: PageEvent | RecognitionEvent) => void;
}

/** A view takes all of its buffer along when it is sent; this takes only what it shows. */
const compact = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes));

const compactImage = ({ width, height, data }: RgbImage): RgbImage => ({ width, height, data: compact(data) });

const compactInput = (input: DocumentInput): DocumentInput =>
  typeof input === "string" ? input : "width" in input ? compactImage(input) : compact(input);

function crash(why: unknown): MineruError {
  const what = why instanceof Error ? why.message : String(why);
  return new MineruError("runtime-failed", `the parser's thread expected to live until it is closed, got: ${what}; load it again`, {
    cause: why,
  });
}

class RemoteParser implements Parser {
  readonly recognizer: Recognizer<RecognizerIdentity>;
  readonly #thread: ParserThread<unknown>;
  readonly #waiting = new Map<number, Waiting & Listeners>();
  #next = 0;
  #open = 0;
  /** Why no more calls are taken. */
  #ended: Error | null = null;
  #closing: Promise<void> | null = null;
  #closed = (): void => {};

  constructor(thread: ParserThread<unknown>, info: RecognizerIdentity) {
    this.#thread = thread;
    this.recognizer = {
      info,
      recognize: (requests, options) => this.recognize(requests, options),
      close: () => this.close(),
      [Symbol.asyncDispose]: () => this.close(),
    };
  }

  async *parse(input: DocumentInput, options: ParseOptions = {}): AsyncGenerator<DocumentPage, void, undefined> {
    const { signal, choosePages, onProgress, onEvent, ...sent } = options;
    using call = this.#begin(signal, { onProgress, onEvent: onEvent as Listeners["onEvent"] });
    const heard = { progress: onProgress !== undefined, events: onEvent !== undefined };
    await call.ask({ kind: "parse", input: compactInput(input), options: sent, heard });
    const pages = choosePages?.(await call.ask({ kind: "count" }));
    for (;;) {
      const page = await call.ask({ kind: "next", pages });
      if (page === null) return;
      yield page;
    }
  }

  async recognize(requests: readonly RecognitionRequest[], options: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    const { signal, batchSize, onEvent } = options;
    using call = this.#begin(signal, { onEvent: onEvent as Listeners["onEvent"] });
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

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  hear(message: FromParser): void {
    if ("closed" in message) this.#closed();
    if (!("call" in message)) return;
    if ("answer" in message) this.#take(message.call)?.resolve(message.answer);
    else if ("failed" in message) this.#take(message.call)?.reject(unpackError(message.failed));
    else {
      const waiting = this.#waiting.get(message.call);
      try {
        if ("progress" in message) waiting?.onProgress?.(message.progress);
        else waiting?.onEvent?.(message.event);
      } catch (error) {
        this.#take(message.call)?.reject(error);
      }
    }
  }

  died(why: unknown): void {
    this.#end(crash(why));
    this.#closed();
  }

  async #close(): Promise<void> {
    if (this.#ended === null) {
      const closed = new Promise<void>((resolve) => {
        this.#closed = resolve;
      });
      this.#end(new TypeError("parser expected to be open, got a closed one"), new DOMException("the parser was closed", "AbortError"));
      this.#thread.busy?.(true);
      this.#thread.say({ close: true });
      await closed;
    }
    await this.#thread.end();
  }

  /** A call that is over when it is disposed of; the thread stops working for it then. */
  #begin(signal?: AbortSignal, listeners: Listeners = {}) {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const call = this.#next++;
    if (this.#open++ === 0) this.#thread.busy?.(true);
    const abort = (): void => this.#take(call)?.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    return {
      ask: <Q extends Question>(question: Q): Promise<Answers[Q["kind"]]> =>
        new Promise((resolve, reject) => {
          signal?.throwIfAborted();
          if (this.#ended) throw this.#ended;
          this.#waiting.set(call, { ...listeners, resolve: resolve as Waiting["resolve"], reject });
          this.#thread.say({ call, question });
        }),
      [Symbol.dispose]: (): void => {
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(call);
        const idle = --this.#open === 0;
        if (this.#ended) return;
        this.#thread.say({ call, over: true });
        if (idle) this.#thread.busy?.(false);
      },
    };
  }

  #take(call: number): Waiting | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    return waiting;
  }

  #end(later: Error, pending: unknown = later): void {
    this.#ended ??= later;
    for (const call of [...this.#waiting.keys()]) this.#take(call)?.reject(pending);
  }
}

/** Waits until the thread has loaded its parser. Errors as its loading; the signal's reason. A thread that did not load one is ended. */
export async function connectParser<Notice>(
  thread: ParserThread<Notice>,
  { signal, onNotice }: { readonly signal?: AbortSignal; readonly onNotice?: (notice: Notice) => void } = {},
): Promise<Parser> {
  let parser: RemoteParser | undefined;
  let abort: (() => void) | undefined;
  try {
    return await new Promise<Parser>((resolve, reject) => {
      signal?.throwIfAborted();
      abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      thread.listen(
        (message) => {
          if ("notice" in message) onNotice?.(message.notice);
          else if ("refused" in message) reject(unpackError(message.refused));
          else if ("ready" in message) {
            parser = new RemoteParser(thread as ParserThread<unknown>, message.ready);
            thread.busy?.(false);
            resolve(parser);
          } else parser?.hear(message);
        },
        (why) => {
          if (parser) parser.died(why);
          else reject(crash(why));
        },
      );
    });
  } catch (error) {
    await thread.end();
    throw error;
  } finally {
    if (abort) signal?.removeEventListener("abort", abort);
  }
}
