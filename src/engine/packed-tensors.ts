/**
 * The tensors that rewritten programs need, made from a checkpoint one after the other: packed weights from rows read in pieces, and what
 * stays float32. At most one tensor is in memory at a time, and its source never as a whole.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { Checkpoint, CheckpointTensor } from "../checkpoint/folder.ts";
import { elementSize, float32From } from "../checkpoint/safetensors.ts";
import { MineruError } from "../error.ts";
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

async function readPiece(handle: FileHandle, tensor: CheckpointTensor, begin: number, piece: Uint8Array): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesRead } = await handle.read(piece, done, piece.length - done, tensor.offset + begin + done);
    if (bytesRead === 0)
      throw new MineruError(
        "checkpoint-invalid",
        `${tensor.file} expected ${tensor.byteLength} bytes at ${tensor.offset}; download it again`,
      );
    done += bytesRead;
  }
}

async function pack(weight: PackedWeight, tensor: CheckpointTensor): Promise<readonly Uint8Array[]> {
  const { rows, width } = weight;
  const data = emptyPackedData(weight);
  const rowBytes = width * elementSize(tensor.dtype);
  const rowsAtOnce = Math.max(1, Math.floor(PIECE_BYTES / rowBytes));
  const raw = new Uint8Array(Math.min(rows, rowsAtOnce) * rowBytes);
  const wide = new Float32Array(Math.min(rows, rowsAtOnce) * width);
  const handle = await open(tensor.file, "r");
  try {
    for (let row = 0; row < rows; row += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, rows - row);
      const piece = raw.subarray(0, count * rowBytes);
      await readPiece(handle, tensor, row * rowBytes, piece);
      packRows(weight, data, row, float32From(piece, tensor.dtype, wide.subarray(0, count * width)));
    }
  } finally {
    await handle.close();
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
        make: () => pack(weight, tensor),
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
