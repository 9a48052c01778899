/**
 * What a stream of samples is made of. A recipe gives each task a weight and its options; batch `b` of `seed` draws
 * one task and makes one batch of it, so any part of a stream can be made anywhere, in any order, and is the same.
 * It refuses to know about threads and queues (stream.ts).
 */
import type { SynthOptions } from "./index.ts";
import { type LayoutSample, type PageSampleOptions, pageSample } from "./page-samples.ts";
import { createRandom } from "./random.ts";
import {
  type FormulaSample,
  type FormulaSampleOptions,
  formulaPage,
  type TableSample,
  type TableSampleOptions,
  tablePage,
} from "./region-samples.ts";
import { type SynthSources, type TextSample, type TextSampleOptions, textPage } from "./text-samples.ts";

export type SynthSample = TextSample | LayoutSample | TableSample | FormulaSample;
export type SynthTask = SynthSample["task"];

export interface SampleRecipe {
  /** Fonts and texts to draw from. */
  readonly sources?: SynthOptions;
  /** Share of batches per task; a task left out is not drawn. */
  readonly weights: Partial<Readonly<Record<SynthTask, number>>>;
  readonly text?: TextSampleOptions;
  readonly layout?: PageSampleOptions;
  readonly table?: TableSampleOptions;
  readonly formula?: FormulaSampleOptions;
  /** Pages in one batch of the layout task (default 4). */
  readonly pagesPerBatch?: number;
}

/**
 * Makes batch `index` of `seed`.
 * @throws RangeError if no task has a positive weight.
 */
export function makeBatch(sources: SynthSources, recipe: SampleRecipe, seed: number, index: number): SynthSample[] {
  const weights = recipe.weights as Record<SynthTask, number>;
  if (!Object.values(weights).some((weight) => weight > 0))
    throw new RangeError("`weights` expected a task with a positive weight, got none");
  const task = createRandom("task", seed, index).weighted(weights);
  switch (task) {
    case "text":
      return textPage(sources, seed, index, recipe.text);
    case "layout": {
      const count = recipe.pagesPerBatch ?? 4;
      return Array.from({ length: count }, (_, i) => pageSample(sources, seed, index * count + i, recipe.layout));
    }
    case "table":
      return tablePage(sources, seed, index, recipe.table);
    case "formula":
      return formulaPage(sources, seed, index, recipe.formula);
  }
}
