/**
 * Reading the files of a data set: JSON, lines, folders and pictures, with errors that name the file and the cure. Refuses to know any
 * benchmark's form.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readDocumentFile } from "../document/document-file.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { openSource } from "../image/sources.ts";

export const PICTURE_ENDING = /\.(?:png|jpe?g|webp|tiff?|gif|bmp)$/i;

/** Text of a file, or `null` if there is no such file. @throws MineruError `file-unreadable` */
export async function textIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new MineruError("file-unreadable", `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

export async function textOf(path: string): Promise<string> {
  const text = await textIfThere(path);
  if (text === null) throw new MineruError("file-unreadable", `cannot read ${path}: there is no such file; check --data`);
  return text;
}

/** @throws MineruError `data-invalid` if the text is no JSON */
export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MineruError("data-invalid", `${where} expected JSON: ${(cause as Error).message}; fetch the data again`, { cause });
  }
}

/** Names in a folder, sorted; `null` if there is no such folder. */
export async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return (await readdir(folder)).sort();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new MineruError("file-unreadable", `cannot read ${folder}: ${(cause as Error).message}`, { cause });
  }
}

/** Names below a folder with `/` between them, sorted. @throws MineruError `file-unreadable` if there is no such folder */
export async function namesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.replace(/[\\/]+$/, "").length + 1)
          .replaceAll("\\", "/"),
      )
      .sort();
  } catch (cause) {
    throw new MineruError("file-unreadable", `cannot read the folder ${folder}: ${(cause as Error).message}; check --data`, { cause });
  }
}

/** The pages of a PDF or picture file, one after the other; only page `only` (from 0) if given. */
export async function* picturesOf(path: string, only?: number): AsyncGenerator<RgbImage> {
  await using source = await openSource(await readDocumentFile(path));
  if (only !== undefined && only >= source.pageCount)
    throw new MineruError("data-invalid", `${path} expected a page ${only + 1}, got ${source.pageCount} pages; fetch the data again`);
  const wanted = only === undefined ? Array.from({ length: source.pageCount }, (_, index) => index) : [only];
  for (const index of wanted) yield await source.page(index);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
