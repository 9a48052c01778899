/**
 * `queue`: documents read by any number of machines that share one PostgreSQL. `submit` puts pages in line, `work` reads them, `status` tells
 * how they stand, `fetch` writes finished documents here. pg and pg-boss are loaded when one of these runs.
 */
import type { Command } from "commander";
import { encodePng, load, MineruError } from "../index.ts";
import type { DocumentStatus, FinishedDocument, PageQueue } from "../queue/page-queue.ts";
import type { WorkerEvent } from "../queue/worker.ts";
import { type DecodingFlags, decodingOf, loadOptionsOf, type ModelFlags, numberBetween, type PageRanges, pageRanges } from "./arguments.ts";
import { Interrupted, UsageError } from "./errors.ts";
import { readInput } from "./input.ts";
import { OutputFolder, pagePictures } from "./outputs.ts";
import { sourceFiles } from "./source-files.ts";
import { version } from "./version.ts";

interface QueueFlags {
  readonly database?: string;
}

interface SubmitFlags extends QueueFlags, DecodingFlags {
  readonly pages?: PageRanges;
  readonly password?: string;
  readonly dpi?: number;
  readonly json?: boolean;
}

interface WorkFlags extends QueueFlags, ModelFlags {
  readonly output?: string;
  readonly pagesAtOnce: number;
  readonly pageTimeout: number;
  readonly untilEmpty?: boolean;
  readonly quiet?: boolean;
}

interface FetchFlags extends QueueFlags {
  readonly output: string;
  readonly wait?: boolean;
  readonly quiet?: boolean;
}

const POLL_MS = 1000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function openQueue({ database }: QueueFlags, options?: { readonly supervise: boolean }): Promise<PageQueue> {
  const url = database ?? process.env.MINERU_DIFFUSION_DATABASE;
  if (!url) throw new UsageError("expected --database postgres://…, or $MINERU_DIFFUSION_DATABASE");
  const { PageQueue } = await import("../queue/page-queue.ts");
  return PageQueue.open(url, options);
}

async function submit(args: readonly string[], flags: SubmitFlags): Promise<number> {
  const { files, problems } = await sourceFiles(args);
  for (const { message } of problems) say(`mineru-diffusion: ${message}`);
  await using queue = await openQueue(flags);
  const { password, dpi, json } = flags;
  let failed = problems.length;
  for (const { path, name } of files) {
    try {
      const submitted = await queue.submit(name, await readInput(path), {
        password,
        dpi,
        decoding: decodingOf(flags),
        choosePages: flags.pages?.within,
      });
      const { id, pages, known } = submitted;
      print(json ? JSON.stringify(submitted) : `${id}  ${pages} pages  ${submitted.name}${known ? "  (already submitted)" : ""}`);
    } catch (error) {
      if (!(error instanceof MineruError || error instanceof RangeError) || (error as MineruError).code === "server-failed") throw error;
      failed++;
      say(`mineru-diffusion: ${path}: ${error.message}`);
    }
  }
  return failed === 0 ? 0 : failed === files.length + problems.length ? 1 : 3;
}

/** Writes the folder that `parse -o` would write. */
async function writeFinished(output: string, { name, document, printedLineBreaks, pictures, id }: FinishedDocument): Promise<void> {
  const folder = await OutputFolder.begin(`${output}/${name}`, "png");
  try {
    for await (const [path, bytes] of pictures()) await folder.addFile(path, bytes);
    for (const { index, warnings } of document.pages)
      if (warnings.some(({ kind }) => kind === "page-failed")) folder.failedPages.push(index + 1);
    const options = { version, unwrap: printedLineBreaks };
    await folder.finish(document, options, { path: `queue:${id}`, settings: { version } });
  } catch (error) {
    await folder.discard();
    throw error;
  }
}

function told(event: WorkerEvent): string {
  const pageOf = ({ document, page }: { document: string; page: number }): string => `${document} page ${page + 1}`;
  switch (event.kind) {
    case "started":
      return `worker ${event.worker} is ready`;
    case "page":
      return `${pageOf(event)} read (${(event.milliseconds / 1000).toFixed(1)} s)`;
    case "failed":
      return `${pageOf(event)} failed: ${event.error}`;
    case "set-aside":
      return `${pageOf(event)} is set aside: ${event.error}`;
    case "released":
      return `${event.pages} pages of workers that died are in line again`;
    case "written":
      return `${event.document} written: ${event.name}`;
    case "reconnecting":
      return `${event.error}; trying again`;
  }
}

// On its own: the compiler does not rename an import that stands behind `await using`.
const worker = () => import("../queue/worker.ts");

async function workCommand(flags: WorkFlags, signal: AbortSignal): Promise<number> {
  const { output } = flags;
  await using queue = await openQueue(flags, { supervise: true });
  await using parser = await load(loadOptionsOf(flags));
  signal.addEventListener("abort", () => say("finishing the page at hand; interrupt again to stop at once"), { once: true });
  const { work } = await worker();
  await work(queue, {
    parser,
    signal,
    pictures: async (page) => {
      const files = new Map<string, Uint8Array>();
      for (const [path, image] of pagePictures(page)) files.set(path, await encodePng(image));
      return files;
    },
    write: output === undefined ? undefined : (finished) => writeFinished(output, finished),
    atOnce: flags.pagesAtOnce,
    pageTimeoutMs: flags.pageTimeout * 1000,
    untilEmpty: flags.untilEmpty,
    onEvent: (event) => {
      if (!flags.quiet || event.kind === "failed" || event.kind === "set-aside" || event.kind === "reconnecting") say(told(event));
    },
  });
  return 0;
}

function statusLine({ id, name, pages, done, reading, setAside, finishedAt }: DocumentStatus): string {
  const state = finishedAt === null ? `${done}/${pages} pages${reading > 0 ? `, ${reading} being read` : ""}` : `${pages} pages, finished`;
  return `${id}  ${state}${setAside.length > 0 ? `, ${setAside.length} set aside` : ""}  ${name}`;
}

async function status(words: readonly string[], flags: QueueFlags & { readonly json?: boolean }): Promise<number> {
  await using queue = await openQueue(flags);
  const documents = await known(queue, words);
  const workers = await queue.workers();
  if (flags.json) {
    print(JSON.stringify({ workers, documents }, null, 2));
    return 0;
  }
  for (const document of documents) {
    print(statusLine(document));
    for (const { page, error } of document.setAside) print(`  page ${page + 1}: ${error}`);
  }
  const sum = (count: (document: DocumentStatus) => number): number => documents.reduce((total, document) => total + count(document), 0);
  const [pages, settled] = [sum((document) => document.pages), sum(({ done, setAside }) => done + setAside.length)];
  print(`${documents.length} documents, ${settled}/${pages} pages settled, ${workers} workers`);
  return 0;
}

/** The documents meant. Throws UsageError for a word that means none. */
async function known(queue: PageQueue, words: readonly string[]): Promise<DocumentStatus[]> {
  const documents = await queue.status(words);
  const missing = words.find((word) => !documents.some(({ id, name }) => name === word || id.startsWith(word)));
  if (missing !== undefined) throw new UsageError(`expected documents of the queue, got ${missing}; queue status lists them`);
  return documents;
}

async function fetchCommand(words: readonly string[], flags: FetchFlags, signal: AbortSignal): Promise<number> {
  await using queue = await openQueue(flags);
  const wanted = new Set((await known(queue, words)).map(({ id }) => id));
  let [bad, last] = [0, ""];
  while (wanted.size > 0) {
    if (signal.aborted) throw new Interrupted();
    const documents = (await queue.status(words)).filter(({ id }) => wanted.has(id));
    for (const { id } of documents.filter(({ finishedAt }) => finishedAt !== null)) {
      const finished = await queue.read(id);
      await writeFinished(flags.output, finished);
      bad += finished.setAside.length;
      wanted.delete(id);
      print(`${flags.output}/${finished.name}`);
    }
    const open = documents.filter(({ id }) => wanted.has(id));
    const left = open.reduce((sum, { pages, done, setAside }) => sum + pages - done - setAside.length, 0);
    if (!flags.wait || open.length === 0) {
      if (open.length > 0) say(`${open.length} documents are not finished yet: ${left} pages are left (--wait waits for them)`);
      break;
    }
    const news = `${open.length} documents, ${left} pages are left`;
    if (!flags.quiet && news !== last) say(news);
    last = news;
    await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
  }
  if (bad > 0) say(`${bad} pages could not be read: queue status tells why, queue retry tries again`);
  return bad > 0 || wanted.size > 0 ? 3 : 0;
}

/** Adds the commands. `withModel` and `withDecoding` add their flags; the exit code goes to `done`. */
export function addQueueCommand(
  program: Command,
  { withModel, withDecoding }: Readonly<Record<"withModel" | "withDecoding", (command: Command) => Command>>,
  signal: AbortSignal,
  done: (exitCode: number) => void,
): void {
  const queue = program.command("queue").description("documents read by many machines that share one PostgreSQL");
  const command = (name: string, description: string): Command =>
    queue
      .command(name)
      .description(description)
      .option("--database <url>", "postgres://user:password@host/name (default: $MINERU_DIFFUSION_DATABASE)");
  const words = ["[document...]", "name, or beginning of the id; all if left out"] as const;

  withDecoding(
    command("submit", "puts the pages of documents in line; the same document twice is one")
      .argument("<file...>", "PDF, PNG, JPEG, WebP, TIFF, GIF or BMP, folders of them, patterns; - is standard input")
      .option("--pages <ranges>", "such as 1-3,7,10-", pageRanges)
      .option("--password <text>", "of an encrypted PDF; kept in the database")
      .option("--dpi <n>", "resolution PDF pages are read at", numberBetween(36, 1200))
      .option("--json", "one line of JSON for each document"),
  ).action(async (files: string[], flags) => done(await submit(files, flags)));

  withModel(
    command("work", "reads pages until told to stop; any number of these may run anywhere")
      .option("-o, --output <dir>", "also write finished documents below DIR, as parse -o does")
      .option("--pages-at-once <n>", "pages read at once; their regions share passes", numberBetween(1, 256, { whole: true }), 1)
      .option("--page-timeout <seconds>", "longest time for one page", numberBetween(1, 3600), 600)
      .option("--until-empty", "end when every page is settled")
      .option("-q, --quiet", "no line per page"),
  ).action(async (flags) => done(await workCommand(flags, signal)));

  command("status", "how documents stand, and which pages could not be read")
    .argument(...words)
    .option("--json", "as JSON")
    .action(async (documents: string[], flags) => done(await status(documents, flags)));

  command("fetch", "writes finished documents below DIR, as parse -o does")
    .argument(...words)
    .requiredOption("-o, --output <dir>", "write DIR/<name>/ for each")
    .option("--wait", "wait for those that are not finished")
    .option("-q, --quiet", "no progress")
    .action(async (documents: string[], flags) => done(await fetchCommand(documents, flags, signal)));

  command("retry", "puts pages that could not be read back in line")
    .argument(...words)
    .action(async (documents: string[], flags) => {
      await using open = await openQueue(flags);
      const ids = (await known(open, documents)).map(({ id }) => id);
      print(`${await open.retry(ids)} pages are in line again`);
      done(0);
    });

  command("remove", "forgets documents and what was read of them")
    .argument("<document...>", "name, or beginning of the id")
    .action(async (documents: string[], flags) => {
      await using open = await openQueue(flags);
      const ids = (await known(open, documents)).map(({ id }) => id);
      print(`${await open.remove(ids)} documents removed`);
      done(0);
    });
}
