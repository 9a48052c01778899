/**
 * Tensors of a safetensors file that is reached by byte ranges: the header is read once, each tensor when it is asked for. Where the
 * bytes lie – an open file, memory – is told by a `ByteSource`; the format itself is in `safetensors.ts`.
 */
import { elementSize, entryOf, float32From, headerLength, int32From, parseHeader, type SafetensorsHeader } from "./safetensors.ts";

/** Bytes asked for at once; a multiple of every element size, below the 2 GiB limit of one read of a file. */
export const readAtOnce = 1 << 24;

/** Bytes that can be read by range. */
export interface ByteSource {
  /** Names the source in errors. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Fills `target` with the bytes from `position` on; throws if there are not so many. */
  read(target: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/** An open file. Close it, or bind it with `await using`. */
export interface SafetensorsFile extends SafetensorsHeader, AsyncDisposable {
  readonly path: string;
  /** The stored bytes of one tensor, row-major. */
  readRaw(name: string): Promise<Uint8Array>;
  /** Fills `target` with stored bytes of one tensor, from its byte `begin` on. */
  readRange(name: string, begin: number, target: Uint8Array): Promise<void>;
  /** One tensor widened to float32; at no time do raw bytes of more than 16 MiB stand beside it. */
  readFloat32(name: string): Promise<Float32Array>;
  /** One integer tensor as int32. */
  readInt32(name: string): Promise<Int32Array>;
  close(): Promise<void>;
}

/** Bytes in memory. */
export function memorySource(path: string, bytes: Uint8Array): ByteSource {
  return {
    path,
    size: bytes.length,
    async read(target, position) {
      if (position + target.length > bytes.length)
        throw new RangeError(`\`position\` expected at most ${bytes.length - target.length} in ${path}, got ${position}`);
      target.set(bytes.subarray(position, position + target.length));
    },
    close: async () => undefined,
  };
}

/** Reads the header, and closes the source if that fails. Throws `checkpoint-invalid`, and what the source throws. */
export async function readSafetensors(source: ByteSource): Promise<SafetensorsFile> {
  const { path, size } = source;
  try {
    const prefix = new Uint8Array(8);
    await source.read(prefix.subarray(0, Math.min(8, size)), 0);
    const json = new Uint8Array(headerLength(prefix, size, path));
    await source.read(json, 8);
    return fileOf(source, parseHeader(json, size, path));
  } catch (error) {
    await source.close();
    throw error;
  }
}

function fileOf(source: ByteSource, header: SafetensorsHeader): SafetensorsFile {
  const { path } = source;
  const { entries } = header;
  const readRaw = async (name: string) => {
    const { offset, byteLength } = entryOf(entries, name, path);
    const raw = new Uint8Array(byteLength);
    await source.read(raw, offset);
    return raw;
  };
  const close = () => source.close();
  return {
    ...header,
    path,
    readRaw,
    readRange: (name, begin, target) => source.read(target, entryOf(entries, name, path).offset + begin),
    async readFloat32(name) {
      const { dtype, offset, byteLength } = entryOf(entries, name, path);
      const size = elementSize(dtype);
      const out = new Float32Array(byteLength / size);
      if (dtype === "F32") {
        await source.read(new Uint8Array(out.buffer), offset);
        return out;
      }
      const buffer = new Uint8Array(Math.min(readAtOnce, byteLength));
      for (let start = 0; start < byteLength; start += readAtOnce) {
        const raw = buffer.subarray(0, Math.min(readAtOnce, byteLength - start));
        await source.read(raw, offset + start);
        float32From(raw, dtype, out.subarray(start / size, (start + raw.length) / size));
      }
      return out;
    },
    readInt32: async (name) => int32From(await readRaw(name), entryOf(entries, name, path).dtype),
    close,
    [Symbol.asyncDispose]: close,
  };
}
