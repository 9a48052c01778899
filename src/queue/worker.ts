/**
 * A worker: takes pages from the queue, reads them, settles them, until it is told to stop; beside that it looks after what others left – pages
 * of workers that died, pages that failed for the last time, finished documents that nobody wrote. Told to stop, it finishes the pages it holds.
 * Knows no file formats: what becomes of pictures and finished documents is handed in.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type DocumentPage, MineruError, type Parser, pageToJson } from "../index.ts";
import { DatabaseFailure, type Life } from "./database.ts";
import type { FinishedDocument, PageQueue, ReadingOptions, TakenPage } from "./page-queue.ts";

export type WorkerEvent =
  | { readonly kind: "started"; readonly worker: number }
  | { readonly kind: "page"; readonly document: string; readonly page: number; readonly milliseconds: number }
  | { readonly kind: "failed" | "set-aside"; readonly document: string; readonly page: number; readonly error: string }
  | { readonly kind: "released"; readonly pages: number }
  | { readonly kind: "written"; readonly document: string; readonly name: string }
  | { readonly kind: "reconnecting"; readonly error: string };

export interface WorkerOptions {
  readonly parser: Parser;
  /** PNG files of a page by their path in the output folder. */
  readonly pictures: (page: DocumentPage) => Promise<ReadonlyMap<string, Uint8Array>>;
  /** Writes a finished document; without it that is left to others. */
  readonly write?: (finished: FinishedDocument) => Promise<void>;
  /** Pages read at once. Default 1: the regions of a page are read side by side already. */
  readonly atOnce?: number;
  /** Longest time for one page. Default 600 000. */
  readonly pageTimeoutMs?: number;
  /** End when all pages are settled, instead of waiting for more. */
  readonly untilEmpty?: boolean;
  /** Asks the worker to stop. */
  readonly signal: AbortSignal;
  readonly onEvent?: (event: WorkerEvent) => void;
}

const POLL_MS = 500;
const UPKEEP_MS = 2000;
const CONNECTING = { attempts: 8, firstPauseMs: 500 };
/** These concern the worker, not the page: it must not go on to spoil the next one. */
const FATAL = new Set(["runtime-failed", "runtime-unavailable", "network-failed", "server-failed"]);

const isFatal = (error: unknown): boolean => error instanceof MineruError && FATAL.has(error.code);

/** Waits; returns early when `signal` is aborted. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> => sleep(milliseconds, undefined, { signal }).catch(() => {});

/** The last document's bytes: neighbouring pages mostly belong together. */
class Contents {
  readonly #queue: PageQueue;
  #last: { readonly document: string; readonly content: Promise<{ bytes: Uint8Array; options: ReadingOptions } | null> } | null = null;

  constructor(queue: PageQueue) {
    this.#queue = queue;
  }

  of(document: string) {
    if (this.#last?.document !== document) this.#last = { document, content: this.#queue.content(document) };
    const { content } = this.#last;
    content.catch(() => {
      this.#last = null;
    });
    return content;
  }
}

/**
 * Works until told to stop.
 * @throws MineruError of the runtime or the model's server, after its pages are given back; `server-failed` when the database stays away;
 * `output-unwritable` from `write`.
 */
export async function work(queue: PageQueue, options: WorkerOptions): Promise<void> {
  const { signal, onEvent } = options;
  const contents = new Contents(queue);
  for (let failures = 0; ; ) {
    try {
      return await workOneLife(queue, contents, options, () => {
        failures = 0;
      });
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || signal.aborted || ++failures > CONNECTING.attempts) throw error;
      onEvent?.({ kind: "reconnecting", error: error.message });
      await pause(CONNECTING.firstPauseMs * 2 ** (failures - 1), signal);
    }
  }
}

/** Works until told to stop, or until the connection that this life hangs on is lost. */
async function workOneLife(queue: PageQueue, contents: Contents, options: WorkerOptions, onConnected: () => void): Promise<void> {
  const { atOnce = 1, untilEmpty, signal, onEvent, write } = options;
  await using life = await queue.live();
  onConnected();
  onEvent?.({ kind: "started", worker: life.number });
  const broken = new AbortController();
  const ends = AbortSignal.any([signal, life.lost, broken.signal]);

  const upkeep = async (): Promise<void> => {
    const released = await queue.releaseLost();
    if (released > 0) onEvent?.({ kind: "released", pages: released });
    for (const page of await queue.setAside()) onEvent?.({ kind: "set-aside", ...page });
    if (!write) return;
    const writing = async (finished: FinishedDocument): Promise<void> => {
      await write(finished);
      onEvent?.({ kind: "written", document: finished.id, name: finished.name });
    };
    while (!life.lost.aborted && (await queue.writeNext(writing)));
  };
  const reader = async (): Promise<void> => {
    while (!ends.aborted) {
      const taken = await queue.take(life.number);
      if (taken) await readPage(queue, taken, life, contents, options);
      else if (untilEmpty && (await queue.settled())) return;
      else await pause(POLL_MS, ends);
    }
  };
  /** The first failure stops all; then the others finish what they hold. */
  const guarded = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      broken.abort(error);
    }
  };
  const read = new AbortController();
  const reading = Promise.all(Array.from({ length: atOnce }, () => guarded(reader))).finally(() => read.abort());
  const over = AbortSignal.any([ends, read.signal]);
  await guarded(async () => {
    while (!over.aborted) {
      await upkeep();
      await pause(UPKEEP_MS, over);
    }
  });
  await reading;
  life.lost.throwIfAborted();
  broken.signal.throwIfAborted();
  await upkeep();
}

async function readPage(queue: PageQueue, taken: TakenPage, life: Life, contents: Contents, options: WorkerOptions): Promise<void> {
  const { parser, pictures, pageTimeoutMs = 600_000, onEvent } = options;
  const { document, page } = taken;
  const began = performance.now();
  const late = AbortSignal.timeout(pageTimeoutMs);
  try {
    const content = await contents.of(document);
    if (!content) return;
    const signal = AbortSignal.any([late, life.lost]);
    for await (const parsed of parser.parse(content.bytes, { ...content.options, pages: [page], failedPages: "throw", signal })) {
      const { name: checkpoint, profile } = parser.recognizer.info;
      const reader = { checkpoint, printedLineBreaks: profile.printedLineBreaks };
      const settled = await queue.finish(taken, { page: pageToJson(parsed.page), pictures: await pictures(parsed), reader });
      if (settled) onEvent?.({ kind: "page", document, page, milliseconds: Math.round(performance.now() - began) });
    }
  } catch (error) {
    // Its pages are given back by those who notice that it is gone.
    if (life.lost.aborted) throw error;
    const message = late.aborted ? `it was not read within ${pageTimeoutMs / 1000} s` : (error as Error).message;
    onEvent?.({ kind: "failed", document, page, error: message });
    await queue.fail(taken, message);
    if (!late.aborted && isFatal(error)) throw error;
  }
}
