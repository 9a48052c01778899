/**
 * What happens while something is read, as async iterators: every denoising step, or the text as far as it is settled, while the rest is
 * still being denoised. Whoever stops iterating stops the work. A block of an answer is settled for good when the next one has begun, since
 * an answer that ends, ends within its last block; printed lines that are read one by one are settled in their order.
 */
import type { RecognitionEvent, RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";
import type { Parser } from "./document-parser.ts";
import type { PageEvent } from "./parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions } from "./parser.ts";

type Work<Event, Result> = (emit: (event: Event) => void, signal: AbortSignal) => Promise<Result>;

/** Events of `work` in their order, and its result as the generator's return value. Errors as `work`'s. */
async function* eventsOf<Event, Result>(work: Work<Event, Result>, signal?: AbortSignal): AsyncGenerator<Event, Result, undefined> {
  const abandoned = new AbortController();
  const waiting: Event[] = [];
  let wake = (): void => {};
  let ended = false;
  const result = work(
    (event) => {
      waiting.push(event);
      wake();
    },
    signal ? AbortSignal.any([signal, abandoned.signal]) : abandoned.signal,
  );
  const end = (): void => {
    ended = true;
    wake();
  };
  result.then(end, end);
  try {
    for (;;) {
      while (waiting.length > 0) yield waiting.shift()!;
      if (ended) return await result;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    abandoned.abort(new DOMException("the events are no longer wanted", "AbortError"));
  }
}

/** The steps, lines and results of a recognition as they happen; its return value is what `parser.recognize` gives. */
export function recognitionEvents(
  parser: Pick<Parser, "recognize">,
  requests: readonly RecognitionRequest[],
  { signal, ...options }: Omit<RecognizeOptions, "onEvent"> = {},
): AsyncGenerator<RecognitionEvent, RecognitionResult[], undefined> {
  return eventsOf((onEvent, stop) => parser.recognize(requests, { ...options, signal: stop, onEvent }), signal);
}

/** The text of one answer as it settles. */
class Settling {
  readonly #blocks: string[][] = [];
  readonly #lines: string[] = [];
  #said = "";

  /** What an event of this answer settles; mostly nothing. */
  hear(event: RecognitionEvent): string {
    if (event.kind === "result") return this.#sayUpTo(event.result.text);
    if (event.kind === "line") {
      this.#lines[event.line] = event.text;
      let settled = "";
      for (let line = 0; this.#lines[line] !== undefined; line++) settled += this.#lines[line];
      return this.#sayUpTo(settled);
    }
    if (event.line !== undefined) return "";
    const { block, positions } = event.record;
    const news = this.#blocks.length <= block ? this.#sayUpTo(this.#blocks.flat().join("")) : "";
    this.#blocks[block] ??= [];
    positions.forEach((position, i) => {
      this.#blocks[block][position] = event.texts[i];
    });
    return news;
  }

  /** A character of several tokens is told when the answer is whole: single tokens have only a sign of doubt for their part of it. */
  #sayUpTo(text: string): string {
    const doubtful = text.indexOf("\ufffd");
    const sure = doubtful < 0 ? text : text.slice(0, doubtful);
    // An answer cut for repetition may end before what was said.
    if (!sure.startsWith(this.#said)) return "";
    const news = sure.slice(this.#said.length);
    this.#said = sure;
    return news;
  }
}

/** The text of a crop in pieces, each told when it can no longer change; the return value is the whole result. */
export async function* settledText(
  parser: Pick<Parser, "recognize">,
  request: RecognitionRequest,
  options: Omit<RecognizeOptions, "onEvent"> = {},
): AsyncGenerator<string, RecognitionResult, undefined> {
  const settling = new Settling();
  const events = recognitionEvents(parser, [request], options);
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value[0];
      const piece = settling.hear(value);
      if (piece !== "") yield piece;
    }
  } finally {
    await events.return([]);
  }
}

/** Something settled while a document is read. Regions and pieces of regions (bands of tall ones) count from 0 on each page. */
export type DocumentEvent =
  | Extract<PageEvent, { kind: "layout" }>
  | { readonly kind: "text"; readonly region: number; readonly piece: number; readonly text: string }
  | { readonly kind: "page"; readonly page: DocumentPage };

/** A document as it is read, one page after the other: the regions of a page, their texts in pieces as they settle, the page when it is whole. */
export function documentEvents(
  parser: Pick<Parser, "parse">,
  input: DocumentInput,
  { signal, ...options }: Omit<ParseOptions, "onEvent" | "window"> = {},
): AsyncGenerator<DocumentEvent, void, undefined> {
  return eventsOf(async (emit: (event: DocumentEvent) => void, stop) => {
    let pieces = new Map<number, Settling>();
    const onEvent = (event: PageEvent): void => {
      if (event.kind === "layout") emit(event);
      if (event.kind !== "recognition") return;
      const piece = event.event.request;
      const settling = pieces.get(piece) ?? new Settling();
      pieces.set(piece, settling);
      const text = settling.hear(event.event);
      if (text !== "") emit({ kind: "text", region: event.region, piece, text });
    };
    for await (const page of parser.parse(input, { ...options, signal: stop, onEvent })) {
      pieces = new Map();
      emit({ kind: "page", page });
    }
  }, signal);
}
