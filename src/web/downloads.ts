/** What can be taken away of a reading: Markdown, JSON, and an archive with all of it. */
import {
  type AssemblyOptions,
  assemble,
  documentHtml,
  documentToJson,
  encodePng,
  type ParsedPage,
  writeContentList,
  writeMarkdown,
  type ZipEntry,
  zip,
} from "../browser.ts";
import type { Reading } from "./reading.ts";

export const downloadKinds = ["Markdown", "JSON", "ZIP"] as const;
export type DownloadKind = (typeof downloadKinds)[number];

export const stemOf = (name: string): string => name.replace(/(.)\.[^.]*$/, "$1") || "document";

export const parsedPages = ({ pages }: Reading): ParsedPage[] => pages.flatMap(({ parsed }) => (parsed ? [parsed] : []));

export const markdownOf = (reading: Reading, options: AssemblyOptions): string =>
  `${writeMarkdown(assemble(parsedPages(reading), options))}\n`;

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const jsonOf = (reading: Reading): string =>
  pretty(documentToJson({ source: { name: reading.name, pageCount: reading.pageCount }, pages: parsedPages(reading), warnings: [] }));

async function archiveOf(reading: Reading, options: AssemblyOptions): Promise<Uint8Array<ArrayBuffer>> {
  const stem = stemOf(reading.name);
  const pages = parsedPages(reading);
  const text = (path: string, content: string): ZipEntry => ({ path, bytes: new TextEncoder().encode(content) });
  const crops = reading.pages.flatMap((page) => [...page.crops]);
  return zip([
    text(`${stem}.md`, markdownOf(reading, options)),
    text(`${stem}.json`, jsonOf(reading)),
    text(`${stem}_content_list.json`, pretty(writeContentList(assemble(pages, options)))),
    text(`${stem}.html`, documentHtml(pages, { ...options, title: reading.name })),
    ...(await Promise.all(crops.map(async ([path, crop]): Promise<ZipEntry> => ({ path, bytes: await encodePng(crop) })))),
  ]);
}

/** A file of one kind. */
export async function fileOf(kind: DownloadKind, reading: Reading, options: AssemblyOptions): Promise<File> {
  const stem = stemOf(reading.name);
  if (kind === "Markdown") return new File([markdownOf(reading, options)], `${stem}.md`, { type: "text/markdown" });
  if (kind === "JSON") return new File([jsonOf(reading)], `${stem}.json`, { type: "application/json" });
  return new File([await archiveOf(reading, options)], `${stem}.zip`, { type: "application/zip" });
}

/** Hands a file to the browser's downloads. */
export function save(file: File): void {
  const address = URL.createObjectURL(file);
  const link = Object.assign(document.createElement("a"), { href: address, download: file.name });
  link.click();
  URL.revokeObjectURL(address);
}
