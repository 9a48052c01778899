/**
 * Saving a checkpoint folder in the published layout: one safetensors file, or shards with an index when the weights are larger than
 * one shard may be (below 2 GB, the largest buffer a browser gives). Everything is written beside its place first and moved in at the
 * end, weights last, so an interrupted save leaves the old checkpoint or none, never half a file. What else lies in the folder stays.
 */

import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import { configToJson, type TorchDtype } from "./config.ts";
import { indexFileName, singleFileName } from "./folder.ts";
import { byteLengthOf, type SafetensorsDtype, type TensorSource } from "./safetensors.ts";
import { writeAtomically, writeSafetensors } from "./safetensors-file.ts";

/** A tensor to be saved: float32 values, or their bytes in the checkpoint's dtype piece by piece. */
export interface SavedTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | Extract<TensorSource["data"], (...args: never[]) => unknown>;
}

export interface SaveOptions {
  readonly config: ModelConfig;
  readonly tensors: ReadonlyMap<string, SavedTensor>;
  readonly dtype?: TorchDtype;
  /** Further files by name: text and bytes as they are, anything else as JSON. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** Upper bound of one safetensors file's data in bytes; a larger tensor gets a file of its own. */
  readonly maxShardBytes?: number;
}

const dtypes: Record<TorchDtype, SafetensorsDtype> = { float32: "F32", float16: "F16", bfloat16: "BF16" };

const largestShard = 2_000_000_000;

/** Writes the folder `dir`, made when absent. Throws `output-unwritable`; RangeError for data that do not fit their shape. */
export async function saveCheckpoint(dir: string, options: SaveOptions): Promise<void> {
  const { config, tensors, dtype = "float32", files = {}, maxShardBytes = largestShard } = options;
  const folder = resolve(dir);
  const reserved = Object.keys(files).find((name) => name === "config.json" || isWeights(name) || /[\\/]/.test(name));
  if (reserved !== undefined) throw new RangeError(`\`files\` expected names beside config.json and the weights, got ${reserved}`);

  const staging = await stagingFolder(folder);
  try {
    const texts = { "config.json": configToJson(config, dtype), ...files };
    for (const [name, content] of Object.entries(texts)) await writeFile(join(staging, name), content);
    const sources = new Map<string, TensorSource>();
    for (const [name, { shape, data }] of tensors) sources.set(name, { dtype: dtypes[dtype], shape, data });
    const weights = await writeWeights(staging, sources, maxShardBytes);
    await moveIn(staging, folder, [...Object.keys(texts), ...weights]);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function stagingFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    return await mkdtemp(join(folder, ".saving-"));
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

function unwritable(folder: string, cause: unknown): MineruError {
  return new MineruError(
    "output-unwritable",
    `${folder}: expected a folder that can be written; check its permissions and the free space`,
    { cause },
  );
}

function writeFile(path: string, content: unknown): Promise<void> {
  const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(text);
  return writeAtomically(path, (write) => write(bytes));
}

/** Writes the tensors into `folder` and names the files made, index last. */
async function writeWeights(folder: string, tensors: ReadonlyMap<string, TensorSource>, maxShardBytes: number): Promise<string[]> {
  const shards: Map<string, TensorSource>[] = [new Map()];
  let total = 0;
  let inShard = 0;
  for (const [name, tensor] of tensors) {
    const length = byteLengthOf(tensor.dtype, tensor.shape);
    if (inShard > 0 && inShard + length > maxShardBytes) {
      shards.push(new Map());
      inShard = 0;
    }
    shards[shards.length - 1].set(name, tensor);
    inShard += length;
    total += length;
  }
  const metadata = { format: "pt" };
  if (shards.length === 1) {
    await writeSafetensors(join(folder, singleFileName), shards[0], metadata);
    return [singleFileName];
  }
  const number = (n: number) => String(n).padStart(5, "0");
  const names: string[] = [];
  const weightMap: Record<string, string> = {};
  for (const [i, shard] of shards.entries()) {
    const file = `model-${number(i + 1)}-of-${number(shards.length)}.safetensors`;
    await writeSafetensors(join(folder, file), shard, metadata);
    for (const name of shard.keys()) weightMap[name] = file;
    names.push(file);
  }
  await writeFile(join(folder, indexFileName), { metadata: { total_size: total }, weight_map: weightMap });
  return [...names, indexFileName];
}

/** Renames the staged files into place and removes weights of an earlier save that would otherwise go before the new ones. */
async function moveIn(staging: string, folder: string, names: readonly string[]): Promise<void> {
  try {
    if (!names.includes(indexFileName)) await rm(join(folder, indexFileName), { force: true });
    for (const name of names) await rename(join(staging, name), join(folder, name));
    for (const name of await readdir(folder)) {
      if (isWeights(name) && !names.includes(name)) await rm(join(folder, name));
    }
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

function isWeights(name: string): boolean {
  return name === singleFileName || name === indexFileName || /^model-\d{5}-of-\d{5}\.safetensors$/.test(name);
}
