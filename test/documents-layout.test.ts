import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { inkLayout, setUpright } from "../src/document/ink-layout.ts";
import { decodeImage } from "../src/image/decode-image.ts";
import { rotateCounterClockwise } from "../src/image/rgb-image.ts";

const page = async (name: string) => decodeImage(await readFile(new URL(`./samples/layout/${name}`, import.meta.url)));

test("a magazine page: left column, right column, then the picture between them, its caption and the footer", async () => {
  const { image, turn, skew } = setUpright(await page("magazine.tif"));
  expect([turn, skew]).toEqual([0, 0]);
  const regions = inkLayout(image).filter(({ pixelBox: [, top] }) => top > 500);
  const columns = regions.map(({ class: name, box: [left, , right] }) =>
    name !== "text" ? name : right < 500 ? "left" : left > 480 ? "right" : "between",
  );
  const order = columns.filter((column, i) => column !== columns[i - 1]);
  expect(order.slice(0, 3)).toEqual(["left", "right", "image"]);
  expect(order.indexOf("between")).toBeGreaterThan(2);
  expect(order.slice(-2)).toEqual(["page_number", "footer"]);
  // Nothing of the picture is in a text region.
  const picture = regions.find(({ class: name }) => name === "image")!.box;
  for (const { class: name, box } of regions) {
    const reaches = box[0] < picture[2] - 2 && box[2] > picture[0] + 2 && box[1] < picture[3] - 2 && box[3] > picture[1] + 2;
    if (name === "text") expect(reaches).toBe(false);
  }
});

test("a crooked scan is one paragraph, also when it lies on its side", async () => {
  const scan = await page("eurotext.tif");
  for (const turn of [0, 90, 270] as const) {
    const upright = setUpright(rotateCounterClockwise(scan, turn));
    expect(upright.turn).toBe((360 - turn) % 360);
    expect(upright.skew).toBeCloseTo(0.8, 0);
    expect(inkLayout(upright.image).map(({ class: name }) => name)).toEqual(["text"]);
  }
});
