/**
 * Documents below a few folders, read page by page and remembered: what an assistant asks about one document, it asks several times.
 * Nothing outside these folders can be named, by `..` or by link. Knows files and pages, no protocol.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { MineruError, openSource, type ParsedPage, type Parser } from "../index.ts";

export interface LibraryOptions {
  /** Folders whose files may be read. */
  readonly roots: readonly string[];
  readonly parser: () => Promise<Parser>;
  /** Pages remembered. Default 512. */
  readonly rememberedPages?: number;
}

export interface LibraryRequest {
  readonly path: string;
  /** First and last page, from 1; absent: the first and the last. */
  readonly first?: number;
  readonly last?: number;
  readonly signal?: AbortSignal;
  /** Told after each page: pages done, of how many. */
  readonly onPage?: (done: number, of: number) => void;
}

export interface LibraryPages {
  readonly pages: readonly ParsedPage[];
  readonly pageCount: number;
}

const LARGEST_FILE_BYTES = 512 * 1024 ** 2;

const unreadable = (path: string, why: string, cause?: unknown): MineruError =>
  new MineruError("file-unreadable", `cannot read ${path}: ${why}`, { cause });

export class DocumentLibrary {
  readonly #roots: readonly string[];
  readonly #parser: () => Promise<Parser>;
  readonly #most: number;
  /** By file, its state and the page; the longest unused first. */
  readonly #pages = new Map<string, ParsedPage>();

  private constructor(roots: readonly string[], { parser, rememberedPages = 512 }: LibraryOptions) {
    this.#roots = roots;
    this.#parser = parser;
    this.#most = rememberedPages;
  }

  /** @throws MineruError `file-unreadable` for a root that is no folder; RangeError for none. */
  static async open(options: LibraryOptions): Promise<DocumentLibrary> {
    if (options.roots.length === 0) throw new RangeError("`roots` expected at least one folder, got none");
    const roots = await Promise.all(
      options.roots.map(async (root) => {
        const real = await realpath(root).catch((cause) => {
          throw unreadable(root, "there is no such folder", cause);
        });
        if (!(await stat(real)).isDirectory()) throw unreadable(root, "it is no folder");
        return real;
      }),
    );
    return new DocumentLibrary(roots, options);
  }

  get roots(): readonly string[] {
    return this.#roots;
  }

  /** The real path of a file that may be read. Files elsewhere are refused in the same words whether they exist or not. */
  async find(path: string): Promise<string> {
    const refusal = unreadable(path, `there is no such file in ${this.#roots.join(", ")}`);
    for (const candidate of isAbsolute(path) ? [path] : this.#roots.map((root) => resolve(root, path))) {
      const real = await realpath(candidate).catch(() => null);
      if (real === null || !this.#roots.some((root) => isInside(root, real))) continue;
      const { size, isFile } = await stat(real).then((entry) => ({ size: entry.size, isFile: entry.isFile() }));
      if (!isFile) throw unreadable(path, "it is no file");
      if (size > LARGEST_FILE_BYTES) throw new MineruError("file-too-large", `${path} expected at most 512 MiB, got ${size} bytes`);
      return real;
    }
    throw refusal;
  }

  /** Pages of a document, from memory or read now. Errors as `parser.parse`; RangeError for pages that are not there. */
  async read({ path, first, last, signal, onPage }: LibraryRequest): Promise<LibraryPages> {
    const file = await this.find(path);
    const { mtimeMs, size } = await stat(file);
    const bytes = await readFile(file);
    const pageCount = await pagesIn(bytes, signal);
    const [from, to] = [first ?? 1, last ?? pageCount];
    for (const [name, page] of [
      ["first_page", from],
      ["last_page", to],
    ] as const)
      if (!Number.isInteger(page) || page < 1 || page > pageCount)
        throw new RangeError(`\`${name}\` expected a page from 1 to ${pageCount}, got ${page}`);
    if (to < from) throw new RangeError(`\`last_page\` expected a page from ${from} to ${pageCount}, got ${to}`);

    const wanted = Array.from({ length: to - from + 1 }, (_, i) => from - 1 + i);
    const keyOf = (index: number): string => `${file}\n${mtimeMs} ${size}\n${index}`;
    const found = new Map<number, ParsedPage>();
    for (const index of wanted) {
      const page = this.#pages.get(keyOf(index));
      if (page) found.set(index, page);
    }
    const missing = wanted.filter((index) => !found.has(index));
    if (missing.length > 0) {
      const parser = await this.#parser();
      for await (const { page } of parser.parse(bytes, { pages: missing, signal })) {
        found.set(page.index, page);
        onPage?.(found.size, wanted.length);
      }
    }
    for (const index of wanted) {
      this.#pages.delete(keyOf(index));
      this.#pages.set(keyOf(index), found.get(index)!);
    }
    for (const key of this.#pages.keys()) {
      if (this.#pages.size <= this.#most) break;
      this.#pages.delete(key);
    }
    return { pages: wanted.map((index) => found.get(index)!), pageCount };
  }
}

async function pagesIn(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<number> {
  await using source = await openSource(bytes, { signal });
  return source.pageCount;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
