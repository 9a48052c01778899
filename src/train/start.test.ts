/** Starting from weights, and runs in folders: what is carried over, what is logged, what is refused. */
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drawings, tinyRecipe, tinyStage } from "../../test/drawn-pictures.ts";
import { maxDifference, tinyFolder, tinyWeights } from "../../test/tiny.ts";
import { openCheckpointFiles } from "./base-files.ts";
import type { Recipe } from "./recipe.ts";
import { logFile, trainOnPools } from "./run.ts";
import { prepareSample } from "./sample.ts";
import { preparationOf } from "./sample-pools.ts";
import { describeCheckpoint, stateFromCheckpoint } from "./start.ts";
import { modelConfigOf, Trainer } from "./trainer.ts";
import type { EvaluationReport, TrainingEvaluation } from "./training-evaluation.ts";
import { parseTrainingLog } from "./training-log.ts";

const base = await openCheckpointFiles(tinyFolder());
const { base: described, parameters, dtype } = await describeCheckpoint(tinyFolder());
const recipe: Recipe = { ...tinyRecipe, ...described, characterSlots: 1, stages: [{ ...tinyStage, steps: 60, imageTokens: 8 }] };
const model = modelConfigOf(recipe, base);
const samples = drawings.slice(0, 2).map((drawing) => prepareSample(drawing, preparationOf(recipe, base)));
const pool = async () => samples;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "start-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("from a checkpoint", () => {
  test("its sizes and weights are taken over; heads of dense supervision and moments begin afresh", async () => {
    const weights = await tinyWeights();
    expect(parameters).toBe([...weights.values()].reduce((sum, { length }) => sum + length, 0));
    expect(dtype).toBe("float32");
    const state = await stateFromCheckpoint(tinyFolder(), recipe, model);
    expect([state.step, state.moments.size, state.restartedAt]).toEqual([0, 0, undefined]);
    for (const [name, data] of weights) {
      expect(maxDifference(state.weights.get(name)!, data), name).toBe(0);
      expect(maxDifference(state.average.get(name)!, data), name).toBe(0);
      expect(state.average.get(name), name).not.toBe(state.weights.get(name));
    }
    expect([...state.weights.keys()].filter((name) => !weights.has(name)).every((name) => name.startsWith("dense."))).toBe(true);
  });

  test("amid a recipe the learning rate grows back, and samples come from pools not seen", { timeout: 600_000 }, async () => {
    const asked: number[] = [];
    const state = await stateFromCheckpoint(tinyFolder(), recipe, model, 20);
    const seen = async ({ pool: number }: { pool: number }) => {
      asked.push(number);
      return samples;
    };
    const trainer = new Trainer({ recipe, base, state, pool: seen, threads: 1 });
    const plain = new Trainer({
      recipe,
      base,
      state: { ...(await stateFromCheckpoint(tinyFolder(), recipe, model)), step: 20 },
      pool,
      threads: 1,
    });
    const [first, full] = [(await trainer.step())!, (await plain.step())!];
    expect(first.step).toBe(21);
    expect(first.learningRate).toBeCloseTo(full.learningRate / 50, 10);
    expect(Math.min(...asked)).toBeGreaterThanOrEqual(20);
    await Promise.all([trainer.close(), plain.close()]);
  });

  test("of another model is refused", async () => {
    const smaller = { ...model, text: { ...model.text, intermediateSize: 8 } };
    await expect(stateFromCheckpoint(tinyFolder(), recipe, smaller)).rejects.toMatchObject({ code: "checkpoint-invalid" });
    await expect(stateFromCheckpoint(tinyFolder(), recipe, { ...model, maskTokenId: 3 })).rejects.toThrow(/mask and image tokens 3 and/);
  });
});

describe("a run in a folder", () => {
  test("logs steps and evaluations, goes on, and mends a half-written line", { timeout: 600_000 }, async () => {
    const asked: string[] = [];
    const evaluation = {
      evaluate: async (step: number, _: unknown, decode: boolean): Promise<EvaluationReport> => {
        asked.push(`${step} ${decode}`);
        return { kind: "evaluation", step, losses: { text: { block1: 1 / step } }, seconds: 0 };
      },
    } as unknown as TrainingEvaluation;
    const judged: Recipe = { ...recipe, evaluation: { every: 1, decodeEvery: 2, samples: { text: 2 } } };
    const run = () => trainOnPools({ recipe: judged, base, pool, evaluation, folder, threads: 1, maxSteps: 2 });
    await run();
    await appendFile(join(folder, logFile), '{"time":"2026');
    const { state } = await run();
    expect(state.step).toBe(4);
    const { steps, evaluations } = parseTrainingLog(await readFile(join(folder, logFile), "utf8"), logFile);
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    expect(evaluations.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    expect(asked).toEqual(["1 false", "2 true", "3 false", "4 true"]);
    expect(steps[0].taskLosses?.text).toBeGreaterThan(0);
  });

  test("does not throw a state away for weights", async () => {
    const restart = { checkpoint: tinyFolder() };
    await expect(trainOnPools({ recipe, base, pool, folder, threads: 1, restart })).rejects.toThrow(
      /expected no state where a run starts from weights/,
    );
  });
});
