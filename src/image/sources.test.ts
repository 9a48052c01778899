import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openSource } from "./sources.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const load = async (name: string) => new Uint8Array(await readFile(new URL(name, golden)));

test("a PDF is rendered at the asked resolution", async () => {
  const source = await openSource(await load("files/password.pdf"), { password: "password", dpi: 72 });
  expect(source).toMatchObject({ kind: "pdf", format: "pdf", pageCount: 1 });
  expect(await source.page(0)).toMatchObject({ width: 595, height: 842 });
  expect((await source.pageSize(0)).width).toBeCloseTo(595.3, 1);
  await source[Symbol.asyncDispose]();
});

test("a picture keeps its pixels and is measured in points by the resolution", async () => {
  const source = await openSource(await load("decode/three-pages.tif"), { dpi: 144 });
  expect(source).toMatchObject({ kind: "image", format: "tiff", pageCount: 3 });
  expect(await source.pageSize(2)).toEqual({ width: 10, height: 5 });
  expect(await source.page(0)).toMatchObject({ width: 47, height: 53 });
  expect(await source.pageSize(0)).toEqual({ width: 23.5, height: 26.5 });
  source.close();
});

test("errors are those of the two kinds", async () => {
  await expect(openSource(await load("files/password.pdf"))).rejects.toMatchObject({ code: "file-encrypted" });
  await expect(openSource(new TextEncoder().encode("nothing"))).rejects.toMatchObject({ code: "file-unsupported" });
  const bounded = await openSource(await load("files/text-84x56.png"), { maxPixels: 100 });
  await expect(bounded.page(0)).rejects.toMatchObject({ code: "file-too-large" });
});

test("an aborted signal stops the next page", async () => {
  const controller = new AbortController();
  const source = await openSource(await load("files/text-84x56.png"), { signal: controller.signal });
  await source.page(0);
  controller.abort(new Error("enough"));
  await expect(source.page(0)).rejects.toThrow("enough");
});
