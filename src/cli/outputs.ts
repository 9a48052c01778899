/**
 * What a parsed document is written as: one function per format, and the folder that holds them all. The folder appears whole or not at
 * all: it is made beside its place and moved there when it is complete. `source.json` in it says what it was made from and how, so that a
 * later run knows whether it is still right.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  type AssemblyOptions,
  assemble,
  type DocumentPage,
  documentHtml,
  documentToJson,
  documentToMiddleJson,
  drawLayout,
  encodePng,
  LayoutPdf,
  type MarkdownOptions,
  MineruError,
  type ParsedDocument,
  type RgbImage,
  writeContentList,
  writeMarkdown,
} from "../index.ts";

export type OutputFormat = "md" | "json" | "content-list" | "middle" | "html";
export type LayoutPicture = "png" | "pdf" | "none";

export interface OutputOptions extends AssemblyOptions, MarkdownOptions {
  readonly version: string;
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export const formats: Readonly<Record<OutputFormat, (document: ParsedDocument, options: OutputOptions, images?: Images) => string>> = {
  md: ({ pages }, options) => `${writeMarkdown(assemble(pages, options), options)}\n`,
  json: (document) => pretty(documentToJson(document)),
  "content-list": ({ pages }, options) => pretty(writeContentList(assemble(pages, options), options)),
  middle: ({ pages }, options) => pretty(documentToMiddleJson(pages, options.version, options)),
  html: ({ pages, source }, options, images) => documentHtml(pages, { ...options, title: source.name, images }),
};

/** The picture saved under a path as a `data:` address. */
export type Images = (path: string) => string | undefined;

export const pngAddress = (png: Uint8Array): string => `data:image/png;base64,${Buffer.from(png).toString("base64")}`;

/** What an output was made from and with. */
export interface OutputOrigin {
  /** Absolute path; `-` is standard input. */
  readonly path: string;
  /** Bytes and time of the last change (ms) of the file; absent for standard input. */
  readonly bytes?: number;
  readonly modified?: number;
  /** Version of this program and the settings that change what is written. */
  readonly settings: Readonly<Record<string, unknown>>;
}

interface OutputRecord extends OutputOrigin {
  readonly format: typeof OUTPUT_FORMAT;
  readonly version: 1;
  readonly pages: number;
  /** Pages, from 1, that could not be read. */
  readonly failedPages: readonly number[];
}

const OUTPUT_FORMAT = "mineru-diffusion/output";
const RECORD = "source.json";

/** Where `path` stands now, to be compared with what an output was made from. */
export async function originOf(path: string, settings: OutputOrigin["settings"]): Promise<OutputOrigin> {
  if (path === "-") return { path, settings };
  const place = resolve(path);
  const about = await stat(place).catch(() => null);
  return about === null ? { path: place, settings } : { path: place, bytes: about.size, modified: Math.trunc(about.mtimeMs), settings };
}

async function recordIn(folder: string): Promise<OutputRecord | null> {
  const text = await readFile(join(folder, RECORD), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const record = JSON.parse(text) as OutputRecord;
    return record?.format === OUTPUT_FORMAT ? record : null;
  } catch {
    return null;
  }
}

/** The finished output in `folder`, if it was made from just this; null if there is none or it is out of date. */
export async function finishedOutput(folder: string, origin: OutputOrigin): Promise<Pick<OutputRecord, "pages" | "failedPages"> | null> {
  const record = await recordIn(folder);
  if (record === null || origin.bytes === undefined) return null;
  const same = (value: OutputOrigin): string => JSON.stringify([value.path, value.bytes, value.modified, value.settings]);
  return same(record) === same(origin) ? record : null;
}

/** Folders under construction are called `.<host>-<process>-<anything>.part`, so that leavings of killed processes can be told. */
const PART = /^\.(.+)-(\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part(?:\.old)?$/;
const host = hostname().replace(/[^\w-]/g, "_");

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Removes what processes of this machine that are no more have left in `folder`. */
async function removeLeavings(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const match = PART.exec(name);
    if (match && match[1] === host && !isAlive(Number(match[2]))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** The pictures of a page by their paths: its crops, and itself with its regions drawn in. */
export function* pagePictures({ page, image, crops }: DocumentPage): Generator<[path: string, picture: RgbImage], void, undefined> {
  yield* crops;
  if (!page.warnings.some(({ kind }) => kind === "page-failed"))
    yield [`images/page-${page.index + 1}-layout.png`, drawLayout(image, page.regions)];
}

/** A folder under construction: pictures are written as pages come, documents at the end. */
export class OutputFolder {
  readonly #target: string;
  readonly #building: string;
  readonly #stem: string;
  readonly #layoutPicture: LayoutPicture;
  #layoutPdf: { readonly file: FileHandle; readonly pages: LayoutPdf } | null = null;
  /** Pages, from 1, that could not be read. */
  readonly failedPages: number[] = [];

  private constructor(target: string, building: string, layoutPicture: LayoutPicture) {
    this.#target = target;
    this.#building = building;
    this.#stem = target.split(/[\\/]/).at(-1)!;
    this.#layoutPicture = layoutPicture;
  }

  /** Begins the folder `target`. Throws `output-unwritable` where something stands that this program did not write. */
  static async begin(target: string, layoutPicture: LayoutPicture): Promise<OutputFolder> {
    const parent = dirname(target);
    const building = join(parent, `.${host}-${process.pid}-${randomUUID()}.part`);
    const standing = await stat(target).catch(() => null);
    if (standing !== null && (await recordIn(target)) === null && !(await isEmptyFolder(target)))
      throw new MineruError(
        "output-unwritable",
        `cannot write ${target}: something else stands there (no ${RECORD} in it); move it away or choose another -o`,
      );
    await guarded(building, async () => {
      await mkdir(parent, { recursive: true });
      await removeLeavings(parent);
      await mkdir(join(building, "images"), { recursive: true });
    });
    return new OutputFolder(target, building, layoutPicture);
  }

  async addPage(parsed: DocumentPage): Promise<void> {
    const { page, image, crops } = parsed;
    const failed = page.warnings.some(({ kind }) => kind === "page-failed");
    if (failed) this.failedPages.push(page.index + 1);
    const pictures = this.#layoutPicture === "png" ? pagePictures(parsed) : crops;
    for (const [path, picture] of pictures) await this.addFile(path, await encodePng(picture));
    if (!failed && this.#layoutPicture === "pdf") await this.#addToPdf(image, page.regions);
  }

  /** Adds a file of the folder as it is. */
  addFile(path: string, content: Uint8Array): Promise<void> {
    return this.#write(path, content);
  }

  /** Writes the documents and moves the folder to its place, over an older one. */
  async finish(document: ParsedDocument, options: OutputOptions, origin: OutputOrigin): Promise<void> {
    const images = await this.#images(document);
    await this.#write(`${this.#stem}.md`, formats.md(document, options));
    await this.#write(`${this.#stem}.json`, formats.json(document, options));
    await this.#write(`${this.#stem}_content_list.json`, formats["content-list"](document, options));
    await this.#write(`${this.#stem}_middle.json`, formats.middle(document, options));
    await this.#write(`${this.#stem}.html`, formats.html(document, options, images));
    await this.#layoutPdf?.pages.finish();
    await this.#layoutPdf?.file.close();
    const record: OutputRecord = {
      format: OUTPUT_FORMAT,
      version: 1,
      ...origin,
      pages: document.pages.length,
      failedPages: this.failedPages,
    };
    await this.#write(RECORD, pretty(record));
    await guarded(this.#target, async () => {
      const old = `${this.#building}.old`;
      const replaced = await rename(this.#target, old).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return false;
          throw error;
        },
      );
      await rename(this.#building, this.#target);
      if (replaced) await rm(old, { recursive: true, force: true });
    });
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    await this.#layoutPdf?.file.close();
    await rm(this.#building, { recursive: true, force: true });
  }

  async #addToPdf(...page: Parameters<LayoutPdf["add"]>): Promise<void> {
    const path = join(this.#building, `${this.#stem}_layout.pdf`);
    await guarded(path, async () => {
      if (this.#layoutPdf === null) {
        const file = await open(path, "w");
        this.#layoutPdf = { file, pages: new LayoutPdf(async (part) => void (await file.write(part))) };
      }
      await this.#layoutPdf.pages.add(...page);
    });
  }

  /** Pictures the document shows, read back from the folder: while pages came they were not kept. */
  async #images({ pages }: ParsedDocument): Promise<Images> {
    const addresses = new Map<string, string>();
    for (const { regions } of pages)
      for (const { image, class: name, content } of regions)
        if (image !== undefined && (name !== "table" || content.kind === "none"))
          addresses.set(image, pngAddress(await readFile(join(this.#building, image))));
    return (path) => addresses.get(path);
  }

  #write(name: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.#building, name);
    return guarded(path, () => writeFile(path, content));
  }
}

async function isEmptyFolder(path: string): Promise<boolean> {
  return (await readdir(path).catch(() => ["unknown"])).length === 0;
}

/** Writes a file whole or not at all. Throws `output-unwritable`. */
export async function writeWhole(path: string, content: string): Promise<void> {
  await guarded(path, async () => {
    const part = join(dirname(path), `.${host}-${process.pid}-${randomUUID()}.part`);
    await writeFile(part, content);
    await rename(part, path);
  });
}

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new MineruError(
      "output-unwritable",
      `cannot write ${path}: ${(cause as Error).message}; check the folder, its permissions and the free space`,
      { cause },
    );
  }
}
