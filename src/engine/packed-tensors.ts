/**
 * The tensors that rewritten programs need, made from a checkpoint one after the other: packed weights from rows read in pieces, and what
 * stays float32. At most one tensor is in memory at a time, and its source never as a whole.
 */
import type { Checkpoint, CheckpointTensor, WeightsPlace } from "../checkpoint/checkpoint.ts";
import { elementSize, float32From } from "../checkpoint/safetensors.ts";
import type { ParameterBinding } from "../graph/lowering.ts";
import { emptyPackedData, type PackedWeight, packRows } from "../graph/passes/packed-weights.ts";
import type { QuantisedProgram } from "../graph/passes/quantise.ts";
import { type DType, leaves, type Value } from "../graph/value.ts";

/** One tensor as the sessions will read it. */
export interface PackedTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly byteLength: number;
}

/** Tensors made together: values and scales of one packed weight, or one float32 tensor alone. */
export interface TensorGroup {
  readonly tensors: readonly PackedTensor[];
  /** The bytes of each, in order. */
  make(): Promise<readonly Uint8Array[]>;
}

/** Packed weights where sessions find them. */
export interface PackedWeights {
  readonly bind: (parameter: Value<"parameter">) => ParameterBinding;
  readonly location: WeightsPlace;
}

/** Keeps packed tensors somewhere. */
export type PackWeights = (
  checkpoint: Checkpoint,
  groups: readonly TensorGroup[],
  options: { readonly cacheDir?: string; readonly onWarning?: (message: string) => void },
) => Promise<PackedWeights>;

/** Bytes of the source read at once. */
const PIECE_BYTES = 1 << 24;
const elementBytes: Readonly<Partial<Record<DType, number>>> = { float32: 4, int8: 1, uint8: 1 };

function describe({ attributes: { name }, dtype, shape }: Value<"parameter">): PackedTensor {
  const lengths = shape as readonly number[];
  const size = elementBytes[dtype];
  if (size === undefined) throw new Error(`internal: ${name} is packed as ${dtype}`);
  return { name, dtype, shape: lengths, byteLength: lengths.reduce((product, edge) => product * edge, size) };
}

const bytesOf = (data: Int8Array | Uint8Array | Float32Array): Uint8Array => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

async function pack(weight: PackedWeight, tensor: CheckpointTensor, checkpoint: Checkpoint): Promise<readonly Uint8Array[]> {
  const { rows, width } = weight;
  const data = emptyPackedData(weight);
  const rowBytes = width * elementSize(tensor.dtype);
  const rowsAtOnce = Math.max(1, Math.floor(PIECE_BYTES / rowBytes));
  const raw = new Uint8Array(Math.min(rows, rowsAtOnce) * rowBytes);
  const wide = new Float32Array(Math.min(rows, rowsAtOnce) * width);
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, rows - row);
    const piece = raw.subarray(0, count * rowBytes);
    await checkpoint.readRange(weight.source, row * rowBytes, piece);
    packRows(weight, data, row, float32From(piece, tensor.dtype, wide.subarray(0, count * width)));
  }
  return [bytesOf(data.values), bytesOf(data.scales)];
}

/** Everything the programs need, each tensor once. */
export function tensorGroups(checkpoint: Checkpoint, programs: readonly QuantisedProgram[]): TensorGroup[] {
  const groups = new Map<string, TensorGroup>();
  for (const { program, weights } of programs) {
    const packedNames = new Set(weights.flatMap(({ values, scales }) => [values.attributes.name, scales.attributes.name]));
    for (const weight of weights) {
      const tensor = checkpoint.tensors.get(weight.source);
      if (!tensor) throw new Error(`internal: ${weight.source} was not verified`);
      groups.set(weight.values.attributes.name, {
        tensors: [describe(weight.values), describe(weight.scales)],
        make: () => pack(weight, tensor, checkpoint),
      });
    }
    for (const parameter of leaves(program, "parameter")) {
      const { name } = parameter.attributes;
      if (!packedNames.has(name))
        groups.set(name, { tensors: [describe(parameter)], make: async () => [bytesOf(await checkpoint.readFloat32(name))] });
    }
  }
  return [...groups.values()];
}

/** Makes the tensors now and keeps them in memory. */
export async function packInMemory(_checkpoint: Checkpoint, groups: readonly TensorGroup[]): Promise<PackedWeights> {
  const weightsInMemory = new Map<string, Uint8Array>();
  const tensors = new Map<string, PackedTensor>();
  for (const group of groups) {
    const made = await group.make();
    group.tensors.forEach((tensor, i) => {
      weightsInMemory.set(tensor.name, made[i]);
      tensors.set(tensor.name, tensor);
    });
  }
  const bind = ({ attributes: { name } }: Value<"parameter">): ParameterBinding => {
    const { dtype, byteLength } = tensors.get(name)!;
    return { kind: "external", weight: { location: name, offset: 0, byteLength, dtype } };
  };
  return { bind, location: { weightsInMemory } };
}
