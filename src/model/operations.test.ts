/**
 * The operations a transformer is made of, composed as the model composes them, against float64 values and gradients of the reference
 * (test/golden/model/gradcheck.json).
 */
import { expect, test } from "vitest";
import { evaluate, numbers } from "../../test/evaluate.ts";
import { goldenJson, maxDifference } from "../../test/tiny.ts";
import { backward } from "../graph/backward.ts";
import * as g from "../graph/ops.ts";
import type { Value } from "../graph/value.ts";
import { float32, type Tensor } from "../runtime/session.ts";
import { attention } from "./attention.ts";
import { decoderRotary } from "./positions.ts";

interface Numbers {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

interface GoldenOperation {
  readonly op: string;
  readonly inputs: Readonly<Record<string, Numbers>>;
  readonly integers: Readonly<Record<string, readonly number[] | readonly (readonly number[])[]>>;
  readonly output: Numbers;
  readonly outputGradient: Numbers;
  readonly inputGradients: Readonly<Record<string, Numbers>>;
}

type Inputs = Readonly<Record<string, Value>>;
type Integers = Readonly<Record<string, readonly number[]>>;

const int64 = (values: readonly number[]): Value => g.constant(BigInt64Array.from(values, BigInt), [values.length]);
/** 0 where a row may attend, −1e9 elsewhere. */
const additive = (mask: readonly number[], shape: readonly number[]): Value =>
  g.constant(
    Float32Array.from(mask, (seen) => (seen ? 0 : -1e9)),
    shape,
  );
const withBatch = (x: Value): Value => g.reshape(x, [1, ...x.shape]);
const withoutBatch = (x: Value): Value => g.reshape(x, x.shape.slice(1));

const operations: Readonly<Record<string, (inputs: Inputs, integers: Integers) => Value>> = {
  rms_norm: ({ x, weight }) => g.rmsNorm(x, weight, 1e-6),
  rms_norm_heads: ({ x, weight }) => g.rmsNorm(x, weight, 1e-6),
  layer_norm: ({ x, weight, bias }) => g.layerNorm(x, weight, bias, 1e-6),
  softmax: ({ x }) => g.softmax(x),
  masked_softmax: ({ x }, { mask }) => g.softmax(g.add(x, additive(mask, x.shape as number[]))),
  log_softmax: ({ x }) => g.logSoftmax(x),
  silu: ({ x }) => g.silu(x),
  sigmoid: ({ x }) => g.sigmoid(x),
  quick_gelu: ({ x }) => g.quickGelu(x),
  gelu: ({ x }) => g.gelu(x),
  swiglu: ({ gate, up }) => g.mul(g.silu(gate), up),
  matmul: ({ a, b }) => g.matmul(a, b),
  matmul_batched: ({ a, b }) => g.matmul(a, b),
  matmul_broadcast: ({ a, b }) => g.matmul(a, b),
  matmul_broadcast_batch: ({ a, b }) => g.matmul(a, b),
  linear: ({ x, weight, bias }) => g.linear(x, weight, bias),
  embedding: ({ table }, { ids }) => g.gather(table, int64(ids)),
  gather_rows: ({ x }, { rows }) => g.gather(x, int64(rows)),
  scatter_rows: ({ x, values }, { rows }) => {
    // As image features take the place of tokens: each row says which value it takes, or −1.
    const taken = Array.from({ length: x.shape[0] as number }, (_, row) => rows.indexOf(row));
    const zero = g.constant(BigInt64Array.of(0n), []);
    const kept = g.less(g.reshape(int64(taken), [taken.length, 1]), zero);
    return g.where(kept, x, g.gather(values, g.maximum(int64(taken), zero)));
  },
  broadcast_add: ({ a, b }) => g.add(a, b),
  broadcast_mul: ({ a, b }) => g.mul(a, b),
  div: ({ a, b }) => g.div(a, b),
  transpose: ({ x }) => g.transpose(x, [1, 0, 2]),
  concat: ({ a, b }) => g.concat([a, b], 1),
  slice: ({ x }) => g.slice(x, 1, 1, 2),
  mean: ({ x }) => g.reduceMean(x, [-1]),
  rotary: ({ x }, { positions }) => {
    const [, rows, headDim] = x.shape as readonly number[];
    const { cos, sin } = decoderRotary(positions, headDim, 1e6);
    const table = (data: Float32Array) => g.constant(data, [1, rows, headDim / 2]);
    return withoutBatch(g.rotary(withBatch(x), table(cos), table(sin)));
  },
  grouped_attention: ({ q, k, v }, { mask }) => {
    const [rows, columns] = [q.shape[1] as number, k.shape[1] as number];
    const current = { key: withBatch(k), value: withBatch(v) };
    return withoutBatch(attention({ query: withBatch(q), current, mask: additive(mask, [1, 1, rows, columns]) }));
  },
  masked_cross_entropy: ({ logits }, { targets, rows }) => {
    const chosen = int64(rows.map((row) => targets[row]));
    return g.mul(g.sumAll(g.crossEntropy(g.gather(logits, int64(rows)), chosen)), 1 / rows.length);
  },
  weighted_cross_entropy: ({ logits }, { targets, weights }) =>
    g.mul(g.sumAll(g.mul(g.crossEntropy(logits, int64(targets)), g.constant(Float32Array.from(weights), [weights.length]))), 1 / 4),
  sum_squares: ({ x }) => g.sumAll(g.mul(x, x)),
};

const { ops } = await goldenJson<{ ops: GoldenOperation[] }>("gradcheck.json");

/** Float32 against float64, relative to the largest expected number where that is above one. Seen at worst: 2.3e-6, in the rotation by position 1000. */
const TOLERANCE = 1e-5;

function expectClose(got: Tensor, { shape, data }: Numbers, what: string): void {
  expect(got.shape, what).toEqual(shape);
  const scale = Math.max(1, ...data.map(Math.abs));
  expect(maxDifference(numbers(got), data) / scale, what).toBeLessThan(TOLERANCE);
}

test("every golden operation is composed here", () => {
  expect(Object.keys(operations).sort()).toEqual(ops.map(({ op }) => op).sort());
});

test.each(ops)("$op and its gradients", async ({ op, inputs, integers, output, outputGradient, inputGradients }) => {
  const names = Object.keys(inputs);
  const values = Object.fromEntries(names.map((name) => [name, g.input(name, "float32", inputs[name].shape)]));
  const flat = Object.fromEntries(Object.entries(integers).map(([name, list]) => [name, list.flat()]));
  const result = operations[op](values, flat);
  const weights = g.constant(Float32Array.from(outputGradient.data), outputGradient.shape);
  const loss = g.sumAll(g.mul(result, weights));
  const gradients = backward(
    loss,
    names.map((name) => values[name]),
  );
  const outputs = { result, ...Object.fromEntries(names.map((name, i) => [`gradient:${name}`, gradients[i]])) };
  const feeds = Object.fromEntries(names.map((name) => [name, float32(Float32Array.from(inputs[name].data), inputs[name].shape)]));
  const results = await evaluate(outputs, feeds);
  expectClose(results.result, output, op);
  for (const name of names) expectClose(results[`gradient:${name}`], inputGradients[name], `gradient of ${name}`);
});
