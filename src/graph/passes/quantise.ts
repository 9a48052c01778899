/**
 * Precision as a rewrite: linear layers multiply by packed weights, looked-up tables become int8 rows. Norms, biases, attention and the
 * patch embedding (0.2 % of the tower's work, and the one place that sees pixels) stay float32. Layers that share an operand quantise it
 * once. Joining their weights as well was measured and left out: at 32×2048 by 2·6144 the slices cost what the join saves (2.98 ms against
 * 2.96 ms of one core).
 */
import * as g from "../ops.ts";
import { isOp, type Program, type Value } from "../value.ts";
import { type PackedFormat, type PackedWeight, packedWeight } from "./packed-weights.ts";
import { rewrite } from "./rewrite.ts";

export type LinearFormat =
  /**
   * 8-bit integers on both sides. Activations have one scale per row, so no row's answer depends on its company, or one per tensor.
   * `weightLimit` 63 keeps pairs of products within 16 bits, for processors that would saturate.
   */
  | { readonly kind: "int8"; readonly activations: "row" | "tensor"; readonly weightLimit: 127 | 63 }
  /** Weights of few bits in blocks; level 4 quantises activations to 8 bits, level 0 leaves them. */
  | { readonly kind: "blocks"; readonly bits: 4 | 8; readonly blockSize: number; readonly accuracyLevel: 0 | 4 };

export interface QuantisedProgram {
  readonly program: Program;
  /** What the new parameters are made of. */
  readonly weights: readonly PackedWeight[];
}

interface Activation {
  readonly values: Value; // uint8 [rows, in], 128 is zero
  readonly scale: Value; // [rows, 1]
}

const ACTIVATION_LIMIT = 127;
const SMALLEST_ACTIVATION = 1e-30;
const activationZero = g.constant(Uint8Array.of(128), []);

function quantiseRows(x: Value): Activation {
  const largest = g.maximum(g.reduceMax(g.abs(x), [-1]), SMALLEST_ACTIVATION);
  const scaled = g.round(g.mul(x, g.div(g.scalar(ACTIVATION_LIMIT), largest)));
  return { values: g.cast(g.add(scaled, 128), "uint8"), scale: g.mul(largest, 1 / ACTIVATION_LIMIT) };
}

/** ONNX Runtime fuses this product of scales with the integer product (MatMulIntegerToFloat); scaling twice is not fused and costs 15 % more. */
function integerLinear({ values, scale }: Activation, { values: weight, scales }: PackedWeight): Value {
  const product = g.apply("integerMatmul", [values, weight, activationZero], {});
  return g.mul(g.cast(product, "float32"), g.mul(scales, scale));
}

const isMatrix = (value: Value | undefined): value is Value<"parameter"> =>
  value !== undefined && isOp(value, "parameter") && value.shape.length === 2 && value.dtype === "float32";

/** Rewrites linear layers x · weightᵀ and table look-ups. Errors are those of a broken invariant. */
export function quantise(program: Program, format: LinearFormat): QuantisedProgram {
  const weights = new Map<string, PackedWeight>();
  const activations = new Map<Value, Activation>();
  const products = new Set<Value>();
  const packed = (source: Value<"parameter">, packing: PackedFormat): PackedWeight => {
    const [rows, width] = source.shape as readonly number[];
    const fresh = packedWeight(source.attributes.name, rows, width, packing);
    const { name } = fresh.values.attributes;
    const known = weights.get(name) ?? fresh;
    weights.set(name, known);
    return known;
  };
  const linear = (x: Value, weight: Value<"parameter">): Value => {
    if (format.kind === "blocks") {
      const { bits, blockSize, accuracyLevel } = format;
      const { values, scales, rows } = packed(weight, { kind: "blocks", bits, blockSize });
      return g.apply("blockQuantizedMatmul", [x, values, scales], { bits, blockSize, outFeatures: rows, accuracyLevel });
    }
    const columns = packed(weight, { kind: "columns", limit: format.weightLimit });
    if (format.activations === "tensor") return g.apply("dynamicQuantizeMatmul", [x, columns.values, columns.scales], {});
    const activation = activations.get(x) ?? quantiseRows(x);
    activations.set(x, activation);
    const product = integerLinear(activation, columns);
    products.add(product);
    return product;
  };
  const rewritten = rewrite(program, (value, [x, other]) => {
    if (isOp(value, "matmul")) {
      const weight = value.inputs[1];
      const { transposeA, transposeB } = value.attributes;
      return x.shape.length === 2 && !transposeA && transposeB && isMatrix(weight) ? linear(x, weight) : null;
    }
    if (isOp(value, "gather") && isMatrix(value.inputs[0])) {
      const table = packed(value.inputs[0], { kind: "table" });
      return g.mul(g.cast(g.gather(table.values, other), "float32"), g.gather(table.scales, other));
    }
    // ONNX Runtime 1.30 draws the addition of a vector into the fused product and scales it with the rows; a subtraction it leaves alone.
    if (isOp(value, "add") && products.has(x)) return g.sub(x, g.neg(other));
    return null;
  });
  return { program: rewritten, weights: [...weights.values()] };
}
