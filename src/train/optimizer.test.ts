/** The optimiser's steps against torch.optim.AdamW (test/golden/model/adamw.safetensors) and against Muon's definition. */
import { describe, expect, test } from "vitest";
import { evaluate, loadValues } from "../../test/evaluate.ts";
import { goldenJson, goldenTensors, maxDifference, tinyConfig } from "../../test/tiny.ts";
import { createRandom } from "../diffusion/random.ts";
import * as g from "../graph/ops.ts";
import { parameterShapes } from "../model/parameters.ts";
import { gradientName } from "../model/training.ts";
import { float32, type Tensor } from "../runtime/session.ts";
import {
  defaultOptimizer,
  defaultRule,
  momentNames,
  type OptimizedParameter,
  type OptimizerConfig,
  optimizerProgram,
  orthogonalise,
  updatedName,
} from "./optimizer.ts";

const one = (value: number): Tensor => float32(Float32Array.of(value), []);
const floats = (tensor: Tensor) => tensor.data as Float32Array;

describe("AdamW", async () => {
  interface Golden {
    readonly betas: readonly [number, number];
    readonly eps: number;
    readonly weightDecay: number;
    readonly clip: { readonly maxNorm: number };
    readonly shapes: Readonly<Record<string, readonly number[]>>;
    readonly steps: readonly { readonly step: number; readonly learningRate: number; readonly globalNormFloat64: number }[];
  }
  const golden = await goldenJson<Golden>("adamw.json");
  const tensors = await goldenTensors("adamw.safetensors");
  const [beta1, beta2] = golden.betas;
  const config: OptimizerConfig = {
    ...defaultOptimizer,
    beta1,
    beta2,
    epsilon: golden.eps,
    weightDecay: golden.weightDecay,
    maxNorm: golden.clip.maxNorm,
  };
  const names = Object.keys(golden.shapes);
  const parameters = names.map((name): OptimizedParameter => ({ name, shape: golden.shapes[name], rule: "adamw" }));
  const program = optimizerProgram(parameters, config);

  /** Five steps; `scale` multiplies the gradients that are fed and is told to the program. */
  async function train(scale: number): Promise<void> {
    await using run = await loadValues(program.outputs);
    const state: Record<string, Tensor> = {};
    for (const { name, shape } of parameters) {
      state[name] = float32(tensors.readFloat32(`step0.${name}`), shape);
      for (const moment of momentNames(name, "adamw")) state[moment] = float32(new Float32Array(state[name].data.length), shape);
    }
    for (const { step, learningRate, globalNormFloat64 } of golden.steps) {
      const feeds: Record<string, Tensor> = {
        ...state,
        learningRate: one(learningRate),
        correction1: one(1 - beta1 ** step),
        correction2: one(1 - beta2 ** step),
        gradientScale: one(1 / scale),
      };
      for (const { name, shape } of parameters) {
        feeds[gradientName(name)] = float32(
          tensors.readFloat32(`step${step}.gradient.${name}`).map((value) => value * scale),
          shape,
        );
      }
      const results = await run(feeds);
      expect((results.gradientNorm.data[0] as number) / globalNormFloat64).toBeCloseTo(1, 5);
      for (const { name } of parameters) {
        const kept = [name, ...momentNames(name, "adamw")];
        const expected = [`step${step}.${name}`, `step${step}.m.${name}`, `step${step}.v.${name}`];
        kept.forEach((key, i) => {
          state[key] = results[updatedName(key)];
          expect(maxDifference(floats(state[key]), tensors.readFloat32(expected[i])), expected[i]).toBeLessThan(1e-6);
        });
      }
    }
  }

  test("five steps with clipping and decay are the reference's", () => train(1));

  test("gradients summed over batches are divided by their number", () => train(4));

  test("a rate of its own, and no decay, where a parameter says so", async () => {
    const shape = [3];
    const told = optimizerProgram(
      [
        { name: "plain", shape, rule: "adamw" },
        { name: "slow", shape, rule: "adamw", rateScale: 0.25 },
        { name: "bare", shape, rule: "adamw", decays: false },
      ],
      config,
    );
    const before = Float32Array.of(1, -2, 3);
    const zeros = float32(new Float32Array(3), shape);
    const feeds: Record<string, Tensor> = { learningRate: one(0.1), correction1: one(0.1), correction2: one(0.05), gradientScale: one(1) };
    for (const name of ["plain", "slow", "bare"]) {
      feeds[name] = float32(before, shape);
      feeds[gradientName(name)] = float32(Float32Array.of(0.01, -0.01, 0.02), shape);
      for (const moment of momentNames(name, "adamw")) feeds[moment] = zeros;
    }
    const results = await evaluate(told.outputs, feeds);
    // The first step of Adam moves by the rate in the gradient's direction.
    const moved = (rate: number, decay: number) => before.map((x, i) => x * (1 - rate * decay) - rate * [1, -1, 1][i]);
    expect(maxDifference(floats(results[updatedName("plain")]), moved(0.1, 0.05))).toBeLessThan(1e-5);
    expect(maxDifference(floats(results[updatedName("slow")]), moved(0.025, 0.05))).toBeLessThan(1e-5);
    expect(maxDifference(floats(results[updatedName("bare")]), moved(0.1, 0))).toBeLessThan(1e-5);
  });
});

type Matrix = readonly (readonly number[])[];

const multiply = (a: Matrix, b: Matrix): Matrix => a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const transpose = (a: Matrix): Matrix => a[0].map((_, j) => a.map((row) => row[j]));
const rowsOf = (data: ArrayLike<number>, columns: number): Matrix =>
  Array.from({ length: data.length / columns }, (_, row) => Array.from({ length: columns }, (_, i) => data[row * columns + i]));

/** `count` orthonormal rows of width `width`, by Gram and Schmidt. */
function orthonormal(count: number, width: number, seed: number): Matrix {
  const random = createRandom(seed);
  const rows: number[][] = [];
  while (rows.length < count) {
    let row = Array.from({ length: width }, () => random.uniform() - 0.5);
    for (const other of [...rows, ...rows]) {
      const along = row.reduce((sum, x, i) => sum + x * other[i], 0);
      row = row.map((x, i) => x - along * other[i]);
    }
    const norm = Math.hypot(...row);
    rows.push(row.map((x) => x / norm));
  }
  return rows;
}

/** leftᵀ · diag(singular) · right, with its factors. */
function drawMatrix(rows: number, columns: number, singular: readonly number[], seed: number) {
  const left = orthonormal(singular.length, rows, seed);
  const right = orthonormal(singular.length, columns, seed + 1);
  const matrix = multiply(
    transpose(left),
    right.map((row, i) => row.map((x) => x * singular[i])),
  );
  return { left, right, data: Float32Array.from(matrix.flat()) };
}

/** Singular values of `data` along the given directions; fails if it has anything beside them. */
function alongDirections(data: ArrayLike<number>, columns: number, left: Matrix, right: Matrix): number[] {
  const core = multiply(multiply(left, rowsOf(data, columns)), transpose(right));
  core.forEach((row, i) => {
    row.forEach((x, j) => {
      if (i !== j) expect(Math.abs(x)).toBeLessThan(0.01);
    });
  });
  return core.map((row, i) => row[i]);
}

/** The quintic iteration does not converge: it carries singular values into this interval and leaves them there. */
const NEAR_ONE = [0.65, 1.25] as const;

function expectNearOne(values: readonly number[]): void {
  expect(Math.min(...values)).toBeGreaterThan(NEAR_ONE[0]);
  expect(Math.max(...values)).toBeLessThan(NEAR_ONE[1]);
}

describe("Muon", () => {
  test.each([
    [6, 6],
    [5, 9],
    [12, 4],
  ])("a %i × %i matrix becomes orthogonal and keeps its directions", async (rows, columns) => {
    const count = Math.min(rows, columns);
    const singular = Array.from({ length: count }, (_, i) => 10 * 0.6 ** i);
    const { left, right, data } = drawMatrix(rows, columns, singular, 11);
    const { y } = await evaluate({ y: orthogonalise(g.input("x", "float32", [rows, columns])) }, { x: float32(data, [rows, columns]) });
    expectNearOne(alongDirections(floats(y), columns, left, right));
  });

  const shape = [5, 9];
  const name = "language_model.model.layers.0.mlp.up_proj.weight";
  const config: OptimizerConfig = { ...defaultOptimizer, weightDecay: 0.1, maxNorm: 1e6 };
  const step = (parameter: OptimizedParameter, feeds: Record<string, Float32Array>, options = config) =>
    evaluate(optimizerProgram([parameter], options).outputs, {
      learningRate: one(0.02),
      correction1: one(1),
      correction2: one(1),
      gradientScale: one(1),
      ...Object.fromEntries(Object.entries(feeds).map(([key, data]) => [key, float32(data, parameter.shape)])),
    });

  test("a step follows the momentum's directions at a length that suits AdamW's rate", async () => {
    const { left, right, data: gradient } = drawMatrix(5, 9, [4, 3, 2, 1.5, 1], 21);
    const before = Float32Array.from({ length: 45 }, (_, i) => Math.sin(i));
    const momentum = gradient.map((x) => 2 * x);
    const feeds = { [name]: before, [gradientName(name)]: gradient, [`first:${name}`]: momentum };
    const results = await step({ name, shape, rule: "muon" }, feeds);
    const expectedMomentum = gradient.map((x, i) => 0.95 * momentum[i] + x);
    expect(maxDifference(floats(results[updatedName(`first:${name}`)]), expectedMomentum)).toBeLessThan(1e-5);
    const direction = floats(results[updatedName(name)]).map((x, i) => (before[i] * (1 - 0.02 * 0.1) - x) / 0.02);
    expectNearOne(alongDirections(direction, 9, left, right).map((x) => x / (0.2 * Math.sqrt(9))));
  });

  test("the gradient counts beside the momentum (Nesterov)", async () => {
    const left = orthonormal(5, 5, 31);
    const right = orthonormal(5, 9, 32);
    const only = (index: number, size: number) => Float32Array.from(left[index].flatMap((x) => right[index].map((y) => size * x * y)));
    // One direction is in the momentum alone, one in the gradient alone: update = g + 0.95 (0.95 m + g).
    const [momentum, gradient] = [only(0, 1.95), only(1, 0.95 ** 2)];
    const feeds = { [name]: new Float32Array(45), [gradientName(name)]: gradient, [`first:${name}`]: momentum };
    const results = await step({ name, shape, rule: "muon" }, feeds);
    const moved = floats(results[updatedName(name)]).map((x) => -x / 0.02 / (0.2 * 3));
    const [first, second] = alongDirections(moved, 9, left, right);
    expect(first / second).toBeCloseTo(1, 3);
  });

  test("clipping comes before the momentum", async () => {
    const { data: gradient } = drawMatrix(5, 9, [8, 6, 0.5, 0.4, 0.3], 41);
    const norm = Math.hypot(...gradient);
    const feeds = { [name]: new Float32Array(45), [gradientName(name)]: gradient, [`first:${name}`]: new Float32Array(45) };
    const results = await step({ name, shape, rule: "muon" }, feeds, { ...config, maxNorm: 1 });
    expect(results.gradientNorm.data[0]).toBeCloseTo(norm, 4);
    const clipped = gradient.map((x) => x / norm);
    expect(maxDifference(floats(results[updatedName(`first:${name}`)]), clipped)).toBeLessThan(1e-5);
  });

  test("queries, keys and values in one matrix are three maps", async () => {
    const joined = "vision_model.blocks.0.attn.qkv.weight";
    const parts = [1, 10, 100].map((size, i) => drawMatrix(4, 4, [size, size / 2, size / 3, size / 4], 51 + 2 * i));
    const gradient = Float32Array.from(parts.flatMap(({ data }) => [...data]));
    const feeds = { [joined]: new Float32Array(48), [gradientName(joined)]: gradient, [`first:${joined}`]: new Float32Array(48) };
    const results = await step({ name: joined, shape: [12, 4], rule: "muon" }, feeds);
    const moved = floats(results[updatedName(joined)]).map((x) => -x / 0.02 / (0.2 * 2));
    parts.forEach(({ left, right }, i) => {
      expectNearOne(alongDirections(moved.subarray(i * 16, i * 16 + 16), 4, left, right));
    });
  });

  test("without a gradient nothing moves but by decay", async () => {
    const before = Float32Array.from({ length: 45 }, (_, i) => i);
    const zeros = new Float32Array(45);
    const results = await step({ name, shape, rule: "muon" }, { [name]: before, [gradientName(name)]: zeros, [`first:${name}`]: zeros });
    expect(
      maxDifference(
        floats(results[updatedName(name)]),
        before.map((x) => x * 0.998),
      ),
    ).toBeLessThan(1e-5);
  });
});

test("Muon takes matrices between hidden spaces; AdamW the kernel, tables, heads, norms and biases", async () => {
  const shapes = parameterShapes(await tinyConfig());
  const withMuon = [...shapes].filter(([name, shape]) => defaultRule(name, shape) === "muon").map(([name]) => name);
  const stems = new Set(
    withMuon.map((name) =>
      name
        .replace(/\.\d+\./, ".N.")
        .split(".")
        .slice(-3)
        .join("."),
    ),
  );
  expect([...stems].sort()).toEqual([
    "attn.proj.weight",
    "attn.qkv.weight",
    "mlp.N.weight",
    "mlp.down_proj.weight",
    "mlp.fc1.weight",
    "mlp.fc2.weight",
    "mlp.gate_proj.weight",
    "mlp.up_proj.weight",
    "self_attn.k_proj.weight",
    "self_attn.o_proj.weight",
    "self_attn.q_proj.weight",
    "self_attn.v_proj.weight",
  ]);
  expect(defaultRule("dense.characters.weight", [12, 64])).toBe("adamw");
});
