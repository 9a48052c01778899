/**
 * Documents as tools for assistants (Model Context Protocol, over standard input and output): whole documents as Markdown, single pages
 * with their regions, all tables. Only files below the folders that the server was started with can be named.
 */
import { type CallToolResult, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { assemble, MineruError, type ParsedPage, type Parser, parseOtsl, tableToHtml, type Warning, writeMarkdown } from "../index.ts";
import { DocumentLibrary } from "./document-library.ts";

export interface McpOptions {
  readonly parser: () => Promise<Parser>;
  readonly roots: readonly string[];
  readonly version: string;
}

const path = z.string().min(1).describe("Path of a PDF, PNG, JPEG, WebP, TIFF, GIF or BMP file; absolute, or relative to a root folder");
const page = z.number().int().min(1);
const range = {
  first_page: page.optional().describe("First page, counted from 1; the first of the document if left out"),
  last_page: page.optional().describe("Last page; the last of the document if left out"),
};

/** They read files, and give the same answer again. */
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** What the reader should know of: things that were lost or are unsure. */
const TOLD = new Set<Warning["kind"]>([
  "page-failed",
  "answer-truncated",
  "runaway",
  "empty-layout",
  "unparseable",
  "whole-page",
  "region-failed",
]);

function notesOf(pages: readonly ParsedPage[]): string[] {
  return pages.flatMap(({ index, warnings }) =>
    warnings.filter(({ kind }) => TOLD.has(kind)).map(({ message }) => `Page ${index + 1}: ${message}`),
  );
}

function answer(text: string, pages: readonly ParsedPage[], structuredContent?: Record<string, unknown>): CallToolResult {
  const notes = notesOf(pages);
  return {
    content: [{ type: "text", text }, ...(notes.length > 0 ? [{ type: "text" as const, text: notes.join("\n") }] : [])],
    ...(structuredContent ? { structuredContent } : {}),
  };
}

/** Failures of the request are told to the assistant; others are faults and go their way. */
async function told(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MineruError || error instanceof RangeError)
      return { content: [{ type: "text", text: error.message }], isError: true };
    throw error;
  }
}

/** Tells an assistant that asked for it how far a long document is. */
function progressOf({ mcpReq }: ServerContext): ((done: number, of: number) => void) | undefined {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  return (progress, total) =>
    void mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, total } }).catch(() => {});
}

const tablesOf = ({ regions, index }: ParsedPage) =>
  regions.flatMap(({ content, box, confidence }) => {
    if (content.kind !== "table") return [];
    const grid = parseOtsl(content.otsl);
    return [{ page: index + 1, box, html: tableToHtml(grid), ...(confidence === undefined ? {} : { confidence }) }];
  });

function regionOf({ class: type, box, angle, content, confidence }: ParsedPage["regions"][number]) {
  const read =
    content.kind === "table"
      ? { html: tableToHtml(parseOtsl(content.otsl)) }
      : content.kind === "formula"
        ? { latex: content.latex }
        : content.kind === "text"
          ? { text: content.text }
          : {};
  return { type, box, ...(angle ? { angle } : {}), ...read, ...(confidence === undefined ? {} : { confidence }) };
}

/**
 * Makes servers, one per connection, over one library.
 * @throws MineruError `file-unreadable` for a root that is no folder; RangeError for none.
 */
export async function mcpServers({ parser, roots, version }: McpOptions): Promise<() => McpServer> {
  const library = await DocumentLibrary.open({ roots, parser });
  const markdown = async (pages: readonly ParsedPage[]): Promise<string> => {
    const { printedLineBreaks } = (await parser()).recognizer.info.profile;
    // Pictures are not handed on, so nothing may refer to them.
    const unpictured = pages.map((page) => ({ ...page, regions: page.regions.map(({ image: _, ...region }) => region) }));
    return writeMarkdown(assemble(unpictured, { unwrap: printedLineBreaks }));
  };
  return () => {
    const server = new McpServer(
      { name: "mineru-diffusion", version },
      { instructions: `Reads documents below ${library.roots.join(", ")}. Boxes are left, top, right, bottom in thousandths of the page.` },
    );
    server.registerTool(
      "parse_document",
      {
        title: "Read a document",
        description: "Reads a PDF or picture and returns it as Markdown, tables as HTML, formulas as LaTeX.",
        inputSchema: z.object({ path, ...range }),
        annotations,
      },
      (args, context) =>
        told(async () => {
          const { pages, pageCount } = await library.read({
            path: args.path,
            first: args.first_page,
            last: args.last_page,
            signal: context.mcpReq.signal,
            onPage: progressOf(context),
          });
          return answer(await markdown(pages), pages, { page_count: pageCount, pages: pages.map(({ index }) => index + 1) });
        }),
    );
    server.registerTool(
      "read_page",
      {
        title: "Read one page",
        description: "Reads one page and returns it as Markdown and as regions with their places, kinds and confidences.",
        inputSchema: z.object({ path, page: page.describe("The page, counted from 1") }),
        annotations,
      },
      (args, { mcpReq }) =>
        told(async () => {
          const { pages, pageCount } = await library.read({ path: args.path, first: args.page, last: args.page, signal: mcpReq.signal });
          return answer(await markdown(pages), pages, { page: args.page, page_count: pageCount, regions: pages[0].regions.map(regionOf) });
        }),
    );
    server.registerTool(
      "list_tables",
      {
        title: "List tables",
        description: "Reads a document and returns all its tables as HTML with page and place.",
        inputSchema: z.object({ path, ...range }),
        annotations,
      },
      (args, context) =>
        told(async () => {
          const { pages } = await library.read({
            path: args.path,
            first: args.first_page,
            last: args.last_page,
            signal: context.mcpReq.signal,
            onPage: progressOf(context),
          });
          const tables = pages.flatMap(tablesOf);
          return answer(JSON.stringify(tables, null, 2), pages, { tables });
        }),
    );
    return server;
  };
}
