/**
 * Our own JSON for a parsed document, described by `schema/document.schema.json` (JSON Schema 2020-12): every region with page, class, box,
 * angle, content and provenance, and confidences where the engine gave them. What is written can be read back and assembled again.
 * `version` rises when a reader of the old form could fail on the new one. Refuses to know files.
 */
import { MineruError } from "../../error.ts";
import { parseOtsl } from "../otsl.ts";
import { tableToHtml } from "../table-html.ts";
import type { DocumentSource, ParsedDocument, ParsedPage, ParsedRegion, RegionContent, Warning } from "../types.ts";

/** Name and version of the form. */
export const DOCUMENT_FORMAT = "mineru-diffusion/document";
export const DOCUMENT_VERSION = 1;

/** A page in JSON. `page` counts from 0; sizes in pixels, `points` in 1/72 inch. */
export interface PageJson {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  readonly turn?: number;
  readonly skew?: number;
  readonly points?: { readonly width: number; readonly height: number };
  readonly layout?: ParsedPage["layout"];
  readonly regions: readonly RegionJson[];
  readonly warnings: readonly Warning[];
}

/** A region in JSON: the parsed region with its page and place; a table's content also as HTML. */
export type RegionJson = Omit<ParsedRegion, "content"> & { readonly page: number; readonly order: number; readonly content: ContentJson };

/** Content in JSON. */
export type ContentJson = RegionContent | { readonly kind: "table"; readonly otsl: string; readonly html: string };

/** A document in JSON. */
export interface DocumentJson {
  readonly format: typeof DOCUMENT_FORMAT;
  readonly version: typeof DOCUMENT_VERSION;
  readonly source: DocumentSource;
  readonly pages: readonly PageJson[];
  readonly warnings: readonly Warning[];
}

/** Writes a document as JSON data. */
export function documentToJson(document: ParsedDocument): DocumentJson {
  const { source, pages, warnings } = document;
  return { format: DOCUMENT_FORMAT, version: DOCUMENT_VERSION, source, pages: pages.map(pageToJson), warnings };
}

/** Writes one page as JSON data. */
export function pageToJson(page: ParsedPage): PageJson {
  const { regions: read, warnings, index, ...about } = page;
  const regions = read.map((region, order): RegionJson => ({ page: index, order, ...region, content: contentToJson(region.content) }));
  return { page: index, ...about, regions, warnings };
}

/** Reads JSON data written by {@link documentToJson}. Throws `MineruError` (`data-invalid`) for another format or a newer version. */
export function documentFromJson(data: unknown): ParsedDocument {
  expectFormat(data);
  const { source, pages, warnings } = data as DocumentJson;
  if (!Array.isArray(pages)) throw invalid("`pages` expected an array");
  return { source: source ?? {}, pages: pages.map(pageFromJson), warnings: warnings ?? [] };
}

/** Reads one page written by {@link pageToJson}. Throws `MineruError` (`data-invalid`). */
export function pageFromJson(data: PageJson): ParsedPage {
  if (!Number.isInteger(data?.page) || !Array.isArray(data.regions)) throw invalid("a page expected `page` and `regions`");
  const { page: index, regions: written, warnings, ...about } = data;
  const regions = written.map(({ page: _page, order: _order, content, ...region }): ParsedRegion => {
    if (typeof content?.kind !== "string") throw invalid(`a region of page ${index} has no content`);
    return { ...region, content: contentFromJson(content) };
  });
  return { index, ...about, regions, warnings: warnings ?? [] };
}

/** Throws `MineruError` (`data-invalid`) unless `data` says it is of this format and no newer version. */
export function expectFormat(data: unknown): void {
  const { format, version } = (data ?? {}) as Partial<DocumentJson>;
  if (format !== DOCUMENT_FORMAT) throw invalid(`\`format\` expected "${DOCUMENT_FORMAT}", got ${JSON.stringify(format)}`);
  if (version !== DOCUMENT_VERSION)
    throw invalid(`\`version\` expected ${DOCUMENT_VERSION}, got ${JSON.stringify(version)}; update the reader`);
}

function invalid(what: string): MineruError {
  return new MineruError("data-invalid", `not a parsed document: ${what}. Write it anew with this version.`);
}

function contentToJson(content: RegionContent): ContentJson {
  return content.kind === "table" ? { ...content, html: tableToHtml(parseOtsl(content.otsl)) } : content;
}

function contentFromJson(content: ContentJson): RegionContent {
  return content.kind === "table" ? { kind: "table", otsl: content.otsl } : content;
}
