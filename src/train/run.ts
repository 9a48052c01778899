/**
 * A training run in a folder: resumes from its state, logs one JSON line per step and per evaluation, saves every few minutes and at the
 * end, and stops cleanly between steps when its signal is aborted. What a killed run did after its last save is done again, to the bit.
 */
import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { MineruError } from "../error.ts";
import { type BaseFiles, openCheckpointFiles } from "./base-files.ts";
import { drawHeldOut } from "./held-out.ts";
import { type Recipe, readRecipe } from "./recipe.ts";
import type { PreparedSample } from "./sample.ts";
import type { PoolRequest, SamplePoolOptions } from "./sample-pools.ts";
import { stateFromCheckpoint } from "./start.ts";
import { loadState, saveState, type TrainingState } from "./state.ts";
import { modelConfigOf, type StepReport, Trainer } from "./trainer.ts";
import { dueEvaluation, type EvaluationReport, TrainingEvaluation } from "./training-evaluation.ts";

/** Weights to start from in place of a state that is gone. */
export interface Restart {
  readonly checkpoint: string;
  /** Steps of the recipe that count as done; 0 if absent. */
  readonly step?: number;
}

/** What every run takes. */
export interface RunControl {
  /** Where state and log are kept. */
  readonly folder: string;
  readonly threads?: number;
  /** Steps after which to stop, counted from the start of this call. */
  readonly maxSteps?: number;
  readonly saveEveryMs?: number;
  readonly restart?: Restart;
  readonly signal?: AbortSignal;
  readonly onStep?: (report: StepReport) => void;
  readonly onEvaluation?: (report: EvaluationReport) => void;
}

export interface RunOptions extends RunControl {
  readonly recipePath: string;
  readonly dataFolder?: string;
}

export interface PoolRun extends RunControl {
  readonly recipe: Recipe;
  readonly base: BaseFiles;
  readonly pool: (request: PoolRequest) => Promise<PreparedSample[]>;
  readonly evaluation?: TrainingEvaluation;
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

async function startingState(recipe: Recipe, base: BaseFiles, folder: string, restart?: Restart): Promise<TrainingState | null> {
  const statePath = join(folder, stateFile);
  if (restart && existsSync(statePath)) {
    throw new MineruError(
      "data-invalid",
      `${statePath}: expected no state where a run starts from weights; go on without naming weights, or choose another folder`,
    );
  }
  const state = await loadState(statePath);
  const checkpoint = restart?.checkpoint ?? recipe.startFrom;
  if (state || checkpoint === undefined) return state;
  return stateFromCheckpoint(checkpoint, recipe, modelConfigOf(recipe, base), restart?.step);
}

/** Appends lines to the log; one that a killed run left half written is closed first. */
async function openLog(path: string): Promise<(line: object) => Promise<void>> {
  const text = existsSync(path) ? await readFile(path, "utf8") : "";
  if (text !== "" && !text.endsWith("\n")) await appendFile(path, "\n");
  return (line) => appendFile(path, `${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
}

/**
 * Trains on pools until the recipe is done, the steps are, or the signal is aborted.
 * @throws MineruError `data-invalid` if weights to start from are named where a state is; as `stateFromCheckpoint`
 */
export async function trainOnPools(options: PoolRun): Promise<Trainer> {
  const { recipe, base, pool, evaluation, folder, threads, signal, restart } = options;
  const { maxSteps = Number.POSITIVE_INFINITY, saveEveryMs = 180_000 } = options;
  await mkdir(folder, { recursive: true });
  const state = await startingState(recipe, base, folder, restart);
  const trainer = new Trainer({ recipe, base, state, pool, threads });
  const log = await openLog(join(folder, logFile));
  const save = () => saveState(join(folder, stateFile), trainer.state, (name) => trainer.shapes.get(name)!);
  let savedAt = performance.now();
  try {
    for (let done = 0; done < maxSteps && !signal?.aborted; done++) {
      const report = await trainer.step();
      if (!report) break;
      await log(report);
      options.onStep?.(report);
      const due = evaluation ? dueEvaluation(recipe.evaluation, report.step) : "none";
      if (evaluation && due !== "none") {
        const judged = await evaluation.evaluate(report.step, trainer.state.average, due === "scores");
        await log(judged);
        options.onEvaluation?.(judged);
      }
      if (performance.now() - savedAt > saveEveryMs) {
        await save();
        savedAt = performance.now();
      }
    }
    await save();
  } finally {
    await trainer.close();
  }
  return trainer;
}

/** A run of a recipe on synthetic documents, drawn by a thread of its own. */
export async function runTraining(options: RunOptions): Promise<Trainer> {
  const recipe = await readRecipe(options.recipePath);
  const base = await openCheckpointFiles(recipe.base);
  const { dataFolder, threads } = options;
  const worker = await startPoolWorker({ recipe, dataFolder });
  try {
    const evaluation =
      recipe.evaluation &&
      new TrainingEvaluation({
        recipe,
        base,
        config: modelConfigOf(recipe, base),
        heldOut: await drawHeldOut({ ...recipe.evaluation, dataFolder }),
        threads,
      });
    try {
      return await trainOnPools({ ...options, recipe, base, pool: worker.pool, evaluation });
    } finally {
      await evaluation?.close();
    }
  } finally {
    await worker.close();
  }
}
