/** The examples, run as their first lines say, against the built package. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = new URL("../", import.meta.url).pathname;

/** What each prints when it works. */
const prints: Readonly<Record<string, RegExp>> = {
  "read-page.ts": /\w+ \w+ \w+/,
  "stream-text.ts": /^region \d+: ".+"$/m,
  "watch-denoising.ts": /step +1 [\s\S]*\d+ steps, \d+ forward passes/,
  "read-folder.ts": /^ocr_test\.pdf page 1: \d+ regions, \d+ characters$/m,
};

test("every example is run here", async () => {
  expect((await readdir(`${root}examples`)).sort()).toEqual(Object.keys(prints).sort());
});

test.each(Object.entries(prints))("%s", async (name, expected) => {
  expect(await readFile(`${root}examples/${name}`, "utf8")).toContain(`npx tsx examples/${name}`);
  const { stdout } = await run(process.execPath, ["--import", "tsx", `examples/${name}`], { cwd: root });
  expect(stdout).toMatch(expected);
});
