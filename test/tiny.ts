/**
 * The tiny checkpoint of the golden vectors and its numbers, for tests of the model, the engine and training.
 */
import { readFile } from "node:fs/promises";
import { openCheckpoint } from "../src/checkpoint/folder.ts";
import { parseSafetensors, type SafetensorsBytes } from "../src/checkpoint/safetensors.ts";
import { lower, type OnnxProgram } from "../src/graph/lowering.ts";
import type { Program } from "../src/graph/value.ts";
import type { ModelConfig } from "../src/model/config.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import type { Session } from "../src/runtime/session.ts";

export const goldenModel = new URL("./golden/model/", import.meta.url);

export async function goldenTensors(name: string): Promise<SafetensorsBytes> {
  return parseSafetensors(await readFile(new URL(name, goldenModel)), name);
}

export async function goldenJson<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(name, goldenModel), "utf8")) as T;
}

export const tinyFolder = (variant = "tiny"): string => new URL(`${variant}/`, goldenModel).pathname;

/** Every tensor of a golden checkpoint, widened to float32, by its name. */
export async function tinyWeights(variant = "tiny"): Promise<ReadonlyMap<string, Float32Array>> {
  await using checkpoint = await openCheckpoint(tinyFolder(variant));
  const weights = new Map<string, Float32Array>();
  for (const name of checkpoint.tensors.keys()) weights.set(name, await checkpoint.readFloat32(name));
  return weights;
}

export async function tinyConfig(variant = "tiny"): Promise<ModelConfig> {
  await using checkpoint = await openCheckpoint(tinyFolder(variant));
  return checkpoint.config;
}

/** Loads a program with the weights of a golden checkpoint inside it. */
export async function loadWithWeights(program: Program, variant = "tiny"): Promise<{ session: Session; lowered: OnnxProgram }> {
  return loadWith(program, await tinyWeights(variant));
}

/** Loads a program with these weights inside it. */
export async function loadWith(
  program: Program,
  weights: ReadonlyMap<string, Float32Array>,
): Promise<{ session: Session; lowered: OnnxProgram }> {
  const lowered = lower(program, ({ attributes: { name } }) => ({ kind: "inline", data: weights.get(name)! }));
  return { session: await nodeRuntime.load(lowered, { threads: 1 }), lowered };
}

/** Patches of the golden images, in merge order: [patches, 1176]. */
export async function goldenPatches(name: string): Promise<Float32Array> {
  const file = await readFile(new URL("../image/pixel-values.safetensors", goldenModel));
  return parseSafetensors(file, "pixel-values.safetensors").readFloat32(name);
}

/** Mean absolute difference. */
export function meanDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  return sum / a.length;
}

/** Largest absolute difference. */
export function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`lengths differ: ${a.length} and ${b.length}`);
  let max = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= max)) max = difference;
  }
  return max;
}
