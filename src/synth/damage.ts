/**
 * The single kinds of damage a printed page suffers on its way to pixels: warping, rescaling, blur, ink that spreads
 * or thins, noise, uneven light, paper and watermarks, JPEG, one-bit thresholds. Each is a pure function from picture
 * to picture, driven by a seeded stream; only `warp` moves pixels, and it says where points go. It refuses to know
 * which damages go together (augment.ts decides).
 */
import { resizeBicubic } from "../image/resample.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { createRandom, type Random } from "./random.ts";

export type Point = readonly [x: number, y: number];

function clampByte(value: number): number {
  return Math.max(0, Math.min(255, value));
}

/** One byte table applied to every channel: what depends on the value alone. */
function mapValues(image: RgbImage, change: (value: number) => number): RgbImage {
  const table = Uint8Array.from({ length: 256 }, (_, value) => clampByte(change(value) + 0.5));
  const data = new Uint8Array(image.data.length);
  for (let i = 0; i < data.length; i++) data[i] = table[image.data[i]];
  return { width: image.width, height: image.height, data };
}

/** Multiplies each pixel by `light[pixel]` ([height, width]). */
function multiply(image: RgbImage, light: Float32Array): RgbImage {
  const data = new Uint8Array(image.data.length);
  for (let pixel = 0, i = 0; pixel < light.length; pixel++, i += 3) {
    const factor = light[pixel];
    data[i] = clampByte(image.data[i] * factor + 0.5);
    data[i + 1] = clampByte(image.data[i + 1] * factor + 0.5);
    data[i + 2] = clampByte(image.data[i + 2] * factor + 0.5);
  }
  return { width: image.width, height: image.height, data };
}

/** The commonest border colour stands for the paper. */
export function paperColour(image: RgbImage): readonly [number, number, number] {
  const counts = new Map<number, number>();
  const see = (x: number, y: number) => {
    const at = (y * image.width + x) * 3;
    const key = (image.data[at] << 16) | (image.data[at + 1] << 8) | image.data[at + 2];
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (let x = 0; x < image.width; x++) {
    see(x, 0);
    see(x, image.height - 1);
  }
  for (let y = 0; y < image.height; y++) {
    see(0, y);
    see(image.width - 1, y);
  }
  let best = 0xffffff;
  let most = 0;
  for (const [key, count] of counts)
    if (count > most) {
      most = count;
      best = key;
    }
  return [best >> 16, (best >> 8) & 255, best & 255];
}

function padWithPaper(image: RgbImage): Uint8Array {
  const { width, height, data } = image;
  const stride = (width + 2) * 3;
  const padded = new Uint8Array(stride * (height + 2));
  const paper = paperColour(image);
  for (let i = 0; i < padded.length; i++) padded[i] = paper[i % 3];
  for (let y = 0; y < height; y++) padded.set(data.subarray(y * width * 3, (y + 1) * width * 3), (y + 1) * stride + 3);
  return padded;
}

/** A turn by `radians` about the centre and waves of up to `wavePx` pixels; the canvas grows to hold the picture. */
export function warp(image: RgbImage, random: Random, radians: number, wavePx: number): { image: RgbImage; move: (point: Point) => Point } {
  const { width, height } = image;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  const outWidth = Math.max(1, Math.ceil(width * cos + height * Math.abs(sin)));
  const outHeight = Math.max(1, Math.ceil(height * cos + width * Math.abs(sin)));
  const [cx, cy, ox, oy] = [width / 2, height / 2, outWidth / 2, outHeight / 2];
  const waves = Array.from({ length: 4 }, () => ({
    fx: (random.range(0.5, 2) * 2 * Math.PI) / Math.max(200, width),
    fy: (random.range(0.5, 2) * 2 * Math.PI) / Math.max(200, height),
    phase: random.range(0, 2 * Math.PI),
    amplitude: (wavePx * random.range(0.2, 1)) / 2,
  }));
  const shift = (x: number, y: number, first: number): number => {
    const one = waves[first];
    const two = waves[first + 1];
    return one.amplitude * Math.sin(one.fx * x + one.fy * y + one.phase) + two.amplitude * Math.sin(two.fx * x + two.fy * y + two.phase);
  };
  // One pixel of paper all around, so that sampling needs no bounds but this one.
  const padded = padWithPaper(image);
  const stride = (width + 2) * 3;
  const out = new Uint8Array(outWidth * outHeight * 3);
  const waving = wavePx > 0;
  for (let y = 0, to = 0; y < outHeight; y++) {
    const dy = y + 0.5 - oy;
    for (let x = 0; x < outWidth; x++, to += 3) {
      const dx = x + 0.5 - ox;
      let sx = cos * dx + sin * dy + cx + 0.5;
      let sy = -sin * dx + cos * dy + cy + 0.5;
      if (waving) {
        sx += shift(x, y, 0);
        sy += shift(x, y, 2);
      }
      sx = Math.max(0, Math.min(width, sx));
      sy = Math.max(0, Math.min(height, sy));
      const x0 = Math.floor(sx);
      const y0 = Math.floor(sy);
      const wx = sx - x0;
      const wy = sy - y0;
      const at = y0 * stride + x0 * 3;
      for (let c = at; c < at + 3; c++) {
        const top = padded[c] + wx * (padded[c + 3] - padded[c]);
        const below = padded[c + stride] + wx * (padded[c + stride + 3] - padded[c + stride]);
        out[to + c - at] = top + wy * (below - top) + 0.5;
      }
    }
  }
  const move = ([x, y]: Point): Point => {
    let [px, py] = [x, y];
    for (let i = 0; i < 5; i++) {
      const [ux, uy] = [x - shift(px, py, 0) - cx, y - shift(px, py, 2) - cy];
      [px, py] = [cos * ux - sin * uy + ox, sin * ux + cos * uy + oy];
    }
    return [px, py];
  };
  return { image: { width: outWidth, height: outHeight, data: out }, move };
}

/** Down to `factor` of the size and up again: the softness of a low-resolution source. */
export function softenByScale(image: RgbImage, factor: number): RgbImage {
  const small = resizeBicubic(image, Math.max(1, Math.round(image.width * factor)), Math.max(1, Math.round(image.height * factor)));
  return resizeBicubic(small, image.width, image.height);
}

/** Convolution by a one-dimensional kernel along x or y; edges repeat. */
function convolve(image: RgbImage, kernel: readonly number[], alongX: boolean): RgbImage {
  const { width, height, data } = image;
  const radius = (kernel.length - 1) / 2;
  const count = alongX ? width : height;
  const step = alongX ? 3 : width * 3;
  const out = new Uint8Array(data.length);
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++, to += 3) {
      const position = alongX ? x : y;
      let r = 0.5;
      let g = 0.5;
      let b = 0.5;
      for (let k = -radius; k <= radius; k++) {
        const from = to + (Math.max(0, Math.min(count - 1, position + k)) - position) * step;
        const weight = kernel[k + radius];
        r += weight * data[from];
        g += weight * data[from + 1];
        b += weight * data[from + 2];
      }
      out[to] = r;
      out[to + 1] = g;
      out[to + 2] = b;
    }
  return { width, height, data: out };
}

export function gaussianBlur(image: RgbImage, sigma: number): RgbImage {
  const radius = Math.max(1, Math.ceil(2 * sigma));
  const raw = Array.from({ length: 2 * radius + 1 }, (_, i) => Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)));
  const sum = raw.reduce((a, b) => a + b, 0);
  const kernel = raw.map((weight) => weight / sum);
  return convolve(convolve(image, kernel, true), kernel, false);
}

/** Blur along one axis over `length` (odd) pixels. */
export function motionBlur(image: RgbImage, length: number, alongX: boolean): RgbImage {
  return convolve(image, new Array<number>(length).fill(1 / length), alongX);
}

/** Ink spreads (`amount` > 0) or thins (< 0): a mix with the local minimum or maximum over a 2x2 neighbourhood. */
export function spreadInk(image: RgbImage, amount: number): RgbImage {
  const { width, height, data } = image;
  const mix = Math.min(1, Math.abs(amount));
  const spreads = amount > 0;
  const out = new Uint8Array(data.length);
  for (let y = 0, i = 0; y < height; y++) {
    const down = y + 1 < height ? width * 3 : 0;
    for (let x = 0; x < width; x++) {
      const right = x + 1 < width ? 3 : 0;
      for (let c = 0; c < 3; c++, i++) {
        const value = data[i];
        const a = data[i + right];
        const b = data[i + down];
        const extreme = spreads ? Math.min(value, a, b) : Math.max(value, a, b);
        out[i] = value + mix * (extreme - value) + 0.5;
      }
    }
  }
  return { width, height, data: out };
}

export function brightnessContrast(image: RgbImage, brightness: number, contrast: number): RgbImage {
  return mapValues(image, (value) => (value - 128) * contrast + 128 + brightness);
}

export function shiftColours(image: RgbImage, shifts: readonly [number, number, number]): RgbImage {
  const data = new Uint8Array(image.data.length);
  for (let i = 0; i < data.length; i++) data[i] = clampByte(image.data[i] + shifts[i % 3] + 0.5);
  return { width: image.width, height: image.height, data };
}

/** A fixed draw of normal deviates; noise walks through it at random strides, which is far faster than drawing anew. */
const DEVIATES: Float32Array = (() => {
  const random = createRandom("deviates");
  return Float32Array.from({ length: 8192 }, () => random.normal());
})();

export function gaussianNoise(image: RgbImage, random: Random, sigma: number, grey: boolean): RgbImage {
  const data = new Uint8Array(image.data.length);
  let state = random.int(1, 0x7ffffffe);
  let noise = 0;
  for (let i = 0; i < data.length; i++) {
    if (!grey || i % 3 === 0) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      noise = DEVIATES[state & 8191] * sigma;
    }
    data[i] = clampByte(image.data[i] + noise + 0.5);
  }
  return { width: image.width, height: image.height, data };
}

/** Specks of ink and of paper, one or two pixels wide, on a `share` of the pixels. */
export function speckle(image: RgbImage, random: Random, share: number): RgbImage {
  const data = image.data.slice();
  const count = Math.round(share * image.width * image.height);
  for (let n = 0; n < count; n++) {
    const value = random.chance(0.6) ? random.int(0, 80) : random.int(200, 255);
    const size = random.chance(0.25) ? 2 : 1;
    const [x0, y0] = [random.int(0, image.width - 1), random.int(0, image.height - 1)];
    for (let y = y0; y < Math.min(image.height, y0 + size); y++)
      for (let x = x0; x < Math.min(image.width, x0 + size); x++)
        data.fill(value, (y * image.width + x) * 3, (y * image.width + x) * 3 + 3);
  }
  return { width: image.width, height: image.height, data };
}

/** Thresholds to black and white; the threshold wavers by `waver` from pixel to pixel. */
export function toOneBit(image: RgbImage, random: Random, threshold: number, waver: number): RgbImage {
  const data = new Uint8Array(image.data.length);
  let state = random.int(1, 0x7ffffffe);
  for (let i = 0; i < data.length; i += 3) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const limit = threshold + ((state & 1023) / 512 - 1) * waver;
    const grey = 0.299 * image.data[i] + 0.587 * image.data[i + 1] + 0.114 * image.data[i + 2];
    const value = grey < limit ? 0 : 255;
    data[i] = value;
    data[i + 1] = value;
    data[i + 2] = value;
  }
  return { width: image.width, height: image.height, data };
}

/** Light that falls off along a direction: a multiplicative slope of at most `depth`, with a soft dark band now and then. */
export function shade(image: RgbImage, random: Random, depth: number): RgbImage {
  const { width, height } = image;
  const angle = random.range(0, 2 * Math.PI);
  const [gx, gy] = [Math.cos(angle) / width, Math.sin(angle) / height];
  const band = random.chance(0.4) ? { at: random.range(-0.5, 0.5), width: random.range(0.05, 0.3), depth: depth * 0.8 } : undefined;
  const light = new Float32Array(width * height);
  for (let y = 0, pixel = 0; y < height; y++)
    for (let x = 0; x < width; x++, pixel++) {
      const along = (x - width / 2) * gx + (y - height / 2) * gy;
      let value = 1 - depth * (0.5 + along);
      if (band) value -= band.depth * Math.exp(-(((along - band.at) / band.width) ** 2));
      light[pixel] = Math.max(0.2, value);
    }
  return multiply(image, light);
}

/** Dark or light lines across, `period` pixels apart. */
export function scanLines(image: RgbImage, random: Random, period: number, depth: number): RgbImage {
  const phase = random.int(0, period - 1);
  const rowBytes = image.width * 3;
  const data = image.data.slice();
  for (let y = phase; y < image.height; y += period)
    for (let i = y * rowBytes; i < (y + 1) * rowBytes; i++) data[i] = clampByte(data[i] - depth);
  return { width: image.width, height: image.height, data };
}

/** Paper grain: smooth noise of `cell` pixels laid under the ink (darkens only what is light). */
export function paperGrain(image: RgbImage, random: Random, cell: number, depth: number): RgbImage {
  const columns = Math.ceil(image.width / cell) + 2;
  const rows = Math.ceil(image.height / cell) + 2;
  const lattice = Float32Array.from({ length: columns * rows }, () => random.next());
  const { width, height } = image;
  const light = new Float32Array(width * height);
  for (let y = 0, pixel = 0; y < height; y++) {
    const row = Math.floor(y / cell);
    const fv = y / cell - row;
    for (let x = 0; x < width; x++, pixel++) {
      const column = Math.floor(x / cell);
      const fu = x / cell - column;
      const at = row * columns + column;
      const top = lattice[at] + fu * (lattice[at + 1] - lattice[at]);
      const below = lattice[at + columns] + fu * (lattice[at + columns + 1] - lattice[at + columns]);
      light[pixel] = 1 - (depth / 255) * (top + fv * (below - top));
    }
  }
  return multiply(image, light);
}

/** A faint large shape (stripe or disc) behind the text. */
export function watermark(image: RgbImage, random: Random, depth: number): RgbImage {
  const { width, height } = image;
  const stripe = random.chance(0.5);
  const [cx, cy] = [random.range(0, width), random.range(0, height)];
  const size = random.range(0.2, 0.8) * Math.max(40, height);
  const angle = random.range(0, Math.PI);
  const [nx, ny] = [Math.cos(angle), Math.sin(angle)];
  const tint = [random.range(0.3, 1), random.range(0.3, 1), random.range(0.3, 1)];
  const data = image.data.slice();
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 3) {
      const dx = x - cx;
      const dy = y - cy;
      const inside = stripe ? Math.abs(dx * nx + dy * ny) < size / 2 : dx * dx + dy * dy < size * size;
      if (inside) for (let c = 0; c < 3; c++) data[i + c] *= 1 - (depth / 255) * tint[c];
    }
  return { width, height, data };
}

export function inverted(image: RgbImage): RgbImage {
  return mapValues(image, (value) => 254.5 - value);
}
