/**
 * What every benchmark of this room is: items to read, each a page or a crop with a task, and a judge that gives scores for the answers.
 * The judge never sees a model, so answers of any system can be scored. Refuses to know file formats; each benchmark has its own file.
 */
import type { LayoutRegion } from "../document/types.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { MetricMode } from "../metrics/mode.ts";

/** How an item is read: as a document, with the regions given beforehand or found by the model, or as one crop. */
export type ItemReading =
  | { readonly kind: "page"; readonly layout?: (page: RgbImage) => readonly LayoutRegion[] }
  | { readonly kind: "crop"; readonly task: "text" | "table" | "formula" };

/** One page or crop of a benchmark. */
export interface EvalItem {
  /** Names the item in reports and its answer's file: `<id>.md`. May contain `/`. */
  readonly id: string;
  /** Other file names under which an existing answer may lie, best first. */
  readonly aliases?: readonly string[];
  readonly reading: ItemReading;
  /** The pictures of the item: one, or a page each for documents. */
  pictures(): AsyncIterable<RgbImage>;
}

/** A number to report. `null` where the data hold nothing to measure. */
export interface Score {
  readonly name: string;
  readonly value: number | null;
  readonly better: "higher" | "lower";
}

/** Scores by subset or attribute. */
export interface ScoreGroup {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly count: number; readonly values: readonly (number | null)[] }[];
}

/** How one item fared. */
export interface ScoredCase {
  readonly id: string;
  /** 0 to 1, 1 is best; `null` where nothing of the item is scored. */
  readonly score: number | null;
  readonly truth: string;
  /** Numbers or remarks worth seeing beside the answer. */
  readonly details: Readonly<Record<string, number | string | null>>;
}

/** What a benchmark says of a set of answers. */
export interface Judgement {
  readonly scores: readonly Score[];
  readonly groups: readonly ScoreGroup[];
  readonly cases: readonly ScoredCase[];
  /** What a reader must know to read the scores rightly. */
  readonly notes: readonly string[];
}

export type Answers = ReadonlyMap<string, string | null>;

/** A data set with its way of scoring answers. */
export interface Benchmark {
  readonly name: string;
  readonly items: readonly EvalItem[];
  /** Scores the items that `answers` names, by id; `null` where one has no answer, which counts as the benchmark says. */
  judge(answers: Answers, mode: MetricMode): Promise<Judgement>;
}

/** How a benchmark's items are read. */
export interface BenchmarkOptions {
  /** `truth` reads the annotated regions instead of finding them, where a benchmark has them. Default `own`. */
  readonly layout?: "own" | "truth";
}

/** Opens a benchmark's data folder. @throws MineruError `file-unreadable`, `data-invalid` */
export type OpenBenchmark = (folder: string, options?: BenchmarkOptions) => Promise<Benchmark>;

/** Mean of the numbers among `values`, `null` if there are none. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  return numbers.length > 0 ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
}
