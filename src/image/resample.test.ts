import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { decodeImage } from "./decode-image.ts";
import { resamplePlanes, resizeBicubic } from "./resample.ts";
import { rgbImage } from "./rgb-image.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const { cases } = JSON.parse(await readFile(new URL("resize.json", golden), "utf8"));

for (const vector of cases)
  test(`byte for byte like Pillow: ${vector.mode} ${vector.size.join("x")} to ${vector.to.join("x")}`, async () => {
    const channels = vector.mode === "L" ? 1 : 3;
    const input = vector.inputFile
      ? (await decodeImage(await readFile(new URL(vector.inputFile, golden)))).data
      : new Uint8Array(Buffer.from(vector.input, "base64"));
    const output = resamplePlanes(input, vector.size[0], vector.size[1], channels, vector.to[0], vector.to[1]);
    expect(Array.from(output.subarray(0, 64))).toEqual(vector.outputFirst64);
    expect(createHash("sha256").update(output).digest("hex")).toBe(vector.outputSha256);
  });

test("the same size gives an equal picture that shares no memory", () => {
  const picture = rgbImage(2, 1, Uint8Array.of(1, 2, 3, 4, 5, 6));
  const same = resizeBicubic(picture, 2, 1);
  expect(same).toEqual(picture);
  expect(same.data.buffer).not.toBe(picture.data.buffer);
});

test("sizes must be positive integers", () => {
  expect(() => resizeBicubic(rgbImage(2, 2), 0, 3)).toThrow("`width` expected a positive integer, got 0");
  expect(() => resizeBicubic(rgbImage(2, 2), 3, 1.5)).toThrow("`height` expected a positive integer, got 1.5");
});
