import { expect, test } from "vitest";
import { goldenJson } from "../../test/tiny.ts";
import { learningRate } from "./learning-rate.ts";

interface GoldenSchedule {
  readonly schedule: { readonly base: number; readonly minimum: number; readonly warmupSteps: number; readonly totalSteps: number };
  readonly steps: readonly { readonly step: number; readonly learningRate: number }[];
}

const { schedule, steps } = await goldenJson<GoldenSchedule>("adamw.json");
const { base: peak, minimum: floor, warmupSteps, totalSteps } = schedule;

test.each(steps)("step $step of the reference's schedule", (step) => {
  expect(learningRate(step.step, { peak, floor, warmupSteps, totalSteps })).toBeCloseTo(step.learningRate, 12);
});

test("never falls below the floor, however long the run", () => {
  expect(learningRate(10_000, { peak, floor, warmupSteps, totalSteps })).toBe(floor);
});

test("falls from the peak at once without warm-up", () => {
  const rate = { peak: 1, floor: 0.25, warmupSteps: 0, totalSteps: 4 };
  expect([1, 2, 3, 4].map((step) => Number(learningRate(step, rate).toFixed(4)))).toEqual([0.8902, 0.625, 0.3598, 0.25]);
});

test("may end with the warm-up", () => {
  const rate = { peak: 1, floor: 0.5, warmupSteps: 2, totalSteps: 2 };
  expect([1, 2, 3].map((step) => learningRate(step, rate))).toEqual([0.5, 1, 0.5]);
});
