/**
 * The tiny checkpoint of the golden vectors and its numbers, for tests of the model, the engine and training.
 */
import { readFile } from "node:fs/promises";
import { openCheckpoint } from "../src/checkpoint/folder.ts";
import { parseSafetensors, type SafetensorsBytes } from "../src/checkpoint/safetensors.ts";
import type { OnnxProgram } from "../src/graph/lowering.ts";
import { lower } from "../src/graph/lowering.ts";
import type { Program } from "../src/graph/value.ts";
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

/** Loads a program with the weights of a golden checkpoint inside it. */
export async function loadWithWeights(program: Program, variant = "tiny"): Promise<{ session: Session; lowered: OnnxProgram }> {
  const checkpoint = await openCheckpoint(tinyFolder(variant));
  const weights = new Map<string, Float32Array>();
  for (const name of checkpoint.tensors.keys()) weights.set(name, await checkpoint.readFloat32(name));
  await checkpoint.close();
  const lowered = lower(program, ({ attributes: { name } }) => ({ kind: "inline", data: weights.get(name)! }));
  return { session: await nodeRuntime.load(lowered), lowered };
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
