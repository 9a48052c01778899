/**
 * One benchmark from data folder to report: items are read, or their answers are already there; answers are kept, so that a run goes on
 * where it was stopped and can be scored again. The table of benchmarks lives here. Refuses to know what a report looks like.
 */

import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { DecodingOptions } from "../engine/types.ts";
import { MineruError } from "../error.ts";
import type { MetricMode } from "../metrics/mode.ts";
import type { Benchmark, BenchmarkOptions, Judgement, OpenBenchmark } from "./benchmark.ts";
import { openCcOcrTables } from "./cc-ocr-tables.ts";
import { openFolder } from "./folder.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { openOcrBenchTables } from "./ocrbench-v2-tables.ts";
import { openOlmOcr } from "./olmocr.ts";
import { openOmniDocBench } from "./omnidocbench.ts";
import { type Prediction, PredictionFolder } from "./predictions.ts";
import { readItems } from "./reading.ts";
import { openUnimer } from "./unimer.ts";

const benchmarks = {
  omnidocbench: openOmniDocBench,
  "cc-ocr-tables": openCcOcrTables,
  "ocrbench-v2-tables": openOcrBenchTables,
  unimer: openUnimer,
  olmocr: openOlmOcr,
  folder: openFolder,
} satisfies Record<string, OpenBenchmark>;

/** Benchmarks that can be opened. */
export type BenchmarkName = keyof typeof benchmarks;
/** All of them. */
export const benchmarkNames = Object.keys(benchmarks) as readonly BenchmarkName[];

/** Opens the data of a benchmark. @throws MineruError `file-unreadable`, `data-invalid` */
export function openBenchmark(name: BenchmarkName, folder: string, options: BenchmarkOptions = {}): Promise<Benchmark> {
  if (options.layout === "truth" && name !== "omnidocbench")
    throw new TypeError(`\`layout\` expected "own" for ${name}, which has no annotated layout, got "truth"`);
  return benchmarks[name](folder, options);
}

/** Which items are read, by what, and how they are scored. */
export interface EvaluationOptions {
  /** Where answers are kept, or already are. */
  readonly predictions: string;
  /** Reads what has no answer yet; without one, items without an answer are missing. */
  readonly recognizer?: Recognizer<RecognizerIdentity>;
  /** Default `sound`. */
  readonly mode?: MetricMode;
  readonly decoding?: DecodingOptions;
  readonly batchSize?: number;
  /** Only the first items. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: EvaluationProgress) => void;
}

/** How far an evaluation is. */
export interface EvaluationProgress {
  readonly done: number;
  readonly items: number;
  readonly id: string;
  /** Why the item has no answer, if so. */
  readonly failure?: string;
}

/** One item with its score. */
export interface EvaluatedCase {
  readonly id: string;
  readonly score: number | null;
  readonly details: Readonly<Record<string, number | string | null>>;
  readonly truth: string;
  /** `null` if there is none. */
  readonly answer: string | null;
  readonly confidence: number | null;
}

/** A benchmark's result, with what it was measured with. */
export interface Evaluation extends Omit<Judgement, "cases"> {
  readonly benchmark: string;
  readonly mode: MetricMode;
  readonly date: string;
  readonly machine: Machine;
  /** `null` where only existing answers were scored. */
  readonly model: string | null;
  readonly decoding: DecodingOptions;
  readonly counts: { readonly items: number; readonly missing: number; readonly failed: number };
  /** Of the answers whose reading was timed. */
  readonly speed: {
    readonly items: number;
    readonly seconds: number;
    readonly tokens: number;
    readonly tokensPerSecond: number;
    readonly tokensPerForward: number;
  } | null;
  readonly cases: readonly EvaluatedCase[];
}

function speedOf(predictions: readonly (Prediction | null)[]): Evaluation["speed"] {
  const timed = predictions.flatMap((prediction) => (prediction?.facts && !prediction.facts.failure ? [prediction.facts] : []));
  if (timed.length === 0) return null;
  const sum = (pick: (facts: (typeof timed)[number]) => number) => timed.reduce((total, facts) => total + pick(facts), 0);
  const [seconds, tokens, forwards] = [sum((f) => f.milliseconds) / 1000, sum((f) => f.tokens), sum((f) => f.forwards)];
  return {
    items: timed.length,
    seconds,
    tokens,
    tokensPerSecond: seconds > 0 ? tokens / seconds : 0,
    tokensPerForward: forwards > 0 ? tokens / forwards : 0,
  };
}

/**
 * Reads and scores.
 * @throws MineruError `data-invalid` if kept answers were read with other settings, `output-unwritable`; the signal's reason
 */
export async function evaluate(benchmark: Benchmark, options: EvaluationOptions): Promise<Evaluation> {
  const { recognizer, mode = "sound", decoding = {}, batchSize, signal, onProgress } = options;
  const items = benchmark.items.slice(0, options.limit);
  const folder = new PredictionFolder(options.predictions);
  const found = new Map<string, Prediction | null>();
  for (const item of items) found.set(item.id, await folder.get(item));
  if (recognizer) {
    await folder.claim({ benchmark: benchmark.name, model: recognizer.info.name, decoding });
    const waiting = items.filter(({ id }) => found.get(id) === null);
    let done = items.length - waiting.length;
    for await (const [id, prediction] of readItems(waiting, recognizer, { decoding, batchSize, signal })) {
      await folder.put(id, prediction);
      found.set(id, prediction);
      onProgress?.({ done: ++done, items: items.length, id, failure: prediction.facts?.failure });
    }
  }
  const predictions = items.map(({ id }) => found.get(id) ?? null);
  const missing = predictions.filter((prediction) => prediction === null).length;
  if (items.length > 0 && missing === items.length)
    throw new MineruError(
      "file-unreadable",
      `${options.predictions} expected answers such as ${items[0].id}.md, got none; check --predictions`,
    );
  const answers = new Map(items.map(({ id }) => [id, found.get(id)?.text ?? null]));
  const { cases, ...judgement } = await benchmark.judge(answers, mode);
  return {
    ...judgement,
    benchmark: benchmark.name,
    mode,
    date: new Date().toISOString(),
    machine: thisMachine(),
    model: recognizer?.info.name ?? null,
    decoding,
    counts: { items: items.length, missing, failed: predictions.filter((prediction) => prediction?.facts?.failure !== undefined).length },
    speed: speedOf(predictions),
    cases: cases.map((entry) => ({
      ...entry,
      answer: found.get(entry.id)?.text ?? null,
      confidence: found.get(entry.id)?.facts?.confidence ?? null,
    })),
  };
}
