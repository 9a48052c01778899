import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { characterErrorRate } from "../src/metrics/edit-distance.ts";

const main = new URL("../dist/cli/main.js", import.meta.url).pathname;
const samples = new URL("./samples/", import.meta.url).pathname;

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], { input, killWhen }: { input?: Uint8Array; killWhen?: () => boolean } = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const timer = setInterval(() => {
      if (!killWhen?.()) return;
      clearInterval(timer);
      child.kill("SIGINT");
    }, 10);
    child.on("error", reject).on("close", (code) => {
      clearInterval(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mineru-cli-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("wrong use is told in one line, with the right exit code", () => {
  const write = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const pdf = () => readFile(join(samples, "ocr_test.pdf"));
  const cases: readonly { readonly name: string; readonly args: () => Promise<string[]>; readonly code: number; readonly says: RegExp }[] =
    [
      { name: "no file", args: async () => ["parse"], code: 2, says: /missing required argument 'file'/ },
      { name: "unknown flag", args: async () => ["parse", "x.pdf", "--treshold", "1"], code: 2, says: /unknown option '--treshold'/ },
      { name: "threshold out of range", args: async () => ["parse", "x.pdf", "--threshold", "2"], code: 2, says: /number from 0 to 1/ },
      {
        name: "threshold of another strategy",
        args: async () => ["parse", join(samples, "testocr.png"), "--strategy", "sequential", "--threshold", "0.9"],
        code: 2,
        says: /threshold/,
      },
      { name: "unknown strategy", args: async () => ["parse", "x.pdf", "--strategy", "best"], code: 2, says: /low_confidence_dynamic/ },
      { name: "page range", args: async () => ["parse", "x.pdf", "--pages", "3-1"], code: 2, says: /1-3,7/ },
      {
        name: "page that is not there",
        args: async () => ["parse", join(samples, "ocr_test.pdf"), "--pages", "9"],
        code: 2,
        says: /up to 1, got 9/,
      },
      { name: "several files to standard output", args: async () => ["parse", "a.pdf", "b.pdf"], code: 2, says: /-o DIR/ },
      { name: "missing file", args: async () => ["parse", join(folder, "none.pdf")], code: 1, says: /no such file/ },
      { name: "folder without documents", args: async () => ["parse", join(folder, "none*")], code: 1, says: /got none/ },
      { name: "empty file", args: async () => ["parse", await write("empty.pdf", "")], code: 1, says: /empty|expected/ },
      { name: "text file", args: async () => ["parse", await write("text.pdf", "just words\n")], code: 1, says: /PDF/ },
      {
        name: "truncated PDF",
        args: async () => ["parse", await write("cut.pdf", (await pdf()).subarray(0, 900))],
        code: 1,
        says: /damaged|truncated|expected/i,
      },
      {
        name: "wrong model folder",
        args: async () => ["parse", join(samples, "testocr.png"), "--model", folder],
        code: 1,
        says: /config\.json/,
      },
      { name: "missing task", args: async () => ["recognize", join(samples, "testocr.png")], code: 2, says: /--task/ },
      { name: "unknown task", args: async () => ["recognize", "x.png", "--task", "poem"], code: 2, says: /layout, text, table, formula/ },
    ];
  test.each(cases)("$name", async ({ args, code, says }) => {
    const result = await run(await args());
    expect(result.stderr).toMatch(says);
    expect(result.code).toBe(code);
    expect(result.stdout).toBe("");
    expect(result.stderr).not.toMatch(/\n\s+at /);
  });

  test("--help and --version", async () => {
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(await run(["parse", "--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("--block-length") });
  });
});

const weights = new URL("../models/mini/model.safetensors", import.meta.url).pathname;

describe.skipIf(!existsSync(weights))("the embedded checkpoint", () => {
  // Character error rates that the committed weights must not exceed, at block 32.
  test.each([
    ["phototest.tif", 0.02],
    ["testocr.png", 0.02],
    ["ocr_test.pdf", 0.03],
  ])("reads %s", async (name, bound) => {
    const { code, stdout } = await run(["parse", join(samples, name), "--quiet"]);
    expect(code).toBe(0);
    const truth = await readFile(join(samples, name.replace(/\.\w+$/, ".txt")), "utf8");
    expect(characterErrorRate(folded(stdout), folded(truth))).toBeLessThanOrEqual(bound);
  });

  test("writes a folder whole, skips what is there, and reads standard input", async () => {
    const out = join(folder, "out");
    const file = join(samples, "testocr.png");
    expect(await run(["parse", file, "-o", out, "-q"])).toMatchObject({ code: 0, stdout: "" });
    const written = await readdir(join(out, "testocr"));
    expect(written.sort()).toEqual([
      "images",
      "source.json",
      "testocr.html",
      "testocr.json",
      "testocr.md",
      "testocr_content_list.json",
      "testocr_middle.json",
    ]);
    expect(JSON.parse(await readFile(join(out, "testocr", "testocr.json"), "utf8")).pages).toHaveLength(1);
    expect((await run(["parse", file, "-o", out])).stderr).toMatch(/already parsed/);
    expect((await run(["parse", "-", "-q"], { input: await readFile(file) })).stdout).toBe(
      await readFile(join(out, "testocr", "testocr.md"), "utf8"),
    );
  });

  test("one bad file among several: the others are parsed, exit code 3", async () => {
    const out = join(folder, "mixed");
    const bad = join(folder, "bad.png");
    await writeFile(bad, "no picture");
    const { code, stderr } = await run(["parse", bad, join(samples, "testocr.png"), "-o", out, "-q"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/bad\.png/);
    expect((await readdir(out)).sort()).toEqual(["report.json", "testocr"]);
  });

  test("interrupted: exit code 130 and nothing half-written", async () => {
    const out = join(folder, "interrupted");
    await mkdir(out);
    const { code } = await run(["parse", join(samples, "ocr_test.pdf"), "-o", out, "-q"], { killWhen: () => readdirSync(out).length > 0 });
    expect(code).toBe(130);
    expect(await readdir(out)).toEqual(["report.json"]);
  });
});
