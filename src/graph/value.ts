/**
 * The nodes of the dataflow graph. A `Value` is one result of one operation; identity is the edge, names are labels. The union of
 * operations is closed: shape rules, gradient rules and ONNX lowerings are total tables over `OpName`, so the compiler names what is
 * missing. Nothing here knows ONNX, ONNX Runtime or the model.
 */

export type DType = "float32" | "float16" | "bfloat16" | "int64" | "int32" | "int8" | "uint8" | "bool";

/** A dimension: known, or a symbol that the caller binds at run time. */
export type Dim = number | string;
export type Shape = readonly Dim[];

export type ConstantData = Float32Array | BigInt64Array | Int32Array | Int8Array | Uint8Array;

/** The attributes of each operation. */
export interface OpAttributes {
  /** Fed at every run. */
  input: { readonly name: string };
  /** A tensor of the checkpoint, known by its published name. */
  parameter: { readonly name: string };
  constant: { readonly data: ConstantData };

  neg: Record<never, never>;
  exp: Record<never, never>;
  log: Record<never, never>;
  sqrt: Record<never, never>;
  reciprocal: Record<never, never>;
  sigmoid: Record<never, never>;
  erf: Record<never, never>;
  abs: Record<never, never>;
  round: Record<never, never>;
  cast: { readonly to: DType };

  add: Record<never, never>;
  sub: Record<never, never>;
  mul: Record<never, never>;
  div: Record<never, never>;
  maximum: Record<never, never>;
  minimum: Record<never, never>;
  less: Record<never, never>;
  /** condition, then, else */
  where: Record<never, never>;

  /** Sums over `axes`, which stay as ones. */
  reduceSum: { readonly axes: readonly number[] };
  reduceMax: { readonly axes: readonly number[] };

  /** Batched product; a transposed operand is read with its last two axes swapped. */
  matmul: { readonly transposeA: boolean; readonly transposeB: boolean };
  transpose: { readonly permutation: readonly number[] };
  reshape: { readonly shape: Shape };
  expand: { readonly shape: Shape };
  concat: { readonly axis: number };
  /** A slice whose start is a symbol reaches to the end of the axis. */
  slice: { readonly axis: number; readonly start: Dim; readonly length: Dim };
  /** Zeros around a slice: the inverse of `slice` for gradients. */
  padAxis: { readonly axis: number; readonly before: number; readonly after: number };
  /** table [n, …], indices int64 [any] → [any, …] */
  gather: Record<never, never>;
  /** indices int64 [any], updates [any, …] → [size, …]: rows summed where indices repeat. */
  scatterAdd: { readonly size: Dim };

  /** Over the last axis. */
  softmax: Record<never, never>;
  logSoftmax: Record<never, never>;
  /**
   * scores […, rows, columns], their softmax, values […, columns, width] → softmax · values […, rows, width]; with `logSum` one more
   * column, log Σ exp of the scores. The gradient runs through scores and values in one pass over the columns.
   */
  attend: { readonly logSum: boolean };
  /** log-probabilities [rows, classes], targets int64 [rows] → [rows] */
  pick: Record<never, never>;
  /** targets int64 [rows] → float32 [rows, classes] */
  oneHot: { readonly classes: number };

  /** x · weight / sqrt(mean(x²) + epsilon) over the last axis. */
  rmsNorm: { readonly epsilon: number };
  /** (x − mean) / sqrt(variance + epsilon) · weight + bias over the last axis. */
  layerNorm: { readonly epsilon: number };
  /** x · sigmoid(factor · x): SiLU at 1, QuickGELU at 1.702. */
  sigmoidGate: { readonly factor: number };
  /** x · Φ(x), exact. */
  gelu: Record<never, never>;
  /** x [batch, heads, rows, headDim] rotated by halves; cos, sin [batch, rows, headDim / 2]. */
  rotary: Record<never, never>;

  /** a [rows, in] float32 · weight int8 [in, out] with one scale per column; `a` quantised per tensor on the fly. */
  dynamicQuantizeMatmul: Record<never, never>;
  /** a [rows, in] · 4- or 8-bit block-quantised weight (packed [out, blocks, bytes]), scales [out · blocks]. */
  blockQuantizedMatmul: { readonly bits: 4 | 8; readonly blockSize: number; readonly outFeatures: number; readonly accuracyLevel: number };
  /** uint8 [rows, in] · int8 [in, out] → int32 */
  integerMatmul: Record<never, never>;
}

export type OpName = keyof OpAttributes;

/** One result of one operation. */
export interface Value<Op extends OpName = OpName> {
  readonly op: Op;
  readonly inputs: readonly Value[];
  readonly attributes: OpAttributes[Op];
  readonly dtype: DType;
  readonly shape: Shape;
}

/** A closed graph: what goes in is found by walking back from the outputs. */
export interface Program {
  readonly name: string;
  readonly outputs: Readonly<Record<string, Value>>;
}

/** Narrows a value to one operation. */
export function isOp<Op extends OpName>(value: Value, op: Op): value is Value<Op> {
  return value.op === op;
}

/** Every value that `roots` need, operands before their users, each once. */
export function topologicalOrder(roots: readonly Value[]): Value[] {
  const order: Value[] = [];
  const seen = new Set<Value>();
  const stack: { value: Value; next: number }[] = [];
  for (const root of roots) {
    if (seen.has(root)) continue;
    seen.add(root);
    stack.push({ value: root, next: 0 });
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top.next < top.value.inputs.length) {
        const operand = top.value.inputs[top.next++];
        if (!seen.has(operand)) {
          seen.add(operand);
          stack.push({ value: operand, next: 0 });
        }
      } else {
        order.push(top.value);
        stack.pop();
      }
    }
  }
  return order;
}

/** The leaves of a program, in the order in which they are first needed. */
export function leaves<Op extends "input" | "parameter">(program: Program, op: Op): Value<Op>[] {
  return topologicalOrder(Object.values(program.outputs)).filter((value): value is Value<Op> => value.op === op);
}
