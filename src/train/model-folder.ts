/**
 * Trained weights as a checkpoint folder that reads: the published names and files, the tokenizer and processor files of the recipe's base,
 * and in the processor's settings what the recipe trained for. The heads of dense supervision stay behind.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TorchDtype } from "../checkpoint/config.ts";
import { saveCheckpoint } from "../checkpoint/save.ts";
import type { ModelConfig } from "../model/config.ts";
import { parameterShapes } from "../model/parameters.ts";
import type { Recipe } from "./recipe.ts";

/** Files of a folder that go along with its weights wherever those go. */
const COMPANIONS = new Set([
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "vocab.json",
  "merges.txt",
  "chat_template.jinja",
  "generation_config.json",
  "preprocessor_config.json",
]);

async function companionsOf(recipe: Pick<Recipe, "base" | "layoutSize" | "linePixels">): Promise<Record<string, unknown>> {
  const files: Record<string, unknown> = {};
  for (const name of await readdir(recipe.base)) {
    if (COMPANIONS.has(name)) files[name] = await readFile(join(recipe.base, name), "utf8");
  }
  files["preprocessor_config.json"] = {
    ...JSON.parse(files["preprocessor_config.json"] as string),
    layout_image_size: recipe.layoutSize,
    ...(recipe.linePixels === undefined ? {} : { text_line_pixels: recipe.linePixels }),
  };
  return files;
}

export interface ModelFolderOptions {
  readonly recipe: Pick<Recipe, "base" | "layoutSize" | "linePixels">;
  readonly config: ModelConfig;
  /** By name; more than the model's are let be. */
  readonly weights: ReadonlyMap<string, Float32Array>;
  readonly dtype?: TorchDtype;
}

/** @throws MineruError `output-unwritable` */
export async function saveModelFolder(target: string, { recipe, config, weights, dtype = "float16" }: ModelFolderOptions): Promise<void> {
  const tensors = new Map([...parameterShapes(config)].map(([name, shape]) => [name, { shape, data: weights.get(name)! }]));
  await saveCheckpoint(target, { config, tensors, dtype, files: await companionsOf(recipe) });
}
