/**
 * The safetensors container as bytes: an 8-byte little-endian header length, a JSON header naming dtype, shape and byte range of
 * every tensor, then the data without gaps. Reading and writing in memory, usable in the browser; files on disk are the business of
 * `safetensors-file.ts`. Hosts are taken to be little-endian, as every platform ONNX Runtime is built for is.
 * What the tensors mean is not known here.
 */

import { MineruError } from "../error.ts";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from "./float16.ts";

/** Element types read and written here. The format knows more (8-bit floats); those are refused by name. */
export type SafetensorsDtype = "F64" | "I64" | "F32" | "I32" | "F16" | "BF16" | "I8" | "U8" | "BOOL";

const bytesPerElement: Record<SafetensorsDtype, number> = { F64: 8, I64: 8, F32: 4, I32: 4, F16: 2, BF16: 2, I8: 1, U8: 1, BOOL: 1 };

/** Where one tensor lies. `offset` counts from the start of the file, so that ONNX external data can point at it. */
export interface TensorEntry {
  readonly dtype: SafetensorsDtype;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly byteLength: number;
}

export interface SafetensorsHeader {
  readonly entries: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The official reader's limit too; anything longer is not a header. */
const largestHeader = 100_000_000;

export function byteLengthOf(dtype: SafetensorsDtype, shape: readonly number[]): number {
  return shape.reduce((product, edge) => product * edge, bytesPerElement[dtype]);
}

export function elementSize(dtype: SafetensorsDtype): number {
  return bytesPerElement[dtype];
}

/**
 * Length in bytes of the JSON header, from the first 8 bytes of a file of `fileSize` bytes.
 * `label` names the file in errors. Throws `checkpoint-invalid`.
 */
export function headerLength(prefix: Uint8Array, fileSize: number, label: string): number {
  if (fileSize < 8 || prefix.length < 8) {
    throw invalid(label, `expected a safetensors file, which begins with an 8-byte header length, got ${fileSize} bytes in all`);
  }
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (length > largestHeader) {
    throw invalid(
      label,
      `expected a header of at most ${largestHeader} bytes, got ${length}: this is not a safetensors file, or it is damaged`,
    );
  }
  if (Number(length) + 8 > fileSize) {
    throw invalid(label, `expected ${Number(length) + 8} bytes of header, got a file of ${fileSize} bytes: the file is cut off`);
  }
  return Number(length);
}

/** Checks the JSON header and turns its ranges into offsets from the start of the file. Throws `checkpoint-invalid`. */
export function parseHeader(json: Uint8Array, fileSize: number, label: string): SafetensorsHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch (cause) {
    throw new MineruError(
      "checkpoint-invalid",
      `${label}: expected a JSON header after the first 8 bytes; download or save the file again`,
      {
        cause,
      },
    );
  }
  if (!isRecord(parsed)) throw invalid(label, "expected the header to be a JSON object");

  const dataStart = 8 + json.length;
  const dataLength = fileSize - dataStart;
  const entries = new Map<string, TensorEntry>();
  let metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (name === "__metadata__") {
      if (!isRecord(value) || Object.values(value).some((text) => typeof text !== "string")) {
        throw invalid(label, "expected `__metadata__` to map strings to strings");
      }
      metadata = value as Record<string, string>;
      continue;
    }
    entries.set(name, parseEntry(name, value, dataStart, dataLength, label));
  }

  let end = dataStart;
  for (const [name, entry] of [...entries].sort(([, a], [, b]) => a.offset - b.offset || a.byteLength - b.byteLength)) {
    if (entry.offset !== end) {
      throw invalid(label, `expected tensor \`${name}\` to begin at byte ${end - dataStart} of the data, got ${entry.offset - dataStart}`);
    }
    end += entry.byteLength;
  }
  if (end !== fileSize) throw invalid(label, `expected ${end} bytes in all according to the header, got ${fileSize}`);
  return { entries, metadata };
}

function parseEntry(name: string, value: unknown, dataStart: number, dataLength: number, label: string): TensorEntry {
  const fail = (expectation: string, got: unknown) =>
    invalid(label, `tensor \`${name}\`: expected ${expectation}, got ${JSON.stringify(got)}`);
  if (!isRecord(value)) throw fail("an object with dtype, shape and data_offsets", value);
  const { dtype, shape, data_offsets: range } = value;
  if (typeof dtype !== "string" || !Object.hasOwn(bytesPerElement, dtype)) {
    throw fail(`a dtype out of ${Object.keys(bytesPerElement).join(", ")}`, dtype);
  }
  if (!Array.isArray(shape) || !shape.every((edge) => Number.isSafeInteger(edge) && edge >= 0)) {
    throw fail("a shape of whole numbers", shape);
  }
  if (!Array.isArray(range) || range.length !== 2 || !range.every((offset) => Number.isSafeInteger(offset) && offset >= 0)) {
    throw fail("data_offsets of two whole numbers", range);
  }
  const [begin, end] = range as [number, number];
  const byteLength = byteLengthOf(dtype as SafetensorsDtype, shape);
  if (end - begin !== byteLength) throw fail(`${byteLength} bytes for ${dtype} of shape [${shape.join(", ")}]`, end - begin);
  if (end > dataLength) throw fail(`data_offsets within the ${dataLength} bytes of data`, range);
  return { dtype: dtype as SafetensorsDtype, shape, offset: dataStart + begin, byteLength };
}

/** A safetensors file held in memory. Views share memory with the given bytes where alignment allows. */
export interface SafetensorsBytes extends SafetensorsHeader {
  readRaw(name: string): Uint8Array;
  readFloat32(name: string): Float32Array;
  readInt32(name: string): Int32Array;
}

/** Reads safetensors bytes, as fetched in a browser. `label` names them in errors. Throws `checkpoint-invalid`. */
export function parseSafetensors(bytes: Uint8Array, label = "safetensors bytes"): SafetensorsBytes {
  const length = headerLength(bytes.subarray(0, 8), bytes.length, label);
  const header = parseHeader(bytes.subarray(8, 8 + length), bytes.length, label);
  const readRaw = (name: string) => {
    const { offset, byteLength } = entryOf(header.entries, name, label);
    return bytes.subarray(offset, offset + byteLength);
  };
  return {
    ...header,
    readRaw,
    readFloat32: (name) => float32From(readRaw(name), entryOf(header.entries, name, label).dtype),
    readInt32: (name) => int32From(readRaw(name), entryOf(header.entries, name, label).dtype),
  };
}

/** The entry called `name`; `checkpoint-invalid` when the file has none. */
export function entryOf(entries: ReadonlyMap<string, TensorEntry>, name: string, label: string): TensorEntry {
  const entry = entries.get(name);
  if (entry === undefined) throw invalid(label, `expected a tensor named \`${name}\`, got ${entries.size} others`);
  return entry;
}

/** Elements of any dtype as float32; `target` receives them when given. 64-bit elements are rounded. */
export function float32From(raw: Uint8Array, dtype: SafetensorsDtype, target?: Float32Array): Float32Array {
  const out = target ?? new Float32Array(raw.length / bytesPerElement[dtype]);
  const elements = elementsOf(raw, dtype);
  if (dtype === "F16") return decodeFloat16(elements as Uint16Array, out);
  if (dtype === "BF16") return decodeBfloat16(elements as Uint16Array, out);
  if (elements instanceof BigInt64Array) for (let i = 0; i < elements.length; i++) out[i] = Number(elements[i]);
  else out.set(elements);
  return out;
}

/** Whole numbers of an integer dtype as int32. Throws RangeError for a value that does not fit, TypeError for floats. */
export function int32From(raw: Uint8Array, dtype: SafetensorsDtype): Int32Array {
  if (dtype === "F64" || dtype === "F32" || dtype === "F16" || dtype === "BF16") {
    throw new TypeError(`\`dtype\` expected an integer type, got ${dtype}`);
  }
  const elements = elementsOf(raw, dtype);
  if (!(elements instanceof BigInt64Array)) return Int32Array.from(elements);
  return Int32Array.from(elements, (value) => {
    if (BigInt.asIntN(32, value) !== value) throw new RangeError(`expected a whole number of 32 bits, got ${value}`);
    return Number(value);
  });
}

type Elements = Float64Array | Float32Array | BigInt64Array | Int32Array | Uint16Array | Int8Array | Uint8Array;

function elementsOf(raw: Uint8Array, dtype: SafetensorsDtype): Elements {
  const size = bytesPerElement[dtype];
  const aligned = raw.byteOffset % size === 0 ? raw : raw.slice();
  const at: [ArrayBufferLike, number, number] = [aligned.buffer, aligned.byteOffset, aligned.byteLength / size];
  switch (dtype) {
    case "F64":
      return new Float64Array(...at);
    case "I64":
      return new BigInt64Array(...at);
    case "F32":
      return new Float32Array(...at);
    case "I32":
      return new Int32Array(...at);
    case "F16":
    case "BF16":
      return new Uint16Array(...at);
    case "I8":
      return new Int8Array(...at);
    case "U8":
    case "BOOL":
      return new Uint8Array(...at);
  }
}

/**
 * One tensor to be written. `data` holds the elements in their own bytes, or a `Float32Array` that is rounded to a 16-bit dtype while
 * writing, or a function giving the bytes piece by piece for tensors that should never lie in memory whole.
 */
export interface TensorSource {
  readonly dtype: SafetensorsDtype;
  readonly shape: readonly number[];
  readonly data: ArrayBufferView | (() => Iterable<Uint8Array> | AsyncIterable<Uint8Array>);
}

/** Name, source and length of each tensor in the order in which the data lies, with the encoded header before it. */
export interface SafetensorsLayout {
  readonly header: Uint8Array;
  readonly order: readonly { name: string; source: TensorSource; byteLength: number }[];
  readonly byteLength: number;
}

/**
 * Lays tensors out: wide elements first, so that each tensor is aligned to its element size without gaps (the format forbids gaps);
 * the header is padded so that the data begins at a multiple of 8. Throws RangeError for data that do not fit their shape.
 */
export function layOut(tensors: ReadonlyMap<string, TensorSource>, metadata: Readonly<Record<string, string>> = {}): SafetensorsLayout {
  const order = [...tensors]
    .map(([name, source]) => ({ name, source, byteLength: byteLengthOf(source.dtype, source.shape) }))
    .sort((a, b) => bytesPerElement[b.source.dtype] - bytesPerElement[a.source.dtype]);
  const json: Record<string, unknown> = Object.create(null);
  if (Object.keys(metadata).length > 0) json.__metadata__ = metadata;
  let end = 0;
  for (const { name, source, byteLength } of order) {
    if (name === "__metadata__") throw new RangeError("`tensors` expected names other than `__metadata__`");
    expectFitting(name, source, byteLength);
    json[name] = { dtype: source.dtype, shape: source.shape, data_offsets: [end, end + byteLength] };
    end += byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(json));
  const padded = Math.ceil(text.length / 8) * 8;
  const header = new Uint8Array(8 + padded).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(padded), true);
  header.set(text, 8);
  return { header, order, byteLength: header.length + end };
}

function expectFitting(name: string, { dtype, shape, data }: TensorSource, byteLength: number): void {
  if (!Object.hasOwn(bytesPerElement, dtype)) throw new TypeError(`\`dtype\` of \`${name}\` expected a safetensors dtype, got ${dtype}`);
  if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
    throw new RangeError(`\`shape\` of \`${name}\` expected whole numbers, got [${shape.join(", ")}]`);
  }
  if (typeof data === "function") return;
  const given = isRounded(dtype, data) ? data.byteLength / 2 : data.byteLength;
  if (given !== byteLength) throw new RangeError(`\`data\` of \`${name}\` expected ${byteLength} bytes as ${dtype}, got ${given}`);
}

function isRounded(dtype: SafetensorsDtype, data: ArrayBufferView): data is Float32Array {
  return (dtype === "F16" || dtype === "BF16") && data instanceof Float32Array;
}

/** Elements rounded at a time when a float32 tensor is written in 16 bits: 1 MiB of output. */
const roundedAtOnce = 1 << 19;

/** The bytes of one tensor, in pieces that are valid until the next is asked for. */
export async function* piecesOf({ dtype, data }: TensorSource): AsyncGenerator<Uint8Array> {
  if (typeof data === "function") yield* data();
  else yield* piecesOfView(dtype, data);
}

function* piecesOfView(dtype: SafetensorsDtype, data: ArrayBufferView): Generator<Uint8Array> {
  if (!isRounded(dtype, data)) {
    yield new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return;
  }
  const encode = dtype === "F16" ? encodeFloat16 : encodeBfloat16;
  for (let start = 0; start < data.length; start += roundedAtOnce) {
    yield new Uint8Array(encode(data.subarray(start, start + roundedAtOnce)).buffer);
  }
}

/** Tensors as safetensors bytes. Sources must be arrays, not functions. */
export function encodeSafetensors(tensors: ReadonlyMap<string, TensorSource>, metadata?: Readonly<Record<string, string>>): Uint8Array {
  const { header, order, byteLength } = layOut(tensors, metadata);
  const out = new Uint8Array(byteLength);
  out.set(header);
  let end = header.length;
  for (const { name, source } of order) {
    if (typeof source.data === "function") throw new TypeError(`\`data\` of \`${name}\` expected an array, got a function`);
    for (const piece of piecesOfView(source.dtype, source.data)) {
      out.set(piece, end);
      end += piece.length;
    }
  }
  return out;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(label: string, message: string): MineruError {
  return new MineruError("checkpoint-invalid", `${label}: ${message}; download or save the file again`);
}
