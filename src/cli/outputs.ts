/**
 * What a parsed document is written as: one function per format, and the folder that holds them all. The folder appears whole or not at
 * all: it is made beside its place and moved there when it is complete.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AssemblyOptions,
  assemble,
  documentHtml,
  documentToJson,
  documentToMiddleJson,
  drawLayout,
  encodePng,
  type MarkdownOptions,
  MineruError,
  type ParsedDocument,
  type RgbImage,
  writeContentList,
  writeMarkdown,
} from "../index.ts";

export type OutputFormat = "md" | "json" | "content-list" | "middle" | "html";

export interface OutputOptions extends AssemblyOptions, MarkdownOptions {
  readonly version: string;
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export const formats: Readonly<Record<OutputFormat, (document: ParsedDocument, options: OutputOptions) => string>> = {
  md: ({ pages }, options) => `${writeMarkdown(assemble(pages, options), options)}\n`,
  json: (document) => pretty(documentToJson(document)),
  "content-list": ({ pages }, options) => pretty(writeContentList(assemble(pages, options), options)),
  middle: ({ pages }, options) => pretty(documentToMiddleJson(pages, options.version, options)),
  html: ({ pages, source }, options) => documentHtml(pages, { ...options, title: source.name }),
};

/** A folder under construction: pictures are written as pages come, documents at the end. */
export class OutputFolder {
  readonly #target: string;
  readonly #building: string;
  readonly #stem: string;

  private constructor(target: string, building: string, stem: string) {
    this.#target = target;
    this.#building = building;
    this.#stem = stem;
  }

  /** Begins `<parent>/<stem>`. */
  static async begin(parent: string, stem: string): Promise<OutputFolder> {
    const building = join(parent, `.${stem}.${randomUUID()}.part`);
    await guarded(building, () => mkdir(join(building, "images"), { recursive: true }));
    return new OutputFolder(join(parent, stem), building, stem);
  }

  async addPage(page: ParsedDocument["pages"][number], image: RgbImage, crops: ReadonlyMap<string, RgbImage>): Promise<void> {
    for (const [path, crop] of crops) await this.#write(path, await encodePng(crop));
    await this.#write(`images/page-${page.index + 1}-layout.png`, await encodePng(drawLayout(image, page.regions)));
  }

  /** Writes the documents and moves the folder to its place, over an older one. */
  async finish(document: ParsedDocument, options: OutputOptions): Promise<void> {
    await this.#write(`${this.#stem}.md`, formats.md(document, options));
    await this.#write(`${this.#stem}.json`, formats.json(document, options));
    await this.#write(`${this.#stem}_content_list.json`, formats["content-list"](document, options));
    await this.#write(`${this.#stem}_middle.json`, formats.middle(document, options));
    await this.#write(`${this.#stem}.html`, formats.html(document, options));
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
    await rm(this.#building, { recursive: true, force: true });
  }

  #write(name: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.#building, name);
    return guarded(path, () => writeFile(path, content));
  }
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
