/** Reading what a command was given. */
import { readFile } from "node:fs/promises";
import { MineruError } from "../index.ts";

/** The bytes of a file, or of standard input for `-`. */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reasons: Record<string, string> = { ENOENT: "there is no such file", EISDIR: "it is a folder", EACCES: "permission is denied" };
    throw new MineruError("file-unreadable", `cannot read ${path}: ${reasons[code ?? ""] ?? (cause as Error).message}`, { cause });
  }
}
