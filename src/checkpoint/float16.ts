/**
 * The two 16-bit float formats in which published weights are stored: IEEE half ("float16") and bfloat16, to and from float32.
 * Encoding rounds to nearest, ties to even, as PyTorch does; values beyond the largest half become infinity, NaN stays NaN.
 * Values are `Uint16Array` bit patterns here, since the oldest supported Node has no `Float16Array`. Knows nothing of files.
 */

const scratchFloat = new Float32Array(1);
const scratchBits = new Uint32Array(scratchFloat.buffer);

/** The half nearest to `value`, as its 16 bits. */
export function float16Bits(value: number): number {
  scratchFloat[0] = value;
  return halfFromBits(scratchBits[0]);
}

function halfFromBits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | ((magnitude >>> 13) & 0x3ff);
  // 65520 is halfway between the largest half and the next power of two: it and all above become infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) {
    const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
    return sign | ((rounded - 0x38000000) >>> 13);
  }
  // Below 2^-14 the half is subnormal: a whole number of 2^-24.
  if (magnitude < 0x33000000) return sign;
  const shift = 126 - (magnitude >>> 23);
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const whole = mantissa >>> shift;
  const rest = mantissa & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (whole + (rest > half || (rest === half && (whole & 1) === 1) ? 1 : 0));
}

/** The float32 value of the 16 bits of a half. */
export function float16Value(bits: number): number {
  scratchBits[0] = floatBitsFromHalf(bits);
  return scratchFloat[0];
}

function floatBitsFromHalf(bits: number): number {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >>> 10) & 0x1f;
  let mantissa = bits & 0x3ff;
  if (exponent === 31) return sign | 0x7f800000 | (mantissa << 13);
  if (exponent > 0) return sign | ((exponent + 112) << 23) | (mantissa << 13);
  if (mantissa === 0) return sign;
  let shifted = 113;
  while ((mantissa & 0x400) === 0) {
    mantissa <<= 1;
    shifted--;
  }
  return sign | (shifted << 23) | ((mantissa & 0x3ff) << 13);
}

let halfTable: Uint32Array | undefined;

/** Widens halves into `target`; a 256 KiB table makes bulk decoding about as quick as copying. */
export function decodeFloat16(source: Uint16Array, target: Float32Array = new Float32Array(source.length)): Float32Array {
  expectSameLength(source, target);
  if (halfTable === undefined) {
    halfTable = new Uint32Array(0x10000);
    for (let bits = 0; bits < 0x10000; bits++) halfTable[bits] = floatBitsFromHalf(bits);
  }
  const table = halfTable;
  const out = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < source.length; i++) out[i] = table[source[i]];
  return target;
}

/** Rounds float32 values to halves. */
export function encodeFloat16(source: Float32Array, target: Uint16Array = new Uint16Array(source.length)): Uint16Array {
  expectSameLength(source, target);
  const bits = new Uint32Array(source.buffer, source.byteOffset, source.length);
  for (let i = 0; i < bits.length; i++) target[i] = halfFromBits(bits[i]);
  return target;
}

/** Widens bfloat16 values: the 16 bits are the upper half of the float32. */
export function decodeBfloat16(source: Uint16Array, target: Float32Array = new Float32Array(source.length)): Float32Array {
  expectSameLength(source, target);
  const out = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < source.length; i++) out[i] = source[i] << 16;
  return target;
}

/** Rounds float32 values to bfloat16. */
export function encodeBfloat16(source: Float32Array, target: Uint16Array = new Uint16Array(source.length)): Uint16Array {
  expectSameLength(source, target);
  const bits = new Uint32Array(source.buffer, source.byteOffset, source.length);
  for (let i = 0; i < bits.length; i++) {
    const value = bits[i];
    const notANumber = (value & 0x7fffffff) > 0x7f800000;
    target[i] = notANumber ? (value >>> 16) | 0x40 : (value + 0x7fff + ((value >>> 16) & 1)) >>> 16;
  }
  return target;
}

function expectSameLength(source: { length: number }, target: { length: number }): void {
  if (source.length !== target.length) throw new RangeError(`\`target\` expected length ${source.length}, got ${target.length}`);
}
