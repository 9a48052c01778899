/**
 * Checkpoints of seeded random weights: the fixture that tests run on, and full-size folders for measuring speed before the real
 * weights are there. Names and shapes are told by the caller. Each tensor's values depend on the seed and its own name only, so order,
 * sharding and the other tensors do not matter; they are uniform, not Gaussian, since uniform numbers need no logarithm or cosine and
 * therefore come out bit for bit alike on every platform (and several times faster).
 */

import { encodeBfloat16, encodeFloat16 } from "./float16.ts";
import { type SavedTensor, type SaveOptions, saveCheckpoint } from "./save.ts";

type Shapes = ReadonlyMap<string, readonly number[]>;

/**
 * Random float32 tensors for the given names and shapes. Matrices have standard deviation 1/sqrt(inputs), so activations keep their
 * size; norm weights scatter round 1 and biases round 0, so that no term of the model vanishes from a test.
 */
export function tinyRandomTensors(shapes: Shapes, seed: number): Map<string, { shape: readonly number[]; data: Float32Array }> {
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const [name, shape] of shapes) {
    const data = new Float32Array(countOf(shape));
    sourceOf(name, shape, seed)(data);
    tensors.set(name, { shape, data });
  }
  return tensors;
}

/** Values made at a time when writing: 4 MiB of float32. */
const atOnce = 1 << 20;

/** Saves a folder of random weights of any size, a few MiB at a time; the options of `saveCheckpoint` with shapes and seed for tensors. */
export function writeRandomCheckpoint(
  dir: string,
  options: Omit<SaveOptions, "tensors"> & { shapes: Shapes; seed: number },
): Promise<void> {
  const { shapes, seed, ...rest } = options;
  const dtype = options.dtype ?? "float32";
  const tensors = new Map<string, SavedTensor>();
  for (const [name, shape] of shapes) {
    tensors.set(name, {
      shape,
      *data() {
        const fill = sourceOf(name, shape, seed);
        const count = countOf(shape);
        const buffer = new Float32Array(Math.min(atOnce, count));
        const bits = new Uint16Array(dtype === "float32" ? 0 : buffer.length);
        for (let done = 0; done < count; done += atOnce) {
          const values = buffer.subarray(0, Math.min(atOnce, count - done));
          fill(values);
          if (dtype === "float32") yield new Uint8Array(values.buffer, 0, values.byteLength);
          else {
            const encode = dtype === "float16" ? encodeFloat16 : encodeBfloat16;
            yield new Uint8Array(encode(values, bits.subarray(0, values.length)).buffer, 0, 2 * values.length);
          }
        }
      },
    });
  }
  return saveCheckpoint(dir, { ...rest, tensors });
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, edge) => product * edge, 1);
}

/** A function that fills arrays with the next values of one tensor. */
function sourceOf(name: string, shape: readonly number[], seed: number): (out: Float32Array) => void {
  const isNorm = shape.length === 1 && name.endsWith(".weight");
  const centre = isNorm ? 1 : 0;
  const deviation = shape.length === 1 ? 0.1 : 1 / Math.sqrt(countOf(shape.slice(1)));
  const scale = (2 * deviation * Math.sqrt(3)) / 2 ** 32;
  let [a, b, c, d] = seedState(name, seed);
  // xoshiro128++, in 32-bit steps.
  return (out) => {
    for (let i = 0; i < out.length; i++) {
      const sum = (a + d) | 0;
      const drawn = (((sum << 7) | (sum >>> 25)) + a) | 0;
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >>> 21);
      out[i] = centre + drawn * scale;
    }
  };
}

/** Four words of state from FNV-1a over the name, stirred with the seed (splitmix32 finaliser). */
function seedState(name: string, seed: number): [number, number, number, number] {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  const word = () => {
    hash = (hash + 0x9e3779b9) | 0;
    let mixed = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
  return [word(), word(), word(), word() | 1];
}
