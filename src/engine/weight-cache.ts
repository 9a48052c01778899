/**
 * Packed weights kept on disk between starts: one file per checkpoint and packing, made on first use and put in place whole, so it is
 * complete or absent. Sessions refer to it by offset, so it may be of any size. Where no file can be written the weights stay in memory,
 * and the caller is told. What is packed, and how, is not known here.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import { writeAtomically } from "../checkpoint/safetensors-file.ts";
import { MineruError } from "../error.ts";
import type { ParameterBinding } from "../graph/lowering.ts";
import type { Value } from "../graph/value.ts";
import { type PackedTensor, type PackedWeights, packInMemory, type TensorGroup } from "./packed-tensors.ts";

export type { PackedWeights } from "./packed-tensors.ts";

/** Part of every fingerprint: to be raised when packing or layout change. */
const FORMAT = "mineru-diffusion packed weights 1";
/** Large tensors begin on a page, so that ONNX Runtime can map them; the header has a page of its own. */
const PAGE = 4096;
const ALIGNMENT = 64;
/** Places at which a weight file's contents enter its fingerprint, besides its size and time. */
const SAMPLES = 32;
const SAMPLE_BYTES = 4096;
/** A part older than this belongs to no process that still writes it. */
const ABANDONED_MS = 24 * 3600 * 1000;

export interface WeightCacheOptions {
  /** Folder of caches; `defaultCacheDir()` if absent. */
  readonly cacheDir?: string;
  readonly onWarning?: (message: string) => void;
}

/** `$XDG_CACHE_HOME`, else `%LOCALAPPDATA%` on Windows, else `~/.cache`. */
export function defaultCacheDir(environment: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (environment.XDG_CACHE_HOME) return environment.XDG_CACHE_HOME;
  if (platform === "win32" && environment.LOCALAPPDATA) return environment.LOCALAPPDATA;
  return join(homedir(), ".cache");
}

interface Placed extends PackedTensor {
  readonly offset: number;
}

function layOut(groups: readonly TensorGroup[]): { readonly placed: readonly Placed[]; readonly size: number } {
  let end = PAGE;
  const placed = groups.flatMap(({ tensors }) =>
    tensors.map((tensor): Placed => {
      const alignment = tensor.byteLength >= PAGE ? PAGE : ALIGNMENT;
      const offset = Math.ceil(end / alignment) * alignment;
      end = offset + tensor.byteLength;
      return { ...tensor, offset };
    }),
  );
  return { placed, size: end };
}

/** Differs whenever the packed file would: by names and layout, which tell the packing, and by the size, time and sampled contents of the weight files. */
async function fingerprint(checkpoint: Checkpoint, placed: readonly Placed[]): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([FORMAT, placed]));
  const sample = new Uint8Array(SAMPLE_BYTES);
  for (const file of [...new Set([...checkpoint.tensors.values()].map((tensor) => tensor.file))].sort()) {
    const handle = await open(file, "r");
    try {
      const { size, mtimeMs } = await handle.stat();
      hash.update(JSON.stringify([basename(file), size, mtimeMs]));
      for (let i = 0; i < SAMPLES; i++) {
        const { bytesRead } = await handle.read(sample, 0, SAMPLE_BYTES, Math.floor((size * i) / SAMPLES));
        hash.update(sample.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  }
  return hash.digest("hex").slice(0, 32);
}

function headerOf(print: string, size: number): Uint8Array {
  const header = new Uint8Array(PAGE);
  header.set(new TextEncoder().encode(`${FORMAT}\n${print}\n${size}\n`));
  return header;
}

async function isComplete(path: string, header: Uint8Array, size: number): Promise<boolean> {
  try {
    if ((await stat(path)).size !== size) return false;
    const handle = await open(path, "r");
    try {
      const found = new Uint8Array(PAGE);
      await handle.read(found, 0, PAGE, 0);
      return Buffer.compare(found, header) === 0;
    } finally {
      await handle.close();
    }
  } catch {
    return false; // Absent or unreadable: it is written anew, and what is wrong with the place is told then.
  }
}

/** Removes what processes that were killed left half written; it can be gigabytes. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (name.endsWith(".part") && age > ABANDONED_MS) await rm(path, { force: true }).catch(() => undefined);
  }
}

async function write(path: string, header: Uint8Array, groups: readonly TensorGroup[], placed: readonly Placed[]): Promise<void> {
  await writeAtomically(path, async (put) => {
    await put(header);
    let end = header.length;
    let index = 0;
    for (const group of groups) {
      for (const bytes of await group.make()) {
        const { offset } = placed[index++];
        if (offset > end) await put(new Uint8Array(offset - end));
        await put(bytes);
        end = offset + bytes.length;
      }
    }
  });
}

/**
 * The packed weights of a checkpoint, from the cache or made now.
 * @throws MineruError `file-unreadable`, `checkpoint-invalid` if the checkpoint's files cannot be read.
 */
export async function cachedWeights(
  checkpoint: Checkpoint,
  groups: readonly TensorGroup[],
  { cacheDir = defaultCacheDir(), onWarning }: WeightCacheOptions = {},
): Promise<PackedWeights> {
  const { placed, size } = layOut(groups);
  const print = await fingerprint(checkpoint, placed);
  const folder = join(cacheDir, "mineru-diffusion");
  const file = `${print}.bin`;
  const path = join(folder, file);
  const header = headerOf(print, size);
  if (!(await isComplete(path, header, size))) {
    try {
      await mkdir(folder, { recursive: true }).catch((cause) => {
        throw new MineruError("output-unwritable", `${folder} expected to be made; choose another cache folder`, { cause });
      });
      await removeAbandoned(folder);
      await write(path, header, groups, placed);
    } catch (error) {
      if (!(error instanceof MineruError) || error.code !== "output-unwritable") throw error;
      onWarning?.(`packed weights are kept in memory and made again at every start: ${error.message}`);
      return packInMemory(checkpoint, groups);
    }
  }
  const places = new Map(placed.map((tensor) => [tensor.name, tensor]));
  const bind = ({ attributes: { name } }: Value<"parameter">): ParameterBinding => {
    const { dtype, byteLength, offset } = places.get(name)!;
    return { kind: "external", weight: { location: file, offset, byteLength, dtype } };
  };
  return { bind, location: { weightsFolder: folder } };
}
