/**
 * Samples as files hold them (1 to 16 bit, grey, colour, CMYK, with alpha) to the 8-bit RGB of this room. The two rules where this system
 * leaves its reference on purpose are stated here once: 16-bit samples are scaled, not clipped, and transparency is laid on white.
 */

/** 16-bit sample to 8 bit, rounded. */
export function sixteenToEight(value: number): number {
  return Math.trunc((value * 255 + 32767) / 65535);
}

/** `value` with opacity `alpha` (both 0..255) over white, rounded. */
export function onWhite(value: number, alpha: number): number {
  return Math.trunc((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

/** A table from an n-bit sample (n at most 8) to 8 bit: 0 stays 0, the largest becomes 255. */
export function scaleTable(bits: number): Uint8Array {
  const largest = (1 << bits) - 1;
  return Uint8Array.from({ length: largest + 1 }, (_, value) => Math.round((value * 255) / largest));
}

/** Naive ink mixing, as the reference's image library does it: 255 minus what the inks take away. */
export function cmykToRgb(cyan: number, magenta: number, yellow: number, black: number, target: Uint8Array, offset: number): void {
  const light = 255 - black;
  target[offset] = light - inkOf(cyan, light);
  target[offset + 1] = light - inkOf(magenta, light);
  target[offset + 2] = light - inkOf(yellow, light);
}

function inkOf(ink: number, light: number): number {
  const product = ink * light + 128;
  return ((product >> 8) + product) >> 8;
}

/** `[pixels, 4]` RGBA bytes to `[pixels, 3]` RGB on white. */
export function rgbaOnWhite(rgba: Uint8Array | Uint8ClampedArray, pixels: number): Uint8Array {
  const data = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < data.length; from += 4, to += 3) {
    const alpha = rgba[from + 3];
    if (alpha === 255) {
      data[to] = rgba[from];
      data[to + 1] = rgba[from + 1];
      data[to + 2] = rgba[from + 2];
    } else {
      data[to] = onWhite(rgba[from], alpha);
      data[to + 1] = onWhite(rgba[from + 1], alpha);
      data[to + 2] = onWhite(rgba[from + 2], alpha);
    }
  }
  return data;
}
