import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { expect, test } from "vitest";

const source = new URL("../src/", import.meta.url).pathname;

/** Who may import whom; the same table as in ARCHITECTURE.md. `error.ts` is open to all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  diffusion: [],
  graph: [],
  model: ["graph"],
  checkpoint: ["graph", "model"],
  text: [],
  image: [],
  runtime: ["graph"],
  engine: ["diffusion", "graph", "model", "runtime", "checkpoint", "text", "image"],
  document: ["engine", "image", "text"],
  metrics: [],
  synth: ["document", "image"],
  train: ["diffusion", "graph", "model", "checkpoint", "text", "image", "runtime", "engine", "document", "metrics", "synth"],
  eval: ["document", "engine", "synth", "metrics", "image", "text", "diffusion"],
  queue: ["index.ts"],
  cli: ["index.ts", "eval.ts", "train.ts", "server", "queue"],
  server: ["index.ts"],
  browser: ["checkpoint", "document", "engine", "image", "runtime"],
  web: ["browser.ts"],
};

async function sourceFiles(): Promise<string[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(?:test|d)\.ts$/.test(entry.name))
    .map((entry) => posix.relative(source, join(entry.parentPath, entry.name)));
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1]);
}

test("every room imports only rooms it may", async () => {
  const faults: string[] = [];
  for (const file of await sourceFiles()) {
    const room = file.split("/")[0];
    if (room.endsWith(".ts")) continue;
    const allowed = rooms[room];
    if (!allowed) {
      faults.push(`${file}: no such room as ${room}; add it to the table with its reason`);
      continue;
    }
    for (const specifier of importsOf(await readFile(join(source, file), "utf8"))) {
      const target = posix.join(posix.dirname(file), specifier);
      const other = target.split("/")[0];
      if (other === room || other === "error.ts" || target.startsWith("..") || allowed.includes(other)) continue;
      faults.push(`${file} imports ${target}, but ${room} may import only ${allowed.join(", ") || "nothing"}`);
    }
  }
  expect(faults).toEqual([]);
});

test("ARCHITECTURE.md names every room", async () => {
  const text = await readFile(new URL("../ARCHITECTURE.md", import.meta.url), "utf8");
  for (const room of Object.keys(rooms)) expect(text).toContain(`\`${room}/\``);
});
