/** Reading what a command was given. */
import { readDocumentFile } from "../index.ts";

/** The bytes of a file, or of standard input for `-`. */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path !== "-") return readDocumentFile(path);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
