/**
 * Every rule of the gradient table against finite differences of the operation itself, as ONNX Runtime computes it. The cases are a
 * total record over the operations: a new operation needs cases, or the reason why it has no gradient.
 */
import { expect, test } from "vitest";
import { evaluate, loadValues, numbers } from "../../test/evaluate.ts";
import { createRandom } from "../diffusion/random.ts";
import { float32, int64, type Tensor } from "../runtime/session.ts";
import { backward } from "./backward.ts";
import { gradientRules } from "./gradients.ts";
import * as g from "./ops.ts";
import type { OpName, Value } from "./value.ts";

interface GradientCase {
  /** Float operands by name: shapes, drawn from [low, high] away from kinks. */
  readonly operands: Readonly<Record<string, readonly number[]>>;
  readonly low?: number;
  readonly high?: number;
  /** Operand number i lies on multiples of 1/grid plus half of that for odd i, so that two operands are never close. */
  readonly grid?: number;
  /** Operands without a gradient, fed as they are. */
  readonly fixed?: Readonly<Record<string, Tensor>>;
  readonly build: (values: Record<string, Value>) => Value;
}

const unary = (build: (x: Value) => Value, low = -2, high = 2): readonly GradientCase[] => [
  { operands: { x: [2, 3] }, low, high, build: ({ x }) => build(x) },
];

const shapes = (a: readonly number[], b: readonly number[]) => ({ operands: { a, b } });

/** Like shapes, an operand stretched on either side, and one of lower rank. */
const binary = (build: (a: Value, b: Value) => Value, { low = -2, high = 2, grid = 256 } = {}): readonly GradientCase[] =>
  [shapes([2, 3], [2, 3]), shapes([2, 1, 3], [4, 1]), shapes([3], [2, 3]), shapes([2, 3], [])].map(({ operands }) => ({
    operands,
    low,
    high,
    grid,
    build: ({ a, b }) => build(a, b),
  }));

const matmulCase = (
  a: readonly number[],
  b: readonly number[],
  options: { transposeA?: boolean; transposeB?: boolean } = {},
): GradientCase => ({
  operands: { a, b },
  build: (v) => g.matmul(v.a, v.b, options),
});

const condition: Tensor = float32(Float32Array.of(1, -1, -1, 1, -1, 1), [2, 3]);

const cases: { readonly [Op in OpName]: readonly GradientCase[] | string } = {
  input: "a leaf",
  parameter: "a leaf",
  constant: "a leaf",

  neg: unary(g.neg),
  exp: unary(g.exp),
  log: unary(g.log, 1, 3),
  sqrt: unary(g.sqrt, 1, 3),
  reciprocal: unary(g.reciprocal, 1, 3),
  sigmoid: unary(g.sigmoid),
  erf: unary(g.erf),
  abs: [...unary(g.abs, 0.3, 2), ...unary(g.abs, -2, -0.3)],
  round: "constant between integers",
  cast: unary((x) => g.cast(x, "float32")),

  add: binary(g.add),
  sub: binary(g.sub),
  mul: binary(g.mul),
  div: binary(g.div, { low: 1, high: 3 }),
  maximum: binary(g.maximum, { grid: 4 }),
  minimum: binary(g.minimum, { grid: 4 }),
  less: "its result is a condition",
  where: [
    { ...shapes([2, 3], [2, 3]), fixed: { condition }, build: (v) => g.where(g.less(v.condition, g.scalar(0)), v.a, v.b) },
    { ...shapes([3], []), fixed: { condition }, build: (v) => g.where(g.less(v.condition, g.scalar(0)), v.a, v.b) },
  ],

  reduceSum: [[0], [1, 2], [-1], [0, 1, 2]].map((axes) => ({ operands: { x: [2, 3, 2] }, build: ({ x }) => g.reduceSum(x, axes) })),
  reduceMax: [[0], [1, 2], [-1]].map((axes) => ({ operands: { x: [2, 3, 2] }, build: ({ x }) => g.reduceMax(x, axes) })),

  matmul: [
    matmulCase([2, 3], [3, 4]),
    matmulCase([3, 2], [3, 4], { transposeA: true }),
    matmulCase([2, 3], [4, 3], { transposeB: true }),
    matmulCase([3, 2], [4, 3], { transposeA: true, transposeB: true }),
    matmulCase([2, 2, 3], [2, 3, 4]),
    matmulCase([2, 3, 2], [2, 3, 4], { transposeA: true }),
    matmulCase([2, 2, 3], [2, 4, 3], { transposeB: true }),
    matmulCase([2, 3, 2], [2, 4, 3], { transposeA: true, transposeB: true }),
    matmulCase([2, 2, 3], [3, 4]),
    matmulCase([2, 3], [2, 4, 3], { transposeB: true }),
    matmulCase([2, 1, 2, 3], [3, 3, 2]),
  ],
  transpose: [{ operands: { x: [2, 3, 4] }, build: ({ x }) => g.transpose(x, [1, 2, 0]) }],
  reshape: [{ operands: { x: [2, 3] }, build: ({ x }) => g.reshape(x, [3, 1, 2]) }],
  expand: [{ operands: { x: [2, 1] }, build: ({ x }) => g.expand(x, [3, 2, 4]) }],
  concat: [0, 1, -1].map((axis) => ({ ...shapes([2, 2], [2, 2]), build: ({ a, b }) => g.concat([a, b, a], axis) })),
  slice: [{ operands: { x: [2, 5] }, build: ({ x }) => g.slice(x, 1, 1, 3) }],
  padAxis: [{ operands: { x: [2, 3] }, build: ({ x }) => g.padAxis(x, 1, 2, 1) }],
  gather: [
    { operands: { table: [4, 3] }, fixed: { rows: int64([2, 0, 2, 2]) }, build: (v) => g.gather(v.table, v.rows) },
    { operands: { table: [4] }, fixed: { rows: int64([2, 0, 2, 3], [2, 2]) }, build: (v) => g.gather(v.table, v.rows) },
    { operands: { table: [3, 2, 2] }, fixed: { rows: int64([1, 1], [2, 1]) }, build: (v) => g.gather(v.table, v.rows) },
  ],
  scatterAdd: [
    { operands: { updates: [4, 3] }, fixed: { rows: int64([2, 0, 2, 2]) }, build: (v) => g.scatterAdd(v.rows, v.updates, 5) },
    { operands: { updates: [2, 2] }, fixed: { rows: int64([2, 0, 2, 1], [2, 2]) }, build: (v) => g.scatterAdd(v.rows, v.updates, 3) },
  ],

  softmax: [{ operands: { x: [2, 2, 3] }, build: ({ x }) => g.softmax(x) }],
  logSoftmax: [{ operands: { x: [2, 2, 3] }, build: ({ x }) => g.logSoftmax(x) }],
  attend: [false, true].flatMap((logSum) => [
    { operands: { scores: [2, 2, 3], values: [2, 3, 4] }, build: (v) => g.attend(v.scores, v.values, { logSum }) },
    { operands: { scores: [2, 2, 3], values: [3, 4] }, build: (v) => g.attend(v.scores, v.values, { logSum }) },
  ]),
  pick: [{ operands: { x: [3, 4] }, fixed: { targets: int64([3, 0, 0]) }, build: (v) => g.pick(v.x, v.targets) }],
  oneHot: "its operand is an integer",

  rmsNorm: [
    [3, 4],
    [2, 2, 4],
  ].map((x) => ({ operands: { x, weight: [4] }, build: (v) => g.rmsNorm(v.x, v.weight, 1e-2) })),
  layerNorm: [
    [3, 4],
    [2, 2, 4],
  ].map((x) => ({
    operands: { x, weight: [4], bias: [4] },
    build: (v) => g.layerNorm(v.x, v.weight, v.bias, 1e-2),
  })),
  sigmoidGate: [...unary(g.silu), ...unary(g.quickGelu)],
  gelu: unary(g.gelu),
  rotary: [
    {
      operands: { x: [1, 2, 2, 4] },
      fixed: {
        cos: float32(Float32Array.of(1, 0.5, -0.2, 0.9), [1, 2, 2]),
        sin: float32(Float32Array.of(0, 0.8, 0.7, -0.4), [1, 2, 2]),
      },
      build: (v) => g.rotary(v.x, v.cos, v.sin),
    },
  ],

  dynamicQuantizeMatmul: "inference only: rounds its operand",
  blockQuantizedMatmul: "inference only: its weights are packed integers",
  integerMatmul: "its operands are integers",
};

/** Numbers spread over [low, high] in random order, on a grid of powers of two so that steps from them are exact in float32. */
function draw(count: number, low: number, high: number, seed: number, grid = 256): Float32Array {
  const random = createRandom(seed, count);
  const strata = Int32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [strata[i], strata[j]] = [strata[j], strata[i]];
  }
  return Float32Array.from(strata, (stratum) => {
    const width = (high - low) / count;
    return Math.round((low + width * (stratum + 0.25 + 0.5 * random.uniform())) * grid) / grid;
  });
}

const STEP = 2 ** -5;
/** Of the largest entry of a gradient. Seen at worst: 1.3e-5. */
const TOLERANCE = 1e-4;

/** The largest difference between the table's gradient and that of finite differences, relative to the largest entry. */
async function disagreement(op: OpName, { operands, low = -2, high = 2, grid = 256, fixed = {}, build }: GradientCase): Promise<number> {
  const names = Object.keys(operands);
  const feeds: Record<string, Tensor> = { ...fixed };
  const values: Record<string, Value> = {};
  for (const [name, { dtype, shape }] of Object.entries(fixed)) values[name] = g.input(name, dtype, shape);
  names.forEach((name, i) => {
    const shape = operands[name];
    const count = shape.reduce((a, b) => a * b, 1);
    values[name] = g.input(name, "float32", shape);
    feeds[name] = float32(
      draw(count, low, high, 17 + i, grid).map((x) => x + (i % 2) / (2 * grid)),
      shape,
    );
  });
  const result = build(values);
  expect(result.op).toBe(op);
  const count = (result.shape as readonly number[]).reduce((a, b) => a * b, 1);
  const weights = draw(count, -0.5, 1.5, 99);
  const loss = g.sumAll(g.mul(result, g.constant(weights, result.shape as number[])));
  const gradients = backward(
    loss,
    names.map((name) => values[name]),
  );
  const analytic = await evaluate(Object.fromEntries(names.map((name, i) => [`gradient:${name}`, gradients[i]])), feeds);

  await using run = await loadValues({ result });
  const lossAt = async (name: string, index: number, step: number): Promise<number> => {
    const data = (feeds[name].data as Float32Array).slice();
    data[index] += step;
    const out = numbers((await run({ ...feeds, [name]: float32(data, operands[name]) })).result);
    return out.reduce((sum, y, i) => sum + y * weights[i], 0);
  };
  let worst = 0;
  for (const name of names) {
    const gradient = numbers(analytic[`gradient:${name}`]);
    const scale = Math.max(...gradient.map(Math.abs));
    expect(scale, `gradient of ${name}`).toBeGreaterThan(0);
    for (let i = 0; i < gradient.length; i++) {
      const near = (await lossAt(name, i, STEP)) - (await lossAt(name, i, -STEP));
      const far = (await lossAt(name, i, 2 * STEP)) - (await lossAt(name, i, -2 * STEP));
      worst = Math.max(worst, Math.abs(gradient[i] - (8 * near - far) / (12 * STEP)) / scale);
    }
  }
  return worst;
}

const ops = Object.keys(gradientRules) as OpName[];

test.each(ops.filter((op) => typeof cases[op] !== "string"))("the gradient of %s is its slope", async (op) => {
  for (const one of cases[op] as readonly GradientCase[]) {
    const worst = await disagreement(op, one);
    expect(worst, JSON.stringify(one.operands)).toBeLessThan(TOLERANCE);
  }
});

test("operations without a gradient answer null for every operand", () => {
  const x = g.input("x", "float32", [2, 3]);
  const targets = g.input("targets", "int64", [2]);
  const bytes = g.input("bytes", "uint8", [2, 3]);
  const packed = g.input("packed", "int8", [3, 4]);
  const scale = g.input("scale", "float32", [4]);
  const without: Partial<Record<OpName, Value>> = {
    input: x,
    parameter: g.parameter("weight", [2]),
    constant: g.scalar(1),
    round: g.round(x),
    less: g.less(x, x),
    oneHot: g.oneHot(targets, 4),
    dynamicQuantizeMatmul: g.apply("dynamicQuantizeMatmul", [x, packed, scale], {}),
    blockQuantizedMatmul: g.apply("blockQuantizedMatmul", [x, bytes, scale], { bits: 8, blockSize: 16, outFeatures: 4, accuracyLevel: 4 }),
    integerMatmul: g.apply("integerMatmul", [bytes, packed], {}),
  };
  expect(Object.keys(without).sort()).toEqual(ops.filter((op) => typeof cases[op] === "string").sort());
  for (const [op, value] of Object.entries(without)) {
    const rule = gradientRules[op as OpName] as (value: Value, gradient: Value) => readonly (Value | null)[];
    expect(rule(value, g.scalar(1))).toEqual(value.inputs.map(() => null));
  }
});
