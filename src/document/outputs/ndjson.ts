/**
 * A document page by page, one JSON value a line, so that a long document can be written while it is read and read while it is written:
 * a head line with the source, a line per page, an end line with the count (its absence says that the writer was stopped). Refuses to
 * know files and sockets.
 */
import { MineruError } from "../../error.ts";
import type { DocumentSource, ParsedDocument, ParsedPage, Warning } from "../types.ts";
import { DOCUMENT_FORMAT, DOCUMENT_VERSION, expectFormat, type PageJson, pageFromJson, pageToJson } from "./document-json.ts";

/** Writes pages as lines, each with its line end. */
export async function* writeNdjson(
  pages: Iterable<ParsedPage> | AsyncIterable<ParsedPage>,
  source: DocumentSource = {},
  warnings: readonly Warning[] = [],
): AsyncGenerator<string> {
  yield line({ format: DOCUMENT_FORMAT, version: DOCUMENT_VERSION, kind: "document", source });
  let count = 0;
  for await (const page of pages) {
    yield line({ kind: "page", ...pageToJson(page) });
    count++;
  }
  yield line({ kind: "end", pages: count, warnings });
}

/**
 * Reads lines written by {@link writeNdjson}; blank lines are passed over. `complete` says whether the end line was there. Throws
 * `MineruError` (`data-invalid`) for anything else.
 */
export function readNdjson(lines: Iterable<string>): ParsedDocument & { readonly complete: boolean } {
  const pages: ParsedPage[] = [];
  let source: DocumentSource | null = null;
  let warnings: readonly Warning[] = [];
  let complete = false;
  let number = 0;
  for (const text of lines) {
    number++;
    if (text.trim() === "") continue;
    const value = parsed(text, number);
    if (source === null) {
      expectFormat(value);
      source = (value.source as DocumentSource | undefined) ?? {};
    } else if (value.kind === "page") {
      const { kind: _kind, ...page } = value;
      pages.push(pageFromJson(page as unknown as PageJson));
    } else if (value.kind === "end") {
      complete = value.pages === pages.length;
      warnings = (value.warnings as Warning[] | undefined) ?? [];
    } else throw new MineruError("data-invalid", `line ${number} expected a page or the end, got kind ${JSON.stringify(value.kind)}.`);
  }
  if (source === null) throw new MineruError("data-invalid", "expected a head line, got none. The file is empty.");
  return { source, pages, warnings, complete };
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function parsed(text: string, number: number): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MineruError("data-invalid", `line ${number} is not JSON. If it is the last one, the writer was stopped: leave it out.`, {
      cause,
    });
  }
}
