/**
 * Reverse-mode gradient rules, one per operation: given a value and the gradient of the loss with respect to it, the gradients with
 * respect to its operands (null where none is defined: integers, conditions, masks). Every differentiable rule is checked by finite
 * differences generated from this table.
 */
import * as g from "./ops.ts";
import { normaliseAxis, sameShape } from "./shapes.ts";
import type { OpName, Shape, Value } from "./value.ts";

type GradientRule<Op extends OpName> = (value: Value<Op>, gradient: Value) => readonly (Value | null)[];

/** Sums a gradient over the axes along which an operand was broadcast. */
function unbroadcast(gradient: Value, shape: Shape): Value {
  if (sameShape(gradient.shape, shape)) return gradient;
  const lead = gradient.shape.length - shape.length;
  const axes = gradient.shape.map((_, i) => i).filter((i) => i < lead || (shape[i - lead] === 1 && gradient.shape[i] !== 1));
  const summed = axes.length > 0 ? g.reduceSum(gradient, axes) : gradient;
  return sameShape(summed.shape, shape) ? summed : g.reshape(summed, shape);
}

const none =
  (count: number): GradientRule<OpName> =>
  () =>
    Array<null>(count).fill(null);

/** Axes of everything but the last. */
const leading = (x: Value): number[] => [...Array(x.shape.length - 1).keys()];

const lastAxisSum = (x: Value): Value => g.reduceSum(x, [x.shape.length - 1]);

export const gradientRules: { readonly [Op in OpName]: GradientRule<Op> } = {
  input: none(0),
  parameter: none(0),
  constant: none(0),

  neg: (_, d) => [g.neg(d)],
  exp: (y, d) => [g.mul(d, y)],
  log: ({ inputs: [x] }, d) => [g.div(d, x)],
  sqrt: (y, d) => [g.mul(g.div(d, y), 0.5)],
  reciprocal: (y, d) => [g.neg(g.mul(d, g.mul(y, y)))],
  sigmoid: (y, d) => [g.mul(d, g.mul(y, g.sub(g.scalar(1), y)))],
  erf: ({ inputs: [x] }, d) => [g.mul(d, g.mul(g.exp(g.neg(g.mul(x, x))), 2 / Math.sqrt(Math.PI)))],
  abs: ({ inputs: [x] }, d) => [g.where(g.less(x, g.scalar(0)), g.neg(d), d)],
  round: none(1),
  cast: ({ inputs: [x] }, d) => [x.dtype === "float32" || x.dtype === "float16" ? g.cast(d, x.dtype) : null],

  add: ({ inputs: [a, b] }, d) => [unbroadcast(d, a.shape), unbroadcast(d, b.shape)],
  sub: ({ inputs: [a, b] }, d) => [unbroadcast(d, a.shape), unbroadcast(g.neg(d), b.shape)],
  mul: ({ inputs: [a, b] }, d) => [unbroadcast(g.mul(d, b), a.shape), unbroadcast(g.mul(d, a), b.shape)],
  div: (y, d) => {
    const [a, b] = y.inputs;
    const da = g.div(d, b);
    return [unbroadcast(da, a.shape), unbroadcast(g.neg(g.mul(da, y)), b.shape)];
  },
  maximum: ({ inputs: [a, b] }, d) => {
    const zero = g.scalar(0);
    const bWins = g.less(a, b);
    return [unbroadcast(g.where(bWins, zero, d), a.shape), unbroadcast(g.where(bWins, d, zero), b.shape)];
  },
  minimum: ({ inputs: [a, b] }, d) => {
    const zero = g.scalar(0);
    const bWins = g.less(b, a);
    return [unbroadcast(g.where(bWins, zero, d), a.shape), unbroadcast(g.where(bWins, d, zero), b.shape)];
  },
  less: none(2),
  where: ({ inputs: [condition, a, b] }, d) => {
    const zero = g.scalar(0);
    return [null, unbroadcast(g.where(condition, d, zero), a.shape), unbroadcast(g.where(condition, zero, d), b.shape)];
  },

  reduceSum: ({ inputs: [x] }, d) => [g.expand(d, x.shape)],
  /** Largest entries that tie share the gradient. */
  reduceMax: (y, d) => {
    const [x] = y.inputs;
    const largest = g.where(g.less(x, y), g.scalar(0), g.scalar(1));
    return [g.mul(largest, g.div(d, g.reduceSum(largest, y.attributes.axes)))];
  },

  matmul: ({ inputs: [a, b], attributes: { transposeA, transposeB } }, d) => {
    const da = transposeA ? g.matmul(b, d, { transposeA: transposeB, transposeB: true }) : g.matmul(d, b, { transposeB: !transposeB });
    const db = transposeB ? g.matmul(d, a, { transposeA: true, transposeB: transposeA }) : g.matmul(a, d, { transposeA: !transposeA });
    return [unbroadcast(da, a.shape), unbroadcast(db, b.shape)];
  },
  transpose: ({ attributes: { permutation } }, d) => [
    g.transpose(
      d,
      permutation.map((_, axis) => permutation.indexOf(axis)),
    ),
  ],
  reshape: ({ inputs: [x] }, d) => [g.reshape(d, x.shape)],
  expand: ({ inputs: [x] }, d) => [unbroadcast(d, x.shape)],
  concat: ({ inputs, attributes, shape }, d) => {
    const axis = normaliseAxis(attributes.axis, shape.length);
    let start = 0;
    return inputs.map((x) => {
      const extent = x.shape[axis];
      if (typeof extent !== "number")
        throw new TypeError(`the gradient of concat expected known lengths along axis ${axis}, got ${extent}`);
      start += extent;
      return g.slice(d, axis, start - extent, extent);
    });
  },
  slice: ({ inputs: [x], attributes: { axis, start, length } }, d) => {
    const extent = x.shape[axis];
    if (typeof extent !== "number" || typeof start !== "number" || typeof length !== "number") {
      throw new TypeError(`the gradient of slice expected known lengths along axis ${axis}, got ${length} of ${extent}`);
    }
    return [g.padAxis(d, axis, start, extent - start - length)];
  },
  padAxis: ({ inputs: [x], attributes: { axis, before } }, d) => {
    const extent = x.shape[axis];
    if (typeof extent !== "number")
      throw new TypeError(`the gradient of padAxis expected a known length along axis ${axis}, got ${extent}`);
    return [g.slice(d, axis, before, extent)];
  },
  gather: ({ inputs: [table, indices] }, d) => [g.scatterAdd(indices, d, table.shape[0]), null],
  scatterAdd: ({ inputs: [indices] }, d) => [null, g.gather(d, indices)],

  softmax: (y, d) => [g.mul(y, g.sub(d, lastAxisSum(g.mul(d, y))))],
  logSoftmax: ({ inputs: [x] }, d) => [g.sub(d, g.mul(g.softmax(x), lastAxisSum(d)))],
  /**
   * Scores get p ⊙ (d·valuesᵀ − Σ d ⊙ output + dLogSum). The sum runs over the width, not over the columns (FlashAttention-2, section
   * 3.1), and the terms that are one per row enter the product as one more column: nothing as large as the scores is walked twice.
   */
  attend: (y, d) => {
    const [scores, probabilities, values] = y.inputs;
    const axis = y.shape.length - 1; // that of the width; `values` may have fewer axes
    const width = values.shape[values.shape.length - 1];
    const own = (x: Value) => (y.attributes.logSum ? g.slice(x, axis, 0, width) : x);
    const outward = own(d);
    const along = lastAxisSum(g.mul(outward, own(y)));
    const perRow = y.attributes.logSum ? g.sub(g.slice(d, axis, width, 1), along) : g.neg(along);
    const ones = g.expand(g.constant(Float32Array.of(1), [1]), [...values.shape.slice(0, -1), 1]);
    const inner = g.matmul(g.concat([outward, perRow], axis), g.concat([values, ones], -1), { transposeB: true });
    return [
      unbroadcast(g.mul(probabilities, inner), scores.shape),
      null,
      unbroadcast(g.matmul(probabilities, outward, { transposeA: true }), values.shape),
    ];
  },
  pick: ({ inputs: [logProbabilities, targets], shape }, d) => {
    const classes = logProbabilities.shape[1];
    if (typeof classes !== "number") throw new TypeError(`the gradient of pick expected a known number of classes, got ${classes}`);
    return [g.mul(g.oneHot(targets, classes), g.reshape(d, [...shape, 1])), null];
  },
  oneHot: none(1),

  rmsNorm: ({ inputs: [x, weight], attributes: { epsilon } }, d) => {
    const scale = g.reciprocal(g.sqrt(g.add(g.reduceMean(g.mul(x, x), [-1]), epsilon))); // [..., 1]
    const normalised = g.mul(x, scale);
    const weighted = g.mul(d, weight);
    const projection = g.reduceMean(g.mul(weighted, normalised), [-1]); // [..., 1]
    return [g.mul(g.sub(weighted, g.mul(normalised, projection)), scale), unbroadcast(g.mul(d, normalised), weight.shape)];
  },
  layerNorm: ({ inputs: [x, weight, bias], attributes: { epsilon } }, d) => {
    const centred = g.sub(x, g.reduceMean(x, [-1]));
    const scale = g.reciprocal(g.sqrt(g.add(g.reduceMean(g.mul(centred, centred), [-1]), epsilon)));
    const normalised = g.mul(centred, scale);
    const weighted = g.mul(d, weight);
    const projection = g.reduceMean(g.mul(weighted, normalised), [-1]);
    const dx = g.mul(g.sub(g.sub(weighted, g.reduceMean(weighted, [-1])), g.mul(normalised, projection)), scale);
    return [dx, unbroadcast(g.mul(d, normalised), weight.shape), g.reshape(g.reduceSum(d, leading(d)), bias.shape)];
  },
  sigmoidGate: ({ inputs: [x], attributes: { factor } }, d) => {
    const scaled = factor === 1 ? x : g.mul(x, factor);
    const s = g.sigmoid(scaled);
    return [g.mul(d, g.mul(s, g.add(g.mul(scaled, g.sub(g.scalar(1), s)), 1)))];
  },
  gelu: ({ inputs: [x] }, d) => {
    const distribution = g.mul(g.add(g.erf(g.mul(x, Math.SQRT1_2)), 1), 0.5);
    const density = g.mul(g.exp(g.mul(g.mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
    return [g.mul(d, g.add(distribution, g.mul(x, density)))];
  },
  rotary: ({ inputs: [, cos, sin] }, d) => [g.rotary(d, cos, g.neg(sin)), null, null],

  dynamicQuantizeMatmul: none(3),
  blockQuantizedMatmul: none(3),
  integerMatmul: none(2),
};
