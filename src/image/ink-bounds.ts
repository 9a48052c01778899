/** Where the ink of a picture of text lies. */
import { inkMask } from "./ink-mask.ts";
import type { PixelBox, RgbImage } from "./rgb-image.ts";

/** The smallest box that holds all ink but specks, or null when there is none. */
export function inkBounds(image: RgbImage): PixelBox | null {
  const { width, height, ink } = inkMask(image);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (ink[at] === 0) continue;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
      if (y < top) top = y;
      bottom = y + 1;
    }
  }
  return right > left ? [left, top, right, bottom] : null;
}
