import jpeg from "jpeg-js";
import { describe, expect, it } from "vitest";
import { jpegArtefacts } from "./jpeg-blocks.ts";
import { createRandom } from "./random.ts";

/** A picture with an edge, a slope and some colour. */
function picture(grey: boolean) {
  const [width, height] = [45, 37];
  const random = createRandom("jpeg", String(grey));
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) {
    const base = (i % width > 20 ? 200 : 30) + random.int(0, 20);
    for (let c = 0; c < 3; c++) data[i * 3 + c] = grey ? base : Math.min(255, base + c * 17);
  }
  return { width, height, data };
}

function difference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  return sum / a.length;
}

describe("jpegArtefacts", () => {
  it.each([25, 50, 85])("is close to a real codec at quality %i", (quality) => {
    const image = picture(true);
    const rgba = new Uint8Array(image.width * image.height * 4).fill(255);
    for (let i = 0; i < image.width * image.height; i++) rgba.set(image.data.subarray(i * 3, i * 3 + 3), i * 4);
    const coded = jpeg.encode({ ...image, data: rgba }, quality).data;
    const real = jpeg.decode(coded, { useTArray: true, formatAsRGBA: false }).data;
    expect(difference(jpegArtefacts(image, quality).data, real)).toBeLessThan(0.35 * difference(image.data, real) + 0.3);
  });

  it("loses less at higher quality, in colour too", () => {
    const image = picture(false);
    const losses = [20, 60, 95].map((quality) => difference(jpegArtefacts(image, quality).data, image.data));
    expect(losses[0]).toBeGreaterThan(losses[1]);
    expect(losses[1]).toBeGreaterThan(losses[2]);
    expect(losses[2]).toBeLessThan(6);
  });

  it("refuses a quality outside 1..100", () => {
    expect(() => jpegArtefacts(picture(true), 0)).toThrow("`quality` expected 1..100, got 0");
  });
});
