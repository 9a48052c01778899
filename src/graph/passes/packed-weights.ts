/**
 * Weights in few bits: how a matrix [rows, width] of a checkpoint becomes integers and scales, in the layouts ONNX Runtime multiplies
 * by. All forms are symmetric (zero stays zero). Rows are packed as they arrive, so the float32 matrix never exists as a whole. Where
 * numbers come from and where they are kept is not known here.
 */
import { parameter } from "../ops.ts";
import type { Value } from "../value.ts";

export type PackedFormat =
  /** int8 [width, rows], one scale per row of the source; `limit` is the largest magnitude used. */
  | { readonly kind: "columns"; readonly limit: 127 | 63 }
  /** int8 [rows, width], one scale per row: for tables that are looked up. */
  | { readonly kind: "table" }
  /** `bits` per number, one scale per `blockSize` numbers along a row; uint8 [rows, blocks, bytes]. */
  | { readonly kind: "blocks"; readonly bits: 4 | 8; readonly blockSize: number };

/** One matrix of the checkpoint and the two parameters that stand for it. */
export interface PackedWeight {
  /** Name of the tensor in the checkpoint. */
  readonly source: string;
  readonly rows: number;
  readonly width: number;
  readonly format: PackedFormat;
  readonly values: Value<"parameter">;
  readonly scales: Value<"parameter">;
}

export interface PackedData {
  readonly values: Int8Array | Uint8Array;
  readonly scales: Float32Array;
}

const TABLE_LIMIT = 127;
/** Source rows transposed together: as many as a cache line of int8 holds. */
const TRANSPOSED_ROWS = 64;

function formatName(format: PackedFormat): string {
  if (format.kind === "blocks") return `int${format.bits}x${format.blockSize}`;
  return format.kind === "table" ? "int8-table" : format.limit === 127 ? "int8" : "int7";
}

export function packedWeight(source: string, rows: number, width: number, format: PackedFormat): PackedWeight {
  const name = `${source}:${formatName(format)}`;
  const pair = (dtype: "int8" | "uint8", values: readonly number[], scales: readonly number[]): PackedWeight => ({
    source,
    rows,
    width,
    format,
    values: parameter(name, values, dtype),
    scales: parameter(`${name}:scale`, scales),
  });
  if (format.kind === "columns") return pair("int8", [width, rows], [rows]);
  if (format.kind === "table") return pair("int8", [rows, width], [rows, 1]);
  const blocks = Math.ceil(width / format.blockSize);
  return pair("uint8", [rows, blocks, (format.blockSize * format.bits) / 8], [rows * blocks]);
}

const countOf = ({ shape }: Value): number => (shape as readonly number[]).reduce((product, edge) => product * edge, 1);

/** Room for a packed weight, all zeros. */
export function emptyPackedData({ values, scales }: PackedWeight): PackedData {
  return {
    values: values.dtype === "int8" ? new Int8Array(countOf(values)) : new Uint8Array(countOf(values)),
    scales: new Float32Array(countOf(scales)),
  };
}

/** Packs some rows of the source, [count, width] from `firstRow` on, into their places. */
export function packRows(weight: PackedWeight, data: PackedData, firstRow: number, rows: Float32Array): void {
  const { width, format } = weight;
  const count = rows.length / width;
  if (!Number.isInteger(count) || firstRow + count > weight.rows)
    throw new RangeError(`\`rows\` expected whole rows of ${width} within ${weight.rows}, got ${rows.length} numbers from row ${firstRow}`);
  if (format.kind === "blocks") packBlocks(data as PackedData & { values: Uint8Array }, firstRow, rows, width, format);
  else {
    const limit = format.kind === "table" ? TABLE_LIMIT : format.limit;
    const factors = rowFactors(rows, width, limit, data.scales.subarray(firstRow, firstRow + count));
    if (format.kind === "table") {
      const target = data.values.subarray(firstRow * width);
      for (let row = 0, at = 0; row < count; row++) for (let i = 0; i < width; i++, at++) target[at] = Math.round(rows[at] * factors[row]);
    } else packTransposed(data.values, firstRow, rows, { width, total: weight.rows, factors });
  }
}

/** Writes each row's scale and returns what its numbers are to be multiplied by. */
function rowFactors(rows: Float32Array, width: number, limit: number, scales: Float32Array): Float64Array {
  return Float64Array.from(scales, (_, row) => {
    let largest = 0;
    for (let i = row * width; i < (row + 1) * width; i++) largest = Math.max(largest, Math.abs(rows[i]));
    scales[row] = largest / limit;
    return largest === 0 ? 0 : limit / largest;
  });
}

interface Transposition {
  readonly width: number;
  /** Columns of the target. */
  readonly total: number;
  readonly factors: Float64Array;
}

function packTransposed(
  values: PackedData["values"],
  firstRow: number,
  rows: Float32Array,
  { width, total, factors }: Transposition,
): void {
  for (let begin = 0; begin < factors.length; begin += TRANSPOSED_ROWS) {
    const end = Math.min(begin + TRANSPOSED_ROWS, factors.length);
    for (let i = 0; i < width; i++) {
      const at = i * total + firstRow;
      for (let row = begin; row < end; row++) values[at + row] = Math.round(rows[row * width + i] * factors[row]);
    }
  }
}

/** The number farthest from zero becomes the lowest code, so one scale reaches it exactly; the middle code is zero. */
function packBlocks(
  { values, scales }: { readonly values: Uint8Array; readonly scales: Float32Array },
  firstRow: number,
  rows: Float32Array,
  width: number,
  { bits, blockSize }: { readonly bits: 4 | 8; readonly blockSize: number },
): void {
  const middle = 2 ** (bits - 1);
  const highest = 2 * middle - 1;
  const blocks = Math.ceil(width / blockSize);
  const codes = new Uint8Array(blockSize);
  const count = rows.length / width;
  let at = (firstRow * blocks * blockSize * bits) / 8;
  for (let row = 0; row < count; row++) {
    for (let block = 0; block < blocks; block++) {
      const begin = row * width + block * blockSize;
      const length = Math.min(blockSize, width - block * blockSize);
      let extreme = 0;
      let sum = 0; // finite only where every number is
      for (let i = begin; i < begin + length; i++) {
        sum += rows[i];
        if (Math.abs(rows[i]) > Math.abs(extreme)) extreme = rows[i];
      }
      scales[(firstRow + row) * blocks + block] = Number.isFinite(sum) ? -extreme / middle : Number.NaN;
      const factor = extreme === 0 ? 0 : -middle / extreme;
      codes.fill(middle, length);
      for (let i = 0; i < length; i++) codes[i] = Math.min(highest, Math.round(rows[begin + i] * factor) + middle);
      if (bits === 4) for (let i = 0; i < blockSize; i += 2) values[at++] = codes[i] | (codes[i + 1] << 4);
      else for (let i = 0; i < blockSize; i++) values[at++] = codes[i];
    }
  }
}
