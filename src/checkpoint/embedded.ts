/** The checkpoint that ships with the package. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the embedded checkpoint: `models/mini` of this package, from source or compiled. */
export function embeddedCheckpoint(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "models", "mini", "config.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, "models", "mini");
}
