/**
 * WebP to RGB by libwebp compiled to WebAssembly; sizes, orientation and animation are read from the RIFF chunks first, so that nothing
 * oversized reaches the codec. Of an animation only the refusal is known here.
 */
import { applyOrientation, type Orientation, readExifOrientation } from "./exif-orientation.ts";
import { checkPixels, damaged, type ImageLimits, unsupportedFeature } from "./image-format.ts";
import { rgbaOnWhite } from "./pixel-conversion.ts";
import type { RgbImage } from "./rgb-image.ts";
import { wasmBinary } from "./wasm-binaries.ts";

type Decode = (bytes: ArrayBuffer) => Promise<{ width: number; height: number; data: Uint8ClampedArray }>;

let codec: Promise<Decode> | null = null;

/** Decodes a WebP file. Errors: `file-damaged`, `file-too-large`, `file-unsupported` (animation). */
export async function decodeWebp(bytes: Uint8Array, limits: ImageLimits): Promise<RgbImage> {
  const header = readHeader(bytes);
  checkPixels("WebP", header.width, header.height, limits);
  codec ??= loadCodec();
  const decode = await codec.catch((cause) => {
    codec = null;
    throw cause;
  });
  let decoded: Awaited<ReturnType<Decode>>;
  try {
    decoded = await decode(new Uint8Array(bytes).buffer);
  } catch (cause) {
    throw damaged("WebP", "a picture the codec can decode", cause);
  }
  const { width, height } = decoded;
  return applyOrientation({ width, height, data: rgbaOnWhite(decoded.data, width * height) }, header.orientation);
}

async function loadCodec(): Promise<Decode> {
  const [{ default: decode, init }, binary] = await Promise.all([import("@jsquash/webp/decode.js"), wasmBinary("webp")]);
  const instantiate = init as unknown as (module: WebAssembly.Module, options: object) => Promise<void>;
  await instantiate(await WebAssembly.compile(binary as Uint8Array<ArrayBuffer>), { print: () => undefined, printErr: () => undefined });
  return decode;
}

function readHeader(bytes: Uint8Array): { width: number; height: number; orientation: Orientation } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: { width: number; height: number } | null = null;
  let orientation: Orientation = 1;
  let hasPixels = false;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (start + length > bytes.length) throw damaged("WebP", `chunk ${type.trim()} to have ${length} bytes, the file ends before`);
    if (type === "VP8X" && length >= 10) {
      if (bytes[start] & 0x02) throw unsupportedFeature("WebP", "animation");
      size = { width: 1 + readUint24(bytes, start + 4), height: 1 + readUint24(bytes, start + 7) };
    } else if (type === "VP8 " && length >= 10) {
      hasPixels = true;
      size ??= { width: view.getUint16(start + 6, true) & 0x3fff, height: view.getUint16(start + 8, true) & 0x3fff };
    } else if (type === "VP8L" && length >= 5) {
      hasPixels = true;
      const packed = view.getUint32(start + 1, true);
      size ??= { width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) };
    } else if (type === "EXIF") {
      orientation = readExifOrientation(bytes.subarray(start, start + length));
    }
    at = start + length + (length & 1);
  }
  if (size === null || !hasPixels) throw damaged("WebP", "a VP8 or VP8L picture chunk");
  return { ...size, orientation };
}

function readUint24(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
}
