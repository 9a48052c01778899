/**
 * From a training state to a checkpoint folder: the averaged weights with the files of the recipe's base.
 */
import { MineruError } from "../error.ts";
import { openCheckpointFiles } from "./base-files.ts";
import { saveModelFolder } from "./model-folder.ts";
import { readRecipe } from "./recipe.ts";
import { loadState } from "./state.ts";
import { modelConfigOf } from "./trainer.ts";

export interface ExportOptions {
  readonly recipePath: string;
  readonly statePath: string;
  readonly target: string;
  readonly dtype?: "float32" | "float16" | "bfloat16";
  /** The weights of the last step instead of their average. */
  readonly latest?: boolean;
}

export async function exportCheckpoint({
  recipePath,
  statePath,
  target,
  dtype = "float16",
  latest = false,
}: ExportOptions): Promise<number> {
  const recipe = await readRecipe(recipePath);
  const config = modelConfigOf(recipe, await openCheckpointFiles(recipe.base));
  const state = await loadState(statePath);
  if (!state) throw new MineruError("file-unreadable", `${statePath}: expected the state of a training run, got no such file`);
  const weights = latest ? state.weights : state.average;
  await saveModelFolder(target, { recipe, config, weights, dtype });
  return state.step;
}
