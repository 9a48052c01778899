/**
 * Whether integer products come out right. On x86 processors without VNNI or AMX, ONNX Runtime adds pairs of 8-bit products in 16 bits,
 * where 255 · 127 twice does not fit: results saturate silently (its documentation names `reduce_range` as the cure). One product of
 * extremes tells, on any runtime and without knowing the processor.
 */
import { lower, type ParameterBinding } from "../graph/lowering.ts";
import * as g from "../graph/ops.ts";
import { float32, type Runtime, type SessionOptions } from "./session.ts";

const ROWS = 32;
const WIDTH = 256;
const COLUMNS = 64;
const WEIGHT = 127;

const noParameters = (): ParameterBinding => {
  throw new Error("internal: the probe has no parameters");
};

/** True where 8-bit weights of full range give wrong sums. */
export async function integerProductsSaturate(runtime: Runtime, options: SessionOptions = {}): Promise<boolean> {
  const x = g.input("x", "float32", ["rows", WIDTH]);
  const weight = g.constant(new Int8Array(WIDTH * COLUMNS).fill(WEIGHT), [WIDTH, COLUMNS]);
  const scales = g.constant(new Float32Array(COLUMNS).fill(1 / WEIGHT), [COLUMNS]);
  const bytes = g.cast(g.mul(x, 255), "uint8");
  const outputs = {
    dynamic: g.apply("dynamicQuantizeMatmul", [x, weight, scales], {}),
    integer: g.mul(g.cast(g.apply("integerMatmul", [bytes, weight], {}), "float32"), 1 / (255 * WEIGHT)),
  };
  const session = await runtime.load(lower({ name: "integer-products", outputs }, noParameters), { ...options, device: "cpu" });
  try {
    const { dynamic, integer } = await session.run({ x: float32(new Float32Array(ROWS * WIDTH).fill(1), [ROWS, WIDTH]) }, [
      "dynamic",
      "integer",
    ]);
    const wrong = (value: number | bigint): boolean => Math.abs(Number(value) - WIDTH) > 1;
    return [dynamic, integer].some(({ data }) => Array.from<number | bigint>(data).some(wrong));
  } finally {
    await session.release();
  }
}
