/** The command `train`: a tiny checkpoint learns drawn pictures and reads them, and a run killed at any moment ends with the same weights. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodePng } from "../src/image/encode-png.ts";
import { readRecipe } from "../src/train/recipe.ts";
import type { OwnDataResult } from "../src/train.ts";
import { drawings, drawPicture } from "./drawn-pictures.ts";
import { tinyFolder } from "./tiny.ts";

const main = new URL("../dist/cli/main.js", import.meta.url).pathname;
const TIMEOUT = 600_000;

let root: string;
let data: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "cli-train-"));
  data = join(root, "data");
  await mkdir(data);
  // Every drawing in four places: those held out are drawings that were seen, elsewhere.
  for (const [i, { answer }] of drawings.slice(0, 4).entries()) {
    for (const move of [0, 1, 2, 3]) {
      await writeFile(join(data, `${i}-${move}.png`), await encodePng(drawPicture(i, move)));
      await writeFile(join(data, `${i}-${move}.txt`), `${answer}\n`);
    }
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command; kills it, by SIGKILL, `killAfterMs` after its first step if given. */
function train(output: string, flags: readonly string[], killAfterMs?: number): Promise<Run> {
  const common = ["--from", tinyFolder(), "--learning-rate", "0.004", "--augmentation", "0", "--threads", "1"];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, "train", "--data", data, "--output", output, ...common, ...flags]);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    let doomed = false;
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      if (killAfterMs === undefined || doomed || !stderr.includes("step ")) return;
      doomed = true;
      setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    });
    child.on("error", reject).on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

test("a tiny checkpoint learns pictures and reads those held out", { timeout: TIMEOUT }, async () => {
  const output = join(root, "learnt");
  const { code, stdout, stderr } = await train(output, ["--steps", "80", "--batch-tokens", "64", "--held-out", "0.25", "--json"]);
  expect(stderr).toContain("step 80 of 80");
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout) as OwnDataResult;
  expect(result).toMatchObject({ trained: 12, judged: 4, judgedOn: "held-out samples", steps: 80 });
  expect(result.before.text!.characterErrorRate).toBeGreaterThan(0.5);
  expect(result.after.text!.characterErrorRate).toBeLessThan(0.15);
  for (const file of ["config.json", "model.safetensors", "tokenizer.json", "run/report.html", "run/recipe.json"]) {
    expect(existsSync(join(output, file)), file).toBe(true);
  }
  expect((await readRecipe(join(output, "run/recipe.json"))).stages[0].steps).toBe(80);
});

test("a run killed at any moment, and called again, ends with the weights of one that was not", { timeout: TIMEOUT }, async () => {
  const few = join(root, "few");
  await mkdir(few);
  for (const name of ["0-0", "1-0", "2-0"]) {
    for (const ending of ["png", "txt"]) await copyFile(join(data, `${name}.${ending}`), join(few, `${name}.${ending}`));
  }
  const flags = ["--data", few, "--steps", "10", "--batch-tokens", "16", "--save-every", "0", "--seed", "3"];
  const [whole, killed] = [join(root, "whole"), join(root, "killed")];
  const unbroken = await train(whole, flags);
  expect(unbroken.code, unbroken.stderr).toBe(0);
  const moments: number[] = [];
  for (let calls = 0; ; calls++) {
    // Chance is the point here: whatever the moment, the end must be the same.
    const moment = Math.random() * 150;
    moments.push(moment);
    const { code, stderr } = await train(killed, flags, calls < 3 ? moment : undefined);
    if (code === 0) break;
    expect(code, stderr).toBeNull();
  }
  const told = `killed ${moments.map((moment) => moment.toFixed(0)).join(", ")} ms after a step`;
  for (const file of ["model.safetensors", "run/state.safetensors"]) {
    const [expected, found] = await Promise.all([whole, killed].map((folder) => readFile(join(folder, file))));
    expect(found.equals(expected), `${file}: ${told}`).toBe(true);
  }
});

test("wrong data are told with file and line, exit code 1", { timeout: TIMEOUT }, async () => {
  const manifest = join(root, "wrong.jsonl");
  await writeFile(manifest, `{"image": "data/0-0.png", "answer": "cross"}\n{"image": "data/none.png", "answer": "x"}\n`);
  const { code, stderr } = await train(join(root, "never"), ["--data", manifest]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/wrong\.jsonl:2: `image` expected a file that exists/);
  expect(existsSync(join(root, "never"))).toBe(false);
});
