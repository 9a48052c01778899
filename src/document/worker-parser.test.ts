import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { textPdf } from "../../test/pdf.ts";
import { tinyFolder } from "../../test/tiny.ts";
import { loadRecognizer } from "../engine/recognizer.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { type Parser, parserOf } from "./document-parser.ts";
import type { DocumentPage } from "./parser.ts";
import { loadWorkerParser } from "./worker-parser.ts";

const decoding = { maxTokens: 8 };
let remote: Parser;
let local: Parser;
const warnings: string[] = [];
beforeAll(async () => {
  remote = await loadWorkerParser({ dir: tinyFolder(), sessions: { threads: 1 } }, (warning) => warnings.push(warning));
  local = parserOf(await loadRecognizer(tinyFolder(), nodeRuntime, { threads: 1 }));
}, 300_000);
afterAll(async () => {
  await remote?.close();
  await local?.close();
});

async function pagesOf(parser: Parser, ...[input, options]: Parameters<Parser["parse"]>): Promise<DocumentPage[]> {
  const pages: DocumentPage[] = [];
  for await (const page of parser.parse(input, { decoding, ...options })) pages.push(page);
  return pages;
}

const same = (a: RgbImage, b: RgbImage): boolean => a.width === b.width && a.height === b.height && Buffer.compare(a.data, b.data) === 0;

test("reads as a parser in this thread does: pages, pictures, progress and events", async () => {
  const [pdf, kinds] = [textPdf(3), new Set<string>()];
  const stages: string[] = [];
  const choosePages = (count: number) => [count - 1, 0];
  const there = await pagesOf(remote, pdf, {
    choosePages,
    onProgress: ({ stage, page }) => stages.push(`${stage} ${page}`),
    onEvent: ({ kind }) => kinds.add(kind),
  });
  const here = await pagesOf(local, pdf, { choosePages });
  expect(there.map(({ page }) => page.index)).toEqual([2, 0]);
  expect(there.map(({ page }) => JSON.parse(JSON.stringify(page)))).toEqual(here.map(({ page }) => JSON.parse(JSON.stringify(page))));
  expect(same(there[1].image, here[1].image)).toBe(true);
  expect(stages).toContain("done 2");
  expect(kinds).toContain("layout");
  expect(remote.recognizer.info.profile).toEqual(local.recognizer.info.profile);
});

test("decodes and encodes pictures there", async () => {
  const file = new Uint8Array(await readFile(new URL("../../test/samples/testocr.png", import.meta.url)));
  const image = await remote.decodeImage(file.subarray(0));
  expect(same(image, await local.decodeImage(file))).toBe(true);
  expect(same(await remote.decodeImage(await remote.encodePng(image)), image)).toBe(true);
});

test("failures keep class and code, and the parser goes on", async () => {
  await expect(remote.decodeImage(new Uint8Array([1, 2, 3]))).rejects.toMatchObject({ name: "MineruError", code: "file-unsupported" });
  await expect(pagesOf(remote, "/nowhere.pdf")).rejects.toMatchObject({ code: "file-unreadable" });
  await expect(pagesOf(remote, textPdf(2), { pages: [5] })).rejects.toThrow(RangeError);
  await expect(
    pagesOf(remote, textPdf(2), {
      choosePages: () => {
        throw new Error("none will do");
      },
    }),
  ).rejects.toThrow("none will do");
  await expect(loadWorkerParser({ dir: "/nowhere", sessions: {} })).rejects.toMatchObject({ code: "checkpoint-missing" });
  expect(await pagesOf(remote, textPdf(1))).toHaveLength(1);
});

test("is given up by signal and by leaving the loop; the caller's thread stays free meanwhile", async () => {
  const stop = new AbortController();
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  const pages = remote.parse(textPdf(4), { decoding, signal: stop.signal });
  expect((await pages.next()).value?.page.index).toBe(0);
  const second = pages.next();
  stop.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  for await (const _ of remote.parse(textPdf(4), { decoding })) break;
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test("closed, it takes no more", async () => {
  const parser = await loadWorkerParser({ dir: tinyFolder(), sessions: { threads: 1 } });
  await parser.close();
  await expect(parser.decodeImage(new Uint8Array(3))).rejects.toThrow(/expected to be open/);
  await parser.close();
});
