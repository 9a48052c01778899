/**
 * A checkpoint, as published and as training saves it: config.json, generation and preprocessor settings, tokenizer files and the tensors
 * of one safetensors file or of the shards named by model.safetensors.index.json. Where its files lie – a folder, the web – is told by
 * `CheckpointFiles`; tensors stay there until asked for. Which tensors a model needs is told by the caller (`verifyTensors`); how text
 * becomes tokens is not known here.
 */
import { MineruError } from "../error.ts";
import type { ModelConfig } from "../model/config.ts";
import { parseConfig } from "./config.ts";
import { type GenerationSettings, parseGeneration } from "./generation.ts";
import type { TensorEntry } from "./safetensors.ts";
import type { SafetensorsFile } from "./safetensors-reader.ts";

/** The files of one checkpoint. */
export interface CheckpointFiles {
  /** Where they are: an absolute path, or an address. */
  readonly dir: string;
  /** Names of the files that are there. */
  readonly names: ReadonlySet<string>;
  /** The place of a file, for errors and as the name of tensors' files: `dir` and the name. */
  placeOf(name: string): string;
  text(name: string): Promise<string>;
  openWeights(name: string): Promise<SafetensorsFile>;
  /** Where a session finds weights by file name. */
  readonly weights: WeightsPlace;
}

/** Weights by file name: in a folder, or in memory as far as they have been opened. */
export type WeightsPlace = { readonly weightsFolder: string } | { readonly weightsInMemory: ReadonlyMap<string, Uint8Array> };

/** A tensor of the checkpoint; in `file`, a place below `dir`, `offset` counts from the start. */
export interface CheckpointTensor extends TensorEntry {
  readonly file: string;
}

/** Parsed tokenizer files of the checkpoint; each is undefined when absent. */
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
  /** Absolute path of the folder, or its address. */
  readonly dir: string;
  /** Where a session finds weights by file name. */
  readonly weights: WeightsPlace;
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
  /** Fills `target` with stored bytes of one tensor, from its byte `begin` on. */
  readRange(name: string, begin: number, target: Uint8Array): Promise<void>;
  /** Compares names and shapes with what the model needs; throws one `checkpoint-invalid` naming all that differ. */
  verifyTensors(expected: ReadonlyMap<string, readonly number[]>): void;
  close(): Promise<void>;
}

export const singleFileName = "model.safetensors";
export const indexFileName = "model.safetensors.index.json";

/** What is expected of a place that holds none. */
export const remedy =
  "expected a folder with config.json and model.safetensors (or model.safetensors.index.json with its shards), such as models/mini";

/** Reads all but the tensors. Throws `checkpoint-missing`, `checkpoint-invalid`, and what `files` throws. */
export async function readCheckpoint(files: CheckpointFiles): Promise<Checkpoint> {
  const { dir, names, placeOf } = files;
  if (!names.has("config.json")) throw new MineruError("checkpoint-missing", `${dir}: ${remedy}, got no config.json`);
  const text = async (name: string) => (names.has(name) ? files.text(name) : undefined);
  const json = async (name: string) => (names.has(name) ? parseJson(await files.text(name), placeOf(name)) : undefined);

  const configJson = await json("config.json");
  const config = parseConfig(configJson, placeOf("config.json"));
  const generation = parseGeneration(await json("generation_config.json"), textEosOf(configJson), placeOf("generation_config.json"));
  const preprocessor = await json("preprocessor_config.json");
  const tokenizerJson = await json("tokenizer.json");
  const tokenizerFiles: CheckpointTokenizerFiles = {
    tokenizerJson,
    tokenizerConfig: await json("tokenizer_config.json"),
    ...(tokenizerJson === undefined ? { vocab: await json("vocab.json"), merges: await text("merges.txt") } : {}),
    addedTokens: await json("added_tokens.json"),
    chatTemplate: await text("chat_template.jinja"),
  };
  const { opened, tensors } = await openWeights(files, json);

  const fileOf = (name: string): SafetensorsFile => {
    const tensor = tensors.get(name);
    if (tensor === undefined) {
      throw new MineruError("checkpoint-invalid", `${dir}: expected a tensor named \`${name}\`, got ${tensors.size} others`);
    }
    return opened.get(tensor.file)!;
  };
  const close = async () => {
    await Promise.all([...opened.values()].map((file) => file.close()));
  };
  return {
    dir,
    weights: files.weights,
    config,
    generation,
    preprocessor,
    tokenizerFiles,
    tensors,
    readFloat32: async (name) => fileOf(name).readFloat32(name),
    readRaw: async (name) => fileOf(name).readRaw(name),
    readRange: async (name, begin, target) => fileOf(name).readRange(name, begin, target),
    verifyTensors: (expected) => verifyTensors(dir, tensors, expected),
    close,
    [Symbol.asyncDispose]: close,
  };
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
  readonly opened: Map<string, SafetensorsFile>;
  readonly tensors: Map<string, CheckpointTensor>;
}

async function openWeights(files: CheckpointFiles, json: (name: string) => Promise<unknown>): Promise<Weights> {
  const { dir, names } = files;
  const weights: Weights = { opened: new Map(), tensors: new Map() };
  try {
    if (names.has(indexFileName)) await openShards(files, await json(indexFileName), weights);
    else if (names.has(singleFileName)) await openFile(files, singleFileName, weights);
    else {
      const pickled = [...names].some((name) => name.endsWith(".bin") || name.endsWith(".pt") || name.endsWith(".pth"));
      const hint = pickled ? "; PyTorch files are not read, convert them to safetensors" : "";
      throw new MineruError("checkpoint-missing", `${dir}: ${remedy}, got no weights${hint}`);
    }
    return weights;
  } catch (error) {
    await Promise.all([...weights.opened.values()].map((file) => file.close()));
    throw error;
  }
}

async function openFile(files: CheckpointFiles, name: string, { opened, tensors }: Weights, wanted?: ReadonlySet<string>): Promise<void> {
  const place = files.placeOf(name);
  const file = await files.openWeights(name);
  opened.set(place, file);
  for (const [tensor, entry] of file.entries) {
    if (wanted === undefined || wanted.has(tensor)) tensors.set(tensor, { ...entry, file: place });
  }
}

/** The index is the truth: a tensor belongs to the shard it names, and a copy in another shard is not looked at. */
async function openShards(files: CheckpointFiles, index: unknown, weights: Weights): Promise<void> {
  const { dir, names: present } = files;
  const path = files.placeOf(indexFileName);
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
  const outside = shards.find((shard) => /[\\/]/.test(shard) || shard === ".." || shard === ".");
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
      `${dir}: expected ${shards.length} files named by ${indexFileName}, got none of ${listed(absent)}; finish the download`,
    );
  }
  for (const [shard, names] of namesByShard) {
    await openFile(files, shard, weights, names);
    const missing = [...names].filter((name) => !weights.tensors.has(name));
    if (missing.length > 0) {
      throw new MineruError(
        "checkpoint-invalid",
        `${files.placeOf(shard)}: expected the tensors ${indexFileName} places there, got none of ${listed(missing)}`,
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
