import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url);

async function markdownFiles(): Promise<string[]> {
  const docs = (await readdir(new URL("docs/", root), { recursive: true }))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", ...docs];
}

test("every file that the documents link to or name exists", async () => {
  const missing: string[] = [];
  for (const file of await markdownFiles()) {
    const text = await readFile(new URL(file, root), "utf8");
    const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map((match) => new URL(match[1], new URL(file, root)));
    const named = [...text.matchAll(/`((?:src|test|bench|scripts|recipes|models|schema|docs)\/[\w./-]+\.\w+)`/g)].map(
      (match) => new URL(match[1], root),
    );
    for (const url of [...links, ...named]) if (!existsSync(url)) missing.push(`${file}: ${url.pathname}`);
  }
  expect(missing).toEqual([]);
});

test("the concepts page names a file for every equation it lists", async () => {
  const rows = (await readFile(new URL("docs/concepts.md", root), "utf8"))
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.includes("---"));
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows.slice(1)) expect(row).toMatch(/\]\(\.\.\/src\/[\w/-]+\.ts\)/);
});
