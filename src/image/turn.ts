/**
 * Turns a picture by any angle, for scans that lie crooked: bilinear, the canvas grows with it, corners are filled with a colour. Knows
 * no reason for the angle.
 */
import type { RgbImage } from "./rgb-image.ts";

/** `image` turned counter-clockwise by `degrees`; what was outside becomes `fill`. */
export function turnCounterClockwise(
  image: RgbImage,
  degrees: number,
  fill: readonly [number, number, number] = [255, 255, 255],
): RgbImage {
  if (!Number.isFinite(degrees)) throw new RangeError(`\`degrees\` expected a number, got ${degrees}`);
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const { width, height, data } = image;
  const [wide, high] = [
    Math.ceil(width * Math.abs(cos) + height * Math.abs(sin) - 1e-6),
    Math.ceil(height * Math.abs(cos) + width * Math.abs(sin) - 1e-6),
  ];
  const turned = new Uint8Array(wide * high * 3);
  for (let y = 0, to = 0; y < high; y++) {
    for (let x = 0; x < wide; x++, to += 3) {
      const [dx, dy] = [x - (wide - 1) / 2, y - (high - 1) / 2];
      const sourceX = dx * cos - dy * sin + (width - 1) / 2;
      const sourceY = dx * sin + dy * cos + (height - 1) / 2;
      const [left, top] = [Math.floor(sourceX), Math.floor(sourceY)];
      const [shareX, shareY] = [sourceX - left, sourceY - top];
      for (let channel = 0; channel < 3; channel++) {
        let value = 0;
        for (let corner = 0; corner < 4; corner++) {
          const [cornerX, cornerY] = [left + (corner & 1), top + (corner >> 1)];
          const weight = (corner & 1 ? shareX : 1 - shareX) * (corner >> 1 ? shareY : 1 - shareY);
          const inside = cornerX >= 0 && cornerX < width && cornerY >= 0 && cornerY < height;
          value += weight * (inside ? data[(cornerY * width + cornerX) * 3 + channel] : fill[channel]);
        }
        turned[to + channel] = Math.round(value);
      }
    }
  }
  return { width: wide, height: high, data: turned };
}
