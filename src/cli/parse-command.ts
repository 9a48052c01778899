/** `parse`: files to Markdown and data. */
import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import {
  type DocumentPage,
  load,
  MineruError,
  type ParsedDocument,
  type ParsedPage,
  type ParseOptions,
  type Parser,
  type Warning,
  writeNdjson,
} from "../index.ts";
import { type DecodingFlags, decodingOf, loadOptionsOf, type ModelFlags } from "./arguments.ts";
import { Interrupted, UsageError } from "./errors.ts";
import { readInput } from "./input.ts";
import { formats, OutputFolder, type OutputFormat, type OutputOptions } from "./outputs.ts";
import { Progress } from "./progress.ts";
import { version } from "./version.ts";

export interface ParseFlags extends DecodingFlags, ModelFlags {
  readonly output?: string;
  readonly format: OutputFormat | "ndjson";
  readonly pages?: readonly number[];
  readonly password?: string;
  readonly dpi?: number;
  readonly tables: "html" | "auto";
  readonly keepParatext?: boolean;
  readonly keepLines?: boolean;
  readonly markBelow?: number;
  readonly layoutAnalysis?: boolean;
  readonly tokens?: boolean;
  readonly batchSize?: number;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

const stemOf = (file: string): string => (file === "-" ? "stdin" : basename(file, extname(file)));

/** Two inputs of one name would write to one folder. */
function checkStems(files: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const file of files) {
    const stem = stemOf(file);
    const other = seen.get(stem);
    if (other !== undefined)
      throw new UsageError(`expected files of different names with -o, got ${other} and ${file}, which would both write ${stem}/`);
    seen.set(stem, file);
  }
}

/** Parses `files`; returns the exit code. */
export async function parseCommand(files: readonly string[], flags: ParseFlags, signal: AbortSignal): Promise<number> {
  if (flags.output === undefined && files.length > 1)
    throw new UsageError("expected -o DIR for several files, since standard output takes one");
  if (flags.output !== undefined) checkStems(files);
  const waiting = files.filter(
    (file) => flags.force || flags.output === undefined || !existsSync(join(flags.output, stemOf(file), `${stemOf(file)}.md`)),
  );
  for (const file of files)
    if (!waiting.includes(file) && !flags.quiet) process.stderr.write(`${file}: already parsed (--force parses again)\n`);
  if (waiting.length === 0) return 0;

  await using parser = await load(loadOptionsOf(flags));
  let failed = 0;
  for (const file of waiting) {
    try {
      await parseFile(file, parser, flags, signal);
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      if (waiting.length === 1) throw error;
      if (!(error instanceof MineruError || error instanceof RangeError)) throw error;
      failed++;
      process.stderr.write(`mineru-diffusion: ${file}: ${error.message}\n`);
    }
  }
  return failed === 0 ? 0 : failed === waiting.length ? 1 : 3;
}

function optionsOf(flags: ParseFlags, signal: AbortSignal): ParseOptions {
  return {
    signal,
    pages: flags.pages,
    password: flags.password,
    dpi: flags.dpi,
    decoding: decodingOf(flags),
    layoutPrompt: flags.layoutAnalysis ? "\nLayout Analysis:" : undefined,
    keepTokens: flags.tokens || flags.markBelow !== undefined,
    batchSize: flags.batchSize,
  };
}

async function parseFile(file: string, parser: Parser, flags: ParseFlags, signal: AbortSignal): Promise<void> {
  const progress = new Progress(file, !flags.quiet);
  const bytes = await readInput(file);
  const pages = parser.parse(bytes, { ...optionsOf(flags, signal), onProgress: (event) => progress.update(event) });
  const source = { name: stemOf(file), checkpoint: parser.recognizer.info.name };
  const output: OutputOptions = {
    version,
    unwrap: parser.recognizer.info.profile.printedLineBreaks && !flags.keepLines,
    keepParatext: flags.keepParatext,
    tables: flags.tables,
    markBelow: flags.markBelow,
  };
  if (flags.output !== undefined) await writeFolder(flags.output, source, pages, output, progress);
  else if (flags.format === "ndjson") for await (const line of writeNdjson(pagesOf(pages, progress), source)) process.stdout.write(line);
  else {
    const parsed: ParsedPage[] = [];
    for await (const page of pagesOf(pages, progress)) parsed.push(page);
    process.stdout.write(formats[flags.format](documentOf(source, parsed), output));
  }
  progress.finish();
}

function documentOf(source: ParsedDocument["source"], pages: readonly ParsedPage[], warnings: readonly Warning[] = []): ParsedDocument {
  return { source: { ...source, pageCount: pages.length }, pages, warnings };
}

async function* pagesOf(pages: AsyncIterable<DocumentPage>, progress: Progress): AsyncGenerator<ParsedPage> {
  for await (const { page } of pages) {
    progress.warn(page.warnings);
    yield page;
  }
}

async function writeFolder(
  parent: string,
  source: ParsedDocument["source"] & { name: string },
  pages: AsyncIterable<DocumentPage>,
  options: OutputOptions,
  progress: Progress,
): Promise<void> {
  const folder = await OutputFolder.begin(parent, source.name);
  try {
    const parsed: ParsedPage[] = [];
    for await (const { page, image, crops } of pages) {
      progress.warn(page.warnings);
      await folder.addPage(page, image, crops);
      parsed.push(page);
    }
    await folder.finish(documentOf(source, parsed), options);
  } catch (error) {
    await folder.discard();
    throw error;
  }
}
