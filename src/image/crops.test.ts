import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { cropRegion, type LayoutBox, pixelBoxOf } from "./crops.ts";
import { decodeImage } from "./decode-image.ts";
import { processedSize } from "./patches.ts";
import { parseProcessorConfig } from "./processor-config.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const json = async (name: string) => JSON.parse(await readFile(new URL(name, golden), "utf8"));
const { cases } = await json("crops.json");
const config = parseProcessorConfig(await json("preprocessor_config.json"));
const page = await decodeImage(await readFile(new URL("files/page-600x800.png", golden)));

for (const vector of cases)
  test(`like the reference: ${vector.line}`, () => {
    const box = /(\d+) (\d+) (\d+) (\d+)/.exec(vector.line)!.slice(1, 5).map(Number) as unknown as LayoutBox;
    if (vector.result === "no block") {
      expect(() => pixelBoxOf(box, page.width, page.height)).toThrow(RangeError);
      return;
    }
    expect(pixelBoxOf(box, page.width, page.height)).toEqual(vector.pixelBox);
    const region = cropRegion(page, { box, angle: vector.angle });
    expect([region.width, region.height]).toEqual(vector.finalSize);
    expect(createHash("sha256").update(region.data).digest("hex")).toBe(vector.sha256);
    expect(processedSize(region.height, region.width, config)).toEqual({ width: vector.processorSize[0], height: vector.processorSize[1] });
  });

test("edges round as in double precision, where exact arithmetic differs too", async () => {
  for (const [edge, coordinate, operation, official] of (await json("box-rounding.json")).rows) {
    const box: LayoutBox = operation === "floor" ? [coordinate, 0, 1000, 1000] : [0, 0, coordinate, 1000];
    const [left, , right] = pixelBoxOf(box, edge, 100);
    expect(operation === "floor" ? left : right).toBe(official);
  }
});

test("a box at the last thousandth is never empty", () => {
  expect(pixelBoxOf([999.9, 999.9, 1000, 1000], 3, 2)).toEqual([2, 1, 3, 2]);
  expect(pixelBoxOf([0, 0, 0.1, 0.1], 3, 2)).toEqual([0, 0, 1, 1]);
});
