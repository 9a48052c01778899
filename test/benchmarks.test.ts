import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { benchmarksPage, newestResults, plotsOf, readmeBlock, withBlock } from "../bench/draw-benchmarks.ts";

const root = new URL("../", import.meta.url);
const text = (path: string): Promise<string> => readFile(new URL(path, root), "utf8");

test("docs/benchmarks.md and its plots are what the newest measurements give", async () => {
  const results = await newestResults();
  expect(await text("docs/benchmarks.md")).toBe(benchmarksPage(results));
  for (const [name, svg] of Object.entries(plotsOf(results))) expect(await text(`docs/plots/${name}`), name).toBe(`${svg}\n`);
});

test("the README's table is that of the newest measurement", async () => {
  const readme = await text("README.md");
  expect(withBlock(readme, readmeBlock(await newestResults()))).toBe(readme);
});

test("the block goes between the marks and nowhere else", () => {
  const [open, close] = ["<!-- decoding: drawn by bench/draw-benchmarks.ts -->", "<!-- /decoding -->"];
  expect(withBlock(`a\n${open}\nold\n${close}\nb`, "new")).toBe(`a\n${open}\nnew\n${close}\nb`);
  expect(() => withBlock("no marks", "new")).toThrow(/README\.md expected <!-- decoding/);
});
