/**
 * Everything a training run needs to go on to the bit: step, weights, their average and the optimiser's moments, in one safetensors
 * file that is replaced atomically. Sample order is a function of seed and step, so nothing else has to be kept.
 */
import { existsSync } from "node:fs";
import type { TensorSource } from "../checkpoint/safetensors.ts";
import { openSafetensors, writeSafetensors } from "../checkpoint/safetensors-file.ts";

export interface TrainingState {
  /** Steps done. */
  step: number;
  /** Pools of samples begun, and batches done of the current one. */
  pool: number;
  batch: number;
  /** The step after which moments began empty, where weights alone were carried over amid a recipe. */
  restartedAt?: number;
  weights: Map<string, Float32Array>;
  average: Map<string, Float32Array>;
  moments: Map<string, Float32Array>;
}

const groups = ["weights", "average", "moments"] as const;

export async function saveState(path: string, state: TrainingState, shapeOf: (name: string) => readonly number[]): Promise<void> {
  const tensors = new Map<string, TensorSource>();
  for (const group of groups) {
    for (const [name, data] of state[group]) {
      const shape = shapeOf(group === "moments" ? name.slice(name.indexOf(":") + 1) : name);
      tensors.set(`${group}/${name}`, { dtype: "F32", shape, data });
    }
  }
  const { step, pool, batch, restartedAt } = state;
  await writeSafetensors(path, tensors, { progress: JSON.stringify({ step, pool, batch, restartedAt }) });
}

/** The state saved at `path`, or null if there is none. */
export async function loadState(path: string): Promise<TrainingState | null> {
  if (!existsSync(path)) return null;
  await using file = await openSafetensors(path);
  const progress = JSON.parse(file.metadata.progress) as Pick<TrainingState, "step" | "pool" | "batch" | "restartedAt">;
  const state: TrainingState = { ...progress, weights: new Map(), average: new Map(), moments: new Map() };
  for (const name of file.entries.keys()) {
    const slash = name.indexOf("/");
    state[name.slice(0, slash) as (typeof groups)[number]].set(name.slice(slash + 1), await file.readFloat32(name));
  }
  return state;
}
