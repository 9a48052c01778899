/**
 * What the rest of the house knows of a runtime: tensors in, tensors out, by name. Implementations stand beside this file, one per
 * place where ONNX Runtime lives, and pass one conformance suite.
 */
import type { OnnxProgram } from "../graph/lowering.ts";
import type { DType } from "../graph/value.ts";

export type TensorArray = Float32Array | BigInt64Array | Int32Array | Int8Array | Uint8Array | Uint16Array;

/** A dense tensor, row-major. */
export interface Tensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: TensorArray;
}

export type Tensors = Readonly<Record<string, Tensor>>;

export type Device = "cpu" | "webgpu" | "cuda";

export interface SessionOptions {
  readonly device?: Device;
  /** Threads of one operation; the runtime's choice if absent. */
  readonly threads?: number;
  /** Folder that external weights are relative to. */
  readonly weightsFolder?: string;
  /** Bytes of external weights by location, for those that lie in memory instead. */
  readonly weightsInMemory?: ReadonlyMap<string, Uint8Array>;
  /** Keep idle threads from spinning: right for long-lived servers, a little slower. */
  readonly quietThreads?: boolean;
}

/** A loaded program. */
export interface Session {
  /**
   * Computes the program and gives back `outputs` alone. What is not asked for is not copied out, but may be computed all the same.
   * @param preallocated outputs written in place; shapes must be exact.
   */
  run(feeds: Tensors, outputs: readonly string[], preallocated?: Tensors): Promise<Tensors>;
  /** Frees what the session holds. Later runs throw. */
  release(): Promise<void>;
}

export interface Runtime {
  load(program: OnnxProgram, options?: SessionOptions): Promise<Session>;
}

export function float32(data: Float32Array, shape: readonly number[]): Tensor {
  return { dtype: "float32", shape, data };
}

/** Integers as int64. */
export function int64(values: ArrayLike<number>, shape: readonly number[] = [values.length]): Tensor {
  return { dtype: "int64", shape, data: BigInt64Array.from(values as ArrayLike<number> & Iterable<number>, BigInt) };
}
