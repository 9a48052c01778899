/** `doctor`, `models` and `completion`: what tells of the machine and of the program itself. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { embeddedCheckpoint } from "../src/index.ts";
import { expectCliJson } from "./cli-schema.ts";
import { runCli } from "./run-cli.ts";
import { tinyFolder } from "./tiny.ts";

test("doctor tries everything and says how each thing stands", async () => {
  const { code, stdout } = await runCli(["doctor", "--json", "--model", tinyFolder(), "--device", "cpu"]);
  const report = JSON.parse(stdout);
  expectCliJson("doctor", report);
  expect(report.findings.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["node", "processor", "memory", "checkpoint", "runtime", "pdf", "folder", "caches", "page"]),
  );
  expect(report.findings.filter(({ state }: { state: string }) => state === "failed")).toEqual([]);
  expect([code, report.ok]).toEqual([0, true]);
});

test("doctor names what keeps pages from being read, the cure, and exits with 1", async () => {
  const { code, stdout } = await runCli(["doctor", "--model", "/nowhere"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/failed +checkpoint +\/nowhere/);
  expect(stdout).toMatch(/→ .*--model/);
  expect(stdout).toMatch(/2 things keep pages from being read\n$/);
});

test("models list and path find the embedded checkpoint", async () => {
  const { stdout } = await runCli(["models", "list", "--json"]);
  expectCliJson("models", JSON.parse(stdout));
  const [mini] = JSON.parse(stdout);
  expect(mini).toMatchObject({ name: "mini", where: "embedded", dir: embeddedCheckpoint() });
  expect((await runCli(["models", "path"])).stdout).toBe(`${embeddedCheckpoint()}\n`);
  expect((await runCli(["models", "path", "mini"])).stdout).toBe(`${embeddedCheckpoint()}\n`);
  expect(await runCli(["models", "path", "maxi"])).toMatchObject({ code: 2, stderr: expect.stringContaining("mini") });
});

describe("completion", () => {
  let folder: string;
  let script: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mineru-completion-"));
    script = join(folder, "completion.bash");
    await writeFile(script, (await runCli(["completion", "bash"])).stdout);
    await writeFile(join(folder, "page.pdf"), "");
  });
  afterAll(() => rm(folder, { recursive: true }));

  const completed = (...words: string[]): string[] => {
    const line = ["mineru-diffusion", ...words].map((word) => `'${word}'`).join(" ");
    const run = `source ${script}; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _mineru_diffusion; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", run], { cwd: folder, encoding: "utf8" }).split("\n").filter(Boolean).sort();
  };

  test.skipIf(!existsSync("/bin/bash"))("in bash: commands, flags, choices, files and folders", () => {
    expect(completed("pa")).toEqual(["parse"]);
    expect(completed("queue", "s")).toEqual(["status", "submit"]);
    expect(completed("parse", "--form")).toEqual(["--format", "--formulas"]);
    expect(completed("parse", "--format", "m")).toEqual(["md", "middle"]);
    expect(completed("queue", "submit", "--strategy", "fac")).toEqual(["factor"]);
    expect(completed("parse", "pa")).toEqual(["page.pdf"]);
    expect(completed("parse", "-o", "pa")).toEqual([]);
    expect(completed("parse", "--dpi", "")).toEqual([]);
  });

  test("for every shell every command is in it", async () => {
    const commands = ["parse", "recognize", "serve", "mcp", "eval", "train", "queue", "models", "doctor", "completion"];
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await runCli(["completion", shell]);
      expect(code).toBe(0);
      for (const command of commands) expect(stdout).toContain(command);
    }
    expect(await runCli(["completion", "tcsh"])).toMatchObject({ code: 2, stderr: expect.stringContaining("bash, zsh, fish") });
  });
});
