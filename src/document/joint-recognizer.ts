/**
 * One model for many pages: questions that come while it is busy wait together and are then decoded side by side, regions of all pages in
 * one batch. A batch that fails is asked again page by page, so that only the page at fault fails. Knows no pages, only questions.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";

interface Waiting {
  readonly requests: readonly RecognitionRequest[];
  readonly options: RecognizeOptions;
  resolve(results: RecognitionResult[]): void;
  reject(reason: unknown): void;
}

/** A recogniser that answers callers at the same time through `inner`, in joint batches. Closing it closes `inner`. */
export function jointRecognizer<Info extends RecognizerIdentity>(inner: Recognizer<Info>): Recognizer<Info> {
  let waiting: Waiting[] = [];
  let busy = false;

  const alone = async ({ requests, options, resolve, reject }: Waiting): Promise<void> => {
    await inner.recognize(requests, options).then(resolve, reject);
  };

  const together = async (calls: readonly Waiting[]): Promise<void> => {
    const owners = calls.flatMap((call) => call.requests.map((_, request) => ({ call, request })));
    const stop = new AbortController();
    const listeners = calls.map((call) => {
      const listener = (): void => {
        call.reject(call.options.signal?.reason);
        if (calls.every(({ options }) => options.signal?.aborted)) stop.abort(call.options.signal?.reason);
      };
      call.options.signal?.addEventListener("abort", listener, { once: true });
      return () => call.options.signal?.removeEventListener("abort", listener);
    });
    const heard = calls.some(({ options }) => options.onEvent);
    try {
      const results = await inner.recognize(
        calls.flatMap(({ requests }) => requests),
        {
          signal: stop.signal,
          batchSize: calls[0].options.batchSize,
          onEvent: heard
            ? (event) => {
                const { call, request } = owners[event.request];
                if (!call.options.signal?.aborted) call.options.onEvent?.({ ...event, request });
              }
            : undefined,
        },
      );
      let at = 0;
      for (const { requests, resolve } of calls) {
        resolve(results.slice(at, at + requests.length));
        at += requests.length;
      }
    } catch {
      for (const call of calls) if (!call.options.signal?.aborted) await alone(call);
    } finally {
      for (const forget of listeners) forget();
    }
  };

  const work = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const calls = waiting.filter(({ options }) => !options.signal?.aborted);
      waiting = [];
      if (calls.length === 1) await alone(calls[0]);
      else if (calls.length > 1) await together(calls);
    }
    busy = false;
  };

  return {
    info: inner.info,
    recognize: (requests, options = {}) =>
      new Promise((resolve, reject) => {
        options.signal?.throwIfAborted();
        options.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true });
        waiting.push({ requests, options, resolve, reject });
        if (!busy) void work();
      }),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
  };
}
