/** Cuts the blank margins of a picture of text: what is left is its ink with a little paper around it. */
import { inkMask } from "./ink-mask.ts";
import { crop, type PixelBox, type RgbImage } from "./rgb-image.ts";

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

/** `image` without its blank margins, `margin` pixels of them kept at each side; a blank picture stays whole. */
export function trimToInk(image: RgbImage, margin: number): RgbImage {
  const bounds = inkBounds(image);
  if (!bounds) return image;
  const [left, top, right, bottom] = bounds;
  const box: PixelBox = [
    Math.max(0, left - margin),
    Math.max(0, top - margin),
    Math.min(image.width, right + margin),
    Math.min(image.height, bottom + margin),
  ];
  return box[0] === 0 && box[1] === 0 && box[2] === image.width && box[3] === image.height ? image : crop(image, box);
}
