import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { decodeImage } from "./decode-image.ts";
import { encodePng } from "./encode-png.ts";
import { rgbImage } from "./rgb-image.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);

test.each(["page-600x800.png", "text-84x56.png", "noise-29x29.png", "grey-64x40.png", "dot-1x1.png"])(
  "%s survives encoding",
  async (file) => {
    const picture = await decodeImage(await readFile(new URL(`files/${file}`, golden)));
    expect(await decodeImage(await encodePng(picture))).toEqual(picture);
  },
);

test("pictures without colour are stored as grey", async () => {
  const colourType = (file: Uint8Array) => file[25];
  expect(colourType(await encodePng(rgbImage(2, 1, Uint8Array.of(5, 5, 5, 9, 9, 9))))).toBe(0);
  expect(colourType(await encodePng(rgbImage(2, 1, Uint8Array.of(5, 5, 5, 9, 9, 8))))).toBe(2);
});
