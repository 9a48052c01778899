/**
 * Lowering to ONNX: one rule per operation, and the walk that applies them. Parameters become references into weight files or, for
 * training, inputs. Sizes known only at run time are read from the shapes of the inputs that carry their symbol.
 */
import {
  type AttributeValue,
  type ExternalWeight,
  encodeModel,
  externalTensor,
  inlineTensor,
  MICROSOFT,
  node,
  onnxType,
  valueInfo,
} from "./onnx.ts";
import { addDims, formatShape, normaliseAxis } from "./shapes.ts";
import { type Dim, type OpName, type Program, type Shape, topologicalOrder, type Value } from "./value.ts";

/** Where a parameter's numbers come from: a place in a file, bytes kept in the model, or the caller at every run. */
export type ParameterBinding =
  | { readonly kind: "external"; readonly weight: ExternalWeight }
  | { readonly kind: "inline"; readonly data: Float32Array }
  | { readonly kind: "input" };

interface EmitOptions {
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  readonly domain?: string;
}

/** What a lowering rule may do: add nodes and small constants. */
interface Emitter {
  emit(opType: string, inputs: readonly string[], options?: EmitOptions): string;
  int64(values: readonly number[]): string;
  float32(value: number): string;
  /** A run-time int64 vector holding `shape`; `from` is a value reshaped to it, if any. */
  shapeVector(shape: Shape, from?: Shape): string;
}

type Lowering<Op extends OpName> = (emitter: Emitter, inputs: readonly string[], value: Value<Op>) => string;

const plain =
  (opType: string): Lowering<OpName> =>
  (e, inputs) =>
    e.emit(opType, inputs);

const leaf: Lowering<OpName> = () => {
  throw new Error("internal: leaves are lowered by the walk");
};

const reduction =
  (opType: string): Lowering<"reduceSum" | "reduceMax"> =>
  (e, [x], { attributes }) =>
    e.emit(opType, [x, e.int64(attributes.axes)], { attributes: { keepdims: 1n } });

const lowerings: { readonly [Op in OpName]: Lowering<Op> } = {
  input: leaf,
  parameter: leaf,
  constant: leaf,

  neg: plain("Neg"),
  exp: plain("Exp"),
  log: plain("Log"),
  sqrt: plain("Sqrt"),
  reciprocal: plain("Reciprocal"),
  sigmoid: plain("Sigmoid"),
  erf: plain("Erf"),
  abs: plain("Abs"),
  round: plain("Round"),
  cast: (e, inputs, { attributes }) => e.emit("Cast", inputs, { attributes: { to: BigInt(onnxType(attributes.to)) } }),

  add: plain("Add"),
  sub: plain("Sub"),
  mul: plain("Mul"),
  div: plain("Div"),
  maximum: plain("Max"),
  minimum: plain("Min"),
  less: plain("Less"),
  where: plain("Where"),

  reduceSum: reduction("ReduceSum"),
  reduceMax: reduction("ReduceMax"),

  matmul: (e, inputs, { inputs: [a, b], attributes: { transposeA, transposeB } }) => {
    const [transA, transB] = [BigInt(transposeA), BigInt(transposeB)];
    if (!transposeA && !transposeB) return e.emit("MatMul", inputs);
    if (a.shape.length === 2 && b.shape.length === 2) return e.emit("Gemm", inputs, { attributes: { transA, transB } });
    return e.emit("FusedMatMul", inputs, { attributes: { transA, transB }, domain: MICROSOFT });
  },
  transpose: (e, inputs, { attributes }) => e.emit("Transpose", inputs, { attributes: { perm: attributes.permutation.map(BigInt) } }),
  reshape: (e, [x], { inputs, attributes }) => e.emit("Reshape", [x, e.shapeVector(attributes.shape, inputs[0].shape)]),
  expand: (e, [x], { attributes }) => e.emit("Expand", [x, e.shapeVector(attributes.shape)]),
  concat: (e, inputs, { attributes, shape }) =>
    e.emit("Concat", inputs, { attributes: { axis: BigInt(normaliseAxis(attributes.axis, shape.length)) } }),
  slice: (e, [x], { attributes: { axis, start, length } }) => {
    const ends = typeof start === "string" ? e.int64([Number.MAX_SAFE_INTEGER]) : e.shapeVector([addDims([start, length])]);
    return e.emit("Slice", [x, e.shapeVector([start]), ends, e.int64([axis])]);
  },
  padAxis: (e, [x], { attributes: { axis, before, after } }) => e.emit("Pad", [x, e.int64([before, after]), "", e.int64([axis])]),
  gather: plain("Gather"),
  // Not ScatterND: its threads add to one row at a time unguarded, and lose updates where indices repeat (ONNX Runtime 1.30, issue 23396).
  // ScatterElements walks its updates in order on one thread.
  scatterAdd: (e, [indices, updates], { inputs, attributes, shape }) => {
    const rows = e.emit("Flatten", [updates], { attributes: { axis: BigInt(inputs[0].shape.length) } });
    const places = e.emit("Expand", [e.emit("Reshape", [indices, e.int64([-1, 1])]), e.emit("Shape", [rows])]);
    const width = e.emit("Shape", [rows], { attributes: { start: 1n } });
    const zeros = e.emit("ConstantOfShape", [e.emit("Concat", [e.shapeVector([attributes.size]), width], { attributes: { axis: 0n } })]);
    const sums = e.emit("ScatterElements", [zeros, places, rows], { attributes: { axis: 0n, reduction: "add" } });
    return shape.length === 2 ? sums : e.emit("Reshape", [sums, e.shapeVector(shape)]);
  },

  softmax: (e, inputs) => e.emit("Softmax", inputs, { attributes: { axis: -1n } }),
  logSoftmax: (e, inputs) => e.emit("LogSoftmax", inputs, { attributes: { axis: -1n } }),
  // The largest score and its probability tell the sum, without another exponential.
  attend: (e, [scores, probabilities, values], { attributes }) => {
    const output = e.emit("MatMul", [probabilities, values]);
    if (!attributes.logSum) return output;
    const largest = (x: string) => e.emit("ReduceMax", [x, e.int64([-1])], { attributes: { keepdims: 1n } });
    const logSum = e.emit("Sub", [largest(scores), e.emit("Log", [largest(probabilities)])]);
    return e.emit("Concat", [output, logSum], { attributes: { axis: -1n } });
  },
  pick: (e, [logProbabilities, targets]) => {
    const column = e.emit("Unsqueeze", [targets, e.int64([1])]);
    const picked = e.emit("GatherElements", [logProbabilities, column], { attributes: { axis: 1n } });
    return e.emit("Squeeze", [picked, e.int64([1])]);
  },
  oneHot: (e, [targets], { attributes: { classes } }) => {
    const values = e.emit(
      "Concat",
      [e.emit("Unsqueeze", [e.float32(0), e.int64([0])]), e.emit("Unsqueeze", [e.float32(1), e.int64([0])])],
      {
        attributes: { axis: 0n },
      },
    );
    return e.emit("OneHot", [targets, e.int64([classes]), values]);
  },

  rmsNorm: (e, inputs, { attributes: { epsilon } }) =>
    e.emit("SimplifiedLayerNormalization", inputs, { attributes: { axis: -1n, epsilon, stash_type: 1n } }),
  layerNorm: (e, inputs, { attributes: { epsilon } }) => e.emit("LayerNormalization", inputs, { attributes: { axis: -1n, epsilon } }),
  sigmoidGate: (e, inputs, { attributes: { factor } }) => e.emit("QuickGelu", inputs, { attributes: { alpha: factor }, domain: MICROSOFT }),
  gelu: plain("Gelu"),
  rotary: plain("RotaryEmbedding"),

  dynamicQuantizeMatmul: (e, inputs) => e.emit("DynamicQuantizeMatMul", inputs, { domain: MICROSOFT }),
  blockQuantizedMatmul: (e, inputs, { inputs: [a], attributes: { bits, blockSize, outFeatures, accuracyLevel } }) =>
    e.emit("MatMulNBits", inputs, {
      domain: MICROSOFT,
      attributes: {
        K: BigInt(a.shape[a.shape.length - 1]),
        N: BigInt(outFeatures),
        bits: BigInt(bits),
        block_size: BigInt(blockSize),
        accuracy_level: BigInt(accuracyLevel),
      },
    }),
  integerMatmul: plain("MatMulInteger"),
};

/** A lowered program: model bytes and the names under which it is fed and read. */
export interface OnnxProgram {
  readonly model: Uint8Array;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Parameters fed at every run, in order. */
  readonly parameterInputs: readonly string[];
}

/**
 * Lowers a program. `bind` says where each parameter's numbers are; parameters whose file type is narrower than float32 are widened by a
 * Cast, which ONNX Runtime folds at load.
 */
export function lower(program: Program, bind: (parameter: Value<"parameter">) => ParameterBinding): OnnxProgram {
  const nodes: ReturnType<typeof node>[] = [];
  const initializers: ReturnType<typeof inlineTensor>[] = [];
  const inputs: ReturnType<typeof valueInfo>[] = [];
  const parameterInputs: string[] = [];
  const names = new Map<Value, string>();
  const constants = new Map<string, string>();
  const symbols = new Map<string, string>(); // symbol → name of an int64 [1] that holds it
  const carriers = new Map<string, { name: string; axis: number }>();
  const taken = new Set<string>();
  const order = topologicalOrder(Object.values(program.outputs));

  const fresh = (label: string): string => {
    const name = `${label}_${taken.size}`;
    taken.add(name);
    return name;
  };
  const constantOnce = (key: string, make: (name: string) => ReturnType<typeof inlineTensor>): string => {
    let name = constants.get(key);
    if (name === undefined) {
      name = fresh("constant");
      constants.set(key, name);
      initializers.push(make(name));
    }
    return name;
  };
  const emitter: Emitter = {
    emit(opType, operands, { attributes, domain } = {}) {
      const output = fresh(opType);
      nodes.push(node({ opType, inputs: operands, outputs: [output], attributes, domain }));
      return output;
    },
    int64: (values) =>
      constantOnce(`i${values.join(",")}`, (name) => inlineTensor(name, "int64", [values.length], BigInt64Array.from(values, BigInt))),
    float32: (value) => constantOnce(`f${value}`, (name) => inlineTensor(name, "float32", [], Float32Array.of(value))),
    shapeVector(shape, from) {
      const dims = shape.map((d, i): Dim => (typeof d === "string" && from?.[i] === d ? 0 : d));
      const unknown = dims.filter((d) => typeof d === "string");
      if (unknown.length === 0) return emitter.int64(dims as number[]);
      if (from !== undefined && unknown.length === 1) return emitter.int64(dims.map((d) => (typeof d === "string" ? -1 : d)));
      const parts = shape.map((d) => (typeof d === "number" ? emitter.int64([d]) : symbol(d)));
      return emitter.emit("Concat", parts, { attributes: { axis: 0n } });
    },
  };
  const symbol = (text: string): string => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    const carrier = carriers.get(text);
    let name: string;
    if (carrier) {
      const { axis } = carrier;
      name = emitter.emit("Shape", [carrier.name], { attributes: { start: BigInt(axis), end: BigInt(axis + 1) } });
    } else {
      const product = text.split("*");
      if (product.length < 2) throw new Error(`internal: no input of ${program.name} carries the dimension "${text}"`);
      const factors = product.map((part) => (/^\d+$/.test(part) ? emitter.int64([Number(part)]) : symbol(part)));
      name = factors.reduce((a, b) => emitter.emit("Mul", [a, b]));
    }
    symbols.set(text, name);
    return name;
  };

  for (const value of order) {
    if (value.op === "input") {
      const { name } = (value as Value<"input">).attributes;
      if (taken.has(name)) throw new Error(`internal: two inputs are named ${name}`);
      taken.add(name);
      names.set(value, name);
      inputs.push(valueInfo(name, value.dtype, value.shape));
      value.shape.forEach((d, axis) => {
        if (typeof d === "string" && !carriers.has(d)) carriers.set(d, { name, axis });
      });
    }
  }
  for (const value of order) {
    if (value.op === "input") continue;
    if (value.op === "constant") {
      const { data } = (value as Value<"constant">).attributes;
      if (data.length === 1 && data instanceof Float32Array && value.shape.length === 0) names.set(value, emitter.float32(data[0]));
      else {
        const name = fresh("constant");
        initializers.push(inlineTensor(name, value.dtype, value.shape as number[], data));
        names.set(value, name);
      }
    } else if (value.op === "parameter") {
      const parameter = value as Value<"parameter">;
      const { name } = parameter.attributes;
      if (taken.has(name)) throw new Error(`internal: two leaves are named ${name}`);
      taken.add(name);
      const binding = bind(parameter);
      const shape = parameter.shape as number[];
      let bound = name;
      if (binding.kind === "input") {
        inputs.push(valueInfo(name, value.dtype, shape));
        parameterInputs.push(name);
      } else if (binding.kind === "inline") {
        initializers.push(inlineTensor(name, "float32", shape, binding.data));
      } else {
        initializers.push(externalTensor(name, shape, binding.weight));
        if (binding.weight.dtype !== value.dtype)
          bound = emitter.emit("Cast", [name], { attributes: { to: BigInt(onnxType(value.dtype)) } });
      }
      names.set(value, bound);
    } else {
      const rule = lowerings[value.op] as Lowering<OpName>;
      const operands = value.inputs.map((operand) => names.get(operand)!);
      names.set(value, rule(emitter, operands, value));
    }
  }

  const outputs = Object.entries(program.outputs).map(([name, value]) => {
    if (taken.has(name))
      throw new Error(`internal: output ${name} of ${program.name} has the name of something else (${formatShape(value.shape)})`);
    nodes.push(node({ opType: "Identity", inputs: [names.get(value)!], outputs: [name] }));
    return valueInfo(name, value.dtype, value.shape);
  });
  return {
    model: encodeModel({ name: program.name, nodes, initializers, inputs, outputs }),
    inputs: inputs.map((v) => v.name),
    outputs: Object.keys(program.outputs),
    parameterInputs,
  };
}
