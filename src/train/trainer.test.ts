/** The training loop on drawn pictures: it learns them by heart, goes on where it stopped, and batches every sample once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawings, tinyRecipe, tinyStage } from "../../test/drawn-pictures.ts";
import { maxDifference, tinyFolder } from "../../test/tiny.ts";
import { openCheckpointFiles } from "./base-files.ts";
import type { StageRecipe } from "./recipe.ts";
import { type PreparedSample, prepareSample } from "./sample.ts";
import { type PoolRequest, preparationOf } from "./sample-pools.ts";
import { loadState, saveState, type TrainingState } from "./state.ts";
import { batchesOf, type StepReport, Trainer } from "./trainer.ts";

const base = await openCheckpointFiles(tinyFolder());

const stage = tinyStage;
const recipe = tinyRecipe;
const samples = drawings.map((drawing) =>
  prepareSample(drawing, { ...preparationOf(recipe, base), processor: { ...base.processor, minPixels: 28 * 28 } }),
);
/** The same samples again and again. */
const start = () => new Trainer({ recipe, base, state: null, pool: async () => samples, threads: 1 });

async function steps(trainer: Trainer, count: number): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (let i = 0; i < count; i++) reports.push((await trainer.step())!);
  return reports;
}

describe("training", () => {
  test("learns a few drawn pictures by heart", { timeout: 600_000 }, async () => {
    const trainer = start();
    const reports = await steps(trainer, stage.steps);
    const losses = reports.map(({ losses }) => losses.textLoss);
    const mean = (from: number, to: number) => losses.slice(from, to).reduce((a, b) => a + b) / (to - from);
    // At first every token is as likely as any other.
    expect(losses[0]).toBeGreaterThan(0.8 * Math.log(576));
    expect(losses[0]).toBeLessThan(1.3 * Math.log(576));
    // Guessing answers without looking would leave about one in six: ln 6 for the first token of each.
    expect(mean(stage.steps - 10, stage.steps)).toBeLessThan(0.1);
    expect(await trainer.step()).toBeNull();
    await trainer.close();
  });

  test("goes on from a saved state, amid a pool, as if it had never stopped", { timeout: 600_000 }, async () => {
    // Pools of four samples, each pool another four; two samples a step.
    const pairs = { ...recipe, stages: [{ ...stage, imageTokens: 2 }] };
    const begin = (state: TrainingState | null) => {
      const asked: number[] = [];
      const pool = async (request: PoolRequest) => {
        asked.push(request.pool);
        return samples.map((_, i) => samples[(i + request.pool) % samples.length]).slice(0, 4);
      };
      return { trainer: new Trainer({ recipe: pairs, base, state, pool, threads: 1 }), asked };
    };
    const numbers = (reports: readonly StepReport[]) => reports.map(({ step, losses, gradientNorm }) => ({ step, losses, gradientNorm }));
    const folder = await mkdtemp(join(tmpdir(), "trainer-"));
    try {
      const path = join(folder, "state.safetensors");
      const unbroken = begin(null);
      const expected = await steps(unbroken.trainer, 5);
      expect(unbroken.asked, "one pool ahead").toEqual([0, 1, 2, 3]);
      expect(expected.map(({ step, samples }) => [step, samples])).toEqual([1, 2, 3, 4, 5].map((step) => [step, 2]));
      const first = begin(null);
      await steps(first.trainer, 3);
      await saveState(path, first.trainer.state, (name) => first.trainer.shapes.get(name)!);
      const second = begin(await loadState(path));
      expect(numbers(await steps(second.trainer, 2))).toEqual(numbers(expected.slice(3)));
      expect(second.asked).toEqual([1, 2, 3]);
      for (const group of ["weights", "average", "moments"] as const) {
        const [resumed, whole] = [second.trainer.state[group], unbroken.trainer.state[group]];
        expect([...resumed.keys()].sort()).toEqual([...whole.keys()].sort());
        for (const [name, data] of whole) expect(maxDifference(resumed.get(name)!, data), name).toBe(0);
      }
      await Promise.all([unbroken, first, second].map(({ trainer }) => trainer.close()));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("sums the gradients of several batches to that of one", { timeout: 600_000 }, async () => {
    // Blocks of one token are masked throughout: nothing is drawn, so the batches ask what the one asks.
    const noising = { blockLengths: [1], weighting: "masked-mean" } as const;
    const alike = samples.slice(0, 2).map((sample, i) => ({ ...sample, answer: Int32Array.of(40 + i, 50, 60 + i, base.endToken) }));
    const firstStep = async (changes: Partial<StageRecipe>) => {
      const changed = { ...recipe, stages: [{ ...stage, noising, ...changes }] };
      const trainer = new Trainer({ recipe: changed, base, state: null, pool: async () => alike, threads: 1 });
      const report = (await trainer.step())!;
      await trainer.close();
      return { report, trainer };
    };
    const whole = await firstStep({ imageTokens: 2 });
    const halves = await firstStep({ imageTokens: 1, accumulate: 2 });
    expect([whole.report.samples, halves.report.samples]).toEqual([2, 2]);
    expect(halves.report.losses.textLoss).toBeCloseTo(whole.report.losses.textLoss, 5);
    expect(halves.report.taskLosses.text).toBeCloseTo(whole.report.losses.textLoss, 5);
    expect(halves.report.gradientNorm).toBeCloseTo(whole.report.gradientNorm, 4);
    // The last matrix moves as its gradient says; the next step would see any difference of sums.
    for (const [name, data] of whole.trainer.state.weights) {
      expect(maxDifference(halves.trainer.state.weights.get(name)!, data), name).toBeLessThan(2e-3);
    }
  });

  test("there is no state where none was saved", async () => {
    expect(await loadState(join(tmpdir(), "no such state.safetensors"))).toBeNull();
  });
});

describe("batches of a pool", () => {
  const sampleOf = fc.record({
    rows: fc.integer({ min: 1, max: 6 }),
    columns: fc.integer({ min: 1, max: 20 }),
    answer: fc.integer({ min: 1, max: 200 }),
  });
  const prepared = (sizes: readonly { rows: number; columns: number; answer: number }[]): PreparedSample[] =>
    sizes.map(({ rows, columns, answer }) => ({
      task: "text",
      patches: new Float32Array(0),
      rows: rows * 2,
      columns: columns * 2,
      answer: new Int32Array(answer),
      weight: 1,
    }));
  const tokensOf = ({ rows, columns }: PreparedSample) => (rows * columns) / 4;

  test("hold every sample once, within the limits, like sizes together", () => {
    fc.assert(
      fc.property(fc.array(sampleOf, { maxLength: 40 }), fc.constantFrom("tower", "full"), fc.nat(), (sizes, scope, seed) => {
        const pool = prepared(sizes);
        const limits = { ...stage, scope, imageTokens: 150, rows: 900 } as const;
        const batches = batchesOf(pool, limits, 2, [seed]);
        expect(new Set(batches.flat())).toEqual(new Set(pool));
        expect(batches.flat()).toHaveLength(pool.length);
        for (const batch of batches) {
          const tokens = batch.map(tokensOf);
          expect(batch.length).toBeGreaterThan(0);
          expect(tokens.reduce((a, b) => a + b)).toBeLessThanOrEqual(150);
          const rows = batch.map((sample, i) => tokens[i] + 40 + sample.answer.length * 3);
          if (scope === "full" && batch.length > 1) expect(rows.reduce((a, b) => a + b)).toBeLessThanOrEqual(900);
        }
        const ranges = batches
          .map((batch) => [Math.min(...batch.map(tokensOf)), Math.max(...batch.map(tokensOf))])
          .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        for (let i = 1; i < ranges.length; i++) expect(ranges[i][0]).toBeGreaterThanOrEqual(ranges[i - 1][1]);
      }),
    );
  });

  test("come in an order that the seed decides", () => {
    const pool = prepared(Array.from({ length: 30 }, (_, i) => ({ rows: 1, columns: 20, answer: i + 1 })));
    const order = (...seed: number[]) => batchesOf(pool, { ...stage, imageTokens: 40 }, 2, seed).map((batch) => batch[0].answer.length);
    expect(order(1, 2)).toEqual(order(1, 2));
    expect(order(1, 2)).not.toEqual(order(1, 3));
    expect(order(1, 2).sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => 2 * i + 1));
  });
});
