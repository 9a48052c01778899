/**
 * In how many bits the model computes. Named here: what each precision means as a rewrite of the programs, which devices can run it, and
 * what "auto" takes. The rewrites themselves are the graph room's.
 */
import type { LinearFormat } from "../graph/passes/quantise.ts";
import { integerProductsSaturate } from "../runtime/integer-products.ts";
import type { Device, Runtime } from "../runtime/session.ts";

/**
 * `float32`: as trained. `int8`: 8-bit integers, activations scaled row by row. `int8-tensor`: the same with one scale for all rows of a
 * pass, so that regions decoded together touch each other's numbers. `int4`: 4-bit weights, for machines short of memory.
 */
export const precisions = ["float32", "int8", "int8-tensor", "int4"] as const;
export type Precision = (typeof precisions)[number];
export type PrecisionChoice = "auto" | Precision;

export interface ChosenPrecision {
  readonly precision: Precision;
  /** Why, in words for people. */
  readonly why: string;
  /** How linear layers compute; null in float32. */
  readonly linear: LinearFormat | null;
}

export interface PrecisionQuestion {
  readonly wanted: PrecisionChoice;
  readonly device: Device;
  readonly runtime: Runtime;
  /** Numbers in the checkpoint. */
  readonly parameterCount: number;
}

/**
 * Below this, float32 fits any machine and int8 gains little, since layers are too narrow to keep the integer units busy: 18 % of the time
 * of the `mini` checkpoint, for 0.3 % more errors (docs/log.md).
 */
const SMALL_MODEL_PARAMETERS = 100e6;

/** MatMulNBits in blocks of 32, activations in 8 bits. */
const int4: LinearFormat = { kind: "blocks", bits: 4, blockSize: 32, accuracyLevel: 4 };

const millions = (count: number): string => `${(count / 1e6).toFixed(count < 10e6 ? 1 : 0)} million parameters`;

/**
 * Decides the precision.
 * @throws RangeError for int8 on a device that has no kernels for it.
 */
export async function choosePrecision({ wanted, device, runtime, parameterCount }: PrecisionQuestion): Promise<ChosenPrecision> {
  if (!["auto", ...precisions].includes(wanted))
    throw new RangeError(`\`precision\` expected auto, ${precisions.join(", ")}, got ${JSON.stringify(wanted)}`);
  const size = millions(parameterCount);
  let precision: Precision;
  let why: string;
  if (wanted !== "auto") [precision, why] = [wanted, "asked for"];
  else if (parameterCount < SMALL_MODEL_PARAMETERS) [precision, why] = ["float32", `${size} are few enough to stay as trained`];
  else if (device === "cpu") [precision, why] = ["int8", `${size}: a quarter of the memory of float32, and the fastest for whole blocks`];
  else [precision, why] = ["int4", `${size}: the least memory, and int8 has no kernels on ${device}`];
  if (precision === "float32") return { precision, why, linear: null };
  if (precision === "int4") return { precision, why, linear: int4 };
  if (device !== "cpu") throw new RangeError(`\`precision\` expected auto, float32 or int4 on ${device}, got ${precision}`);
  const saturates = await integerProductsSaturate(runtime);
  return {
    precision,
    why: saturates ? `${why}; weights in 7 bits, since integer products of this processor saturate` : why,
    linear: { kind: "int8", activations: precision === "int8" ? "row" : "tensor", weightLimit: saturates ? 63 : 127 },
  };
}
