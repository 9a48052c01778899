/** A user's samples as they are found, and what is said of those that are wrong. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeLayout } from "../document/layout-text.ts";
import { readOwnSamples } from "./own-samples.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "own-samples-"));
});
afterAll(() => rm(root, { recursive: true }));

let folders = 0;
/** A new folder with these files. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(root, String(folders++));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

const lines = (...entries: readonly unknown[]): string => `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`;

describe("pictures with texts beside them", () => {
  test("are found by name, below the folder too; the text's ending tells the task", async () => {
    const folder = await folderOf({
      "b.png": "",
      "b.txt": "two\r\nlines\n",
      "sub/a.JPG": "",
      "sub/a.otsl": "<fcel>x<nl>",
      "c.tiff": "",
      "c.tex": "x^2",
      "README.md": "what this is",
    });
    expect(await readOwnSamples(folder)).toEqual([
      { task: "text", image: join(folder, "b.png"), answer: "two\nlines", source: join(folder, "b.txt") },
      { task: "formula", image: join(folder, "c.tiff"), answer: "x^2", source: join(folder, "c.tex") },
      { task: "table", image: join(folder, "sub/a.JPG"), answer: "<fcel>x<nl>", source: join(folder, "sub/a.otsl") },
    ]);
  });

  test.each([
    ["no text", { "a.png": "" }, /a\.png: expected its answer beside it in one of a\.txt, .*got none/],
    ["two texts", { "a.png": "", "a.txt": "x", "a.tex": "x" }, /a\.png: expected one answer, got a\.txt and a\.tex/],
    ["an empty text", { "a.png": "", "a.txt": " \n" }, /a\.txt: expected an answer, got none/],
    ["a mask token", { "a.png": "", "a.txt": "x<|MASK|>" }, /a\.txt: expected an answer without the model's special tokens/],
    ["no picture at all", { "a.txt": "x" }, /expected pictures with their answers, got none/],
  ])("with %s are refused", async (_, files, message) => {
    await expect(readOwnSamples(await folderOf(files as Record<string, string>))).rejects.toThrow(message);
  });

  test("that are nowhere are refused", async () => {
    await expect(readOwnSamples(join(root, "nowhere"))).rejects.toMatchObject({ code: "file-unreadable" });
  });
});

describe("a manifest", () => {
  test("is read line by line, in a folder or alone; tables may be HTML", async () => {
    const layout = writeLayout([{ class: "text", box: [1, 2, 300, 400], angle: 0 }]);
    const folder = await folderOf({
      "p.png": "",
      "manifest.jsonl": `${lines({ image: "p.png", answer: "words" }, { image: "p.png", task: "layout", answer: layout })}\n${lines({
        image: "p.png",
        task: "table",
        answer: "<table><tr><td>1</td></tr></table>",
      })}`,
    });
    const samples = await readOwnSamples(folder);
    expect(samples.map(({ task, answer }) => [task, answer])).toEqual([
      ["text", "words"],
      ["layout", layout],
      ["table", "<fcel>1<nl>"],
    ]);
    expect(samples.map(({ source }) => source)).toEqual([1, 2, 4].map((line) => `${join(folder, "manifest.jsonl")}:${line}`));
    expect(await readOwnSamples(join(folder, "manifest.jsonl"))).toEqual(samples);
  });

  test.each([
    ["{", /:2: expected a JSON object, got \{/],
    ["null", /:2: `image` expected the path of a picture, got undefined/],
    [JSON.stringify({ image: "no.png", answer: "x" }), /:2: `image` expected a file that exists, got .*no\.png/],
    [JSON.stringify({ image: "p.png", task: "poem", answer: "x" }), /:2: `task` expected one of layout, text, table, formula, got "poem"/],
    [JSON.stringify({ image: "p.png" }), /:2: `answer` expected a text, got undefined/],
    [JSON.stringify({ image: "p.png", task: "table", answer: "1 2 3" }), /:2: expected a table as OTSL or as an HTML <table>/],
    [JSON.stringify({ image: "p.png", task: "layout", answer: "a page" }), /:2: expected a layout answer/],
  ])("with the line %s is refused by file and line", async (line, message) => {
    const folder = await folderOf({ "p.png": "", "manifest.jsonl": `${lines({ image: "p.png", answer: "fine" })}${line}\n` });
    await expect(readOwnSamples(folder)).rejects.toThrow(message);
    await expect(readOwnSamples(folder)).rejects.toMatchObject({ code: "data-invalid" });
  });
});
