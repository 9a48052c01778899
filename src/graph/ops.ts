/**
 * The builder: one function per operation, plus the few compositions everything uses. Values are pure, so a model is a plain function
 * from values to values; there is no builder state to thread through.
 */
import { shapeRules } from "./shapes.ts";
import type { ConstantData, Dim, DType, OpAttributes, OpName, Shape, Value } from "./value.ts";

/** Makes a value by its shape rule. */
export function apply<Op extends OpName>(op: Op, inputs: readonly Value[], attributes: OpAttributes[Op]): Value<Op> {
  const { dtype, shape } = shapeRules[op](inputs, attributes);
  return { op, inputs, attributes, dtype, shape };
}

export function input(name: string, dtype: DType, shape: Shape): Value<"input"> {
  return { op: "input", inputs: [], attributes: { name }, dtype, shape };
}

export function parameter(name: string, shape: Shape, dtype: DType = "float32"): Value<"parameter"> {
  return { op: "parameter", inputs: [], attributes: { name }, dtype, shape };
}

function dtypeOf(data: ConstantData): DType {
  if (data instanceof Float32Array) return "float32";
  if (data instanceof BigInt64Array) return "int64";
  if (data instanceof Int32Array) return "int32";
  return data instanceof Int8Array ? "int8" : "uint8";
}

export function constant(data: ConstantData, shape: readonly number[]): Value<"constant"> {
  if (shape.reduce((a, b) => a * b, 1) !== data.length)
    throw new TypeError(`constant expected ${shape.join("×")} elements, got ${data.length}`);
  return { op: "constant", inputs: [], attributes: { data }, dtype: dtypeOf(data), shape };
}

export const scalar = (value: number): Value => constant(Float32Array.of(value), []);

export const neg = (x: Value): Value => apply("neg", [x], {});
export const exp = (x: Value): Value => apply("exp", [x], {});
export const log = (x: Value): Value => apply("log", [x], {});
export const sqrt = (x: Value): Value => apply("sqrt", [x], {});
export const reciprocal = (x: Value): Value => apply("reciprocal", [x], {});
export const sigmoid = (x: Value): Value => apply("sigmoid", [x], {});
export const erf = (x: Value): Value => apply("erf", [x], {});
export const abs = (x: Value): Value => apply("abs", [x], {});
/** To the nearest integer, halves to even. */
export const round = (x: Value): Value => apply("round", [x], {});
export const cast = (x: Value, to: DType): Value => apply("cast", [x], { to });

const operand = (x: Value | number): Value => (typeof x === "number" ? scalar(x) : x);
export const add = (a: Value, b: Value | number): Value => apply("add", [a, operand(b)], {});
export const sub = (a: Value, b: Value | number): Value => apply("sub", [a, operand(b)], {});
export const mul = (a: Value, b: Value | number): Value => apply("mul", [a, operand(b)], {});
export const div = (a: Value, b: Value | number): Value => apply("div", [a, operand(b)], {});
export const maximum = (a: Value, b: Value | number): Value => apply("maximum", [a, operand(b)], {});
export const minimum = (a: Value, b: Value | number): Value => apply("minimum", [a, operand(b)], {});
export const less = (a: Value, b: Value): Value => apply("less", [a, b], {});
export const where = (condition: Value, a: Value, b: Value): Value => apply("where", [condition, a, b], {});

export const reduceSum = (x: Value, axes: readonly number[]): Value => apply("reduceSum", [x], { axes });
export const reduceMax = (x: Value, axes: readonly number[]): Value => apply("reduceMax", [x], { axes });

/** Mean over axes of known length, which stay as ones. */
export function reduceMean(x: Value, axes: readonly number[]): Value {
  const count = axes.map((axis) => x.shape.at(axis)).reduce<number>((product, d) => product * (typeof d === "number" ? d : Number.NaN), 1);
  if (Number.isNaN(count))
    throw new TypeError(`reduceMean expected axes of known length, got [${x.shape.join(", ")}] along ${axes.join(", ")}`);
  return mul(reduceSum(x, axes), 1 / count);
}

export const matmul = (a: Value, b: Value, { transposeA = false, transposeB = false } = {}): Value =>
  apply("matmul", [a, b], { transposeA, transposeB });
export const transpose = (x: Value, permutation: readonly number[]): Value => apply("transpose", [x], { permutation });
export const reshape = (x: Value, shape: Shape): Value => apply("reshape", [x], { shape });
export const expand = (x: Value, shape: Shape): Value => apply("expand", [x], { shape });
export const concat = (inputs: readonly Value[], axis: number): Value => apply("concat", inputs, { axis });
export const slice = (x: Value, axis: number, start: Dim, length: Dim): Value => apply("slice", [x], { axis, start, length });
export const padAxis = (x: Value, axis: number, before: number, after: number): Value => apply("padAxis", [x], { axis, before, after });
export const gather = (table: Value, indices: Value): Value => apply("gather", [table, indices], {});
export const scatterAdd = (indices: Value, updates: Value, size: Dim): Value => apply("scatterAdd", [indices, updates], { size });

export const softmax = (x: Value): Value => apply("softmax", [x], {});
export const logSoftmax = (x: Value): Value => apply("logSoftmax", [x], {});
/** softmax(scores) · values, with log Σ exp of the scores as a last column if `logSum`. */
export const attend = (scores: Value, values: Value, { logSum = false } = {}): Value =>
  apply("attend", [scores, softmax(scores), values], { logSum });
export const pick = (logProbabilities: Value, targets: Value): Value => apply("pick", [logProbabilities, targets], {});
export const oneHot = (targets: Value, classes: number): Value => apply("oneHot", [targets], { classes });

export const rmsNorm = (x: Value, weight: Value, epsilon: number): Value => apply("rmsNorm", [x, weight], { epsilon });
export const layerNorm = (x: Value, weight: Value, bias: Value, epsilon: number): Value =>
  apply("layerNorm", [x, weight, bias], { epsilon });
export const sigmoidGate = (x: Value, factor: number): Value => apply("sigmoidGate", [x], { factor });
export const silu = (x: Value): Value => sigmoidGate(x, 1);
export const quickGelu = (x: Value): Value => sigmoidGate(x, 1.702);
export const gelu = (x: Value): Value => apply("gelu", [x], {});
export const rotary = (x: Value, cos: Value, sin: Value): Value => apply("rotary", [x, cos, sin], {});

/** x [rows, in] · weight [out, in]ᵀ + bias [out], the layout of checkpoints. */
export function linear(x: Value, weight: Value, bias?: Value): Value {
  const product = matmul(x, weight, { transposeB: true });
  return bias ? add(product, bias) : product;
}

/** Cross entropy of each row in nats: logits [rows, classes], targets int64 [rows] → [rows]. */
export const crossEntropy = (logits: Value, targets: Value): Value => neg(pick(logSoftmax(logits), targets));

/** Sum of everything, as a value without axes. */
export function sumAll(x: Value): Value {
  return reshape(
    reduceSum(
      x,
      x.shape.map((_, i) => i),
    ),
    [],
  );
}
