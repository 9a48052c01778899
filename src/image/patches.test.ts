import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { resizeByNeed } from "./crops.ts";
import { decodeImage } from "./decode-image.ts";
import { imageTokenCount, normalisationTable, patchify, processedSize } from "./patches.ts";
import { parseProcessorConfig } from "./processor-config.ts";
import { rgbImage } from "./rgb-image.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const json = async (name: string) => JSON.parse(await readFile(new URL(name, golden), "utf8"));
const settings = await json("preprocessor_config.json");
const config = parseProcessorConfig(settings);
const { images } = await json("processor.json");

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function safetensors(name: string): Promise<Map<string, Float32Array>> {
  const file = new Uint8Array(await readFile(new URL(name, golden)));
  const headerBytes = Number(new DataView(file.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headerBytes)));
  const entries = Object.entries(header).filter(([key]) => key !== "__metadata__") as [string, { data_offsets: [number, number] }][];
  return new Map(
    entries.map(
      ([
        key,
        {
          data_offsets: [begin, end],
        },
      ]) => [key, new Float32Array(file.slice(8 + headerBytes + begin, 8 + headerBytes + end).buffer)],
    ),
  );
}

for (const vector of images)
  test(`pixels and patches like the reference: ${vector.file}`, async () => {
    const wanted = vector.product ?? vector.official;
    const picture = resizeByNeed(await decodeImage(await readFile(new URL(`files/${vector.file}`, golden))));
    expect([picture.width, picture.height]).toEqual(wanted.rgbSize);
    expect(sha256(picture.data)).toBe(wanted.rgbSha256);
    expect(processedSize(picture.height, picture.width, config)).toEqual({ width: wanted.resizedSize[0], height: wanted.resizedSize[1] });
    const { pixelValues, grid } = patchify(picture, config);
    expect(grid).toEqual(wanted.imageGridThw);
    expect(imageTokenCount(picture.height, picture.width, config)).toBe(wanted.imageTokens);
    expect(Array.from(pixelValues.subarray(0, 4))).toEqual(wanted.pixelValuesFirst4);
    expect(pixelValues.length).toBe(wanted.pixelValuesShape[0] * wanted.pixelValuesShape[1]);
    expect(sha256(new Uint8Array(pixelValues.buffer))).toBe(wanted.pixelValuesSha256);
  });

test("every value of three pictures", async () => {
  for (const [file, values] of await safetensors("pixel-values.safetensors")) {
    const picture = await decodeImage(await readFile(new URL(`files/${file}`, golden)));
    expect(Buffer.from(patchify(picture, config).pixelValues.buffer).equals(Buffer.from(values.buffer))).toBe(true);
  }
});

test("every byte of every channel", async () => {
  const values = (await safetensors("normalised.safetensors")).get("normalised");
  expect(normalisationTable(config)).toEqual(values);
});

test("pictures below one merged patch are refused, not guessed at", () => {
  expect(() => patchify(rgbImage(27, 40), config)).toThrow(RangeError);
});

test("bounds come from min_pixels, then size, then the defaults", () => {
  const { min_pixels: _min, max_pixels: _max, ...bare } = settings;
  expect(config).toMatchObject({ patchSize: 14, mergeSize: 2, temporalPatchSize: 2, minPixels: 3136, maxPixels: 1605632 });
  expect(parseProcessorConfig({ ...bare, size: { shortest_edge: 784, longest_edge: 9999 } })).toMatchObject({
    minPixels: 784,
    maxPixels: 9999,
  });
  expect(parseProcessorConfig({ ...bare, size: undefined })).toMatchObject({ minPixels: 3136, maxPixels: 1003520 });
  expect(parseProcessorConfig({ ...settings, min_pixels: 5000, size: { shortest_edge: 1, longest_edge: 2 } })).toMatchObject({
    minPixels: 5000,
  });
});

test.each([
  [{ patch_size: undefined }, "patch_size expected a positive integer, got undefined"],
  [{ merge_size: 1.5 }, "merge_size expected a positive integer, got 1.5"],
  [{ image_std: [0, 1, 1] }, "image_std expected three positive numbers, got [0,1,1]"],
  [{ image_mean: [1, 2] }, "image_mean expected three numbers, got [1,2]"],
  [{ do_normalize: false }, "do_normalize expected true, got false"],
  [{ resample: 2 }, "resample expected 3 (bicubic), got 2"],
  [{ min_pixels: 10, max_pixels: 5 }, "min_pixels expected at most max_pixels (5), got 10"],
])("a setting that cannot be followed is refused: %o", (change, message) => {
  const parse = () => parseProcessorConfig({ ...settings, ...change });
  expect(parse).toThrow(message);
  expect(parse).toThrow(expect.objectContaining({ code: "checkpoint-invalid" }));
});

test("the file must be an object", () => {
  expect(() => parseProcessorConfig([])).toThrow("the file expected an object, got []");
});
