/** `parse`: files to Markdown and data, one to standard output or any number to a folder. */
import { join } from "node:path";
import {
  type DecodingPolicy,
  type DocumentPage,
  encodePng,
  load,
  MineruError,
  type ParsedDocument,
  type ParsedPage,
  type ParseOptions,
  type Parser,
  parsePolicy,
  readDocumentFile,
  writeNdjson,
} from "../index.ts";
import { type DecodingFlags, decodingOf, loadOptionsOf, type ModelFlags, type PageRanges } from "./arguments.ts";
import { Interrupted, UsageError } from "./errors.ts";
import { readInput } from "./input.ts";
import {
  finishedOutput,
  formats,
  type LayoutPicture,
  OutputFolder,
  type OutputFormat,
  type OutputOptions,
  type OutputOrigin,
  originOf,
  pngAddress,
  writeWhole,
} from "./outputs.ts";
import { exitCodeOf, type FileReport, runReport, summaryOf, warningCounts } from "./parse-report.ts";
import { Progress } from "./progress.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";
import { version } from "./version.ts";

export interface ParseFlags extends DecodingFlags, ModelFlags {
  readonly output?: string;
  readonly format: OutputFormat | "ndjson";
  readonly pages?: PageRanges;
  readonly password?: string;
  readonly dpi?: number;
  readonly tables: "html" | "markdown" | "auto";
  readonly formulas: FormulaStyle;
  readonly layoutPicture: LayoutPicture;
  readonly keepParatext?: boolean;
  readonly keepLines?: boolean;
  readonly markBelow?: number;
  readonly layoutAnalysis?: boolean;
  readonly tokens?: boolean;
  readonly batchSize?: number;
  /** A file, or `off`. */
  readonly policy: string;
  readonly jobs: number;
  readonly report?: string;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

/** How formulas stand in Markdown: within a line, and on their own. */
export const formulaStyles = {
  dollars: { inline: ["$", "$"], display: ["$$", "$$"] },
  brackets: { inline: ["\\(", "\\)"], display: ["\\[", "\\]"] },
  fences: { inline: ["$`", "`$"], display: ["```math", "```"] },
} as const;
export type FormulaStyle = keyof typeof formulaStyles;

/** Parses what `args` name; returns the exit code. */
export async function parseCommand(args: readonly string[], flags: ParseFlags, signal: AbortSignal): Promise<number> {
  const { files, problems } = await sourceFiles(args, flags.output);
  if (flags.output !== undefined) return parseToFolder(files, problems, flags.output, flags, signal);
  if (files.length + problems.length > 1)
    throw new UsageError(`expected -o DIR for several files, got ${files.length} of them; standard output takes one`);
  if (problems.length > 0) throw new MineruError("file-unreadable", problems[0].message);
  await using parser = await load(loadOptionsOf(flags));
  try {
    await parseToStandardOutput(files[0], parser, flags, signal);
  } catch (error) {
    throw signal.aborted ? new Interrupted() : error;
  }
  return 0;
}

/** The policy in a file. Throws `file-unreadable`, `data-invalid`. */
async function policyIn(file: string): Promise<DecodingPolicy | undefined> {
  if (file === "off") return undefined;
  const text = Buffer.from(await readDocumentFile(file)).toString("utf8");
  try {
    return parsePolicy(JSON.parse(text));
  } catch (cause) {
    if (cause instanceof MineruError) throw cause;
    throw new MineruError("data-invalid", `${file} expected to be a policy in JSON: ${(cause as Error).message}`, { cause });
  }
}

async function optionsOf(flags: ParseFlags, signal: AbortSignal): Promise<ParseOptions> {
  return {
    policy: await policyIn(flags.policy),
    signal,
    choosePages: flags.pages?.within,
    password: flags.password,
    dpi: flags.dpi,
    decoding: decodingOf(flags),
    layoutPrompt: flags.layoutAnalysis ? "\nLayout Analysis:" : undefined,
    keepTokens: flags.tokens || flags.markBelow !== undefined,
    batchSize: flags.batchSize,
    // The next page is rendered and cut while this one is read.
    window: 2,
  };
}

function outputOptionsOf(flags: ParseFlags, parser: Parser, progress: Progress): OutputOptions {
  return {
    version,
    unwrap: parser.recognizer.info.profile.printedLineBreaks && !flags.keepLines,
    keepParatext: flags.keepParatext,
    tables: flags.tables,
    onTableLoss: ({ page, message }) => progress.note(message, page),
    ...formulaStyles[flags.formulas],
    markBelow: flags.markBelow,
  };
}

const sourceOf = ({ name }: SourceFile, parser: Parser): ParsedDocument["source"] & { name: string } => ({
  name: name.split("/").at(-1)!,
  checkpoint: parser.recognizer.info.name,
});

async function parseToStandardOutput(file: SourceFile, parser: Parser, flags: ParseFlags, signal: AbortSignal): Promise<void> {
  const progress = new Progress(file.name, { shown: !flags.quiet });
  const bytes = await readInput(file.path);
  const pages = parser.parse(bytes, { ...(await optionsOf(flags, signal)), onProgress: (event) => progress.update(event) });
  const source = sourceOf(file, parser);
  if (flags.format === "ndjson") {
    for await (const line of writeNdjson(pagesOf(pages, progress), source)) process.stdout.write(line);
  } else {
    const parsed: ParsedPage[] = [];
    const images = new Map<string, string>();
    let pageCount = 0;
    for await (const page of pages) {
      progress.warn(page.page.warnings);
      parsed.push(page.page);
      pageCount = page.pageCount;
      if (flags.format === "html") for (const [path, crop] of page.crops) images.set(path, pngAddress(await encodePng(crop)));
    }
    const document: ParsedDocument = { source: { ...source, pageCount }, pages: parsed, warnings: [] };
    process.stdout.write(formats[flags.format](document, outputOptionsOf(flags, parser, progress), (path) => images.get(path)));
  }
  progress.finish();
}

async function* pagesOf(pages: AsyncIterable<DocumentPage>, progress: Progress): AsyncGenerator<ParsedPage> {
  for await (const { page } of pages) {
    progress.warn(page.warnings);
    yield page;
  }
}

/** Flags that change nothing of what is written for a file. */
const WITHOUT_EFFECT = new Set<keyof ParseFlags>([
  "output",
  "format",
  "password",
  "jobs",
  "report",
  "force",
  "quiet",
  "threads",
  "serverKey",
  "serverConcurrency",
]);

const settingsOf = (flags: ParseFlags): OutputOrigin["settings"] => {
  const given = Object.entries(flags).filter(([key, value]) => value !== undefined && !WITHOUT_EFFECT.has(key as keyof ParseFlags));
  return { program: version, ...Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1))) };
};

const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10;

/** A run of many files into one folder. */
async function parseToFolder(
  files: readonly SourceFile[],
  problems: Awaited<ReturnType<typeof sourceFiles>>["problems"],
  output: string,
  flags: ParseFlags,
  signal: AbortSignal,
): Promise<number> {
  const began = performance.now();
  const settings = settingsOf(flags);
  const reports: FileReport[] = files.map(({ path, name }) => ({ source: path, output: name, status: "interrupted" }));
  const origins: OutputOrigin[] = [];
  const waiting: number[] = [];
  for (const [i, { path, name }] of files.entries()) {
    origins.push(await originOf(path, settings));
    const finished = flags.force ? null : await finishedOutput(join(output, name), origins[i]);
    if (finished === null) waiting.push(i);
    else {
      const { pages, failedPages } = finished;
      reports[i] = { ...reports[i], status: "skipped", pages, ...(failedPages.length > 0 ? { failedPages } : {}) };
    }
  }
  if (waiting.length < files.length && !flags.quiet)
    process.stderr.write(`${files.length - waiting.length} of ${files.length} already parsed (--force parses again)\n`);

  if (waiting.length > 0) {
    await using parser = await load(loadOptionsOf(flags));
    const atOnce = Math.min(flags.jobs, waiting.length);
    const window = Math.max(2, Math.floor(flags.jobs / atOnce));
    const worker = async (): Promise<void> => {
      for (let i = waiting.shift(); i !== undefined && !signal.aborted; i = waiting.shift()) {
        const progress = new Progress(files[i].name, { shown: !flags.quiet, alone: atOnce === 1 && window <= 2 });
        const job = { file: files[i], origin: origins[i], output, window };
        reports[i] = { ...reports[i], ...(await parseFile(job, parser, flags, progress, signal)) };
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }

  const report = runReport(`mineru-diffusion ${version}`, secondsSince(began), reports, problems);
  await writeWhole(flags.report ?? join(output, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
  const exitCode = exitCodeOf(report);
  if (!flags.quiet || exitCode !== 0) process.stderr.write(summaryOf(report));
  if (signal.aborted) throw new Interrupted();
  return exitCode;
}

interface Job {
  readonly file: SourceFile;
  readonly origin: OutputOrigin;
  readonly output: string;
  readonly window: number;
}

/** Parses one file into its folder. Whatever goes wrong concerns this file alone. */
async function parseFile(
  { file, origin, output, window }: Job,
  parser: Parser,
  flags: ParseFlags,
  progress: Progress,
  signal: AbortSignal,
): Promise<Omit<FileReport, "source" | "output">> {
  const began = performance.now();
  let folder: OutputFolder | null = null;
  try {
    const bytes = await readInput(file.path);
    folder = await OutputFolder.begin(join(output, file.name), flags.layoutPicture);
    const options = { ...(await optionsOf(flags, signal)), window, onProgress: progress.update.bind(progress) };
    const pages: ParsedPage[] = [];
    let pageCount = 0;
    for await (const page of parser.parse(bytes, options)) {
      progress.warn(page.page.warnings);
      await folder.addPage(page);
      pages.push(page.page);
      pageCount = page.pageCount;
    }
    const document: ParsedDocument = { source: { ...sourceOf(file, parser), pageCount }, pages, warnings: [] };
    await folder.finish(document, outputOptionsOf(flags, parser, progress), origin);
    progress.finish();
    const { failedPages } = folder;
    return {
      status: failedPages.length === 0 ? "parsed" : "incomplete",
      pages: pages.length,
      ...(failedPages.length === 0 ? {} : { failedPages }),
      warnings: warningCounts(pages),
      seconds: secondsSince(began),
    };
  } catch (error) {
    await folder?.discard();
    if (signal.aborted) return { status: "interrupted" };
    const code = error instanceof MineruError ? error.code : error instanceof RangeError ? "wrong-argument" : "internal";
    const message = error instanceof Error ? error.message : String(error);
    return { status: "failed", error: { code, message }, seconds: secondsSince(began) };
  }
}
