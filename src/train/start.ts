/**
 * Starting from weights: a checkpoint folder becomes a training state without moments, at the beginning of a recipe or amid it. What the
 * folder does not hold – the heads of dense supervision – begins afresh.
 */
import { openCheckpoint } from "../checkpoint/folder.ts";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import { parameterShapes } from "../model/parameters.ts";
import type { Recipe } from "./recipe.ts";
import type { TrainingState } from "./state.ts";
import { freshState } from "./trainer.ts";

/**
 * `step` says how many steps of the recipe count as done; samples are then drawn from pools that those steps cannot have seen, and the
 * learning rate warms up again.
 * @throws MineruError `checkpoint-invalid` if the folder holds another model than the recipe's
 */
export async function stateFromCheckpoint(folder: string, recipe: Recipe, model: ModelConfig, step = 0): Promise<TrainingState> {
  await using checkpoint = await openCheckpoint(folder);
  const { maskTokenId, imageTokenId } = checkpoint.config;
  if (maskTokenId !== model.maskTokenId || imageTokenId !== model.imageTokenId) {
    throw new MineruError(
      "checkpoint-invalid",
      `${folder}: expected the mask and image tokens ${model.maskTokenId} and ${model.imageTokenId} of the recipe's \`base\`, got ${maskTokenId} and ${imageTokenId}`,
    );
  }
  checkpoint.verifyTensors(parameterShapes(model));
  const state = freshState(recipe, model);
  for (const name of checkpoint.tensors.keys()) {
    const data = await checkpoint.readFloat32(name);
    state.weights.set(name, data);
    state.average.set(name, data.slice());
  }
  return step === 0 ? state : { ...state, step, pool: step * mostBatches(recipe), restartedAt: step };
}

/** No step uses up more pools than it has batches. */
function mostBatches(recipe: Recipe): number {
  return Math.max(...recipe.stages.map(({ accumulate, passes }) => (accumulate ?? 1) * (passes ?? 1)));
}
