/**
 * A training run in a folder: resumes from its state, logs one JSON line per step, saves every few minutes and at the end, and stops
 * cleanly between steps when its signal is aborted.
 */
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { openCheckpointFiles } from "./base-files.ts";
import { readRecipe } from "./recipe.ts";
import type { PreparedSample } from "./sample.ts";
import type { PoolRequest, SamplePoolOptions } from "./sample-pools.ts";
import { loadState, saveState } from "./state.ts";
import { type StepReport, Trainer } from "./trainer.ts";

export interface RunOptions {
  readonly recipePath: string;
  /** Where state and log are kept. */
  readonly folder: string;
  readonly dataFolder?: string;
  readonly threads?: number;
  /** Steps after which to stop, counted from the start of this call. */
  readonly maxSteps?: number;
  readonly saveEveryMs?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: (report: StepReport) => void;
}

export const stateFile = "state.safetensors";
export const logFile = "log.jsonl";

/** Pools on demand from a worker thread. */
async function startPoolWorker(
  options: SamplePoolOptions,
): Promise<{ pool: (request: PoolRequest) => Promise<PreparedSample[]>; close: () => Promise<void> }> {
  const worker = new Worker(new URL("./sample-worker.js", import.meta.url), { workerData: options });
  const waiting = new Map<string, { resolve: (samples: PreparedSample[]) => void; reject: (error: Error) => void }>();
  const key = ({ stage, pool }: PoolRequest) => `${stage}/${pool}`;
  await new Promise<void>((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("error", reject);
  });
  worker.on("message", ({ request, samples }: { request: PoolRequest; samples: PreparedSample[] }) => {
    waiting.get(key(request))?.resolve(samples);
    waiting.delete(key(request));
  });
  worker.on("error", (error) => {
    for (const { reject } of waiting.values()) reject(error as Error);
    waiting.clear();
  });
  return {
    pool: (request) =>
      new Promise((resolve, reject) => {
        waiting.set(key(request), { resolve, reject });
        worker.postMessage(request);
      }),
    close: async () => {
      await worker.terminate();
    },
  };
}

export async function runTraining(options: RunOptions): Promise<Trainer> {
  const { folder, dataFolder, threads, signal, maxSteps = Number.POSITIVE_INFINITY, saveEveryMs = 180_000 } = options;
  const recipe = await readRecipe(options.recipePath);
  const base = await openCheckpointFiles(recipe.base);
  await mkdir(folder, { recursive: true });
  const statePath = join(folder, stateFile);
  const state = await loadState(statePath);
  const worker = await startPoolWorker({ recipe, dataFolder });
  const trainer = new Trainer({ recipe, base, state, pool: worker.pool, threads });
  const save = () => saveState(statePath, trainer.state, (name) => trainer.shapes.get(name)!);
  let savedAt = performance.now();
  try {
    for (let done = 0; done < maxSteps && !signal?.aborted; done++) {
      const report = await trainer.step();
      if (!report) break;
      await appendFile(join(folder, logFile), `${JSON.stringify({ time: new Date().toISOString(), ...report })}\n`);
      options.onStep?.(report);
      if (performance.now() - savedAt > saveEveryMs) {
        await save();
        savedAt = performance.now();
      }
    }
    await save();
  } finally {
    await worker.close();
    await trainer.close();
  }
  return trainer;
}
