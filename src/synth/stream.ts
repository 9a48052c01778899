/**
 * A stream of training samples made beside the trainer in worker threads: the near end. Each worker is asked for a
 * bounded number of batches ahead; batches are handed out in index order whoever made them, so sample i depends only on
 * seed and recipe, never on timing or on the number of workers. It refuses to know what a batch holds.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { MineruError } from "../error.ts";
import type { SampleRecipe, SynthSample } from "./recipe.ts";

export interface SampleStreamOptions {
  readonly seed: number;
  readonly recipe: SampleRecipe;
  /** Worker threads (default 1). */
  readonly workers?: number;
  /** Batches asked of each worker ahead of need (default 2; about 24 samples, some 10 MB, a batch). */
  readonly ahead?: number;
  /** First batch to hand out, to go on where an earlier stream stood (default 0). */
  readonly firstBatch?: number;
  readonly signal?: AbortSignal;
}

export interface SampleStream extends AsyncDisposable {
  /** The next sample; waits for it if need be. Rejects when the stream is closed, aborted or its worker failed. */
  next(): Promise<SynthSample>;
  /** The next `count` samples. */
  take(count: number): Promise<SynthSample[]>;
  /** Index of the batch the next sample comes from: start another stream here to repeat it from that batch's beginning. */
  readonly batch: number;
  /** Ends the workers. */
  close(): Promise<void>;
}

type Answer = { readonly index: number; readonly samples?: SynthSample[]; readonly error?: unknown };

function workerFile(): URL {
  const here = import.meta.url;
  // Node runs the compiled worker; when this file itself runs as TypeScript (in tests), that is in dist/.
  const url = here.endsWith(".ts") ? new URL("../../dist/synth/stream-worker.js", here) : new URL("./stream-worker.js", here);
  if (!existsSync(fileURLToPath(url)))
    throw new MineruError("runtime-unavailable", `no compiled worker at ${fileURLToPath(url)}: npm run build`);
  return url;
}

/**
 * Starts making samples.
 * @throws RangeError for counts below one; MineruError `runtime-unavailable` if the worker is not compiled.
 */
export function startSampleStream(options: SampleStreamOptions): SampleStream {
  const workerCount = options.workers ?? 1;
  const ahead = options.ahead ?? 2;
  if (!(workerCount >= 1)) throw new RangeError(`\`workers\` expected at least 1, got ${workerCount}`);
  if (!(ahead >= 1)) throw new RangeError(`\`ahead\` expected at least 1, got ${ahead}`);
  options.signal?.throwIfAborted();

  const url = workerFile();
  const ready = new Map<number, SynthSample[]>();
  const firstBatch = options.firstBatch ?? 0;
  let wanted = firstBatch; // the batch being handed out
  let asked = firstBatch; // the first batch nobody was asked for
  let queue: SynthSample[] = [];
  let taken = 0;
  let failure: unknown;
  let wake: (() => void) | undefined;

  const rouse = () => {
    wake?.();
    wake = undefined;
  };
  const fail = (error: unknown) => {
    failure ??= error;
    rouse();
  };
  const workers = Array.from({ length: workerCount }, () => {
    const worker = new Worker(url, { workerData: { seed: options.seed, recipe: options.recipe } });
    worker.on("message", (answer: Answer) => {
      if (answer.samples) {
        ready.set(answer.index, answer.samples);
        rouse();
      } else fail(answer.error);
    });
    worker.on("error", fail);
    worker.on("exit", (code) => {
      if (code !== 0) fail(new MineruError("runtime-failed", `a sample worker ended with code ${code}: look for lack of memory`));
    });
    return worker;
  });
  const askAhead = () => {
    for (; asked < wanted + ahead * workerCount; asked++) workers[asked % workerCount].postMessage(asked);
  };
  const close = async () => {
    fail(new DOMException("the sample stream is closed", "AbortError"));
    options.signal?.removeEventListener("abort", abort);
    await Promise.all(workers.map((worker) => worker.terminate()));
  };
  const abort = () => {
    fail(options.signal?.reason);
    void close();
  };
  options.signal?.addEventListener("abort", abort, { once: true });
  askAhead();

  const takeNext = async (): Promise<SynthSample> => {
    while (taken === queue.length) {
      if (queue.length > 0) {
        wanted++;
        queue = [];
        taken = 0;
      }
      if (failure !== undefined) throw failure;
      askAhead();
      const batch = ready.get(wanted);
      if (batch) {
        ready.delete(wanted);
        queue = batch;
        taken = 0;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
    return queue[taken++];
  };
  // Readers wait in line, so that each gets its own sample.
  let line: Promise<unknown> = Promise.resolve();
  const next = (): Promise<SynthSample> => {
    const turn = line.then(takeNext, takeNext);
    line = turn;
    turn.catch(() => undefined);
    return turn;
  };
  return {
    next,
    async take(count) {
      const samples: SynthSample[] = [];
      while (samples.length < count) samples.push(await next());
      return samples;
    },
    get batch() {
      return taken === queue.length && queue.length > 0 ? wanted + 1 : wanted;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
