/** A checkpoint that is a folder on disk. What a checkpoint is stands in `checkpoint.ts`. */
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MineruError } from "../error.ts";
import { type Checkpoint, readCheckpoint, remedy } from "./checkpoint.ts";
import { openSafetensors } from "./safetensors-file.ts";

export { type Checkpoint, type CheckpointTensor, type CheckpointTokenizerFiles, indexFileName, singleFileName } from "./checkpoint.ts";

/** Opens a folder and reads all but the tensors. Throws `checkpoint-missing`, `checkpoint-invalid` or `file-unreadable`. */
export async function openCheckpoint(dir: string): Promise<Checkpoint> {
  const folder = resolve(dir);
  const placeOf = (name: string): string => join(folder, name);
  return readCheckpoint({
    dir: folder,
    names: new Set(await namesIn(folder)),
    placeOf,
    text: (name) => readText(placeOf(name)),
    openWeights: (name) => openSafetensors(placeOf(name)),
    weights: { weightsFolder: folder },
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    throw new MineruError("checkpoint-missing", `${folder}: ${remedy}, got no such folder`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `${path}: expected a readable file; check its permissions`, { cause });
  }
}
