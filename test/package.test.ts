/**
 * The package as a user gets it: packed, its size looked at, installed from the file into an empty folder – dependencies from the registry or
 * npm's cache, install scripts off as npm 12 has them – and one command that reads a page. Where the registry cannot be reached it is skipped.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { characterErrorRate } from "../src/metrics/edit-distance.ts";

const run = promisify(execFile);
const root = new URL("../", import.meta.url).pathname;
const samples = new URL("./samples/", import.meta.url).pathname;
const MOST_BYTES = 60 * 1024 ** 2;
const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

const reachable = spawnSync("npm", ["view", "commander", "version", "--prefer-offline"], { timeout: 60_000 }).status === 0;

describe.skipIf(!reachable)(`the package${reachable ? "" : " (skipped: npm reaches no registry)"}`, () => {
  let folder: string;
  let packed: { filename: string; size: number; files: { path: string }[] };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mineru-package-"));
    // dist/ is built by `npm test`; packing builds nothing.
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
      cwd: root,
      maxBuffer: 64 * 1024 ** 2,
    });
    [packed] = JSON.parse(stdout);
  }, 300_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is small enough for the registry and holds what it needs, and no more", async () => {
    expect((await stat(join(folder, packed.filename))).size).toBeLessThanOrEqual(MOST_BYTES);
    const paths = packed.files.map(({ path }) => path);
    for (const needed of [
      "dist/index.js",
      "dist/index.d.ts",
      "dist/cli/main.js",
      "dist/engine/worker.js",
      "dist/document/parser-worker.js",
      "models/mini/model.safetensors",
      "schema/document.schema.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
    ])
      expect(paths).toContain(needed);
    expect(paths.filter((path) => /\.test\.|^(?:src|test|bench|docs|\.train)\//.test(path))).toEqual([]);
  });

  test("installed into an empty folder, one command reads a page; the library's types and exports are there", {
    timeout: 900_000,
  }, async () => {
    const home = join(folder, "home");
    const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" };
    await run("mkdir", [home]);
    await run("npm", ["install", join(folder, packed.filename), "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: home,
      env,
    });
    const { stdout } = await run("npx", ["mineru-diffusion", "parse", join(samples, "phototest.tif"), "--quiet"], { cwd: home, env });
    const truth = await readFile(join(samples, "phototest.txt"), "utf8");
    expect(characterErrorRate(folded(stdout), folded(truth))).toBeLessThan(0.3);

    const manifest = JSON.parse(await readFile(join(home, "node_modules/mineru-diffusion/package.json"), "utf8"));
    for (const [name, target] of Object.entries(manifest.exports as Record<string, string | Record<string, string>>))
      for (const file of typeof target === "string" ? [target] : Object.values(target))
        expect([
          name,
          await stat(join(home, "node_modules/mineru-diffusion", file)).then(
            (entry) => entry.isFile(),
            () => false,
          ),
        ]).toEqual([name, true]);
    await writeFile(
      join(home, "use.mjs"),
      `import { load } from "mineru-diffusion";
       await using_();
       async function using_() {
         const parser = await load();
         for await (const { page } of parser.parse(process.argv[2])) console.log(page.regions.length > 0);
         await parser.close();
       }`,
    );
    expect((await run(process.execPath, ["use.mjs", join(samples, "testocr.png")], { cwd: home })).stdout).toBe("true\n");
    expect(await readdir(home)).toContain("package-lock.json");
  });
});
