/**
 * Recipes: what is trained, on what, in which order. A recipe is a JSON file; this file states its shape and reads it. Stages follow
 * the paper's curriculum (section 3.2), with the dense-supervision stage of the vision tower before it.
 */
import { readFile } from "node:fs/promises";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import type { TrainingScope } from "../model/training.ts";
import type { ContentKind } from "../synth/content.ts";
import type { FormulaSampleOptions, TableSampleOptions } from "../synth/region-samples.ts";
import type { NoisingRecipe } from "./batch.ts";
import type { OptimizerConfig } from "./optimizer.ts";
import { recipeProblems } from "./recipe-schema.ts";

export type SampleKind = "text" | "layout" | "table" | "formula";

export interface HardSamplesRecipe {
  /** As `mine` writes it. */
  readonly file: string;
  /** Hard samples per pool; α of the paper is the samples of `pool` per one of these. */
  readonly perPool: number;
}

/** Held-out samples (fonts and texts never trained on) that a run is judged by while it goes on. */
export interface EvaluationRecipe {
  /** Steps from one look at the losses to the next. */
  readonly every: number;
  /** Steps from one greedy decoding to the next; none if absent. */
  readonly decodeEvery?: number;
  /** Samples of each kind, the same all through the run. */
  readonly samples: Readonly<Partial<Record<SampleKind, number>>>;
  /** Block lengths of losses and decodings; 1 and 32 if absent. */
  readonly blockLengths?: readonly number[];
  /** What samples look like; single lines, small tables and all sizes of formulas, lightly worn, if absent. */
  readonly drawing?: DrawingRecipe;
}

/** What synthetic samples of a stage look like. */
export type DrawingRecipe = Pick<StageRecipe, "lines" | "widthPx" | "sizePx" | "augmentation" | "content" | "tables" | "formulas">;

export interface StageRecipe {
  readonly name: string;
  readonly scope: TrainingScope;
  readonly steps: number;
  readonly peakRate: number;
  readonly floorRate: number;
  readonly warmupSteps: number;
  /** Learning rate of the vision tower relative to the rest; 1 if absent. */
  readonly visionRateScale?: number;
  /** Batches whose gradients make up one step; 1 if absent. */
  readonly accumulate?: number;
  /** Samples of each kind per pool of prepared samples. */
  readonly pool: Readonly<Partial<Record<SampleKind, number>>>;
  /** Times a pool is gone through before the next is drawn, in another order and with other noise each time; 1 if absent. */
  readonly passes?: number;
  /** Mined samples that stand in every pool beside `pool`, which is then their replay (paper equation 13). */
  readonly hardSamples?: HardSamplesRecipe;
  /** Lines, width and size of text crops, and the strength of augmentation from 0 to 1, of all kinds or by kind. */
  readonly lines: readonly [number, number];
  readonly widthPx: readonly [number, number];
  readonly sizePx: readonly [number, number];
  readonly augmentation: number | Readonly<Partial<Record<SampleKind, number>>>;
  /** How often each kind of text is drawn; kinds left out are not. The mix of `CONTENT_WEIGHTS` if absent. */
  readonly content?: Readonly<Partial<Record<ContentKind, number>>>;
  /** Rows, columns and measure in pixels of tables; how often each size of formula is drawn. */
  readonly tables?: Pick<TableSampleOptions, "rows" | "columns" | "widthPx" | "sizePx">;
  readonly formulas?: Pick<FormulaSampleOptions, "sizes" | "sizePx">;
  /** Image tokens of one batch. */
  readonly imageTokens: number;
  /** Sequence rows of one batch (an estimate with one noisy copy more than there are). */
  readonly rows: number;
  readonly noising: NoisingRecipe;
  readonly characterWeight: number;
  readonly regionWeight: number;
  readonly edgeWeight: number;
}

export interface Recipe {
  readonly seed: number;
  readonly model: Pick<ModelConfig, "text" | "vision"> & { readonly blockLength: number };
  /** Folder with the tokenizer and processor files of the checkpoint to be trained. */
  readonly base: string;
  readonly layoutSize: number;
  readonly maxRegionTokens: number;
  /** Text is read a line at a time, each fitted to this height in pixels; regions keep their size if absent. */
  readonly linePixels?: number;
  readonly characterSlots: number;
  readonly optimizer: OptimizerConfig;
  /** Exponential average of the weights, per step. */
  readonly averageDecay: number;
  /** Checkpoint folder whose weights training starts from; random ones if absent. */
  readonly startFrom?: string;
  readonly evaluation?: EvaluationRecipe;
  readonly stages: readonly StageRecipe[];
}

/** @throws MineruError `file-unreadable`; `data-invalid` as {@link parseRecipe} */
export async function readRecipe(path: string): Promise<Recipe> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `cannot read the recipe ${path}: expected a JSON file such as recipes/mini.json`, { cause });
  }
  return parseRecipe(text, path);
}

/** @throws MineruError `data-invalid` naming every field that does not fit, `label` being the file */
export function parseRecipe(text: string, label: string): Recipe {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new MineruError("data-invalid", `the recipe ${label} expected JSON: ${(cause as Error).message}`, { cause });
  }
  const problems = recipeProblems(json);
  if (problems.length > 0) throw new MineruError("data-invalid", `the recipe ${label} is not valid: ${problems.join("; ")}`);
  return json as Recipe;
}

/** Augmentation of one kind in a stage. */
export function augmentationOf({ augmentation }: Pick<StageRecipe, "augmentation">, kind: SampleKind): number {
  return typeof augmentation === "number" ? augmentation : (augmentation[kind] ?? 0);
}

/** The stage that step number `step` (from 1, over all stages) belongs to, and its number within it. */
export function stageOfStep(
  recipe: Recipe,
  step: number,
): { readonly index: number; readonly stage: StageRecipe; readonly stepInStage: number } | null {
  let before = 0;
  for (const [index, stage] of recipe.stages.entries()) {
    if (step <= before + stage.steps) return { index, stage, stepInStage: step - before };
    before += stage.steps;
  }
  return null;
}
