/** The embedded checkpoint on a real page in the states that scans and photographs come in. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resizeBicubic } from "../src/image/resample.ts";
import { type RgbImage, rotateCounterClockwise } from "../src/image/rgb-image.ts";
import { turnCounterClockwise } from "../src/image/turn.ts";
import { assemble, decodeImage, encodePng, load, type ParsedPage, type Parser, writeMarkdown } from "../src/index.ts";
import { characterErrorRate } from "../src/metrics/edit-distance.ts";

const samples = new URL("./samples/", import.meta.url);
const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

let parser: Parser;
let page: RgbImage;
beforeAll(async () => {
  parser = await load({ thread: "own" });
  page = await decodeImage(await readFile(new URL("testocr.png", samples)));
});
afterAll(() => parser?.close());

/** Light that falls off from one side to the other, to less than half. */
function shaded(image: RgbImage): RgbImage {
  const { width } = image;
  return { ...image, data: image.data.map((value, at) => Math.round(value * (0.45 + 0.5 * ((Math.floor(at / 3) % width) / width)))) };
}

const states: readonly (readonly [string, (image: RgbImage) => RgbImage])[] = [
  ["in uneven light", shaded],
  ["crooked by three degrees", (image) => turnCounterClockwise(image, -3)],
  ["upside down", (image) => rotateCounterClockwise(image, 180)],
  ["at half its resolution", (image) => resizeBicubic(image, image.width >> 1, image.height >> 1)],
  ["white on black", (image) => ({ ...image, data: image.data.map((value) => 255 - value) })],
];

test.each(states)("a page %s is read", async (_, change) => {
  const pages: ParsedPage[] = [];
  for await (const { page: read } of parser.parse(await encodePng(change(page)), { decoding: { blockLength: 8 } })) pages.push(read);
  const text = folded(writeMarkdown(assemble(pages, { unwrap: true })));
  const truth = folded(await readFile(new URL("testocr.txt", samples), "utf8"));
  expect(characterErrorRate(text, truth)).toBeLessThan(0.03);
});
