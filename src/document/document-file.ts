/**
 * A document by its name: in Node the path of a file, in a browser the address of one. The only place in the room that knows the two
 * worlds apart.
 */
import { MineruError } from "../error.ts";

/** The bytes of a file. Throws `file-unreadable` with the reason in words. */
export async function readDocumentFile(path: string): Promise<Uint8Array> {
  const builtin = globalThis.process?.getBuiltinModule;
  try {
    return builtin === undefined ? await fetched(path) : await builtin("node:fs/promises").readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EISDIR"
          ? "it is a folder"
          : code === "EACCES"
            ? "permission is denied"
            : (cause as Error).message;
    throw new MineruError("file-unreadable", `cannot read ${path}: ${why}`, { cause });
  }
}

async function fetched(address: string): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the server expected to answer with status 200, got ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
