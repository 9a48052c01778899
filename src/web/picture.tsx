/** Pixels on a canvas. */
import { useEffect, useRef } from "preact/hooks";
import type { RgbImage } from "../browser.ts";

export function drawOn(canvas: HTMLCanvasElement, { width, height, data }: RgbImage): void {
  canvas.width = width;
  canvas.height = height;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < data.length; from += 3, to += 4) {
    pixels[to] = data[from];
    pixels[to + 1] = data[from + 1];
    pixels[to + 2] = data[from + 2];
  }
  canvas.getContext("2d")!.putImageData(new ImageData(pixels, width, height), 0, 0);
}

/** A picture as a `data:` address. */
export function addressOf(image: RgbImage): string {
  const canvas = document.createElement("canvas");
  drawOn(canvas, image);
  return canvas.toDataURL("image/png");
}

export function Picture({ image, label }: { readonly image: RgbImage; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => drawOn(canvas.current!, image), [image]);
  return <canvas ref={canvas} class="picture" role="img" aria-label={label} />;
}
