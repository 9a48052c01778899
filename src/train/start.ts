/**
 * Starting from weights: what a checkpoint folder says of how to train it, and a training state without moments made of it, at the
 * beginning of a recipe or amid it. What the folder does not hold – the heads of dense supervision – begins afresh.
 */
import type { TorchDtype } from "../checkpoint/config.ts";
import { openCheckpoint } from "../checkpoint/folder.ts";
import { parseReadingProfile } from "../engine/reading-profile.ts";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import { parameterShapes } from "../model/parameters.ts";
import type { Recipe } from "./recipe.ts";
import type { TrainingState } from "./state.ts";
import { freshState } from "./trainer.ts";

/** The parts of a recipe that a checkpoint decides. */
export interface CheckpointDescription {
  readonly base: Pick<Recipe, "base" | "startFrom" | "model" | "layoutSize" | "maxRegionTokens" | "linePixels">;
  readonly parameters: number;
  /** Whether it writes tables itself, or is asked for them cell by cell. */
  readonly readsTables: boolean;
  /** Of its weights. */
  readonly dtype: TorchDtype;
}

const DEFAULT_BLOCK_LENGTH = 32;
const dtypes: Readonly<Record<string, TorchDtype>> = { F32: "float32", F16: "float16", BF16: "bfloat16" };

/** @throws MineruError as `openCheckpoint` */
export async function describeCheckpoint(folder: string): Promise<CheckpointDescription> {
  await using checkpoint = await openCheckpoint(folder);
  const { text, vision, blockLength = DEFAULT_BLOCK_LENGTH } = checkpoint.config;
  const { layoutSize, regionTokens, linePixels, readsTables } = parseReadingProfile(checkpoint.preprocessor);
  const tensors = [...checkpoint.tensors.values()];
  return {
    base: {
      base: folder,
      startFrom: folder,
      model: { text, vision, blockLength },
      layoutSize,
      maxRegionTokens: regionTokens,
      linePixels: linePixels ?? undefined,
    },
    parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    readsTables: readsTables || linePixels === null,
    dtype: dtypes[tensors[0].dtype] ?? "float32",
  };
}

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
