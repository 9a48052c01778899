/**
 * Bicubic resampling, byte for byte what Pillow's `resize(BICUBIC)` gives (checked on its vectors): the checkpoint was trained on pictures
 * resized by it, so every byte counts. Two passes, horizontal then vertical, each rounding to 8 bit and skipped when its size stays;
 * kernel a = -0.5 widened by the scale when shrinking; coefficients normalised in double precision, then 22-bit fixed point.
 * Knows nothing of why a size is wanted. Other filters are left out on purpose: no model here was trained on them.
 */
import { type RgbImage, rgbImage } from "./rgb-image.ts";

const FIXED_POINT_BITS = 22;
const HALF = 1 << (FIXED_POINT_BITS - 1);
const KERNEL_RADIUS = 2;

/** For each target position: the first source position, how many follow, and their weights (22-bit fixed point). */
interface Weights {
  readonly first: Int32Array; // [target]
  readonly count: Int32Array; // [target]
  readonly weight: Int32Array; // [target, stride]
  readonly stride: number;
}

/** Resizes to `width` x `height`. The same size gives a copy. Throws `RangeError` for edges that are not positive integers. */
export function resizeBicubic(image: RgbImage, width: number, height: number): RgbImage {
  const data = resamplePlanes(image.data, image.width, image.height, 3, width, height);
  return rgbImage(width, height, data);
}

/** The same for `[height, width, channels]` bytes of any channel count. */
export function resamplePlanes(
  source: Uint8Array,
  sourceWidth: number,
  sourceHeight: number,
  channels: number,
  width: number,
  height: number,
): Uint8Array {
  if (!Number.isInteger(width) || width < 1) throw new RangeError(`\`width\` expected a positive integer, got ${width}`);
  if (!Number.isInteger(height) || height < 1) throw new RangeError(`\`height\` expected a positive integer, got ${height}`);
  let data = source;
  if (width !== sourceWidth) data = horizontalPass(data, sourceWidth, sourceHeight, channels, width);
  if (height !== sourceHeight) data = verticalPass(data, width * channels, sourceHeight, height);
  return data === source ? new Uint8Array(source) : data;
}

function cubic(distance: number): number {
  const a = -0.5;
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

function weightsFor(sourceSize: number, targetSize: number): Weights {
  const scale = sourceSize / targetSize;
  const widening = Math.max(scale, 1);
  const support = KERNEL_RADIUS * widening;
  const stride = Math.ceil(support) * 2 + 1;
  const first = new Int32Array(targetSize);
  const count = new Int32Array(targetSize);
  const weight = new Int32Array(targetSize * stride);
  const exact = new Float64Array(stride);
  const narrowing = 1 / widening;
  for (let target = 0; target < targetSize; target++) {
    const center = (target + 0.5) * scale;
    const begin = Math.max(0, Math.trunc(center - support + 0.5));
    const end = Math.min(sourceSize, Math.trunc(center + support + 0.5));
    let sum = 0;
    for (let i = 0; i < end - begin; i++) {
      exact[i] = cubic((i + begin - center + 0.5) * narrowing);
      sum += exact[i];
    }
    first[target] = begin;
    count[target] = end - begin;
    for (let i = 0; i < end - begin; i++) {
      const normalised = sum === 0 ? exact[i] : exact[i] / sum;
      weight[target * stride + i] = Math.trunc(normalised * (1 << FIXED_POINT_BITS) + (normalised < 0 ? -0.5 : 0.5));
    }
  }
  return { first, count, weight, stride };
}

function horizontalPass(source: Uint8Array, sourceWidth: number, rows: number, channels: number, width: number): Uint8Array {
  const { first, count, weight, stride } = weightsFor(sourceWidth, width);
  const target = new Uint8ClampedArray(rows * width * channels);
  const sourceRow = sourceWidth * channels;
  for (let y = 0, to = 0; y < rows; y++) {
    const rowStart = y * sourceRow;
    if (channels === 3) {
      for (let x = 0; x < width; x++, to += 3) {
        let from = rowStart + first[x] * 3;
        const end = x * stride + count[x];
        let red = HALF;
        let green = HALF;
        let blue = HALF;
        for (let w = x * stride; w < end; w++, from += 3) {
          const k = weight[w];
          red += Math.imul(source[from], k);
          green += Math.imul(source[from + 1], k);
          blue += Math.imul(source[from + 2], k);
        }
        target[to] = red >> FIXED_POINT_BITS;
        target[to + 1] = green >> FIXED_POINT_BITS;
        target[to + 2] = blue >> FIXED_POINT_BITS;
      }
      continue;
    }
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < channels; channel++, to++) {
        let sum = HALF;
        for (let i = 0; i < count[x]; i++) sum += Math.imul(source[rowStart + (first[x] + i) * channels + channel], weight[x * stride + i]);
        target[to] = sum >> FIXED_POINT_BITS;
      }
    }
  }
  return new Uint8Array(target.buffer);
}

function verticalPass(source: Uint8Array, rowBytes: number, sourceHeight: number, height: number): Uint8Array {
  const { first, count, weight, stride } = weightsFor(sourceHeight, height);
  const target = new Uint8ClampedArray(rowBytes * height);
  const sums = new Int32Array(rowBytes);
  for (let y = 0; y < height; y++) {
    sums.fill(HALF);
    for (let i = 0; i < count[y]; i++) {
      const k = weight[y * stride + i];
      const row = source.subarray((first[y] + i) * rowBytes, (first[y] + i + 1) * rowBytes);
      for (let x = 0; x < rowBytes; x++) sums[x] += Math.imul(row[x], k);
    }
    const to = y * rowBytes;
    for (let x = 0; x < rowBytes; x++) target[to + x] = sums[x] >> FIXED_POINT_BITS;
  }
  return new Uint8Array(target.buffer);
}
