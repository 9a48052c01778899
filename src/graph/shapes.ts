/**
 * Shape and type rules, one per operation. Dimensions are numbers or symbols; two symbols agree when they are the same text. A rule
 * throws a `TypeError` that names the operation, what it expected and what it got.
 */
import type { Dim, DType, OpAttributes, OpName, Shape, Value } from "./value.ts";

export interface ShapeResult {
  readonly dtype: DType;
  readonly shape: Shape;
}

type ShapeRule<Op extends OpName> = (inputs: readonly Value[], attributes: OpAttributes[Op]) => ShapeResult;

export function formatShape(shape: Shape): string {
  return `[${shape.join(", ")}]`;
}

function fail(op: string, expected: string, inputs: readonly Value[]): never {
  throw new TypeError(`${op} expected ${expected}, got ${inputs.map((v) => `${v.dtype}${formatShape(v.shape)}`).join(" and ")}`);
}

/** Of operations whose axis counts from the front alone. */
function checkAxis(op: string, axis: number, x: Value): void {
  if (Number.isInteger(axis) && axis >= 0 && axis < x.shape.length) return;
  throw new TypeError(`${op} expected an axis from 0 to ${x.shape.length - 1}, got ${axis} for ${x.dtype}${formatShape(x.shape)}`);
}

/** The common shape of two operands under NumPy's broadcasting, or null. */
export function broadcastShapes(a: Shape, b: Shape): Shape | null {
  const rank = Math.max(a.length, b.length);
  const out: Dim[] = [];
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (x === y || y === 1) out.push(x);
    else if (x === 1) out.push(y);
    else return null;
  }
  return out;
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((d, i) => d === b[i]);
}

/** The product of dimensions; symbols are joined by `*`, known factors come last. */
export function multiplyDims(dims: readonly Dim[]): Dim {
  const factors = dims.flatMap((d) =>
    typeof d === "number" ? [d] : d.split("*").map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  );
  const known = factors.filter((d): d is number => typeof d === "number").reduce((a, b) => a * b, 1);
  const symbols = factors.filter((d): d is string => typeof d === "string");
  if (symbols.length === 0) return known;
  return [...symbols, ...(known === 1 ? [] : [String(known)])].join("*");
}

/** A negative axis counts from the end. */
export function normaliseAxis(axis: number, rank: number): number {
  const positive = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(positive) || positive < 0 || positive >= rank)
    throw new RangeError(`axis expected within rank ${rank}, got ${axis}`);
  return positive;
}

export function addDims(dims: readonly Dim[]): Dim {
  const known = dims.filter((d): d is number => typeof d === "number").reduce((a, b) => a + b, 0);
  const symbols = dims.filter((d): d is string => typeof d === "string");
  if (symbols.length === 0) return known;
  return [...symbols, ...(known === 0 ? [] : [String(known)])].join("+");
}

const unary =
  (op: string): ShapeRule<OpName> =>
  ([x, ...rest]) =>
    rest.length > 0 ? fail(op, "one operand", [x, ...rest]) : { dtype: x.dtype, shape: x.shape };

const binary =
  (op: string, result?: DType): ShapeRule<OpName> =>
  ([a, b]) => {
    const shape = broadcastShapes(a.shape, b.shape);
    if (shape === null || a.dtype !== b.dtype) fail(op, "operands of one type whose shapes broadcast", [a, b]);
    return { dtype: result ?? a.dtype, shape };
  };

const reduction: ShapeRule<"reduceSum" | "reduceMax"> = ([x], { axes }) => {
  const reduced = new Set(axes.map((axis) => normaliseAxis(axis, x.shape.length)));
  return { dtype: x.dtype, shape: x.shape.map((d, i) => (reduced.has(i) ? 1 : d)) };
};

function last(shape: Shape): Dim {
  return shape[shape.length - 1];
}

const leaf = (op: string) => (): never => {
  throw new Error(`internal: ${op} states its own shape`);
};

export const shapeRules: { readonly [Op in OpName]: ShapeRule<Op> } = {
  input: leaf("input"),
  parameter: leaf("parameter"),
  constant: leaf("constant"),

  neg: unary("neg"),
  exp: unary("exp"),
  log: unary("log"),
  sqrt: unary("sqrt"),
  reciprocal: unary("reciprocal"),
  sigmoid: unary("sigmoid"),
  erf: unary("erf"),
  abs: unary("abs"),
  round: unary("round"),
  cast: ([x], { to }) => ({ dtype: to, shape: x.shape }),

  add: binary("add"),
  sub: binary("sub"),
  mul: binary("mul"),
  div: binary("div"),
  maximum: binary("maximum"),
  minimum: binary("minimum"),
  less: binary("less", "bool"),
  where: ([condition, a, b]) => {
    const branches = broadcastShapes(a.shape, b.shape);
    const shape = branches && broadcastShapes(condition.shape, branches);
    if (!shape || condition.dtype !== "bool" || a.dtype !== b.dtype)
      fail("where", "a bool condition and two like branches", [condition, a, b]);
    return { dtype: a.dtype, shape };
  },

  reduceSum: reduction,
  reduceMax: reduction,

  matmul: ([a, b], { transposeA, transposeB }) => {
    if (a.shape.length < 2 || b.shape.length < 2 || a.dtype !== b.dtype) fail("matmul", "two matrices of one type", [a, b]);
    const [aRows, aInner] = transposeA ? [a.shape.at(-1)!, a.shape.at(-2)!] : [a.shape.at(-2)!, a.shape.at(-1)!];
    const [bInner, bColumns] = transposeB ? [b.shape.at(-1)!, b.shape.at(-2)!] : [b.shape.at(-2)!, b.shape.at(-1)!];
    const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
    if (aInner !== bInner || batch === null) fail("matmul", "matching inner dimensions and batches", [a, b]);
    return { dtype: a.dtype, shape: [...batch, aRows, bColumns] };
  },
  transpose: ([x], { permutation }) => {
    if (permutation.length !== x.shape.length) fail("transpose", `an operand of rank ${permutation.length}`, [x]);
    if (x.shape.some((_, axis) => !permutation.includes(axis))) {
      throw new TypeError(
        `transpose expected a permutation of ${x.shape.length} axes, got ${formatShape(permutation)} for ${x.dtype}${formatShape(x.shape)}`,
      );
    }
    return { dtype: x.dtype, shape: permutation.map((axis) => x.shape[axis]) };
  },
  reshape: ([x], { shape }) => {
    const size = (s: Shape): number | null => (s.every((d) => typeof d === "number") ? (s as number[]).reduce((a, b) => a * b, 1) : null);
    const [from, to] = [size(x.shape), size(shape)];
    if (from !== null && to !== null && from !== to) fail("reshape", `as many elements as ${formatShape(shape)}`, [x]);
    return { dtype: x.dtype, shape };
  },
  expand: ([x], { shape }) => {
    const common = broadcastShapes(x.shape, shape);
    if (common === null || !sameShape(common, shape)) fail("expand", `an operand that broadcasts to ${formatShape(shape)}`, [x]);
    return { dtype: x.dtype, shape };
  },
  concat: (inputs, { axis }) => {
    const rank = inputs[0].shape.length;
    const at = normaliseAxis(axis, rank);
    const agree = inputs.every(
      (v) => v.shape.length === rank && v.dtype === inputs[0].dtype && v.shape.every((d, i) => i === at || d === inputs[0].shape[i]),
    );
    if (!agree) fail("concat", `operands that differ only along axis ${at}`, inputs);
    return { dtype: inputs[0].dtype, shape: inputs[0].shape.map((d, i) => (i === at ? addDims(inputs.map((v) => v.shape[at])) : d)) };
  },
  slice: ([x], { axis, start, length }) => {
    checkAxis("slice", axis, x);
    const extent = x.shape[axis];
    const known = typeof extent === "number" && typeof start === "number" && typeof length === "number";
    if (known && start + length > extent) fail("slice", `${length} from ${start} within axis ${axis}`, [x]);
    return { dtype: x.dtype, shape: x.shape.map((d, i) => (i === axis ? length : d)) };
  },
  padAxis: ([x], { axis, before, after }) => {
    checkAxis("padAxis", axis, x);
    return { dtype: x.dtype, shape: x.shape.map((d, i) => (i === axis ? addDims([d, before + after]) : d)) };
  },
  gather: ([table, indices]) => {
    if (table.shape.length < 1 || indices.dtype !== "int64") fail("gather", "a table and int64 indices", [table, indices]);
    return { dtype: table.dtype, shape: [...indices.shape, ...table.shape.slice(1)] };
  },
  scatterAdd: ([indices, updates], { size }) => {
    const prefix = updates.shape.slice(0, indices.shape.length);
    if (indices.dtype !== "int64" || !sameShape(prefix, indices.shape))
      fail("scatterAdd", "int64 indices and one update for each", [indices, updates]);
    return { dtype: updates.dtype, shape: [size, ...updates.shape.slice(indices.shape.length)] };
  },

  softmax: unary("softmax"),
  logSoftmax: unary("logSoftmax"),
  attend: ([scores, probabilities, values], { logSum }) => {
    const batch = broadcastShapes(scores.shape.slice(0, -2), values.shape.slice(0, -2));
    const agree = sameShape(scores.shape, probabilities.shape) && scores.shape.length > 1 && last(scores.shape) === values.shape.at(-2);
    if (!agree || batch === null)
      fail("attend", "scores, their softmax, and values of one row per column", [scores, probabilities, values]);
    return { dtype: values.dtype, shape: [...batch, scores.shape.at(-2)!, addDims([last(values.shape), logSum ? 1 : 0])] };
  },
  pick: ([logProbabilities, targets]) => {
    if (logProbabilities.shape.length !== 2 || targets.dtype !== "int64" || !sameShape(targets.shape, [logProbabilities.shape[0]])) {
      fail("pick", "[rows, classes] and int64 [rows]", [logProbabilities, targets]);
    }
    return { dtype: logProbabilities.dtype, shape: targets.shape };
  },
  oneHot: ([targets], { classes }) => ({ dtype: "float32", shape: [...targets.shape, classes] }),

  rmsNorm: ([x, weight]) => {
    if (weight.shape.length !== 1 || weight.shape[0] !== last(x.shape)) fail("rmsNorm", "a weight as long as the last axis", [x, weight]);
    return { dtype: x.dtype, shape: x.shape };
  },
  layerNorm: ([x, weight, bias]) => {
    if (!sameShape(weight.shape, [last(x.shape)]) || !sameShape(bias.shape, weight.shape)) {
      fail("layerNorm", "weight and bias as long as the last axis", [x, weight, bias]);
    }
    return { dtype: x.dtype, shape: x.shape };
  },
  sigmoidGate: unary("sigmoidGate"),
  gelu: unary("gelu"),
  rotary: ([x, cos, sin]) => {
    const [batch, , rows, headDim] = x.shape;
    const table = typeof headDim === "number" ? [batch, rows, headDim / 2] : [];
    if (x.shape.length !== 4 || !sameShape(cos.shape, table) || !sameShape(sin.shape, table)) {
      fail("rotary", "[batch, heads, rows, headDim] and two [batch, rows, headDim / 2]", [x, cos, sin]);
    }
    return { dtype: x.dtype, shape: x.shape };
  },

  dynamicQuantizeMatmul: ([a, weight, scale]) => {
    if (a.shape.length !== 2 || weight.shape.length !== 2 || a.shape[1] !== weight.shape[0] || weight.dtype !== "int8") {
      fail("dynamicQuantizeMatmul", "[rows, in] and int8 [in, out]", [a, weight, scale]);
    }
    return { dtype: "float32", shape: [a.shape[0], weight.shape[1]] };
  },
  blockQuantizedMatmul: ([a], { outFeatures }) => ({ dtype: a.dtype, shape: [...a.shape.slice(0, -1), outFeatures] }),
  integerMatmul: ([a, b]) => {
    if (a.shape.length !== 2 || b.shape.length !== 2 || a.shape[1] !== b.shape[0])
      fail("integerMatmul", "[rows, in] and [in, out]", [a, b]);
    return { dtype: "int32", shape: [a.shape[0], b.shape[1]] };
  },
};
