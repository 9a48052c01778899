/**
 * The one picture type of the system: 8-bit RGB, rows top to bottom, no alpha, no colour profile, and the few geometric operations that
 * page reading needs. Every operation returns a new picture and leaves its argument alone. Knows nothing of file formats, pages or regions.
 */

/** An 8-bit RGB picture. `data` is `[height, width, 3]`, row-major, without row padding. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Pixel box, right and bottom exclusive: `[left, top, right, bottom]`. */
export type PixelBox = readonly [left: number, top: number, right: number, bottom: number];

/** Quarter turns, counter-clockwise, in degrees. */
export type QuarterTurn = 0 | 90 | 180 | 270;

/** Wraps `data` (`[height, width, 3]`; white when left out). Throws `RangeError` when edges or byte count do not fit. */
export function rgbImage(width: number, height: number, data?: Uint8Array): RgbImage {
  if (!Number.isInteger(width) || width < 1) throw new RangeError(`\`width\` expected a positive integer, got ${width}`);
  if (!Number.isInteger(height) || height < 1) throw new RangeError(`\`height\` expected a positive integer, got ${height}`);
  const bytes = width * height * 3;
  if (data === undefined) return { width, height, data: new Uint8Array(bytes).fill(255) };
  if (data.length !== bytes) throw new RangeError(`\`data\` expected ${bytes} bytes for ${width}x${height} RGB, got ${data.length}`);
  return { width, height, data };
}

/** Cuts out `box`. Throws `RangeError` when the box is empty, fractional or leaves the picture. */
export function crop(image: RgbImage, box: PixelBox): RgbImage {
  const [left, top, right, bottom] = box;
  const whole = box.every(Number.isInteger);
  if (!whole || left < 0 || top < 0 || right > image.width || bottom > image.height || left >= right || top >= bottom)
    throw new RangeError(
      `\`box\` expected whole pixels inside ${image.width}x${image.height} with left < right, top < bottom, got [${box}]`,
    );
  const width = right - left;
  const height = bottom - top;
  const rowBytes = width * 3;
  const data = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * image.width + left) * 3;
    data.set(image.data.subarray(from, from + rowBytes), y * rowBytes);
  }
  return { width, height, data };
}

/** Puts `image` on a white canvas of `width` x `height` with its top left corner at (`left`, `top`); what lies outside is cut off. */
export function pasteOnWhite(image: RgbImage, width: number, height: number, left: number, top: number): RgbImage {
  if (!Number.isInteger(left) || !Number.isInteger(top)) throw new RangeError(`\`left\`, \`top\` expected integers, got ${left}, ${top}`);
  const canvas = rgbImage(width, height);
  const x0 = Math.max(0, left);
  const x1 = Math.min(width, left + image.width);
  const y0 = Math.max(0, top);
  const y1 = Math.min(height, top + image.height);
  if (x0 >= x1) return canvas;
  for (let y = y0; y < y1; y++) {
    const from = ((y - top) * image.width + (x0 - left)) * 3;
    canvas.data.set(image.data.subarray(from, from + (x1 - x0) * 3), (y * width + x0) * 3);
  }
  return canvas;
}

/** Widths of a white border, in pixels. */
export interface Border {
  left?: number;
  top?: number;
  right?: number;
  bottom?: number;
}

/** Adds a white border. */
export function padWithWhite(image: RgbImage, border: Border): RgbImage {
  const { left = 0, top = 0, right = 0, bottom = 0 } = border;
  for (const edge of [left, top, right, bottom])
    if (!Number.isInteger(edge) || edge < 0) throw new RangeError(`\`border\` expected non-negative integers, got ${edge}`);
  return pasteOnWhite(image, image.width + left + right, image.height + top + bottom, left, top);
}

/** Turns the picture counter-clockwise; the canvas turns with it. Throws `RangeError` for any other angle. */
export function rotateCounterClockwise(image: RgbImage, degrees: QuarterTurn): RgbImage {
  const { width, height } = image;
  switch (degrees) {
    case 0:
      return image;
    case 90: // target (x, y) shows source (width - 1 - y, x)
      return remap(image, height, width, (width - 1) * 3, width * 3, -3);
    case 180:
      return remap(image, width, height, (height * width - 1) * 3, -3, -width * 3);
    case 270: // target (x, y) shows source (y, height - 1 - x)
      return remap(image, height, width, (height - 1) * width * 3, -width * 3, 3);
    default:
      throw new RangeError(`\`degrees\` expected 0, 90, 180 or 270, got ${degrees}`);
  }
}

/** Mirrors left and right. */
export function mirror(image: RgbImage): RgbImage {
  return remap(image, image.width, image.height, (image.width - 1) * 3, -3, image.width * 3);
}

/** Mirrors along the main diagonal: row y becomes column y. */
export function transpose(image: RgbImage): RgbImage {
  return remap(image, image.height, image.width, 0, image.width * 3, 3);
}

/** Target pixel (x, y) is the source pixel at byte `start + x * stepX + y * stepY`. */
function remap(image: RgbImage, width: number, height: number, start: number, stepX: number, stepY: number): RgbImage {
  const source = image.data;
  const data = new Uint8Array(width * height * 3);
  let to = 0;
  for (let y = 0; y < height; y++) {
    let from = start + y * stepY;
    for (let x = 0; x < width; x++, from += stepX, to += 3) {
      data[to] = source[from];
      data[to + 1] = source[from + 1];
      data[to + 2] = source[from + 2];
    }
  }
  return { width, height, data };
}
