/**
 * A checkpoint folder, as published and as training saves it: config.json, generation and preprocessor settings, tokenizer files and
 * the tensors of one safetensors file or of the shards named by model.safetensors.index.json. Tensors stay on disk until asked for.
 * Which tensors a model needs is told by the caller (`verifyTensors`); how text becomes tokens is not known here.
 */

import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import { parseConfig } from "./config.ts";
import { type GenerationSettings, parseGeneration } from "./generation.ts";
import type { TensorEntry } from "./safetensors.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors-file.ts";

/** A tensor of the folder; `file` is the absolute path in which `offset` counts from the start. */
export interface CheckpointTensor extends TensorEntry {
  readonly file: string;
}

/** Parsed tokenizer files of the folder; each is undefined when absent. */
export interface CheckpointTokenizerFiles {
  readonly tokenizerJson?: unknown;
  readonly tokenizerConfig?: unknown;
  /** vocab.json and merges.txt: the older form, used when there is no tokenizer.json. */
  readonly vocab?: unknown;
  readonly merges?: string;
  readonly addedTokens?: unknown;
  /** chat_template.jinja; it goes before `chat_template` of the tokenizer config. */
  readonly chatTemplate?: string;
}

export interface Checkpoint extends AsyncDisposable {
  /** Absolute path of the folder. */
  readonly dir: string;
  readonly config: ModelConfig;
  readonly generation: GenerationSettings;
  /** preprocessor_config.json as it stands, undefined when absent. */
  readonly preprocessor: unknown;
  readonly tokenizerFiles: CheckpointTokenizerFiles;
  readonly tensors: ReadonlyMap<string, CheckpointTensor>;
  /** One tensor widened to float32, row-major. */
  readFloat32(name: string): Promise<Float32Array>;
  /** The stored bytes of one tensor. */
  readRaw(name: string): Promise<Uint8Array>;
  /** Compares names and shapes with what the model needs; throws one `checkpoint-invalid` naming all that differ. */
  verifyTensors(expected: ReadonlyMap<string, readonly number[]>): void;
  close(): Promise<void>;
}

export const singleFileName = "model.safetensors";
export const indexFileName = "model.safetensors.index.json";

const remedy =
  "expected a folder with config.json and model.safetensors (or model.safetensors.index.json with its shards), such as models/mini";

/** Opens a folder and reads all but the tensors. Throws `checkpoint-missing`, `checkpoint-invalid` or `file-unreadable`. */
export async function openCheckpoint(dir: string): Promise<Checkpoint> {
  const folder = resolve(dir);
  const present = new Set(await namesIn(folder));
  if (!present.has("config.json")) throw new MineruError("checkpoint-missing", `${folder}: ${remedy}, got no config.json`);
  const text = async (name: string) => (present.has(name) ? readText(join(folder, name)) : undefined);
  const json = async (name: string) => (present.has(name) ? parseJson(await readText(join(folder, name)), join(folder, name)) : undefined);

  const configJson = await json("config.json");
  const config = parseConfig(configJson, join(folder, "config.json"));
  const generation = parseGeneration(await json("generation_config.json"), textEosOf(configJson), join(folder, "generation_config.json"));
  const preprocessor = await json("preprocessor_config.json");
  const tokenizerJson = await json("tokenizer.json");
  const tokenizerFiles: CheckpointTokenizerFiles = {
    tokenizerJson,
    tokenizerConfig: await json("tokenizer_config.json"),
    ...(tokenizerJson === undefined ? { vocab: await json("vocab.json"), merges: await text("merges.txt") } : {}),
    addedTokens: await json("added_tokens.json"),
    chatTemplate: await text("chat_template.jinja"),
  };
  const { files, tensors } = await openWeights(folder, present, json);

  const fileOf = (name: string): SafetensorsFile => {
    const tensor = tensors.get(name);
    if (tensor === undefined) {
      throw new MineruError("checkpoint-invalid", `${folder}: expected a tensor named \`${name}\`, got ${tensors.size} others`);
    }
    return files.get(tensor.file)!;
  };
  const close = async () => {
    await Promise.all([...files.values()].map((file) => file.close()));
  };
  return {
    dir: folder,
    config,
    generation,
    preprocessor,
    tokenizerFiles,
    tensors,
    readFloat32: async (name) => fileOf(name).readFloat32(name),
    readRaw: async (name) => fileOf(name).readRaw(name),
    verifyTensors: (expected) => verifyTensors(folder, tensors, expected),
    close,
    [Symbol.asyncDispose]: close,
  };
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

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const looksLikePointer = text.startsWith("version https://git-lfs");
    const cure = looksLikePointer ? "this is a Git LFS pointer: run `git lfs pull`" : "download or save the file again";
    throw new MineruError("checkpoint-invalid", `${path}: expected JSON; ${cure}`, { cause });
  }
}

function textEosOf(config: unknown): unknown {
  const json = config as Record<string, Record<string, unknown> | undefined>;
  return (json.text_config ?? json.language_model_config)?.eos_token_id ?? json.eos_token_id ?? undefined;
}

interface Weights {
  files: Map<string, SafetensorsFile>;
  tensors: Map<string, CheckpointTensor>;
}

async function openWeights(folder: string, present: ReadonlySet<string>, json: (name: string) => Promise<unknown>): Promise<Weights> {
  const weights: Weights = { files: new Map(), tensors: new Map() };
  try {
    if (present.has(indexFileName)) await openShards(folder, present, await json(indexFileName), weights);
    else if (present.has(singleFileName)) await openFile(join(folder, singleFileName), weights);
    else {
      const pickled = [...present].some((name) => name.endsWith(".bin") || name.endsWith(".pt") || name.endsWith(".pth"));
      const hint = pickled ? "; PyTorch files are not read, convert them to safetensors" : "";
      throw new MineruError("checkpoint-missing", `${folder}: ${remedy}, got no weights${hint}`);
    }
    return weights;
  } catch (error) {
    await Promise.all([...weights.files.values()].map((file) => file.close()));
    throw error;
  }
}

async function openFile(path: string, { files, tensors }: Weights, wanted?: ReadonlySet<string>): Promise<void> {
  const file = await openSafetensors(path);
  files.set(path, file);
  for (const [name, entry] of file.entries) {
    if (wanted === undefined || wanted.has(name)) tensors.set(name, { ...entry, file: path });
  }
}

/** The index is the truth: a tensor belongs to the shard it names, and a copy in another shard is not looked at. */
async function openShards(folder: string, present: ReadonlySet<string>, index: unknown, weights: Weights): Promise<void> {
  const path = join(folder, indexFileName);
  const map = (index as { weight_map?: unknown } | null)?.weight_map;
  if (typeof map !== "object" || map === null || Object.values(map).some((shard) => typeof shard !== "string")) {
    throw new MineruError(
      "checkpoint-invalid",
      `${path}: expected \`weight_map\` from tensor names to file names; download the file again`,
    );
  }
  const namesByShard = new Map<string, Set<string>>();
  for (const [name, shard] of Object.entries(map as Record<string, string>)) {
    const names = namesByShard.get(shard) ?? new Set();
    namesByShard.set(shard, names.add(name));
  }
  const shards = [...namesByShard.keys()];
  const outside = shards.find((shard) => shard !== basename(shard) || shard.includes("\\"));
  if (outside !== undefined) {
    throw new MineruError(
      "checkpoint-invalid",
      `${path}: expected file names of this folder in \`weight_map\`, got ${JSON.stringify(outside)}`,
    );
  }
  const absent = shards.filter((shard) => !present.has(shard));
  if (absent.length > 0) {
    throw new MineruError(
      "checkpoint-missing",
      `${folder}: expected ${shards.length} files named by ${indexFileName}, got none of ${listed(absent)}; finish the download`,
    );
  }
  for (const [shard, names] of namesByShard) {
    await openFile(join(folder, shard), weights, names);
    const missing = [...names].filter((name) => !weights.tensors.has(name));
    if (missing.length > 0) {
      throw new MineruError(
        "checkpoint-invalid",
        `${join(folder, shard)}: expected the tensors ${indexFileName} places there, got none of ${listed(missing)}`,
      );
    }
  }
}

function verifyTensors(
  folder: string,
  tensors: ReadonlyMap<string, CheckpointTensor>,
  expected: ReadonlyMap<string, readonly number[]>,
): void {
  const missing = [...expected.keys()].filter((name) => !tensors.has(name));
  const surplus = [...tensors.keys()].filter((name) => !expected.has(name));
  const misshapen: string[] = [];
  for (const [name, shape] of expected) {
    const got = tensors.get(name)?.shape;
    if (got !== undefined && (got.length !== shape.length || got.some((edge, axis) => edge !== shape[axis]))) {
      misshapen.push(`${name} (expected [${shape.join(", ")}], got [${got.join(", ")}])`);
    }
  }
  const parts: string[] = [];
  if (missing.length > 0) parts.push(`${missing.length} missing: ${listed(missing)}`);
  if (surplus.length > 0) parts.push(`${surplus.length} surplus: ${listed(surplus)}`);
  if (misshapen.length > 0) parts.push(`${misshapen.length} misshapen: ${listed(misshapen)}`);
  if (parts.length === 0) return;
  throw new MineruError(
    "checkpoint-invalid",
    `${folder}: expected the ${expected.size} tensors its config.json asks for, got\n- ${parts.join("\n- ")}\nconfig.json and weights do not belong together`,
  );
}

/** Up to a dozen names, then a count of the rest. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
