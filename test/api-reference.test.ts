import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url).pathname;

test("docs/api/ is what the code says (npx tsx scripts/api-reference.ts writes it anew)", () => {
  const { status, stdout } = spawnSync(process.execPath, ["--import", "tsx", "scripts/api-reference.ts", "--check"], {
    cwd: root,
    encoding: "utf8",
  });
  expect([stdout, status]).toEqual(["", 0]);
});

test("every export of the library says what it is", () => {
  const silent: string[] = [];
  for (const page of readdirSync(`${root}docs/api`).filter((name) => name !== "README.md")) {
    const sections = readFileSync(`${root}docs/api/${page}`, "utf8").split(/^## /m).slice(1);
    for (const section of sections) if (/^\S+\n\n```/.test(section)) silent.push(`${page}: ${section.split("\n")[0]}`);
  }
  expect(silent).toEqual([]);
});
