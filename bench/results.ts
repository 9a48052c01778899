/** Where measurements are kept: `bench/results/<date>-<kind>.json`, the newest of a kind being the one that is told of. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";

const folder = new URL("./results/", import.meta.url);

interface Dated {
  readonly kind: string;
  readonly date: string;
}

/** Arrays of rows stay readable; what is inside a row is one line. */
function written(value: unknown, depth = 0): string {
  const pad = "  ".repeat(depth + 1);
  const close = "  ".repeat(depth);
  if (Array.isArray(value) && depth < 3 && value.some((entry) => typeof entry === "object"))
    return `[\n${value.map((entry) => pad + written(entry, depth + 1)).join(",\n")}\n${close}]`;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && depth < 3)
    return `{\n${Object.entries(value)
      .map(([key, entry]) => `${pad}${JSON.stringify(key)}: ${written(entry, depth + 1)}`)
      .join(",\n")}\n${close}}`;
  return JSON.stringify(value, (_, entry) => (typeof entry === "number" ? Number(entry.toPrecision(6)) : entry));
}

/** Writes a measurement; returns the file's name. A second one of a day replaces the first. */
export async function writeResult(result: Dated): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = `${result.date.slice(0, 10)}-${result.kind}.json`;
  await writeFile(new URL(name, folder), `${written(result)}\n`);
  return name;
}

/** The newest measurement of a kind. */
export async function newestResult<T extends Dated>(kind: T["kind"]): Promise<T> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(`-${kind}.json`)).sort();
  const name = names.at(-1);
  if (name === undefined) throw new Error(`expected bench/results/<date>-${kind}.json, got none; npx tsx bench/all.ts measures it`);
  return JSON.parse(await readFile(new URL(name, folder), "utf8")) as T;
}

/** Progress of a measurement on one line of standard error. */
export const shown =
  (what: string) =>
  (done: number, all: number): void =>
    void process.stderr.write(`\r\u001b[K${what} ${done}/${all}${done === all ? "\n" : ""}`);
