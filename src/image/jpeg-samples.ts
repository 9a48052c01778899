/**
 * From JPEG coefficients to full-size sample rows: the accurate integer inverse DCT (Loeffler, Ligtenberg and Moschytz, 13-bit constants)
 * and triangle-filter chroma upsampling. Both round exactly as libjpeg does, which the reference pipeline's image library uses, so that a
 * scan gives the same bytes here. Knows nothing of files or colours.
 */

const CONSTANT_BITS = 13;
const EXTRA_BITS = 2;

const workspace = new Int32Array(64);

/** Dequantises one block (natural order) and writes its 8x8 samples at `start` of a plane with `stride` bytes a row. */
export function inverseDct(
  block: Int16Array,
  from: number,
  quantiser: Uint16Array,
  plane: Uint8Array,
  start: number,
  stride: number,
): void {
  for (let column = 0; column < 8; column++) {
    const at = from + column;
    const first = block[at] * quantiser[column];
    if ((block[at + 8] | block[at + 16] | block[at + 24] | block[at + 32] | block[at + 40] | block[at + 48] | block[at + 56]) === 0) {
      const flat = first << EXTRA_BITS;
      for (let row = column; row < 64; row += 8) workspace[row] = flat;
      continue;
    }
    transform8(
      first,
      block[at + 8] * quantiser[column + 8],
      block[at + 16] * quantiser[column + 16],
      block[at + 24] * quantiser[column + 24],
      block[at + 32] * quantiser[column + 32],
      block[at + 40] * quantiser[column + 40],
      block[at + 48] * quantiser[column + 48],
      block[at + 56] * quantiser[column + 56],
      column,
      8,
      CONSTANT_BITS - EXTRA_BITS,
    );
  }
  for (let row = 0; row < 8; row++) {
    const at = row * 8;
    transform8(
      workspace[at],
      workspace[at + 1],
      workspace[at + 2],
      workspace[at + 3],
      workspace[at + 4],
      workspace[at + 5],
      workspace[at + 6],
      workspace[at + 7],
      at,
      1,
      CONSTANT_BITS + EXTRA_BITS + 3,
    );
    const to = start + row * stride;
    for (let i = 0; i < 8; i++) {
      const sample = workspace[at + i] + 128;
      plane[to + i] = sample < 0 ? 0 : Math.min(sample, 255);
    }
  }
}

/** One eight-point inverse transform, written to the workspace from `to` in steps of `step`, descaled by `bits` with rounding. */
function transform8(
  s0: number,
  s1: number,
  s2: number,
  s3: number,
  s4: number,
  s5: number,
  s6: number,
  s7: number,
  to: number,
  step: number,
  bits: number,
): void {
  const half = 1 << (bits - 1);
  const evenTurn = Math.imul(s2 + s6, 4433);
  const even2 = evenTurn - Math.imul(s6, 15137);
  const even3 = evenTurn + Math.imul(s2, 6270);
  const even0 = (s0 + s4) << CONSTANT_BITS;
  const even1 = (s0 - s4) << CONSTANT_BITS;
  const a0 = even0 + even3 + half;
  const a3 = even0 - even3 + half;
  const a1 = even1 + even2 + half;
  const a2 = even1 - even2 + half;

  const oddTurn = Math.imul(s7 + s3 + s5 + s1, 9633);
  const outer = Math.imul(s7 + s1, -7373);
  const inner = Math.imul(s5 + s3, -20995);
  const left = Math.imul(s7 + s3, -16069) + oddTurn;
  const right = Math.imul(s5 + s1, -3196) + oddTurn;
  const b0 = Math.imul(s7, 2446) + outer + left;
  const b1 = Math.imul(s5, 16819) + inner + right;
  const b2 = Math.imul(s3, 25172) + inner + left;
  const b3 = Math.imul(s1, 12299) + outer + right;

  workspace[to] = (a0 + b3) >> bits;
  workspace[to + 7 * step] = (a0 - b3) >> bits;
  workspace[to + step] = (a1 + b2) >> bits;
  workspace[to + 6 * step] = (a1 - b2) >> bits;
  workspace[to + 2 * step] = (a2 + b1) >> bits;
  workspace[to + 5 * step] = (a2 - b1) >> bits;
  workspace[to + 3 * step] = (a3 + b0) >> bits;
  workspace[to + 4 * step] = (a3 - b0) >> bits;
}

/** The decoded samples of one component, smaller than the picture by whole factors (usually 1 or 2). */
export interface SamplePlane {
  readonly samples: Uint8Array;
  /** Bytes a stored row. */
  readonly stride: number;
  /** Samples that hold picture. */
  readonly width: number;
  readonly height: number;
  /** Picture pixels per sample. */
  readonly across: number;
  readonly down: number;
}

/** Writes row `y` of the picture, brought to full width, into `target` (at least `plane.width * plane.across` long). */
export function upsampleRow(plane: SamplePlane, y: number, target: Uint8Array | Int16Array): void {
  const { samples, stride, width, height, across, down } = plane;
  const row = Math.min(height - 1, Math.trunc(y / down));
  const from = row * stride;
  const fine = width > 2;
  if (across === 1 && down === 1) {
    for (let x = 0; x < width; x++) target[x] = samples[from + x];
  } else if (across === 2 && down === 1 && fine) {
    target[0] = samples[from];
    target[1] = (samples[from] * 3 + samples[from + 1] + 2) >> 2;
    for (let x = 1; x < width - 1; x++) {
      const near = samples[from + x] * 3;
      target[2 * x] = (near + samples[from + x - 1] + 1) >> 2;
      target[2 * x + 1] = (near + samples[from + x + 1] + 2) >> 2;
    }
    const last = from + width - 1;
    target[2 * width - 2] = (samples[last] * 3 + samples[last - 1] + 1) >> 2;
    target[2 * width - 1] = samples[last];
  } else if (across <= 2 && down === 2 && (fine || across === 1)) {
    const upper = (y & 1) === 0;
    const other = Math.max(0, Math.min(height - 1, upper ? row - 1 : row + 1)) * stride;
    if (across === 1) {
      const bias = upper ? 1 : 2;
      for (let x = 0; x < width; x++) target[x] = (samples[from + x] * 3 + samples[other + x] + bias) >> 2;
      return;
    }
    let before = samples[from] * 3 + samples[other];
    let here = before;
    for (let x = 0; x < width; x++) {
      const after = x + 1 < width ? samples[from + x + 1] * 3 + samples[other + x + 1] : here;
      target[2 * x] = x === 0 ? (here * 4 + 8) >> 4 : (here * 3 + before + 8) >> 4;
      target[2 * x + 1] = x === width - 1 ? (here * 4 + 7) >> 4 : (here * 3 + after + 7) >> 4;
      before = here;
      here = after;
    }
  } else {
    for (let x = 0; x < width * across; x++) target[x] = samples[from + Math.trunc(x / across)];
  }
}
