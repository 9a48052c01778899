/** Reads the golden vectors of the evaluation metrics for the tests beside the metric files. */
import { readFileSync } from "node:fs";

/** The parsed content of a golden file of this folder, for example `teds.json`. */
export function golden<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as T;
}
