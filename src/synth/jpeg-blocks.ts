/**
 * What JPEG does to pixels, without its files: YCbCr, halved colour resolution, 8x8 cosine transform, rounding to the
 * standard's example quantisation tables (ITU-T T.81, Annex K) scaled by quality, and back. Entropy coding loses
 * nothing, so leaving it out changes no pixel and makes this several times faster than a codec.
 */
import type { RgbImage } from "../image/rgb-image.ts";

const LUMA = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22,
  37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMA = [
  17,
  18,
  24,
  47,
  99,
  99,
  99,
  99,
  18,
  21,
  26,
  66,
  99,
  99,
  99,
  99,
  24,
  26,
  56,
  99,
  99,
  99,
  99,
  99,
  47,
  66,
  99,
  99,
  99,
  99,
  99,
  99,
  ...new Array<number>(32).fill(99),
];

/** cosines[k * 8 + n] = c(k)/2 cos((2n + 1) k pi / 16): the orthonormal transform of 8 samples. */
const COSINES = Float32Array.from({ length: 64 }, (_, i) => {
  const k = i >> 3;
  return Math.cos(((2 * (i & 7) + 1) * k * Math.PI) / 16) * (k === 0 ? Math.SQRT1_2 : 1) * 0.5;
});

/** The usual quality scale of 1..100 applied to a table. */
function scaledTable(table: readonly number[], quality: number): Float32Array {
  const scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return Float32Array.from(table, (entry) => Math.min(255, Math.max(1, Math.floor((entry * scale + 50) / 100))));
}

/** Quantises one plane ([height, width], edges multiples of 8) in place. */
function quantisePlane(plane: Float32Array, width: number, height: number, table: Float32Array): void {
  const rows = new Float32Array(64);
  const block = new Float32Array(64);
  for (let top = 0; top < height; top += 8)
    for (let left = 0; left < width; left += 8) {
      const at = top * width + left;
      let low = plane[at];
      let high = low;
      for (let y = 0; y < 8; y++)
        for (let x = 0; x < 8; x++) {
          const value = plane[at + y * width + x];
          if (value < low) low = value;
          else if (value > high) high = value;
        }
      if (low === high) continue;
      for (let y = 0; y < 8; y++)
        for (let k = 0; k < 8; k++) {
          let sum = 0;
          for (let x = 0; x < 8; x++) sum += plane[at + y * width + x] * COSINES[k * 8 + x];
          rows[y * 8 + k] = sum;
        }
      for (let k = 0; k < 8; k++)
        for (let j = 0; j < 8; j++) {
          let sum = 0;
          for (let y = 0; y < 8; y++) sum += rows[y * 8 + k] * COSINES[j * 8 + y];
          const step = table[j * 8 + k];
          block[j * 8 + k] = Math.round(sum / step) * step;
        }
      for (let y = 0; y < 8; y++)
        for (let k = 0; k < 8; k++) {
          let sum = 0;
          for (let j = 0; j < 8; j++) sum += block[j * 8 + k] * COSINES[j * 8 + y];
          rows[y * 8 + k] = sum;
        }
      for (let y = 0; y < 8; y++)
        for (let x = 0; x < 8; x++) {
          let sum = 0;
          for (let k = 0; k < 8; k++) sum += rows[y * 8 + k] * COSINES[k * 8 + x];
          plane[at + y * width + x] = sum;
        }
    }
}

/**
 * The picture as it comes back from a JPEG of `quality`.
 * @throws RangeError if `quality` is not in 1..100.
 */
export function jpegArtefacts(image: RgbImage, quality: number): RgbImage {
  if (!(quality >= 1 && quality <= 100)) throw new RangeError(`\`quality\` expected 1..100, got ${quality}`);
  const { width, height, data } = image;
  const fullWidth = Math.ceil(width / 16) * 16;
  const fullHeight = Math.ceil(height / 16) * 16;
  const halfWidth = fullWidth / 2;
  const luma = new Float32Array(fullWidth * fullHeight);
  const blue = new Float32Array(halfWidth * (fullHeight / 2));
  const red = new Float32Array(blue.length);
  let colourful = false;
  for (let y = 0, to = 0; y < fullHeight; y++)
    for (let x = 0; x < fullWidth; x++, to++) {
      const from = (Math.min(y, height - 1) * width + Math.min(x, width - 1)) * 3;
      const r = data[from];
      const g = data[from + 1];
      const b = data[from + 2];
      luma[to] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
      if (r !== g || g !== b) {
        colourful = true;
        const half = (y >> 1) * halfWidth + (x >> 1);
        blue[half] += (-0.168736 * r - 0.331264 * g + 0.5 * b) / 4;
        red[half] += (0.5 * r - 0.418688 * g - 0.081312 * b) / 4;
      }
    }
  quantisePlane(luma, fullWidth, fullHeight, scaledTable(LUMA, quality));
  if (colourful) {
    const table = scaledTable(CHROMA, quality);
    quantisePlane(blue, halfWidth, fullHeight / 2, table);
    quantisePlane(red, halfWidth, fullHeight / 2, table);
  }
  const out = new Uint8ClampedArray(data.length);
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++, to += 3) {
      const level = luma[y * fullWidth + x] + 128;
      const half = (y >> 1) * halfWidth + (x >> 1);
      out[to] = level + 1.402 * red[half];
      out[to + 1] = level - 0.344136 * blue[half] - 0.714136 * red[half];
      out[to + 2] = level + 1.772 * blue[half];
    }
  return { width, height, data: new Uint8Array(out.buffer) };
}
