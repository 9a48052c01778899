/**
 * Recipes: what is trained, on what, in which order. A recipe is a JSON file; this file states its shape and reads it. Stages follow
 * the paper's curriculum (section 3.2), with the dense-supervision stage of the vision tower before it.
 */
import { readFile } from "node:fs/promises";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import type { TrainingScope } from "../model/training.ts";
import type { FormulaSampleOptions, TableSampleOptions } from "../synth/region-samples.ts";
import type { NoisingRecipe } from "./batch.ts";
import type { OptimizerConfig } from "./optimizer.ts";

export type SampleKind = "text" | "layout" | "table" | "formula";

export interface StageRecipe {
  readonly name: string;
  readonly scope: TrainingScope;
  readonly steps: number;
  readonly peakRate: number;
  readonly floorRate: number;
  readonly warmupSteps: number;
  /** Learning rate of the vision tower relative to the rest; 1 if absent. */
  readonly visionRateScale?: number;
  /** Samples of each kind per pool of prepared samples. */
  readonly pool: Readonly<Partial<Record<SampleKind, number>>>;
  /** Times a pool is gone through before the next is drawn, in another order and with other noise each time; 1 if absent. */
  readonly passes?: number;
  /** Lines, width and size of text crops, and the strength of augmentation from 0 to 1. */
  readonly lines: readonly [number, number];
  readonly widthPx: readonly [number, number];
  readonly sizePx: readonly [number, number];
  readonly augmentation: number;
  /** Rows, columns and measure in pixels of tables; how often each size of formula is drawn. */
  readonly tables?: Pick<TableSampleOptions, "rows" | "columns" | "widthPx" | "sizePx">;
  readonly formulas?: Pick<FormulaSampleOptions, "sizes" | "sizePx">;
  /** Image tokens of one step. */
  readonly imageTokens: number;
  /** Sequence rows of one step (an estimate with one noisy copy more than there are). */
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
  readonly stages: readonly StageRecipe[];
}

/** @throws MineruError `file-unreadable` or `data-invalid` */
export async function readRecipe(path: string): Promise<Recipe> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `cannot read the recipe ${path}: expected a JSON file such as recipes/mini.json`, { cause });
  }
  try {
    const recipe = JSON.parse(text) as Recipe;
    if (!Array.isArray(recipe.stages) || recipe.stages.length === 0) throw new TypeError("stages expected at least one entry");
    return recipe;
  } catch (cause) {
    throw new MineruError("data-invalid", `the recipe ${path} is not valid: ${(cause as Error).message}`, { cause });
  }
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
