/**
 * The queue on a real PostgreSQL, started by the test. Workers are this program's own processes, killed at random; the model is the fake one
 * behind a server, so that what is tested is the queue.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodePng, MineruError, type Parser, parserOf } from "../src/index.ts";
import { PageQueue } from "../src/queue/page-queue.ts";
import { type WorkerEvent, work } from "../src/queue/worker.ts";
import { expectCliJson } from "./cli-schema.ts";
import { FakeRecognizer } from "./fake-recognizer.ts";
import { listeningServer, samplePdf } from "./fake-server.ts";
import { textPdf } from "./pdf.ts";
import { postgresPrograms, startPostgres, type TestPostgres } from "./postgres.ts";

const main = new URL("../dist/cli/main.js", import.meta.url).pathname;
const programs = postgresPrograms();
const PAGES = 40;
const KILLS = 6;

/** Answers like `inner`, but after a while: a page takes long enough to be interrupted. */
function slowly(inner: FakeRecognizer, milliseconds: number): Parser {
  return parserOf({
    info: inner.info,
    recognize: async (requests, options) => {
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return inner.recognize(requests, options);
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  });
}

const pictures = async ({ crops }: { crops: ReadonlyMap<string, Parameters<typeof encodePng>[0]> }) =>
  new Map(await Promise.all([...crops].map(async ([path, crop]) => [path, await encodePng(crop)] as const)));

describe.skipIf(programs === null)(`queue${programs ? "" : " (no PostgreSQL here: apt-get install postgresql)"}`, () => {
  let postgres: TestPostgres;
  let folder: string;
  beforeAll(async () => {
    [postgres, folder] = [await startPostgres(programs!), await mkdtemp(join(tmpdir(), "mineru-queue-"))];
  }, 120_000);
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** Jobs that wait for their next attempt are due now. */
  const hurry = (url: string) =>
    postgres.query(url, "update mineru_diffusion_jobs.job set start_after = now() - interval '1 s' where state = 'retry'");

  const runUntilEmpty = (queue: PageQueue, parser: Parser, onEvent: (event: WorkerEvent) => void, signal = new AbortController().signal) =>
    work(queue, { parser, pictures, untilEmpty: true, signal, onEvent });

  test("the same document is one, other options make another, equal names are told apart", async () => {
    await using queue = await PageQueue.open(await postgres.createDatabase());
    const bytes = textPdf(3);
    const first = await queue.submit("report", bytes);
    expect(first).toMatchObject({ name: "report", pages: 3, known: false });
    expect(await queue.submit("copy of report", bytes)).toEqual({ ...first, known: true });
    expect(await queue.submit("report", bytes, { choosePages: () => [0, 1, 2], dpi: undefined })).toEqual({ ...first, known: true });
    expect(await queue.submit("report", bytes, { choosePages: () => [1] })).toMatchObject({ name: "report_2", pages: 1, known: false });
    expect(await queue.submit("report", await samplePdf())).toMatchObject({ name: "report_3", known: false });
    const together = await Promise.all(Array.from({ length: 4 }, () => queue.submit("other", textPdf(2))));
    expect(together.filter(({ known }) => !known)).toHaveLength(1);
    expect((await queue.status()).map(({ name, waiting }) => [name, waiting])).toEqual([
      ["report", 3],
      ["report_2", 1],
      ["report_3", 1],
      ["other", 2],
    ]);
    expect(await queue.remove([first.id])).toBe(1);
    expect((await queue.status([first.id.slice(0, 6)])).length).toBe(0);
  });

  test("a page that always fails is set aside, with the reason, and the document is finished without it", async () => {
    const url = await postgres.createDatabase();
    await using queue = await PageQueue.open(url, { supervise: true });
    const { id } = await queue.submit("bad", textPdf(3));
    const recognizer = new FakeRecognizer();
    let broken = true;
    let pages = 0;
    recognizer.answer = ({ task }) => {
      if (task === "layout") pages++;
      if (broken && task === "layout" && pages !== 1 && pages !== 2) throw new RangeError("`page` expected to be readable, got this one");
      return { text: task === "layout" ? "<|box_start|>000 000 999 999<|box_end|><|ref_start|>text<|ref_end|><|rotate_up|>" : "words" };
    };
    const events: WorkerEvent[] = [];
    const hurrying = setInterval(() => void hurry(url).catch(() => {}), 200);
    await runUntilEmpty(queue, parserOf(recognizer), (event) => events.push(event));
    clearInterval(hurrying);
    expect(events.filter(({ kind }) => kind === "failed")).toHaveLength(6);
    expect(events.filter(({ kind }) => kind === "set-aside")).toHaveLength(1);
    const [status] = await queue.status();
    expect(status).toMatchObject({ done: 2, waiting: 0, setAside: [{ error: expect.stringContaining("readable") }] });
    const finished = await queue.read(id);
    expect(finished.document.pages.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(finished.document.pages[finished.setAside[0]].warnings).toMatchObject([{ kind: "page-failed" }]);

    broken = false;
    expect(await queue.retry([id])).toBe(1);
    await runUntilEmpty(queue, parserOf(recognizer), () => {});
    expect((await queue.status())[0]).toMatchObject({ done: 3, setAside: [], finishedAt: expect.any(String) });
  });

  test("told to stop, a worker finishes the page at hand and leaves the rest", async () => {
    await using queue = await PageQueue.open(await postgres.createDatabase(), { supervise: true });
    await queue.submit("long", textPdf(5));
    const stop = new AbortController();
    const events: WorkerEvent[] = [];
    const recognizer = new FakeRecognizer();
    recognizer.hold();
    const working = runUntilEmpty(queue, parserOf(recognizer), (event) => events.push(event), stop.signal);
    await expect.poll(() => recognizer.asked.length, { timeout: 60_000 }).toBeGreaterThan(0);
    stop.abort();
    recognizer.release();
    await working;
    expect(events.filter(({ kind }) => kind === "page")).toHaveLength(1);
    expect((await queue.status())[0]).toMatchObject({ done: 1, reading: 0, waiting: 4 });
    expect(await queue.workers()).toBe(0);
  });

  test("a database that goes away for a moment costs an attempt, not the worker", async () => {
    const url = await postgres.createDatabase();
    await using queue = await PageQueue.open(url, { supervise: true });
    await queue.submit("interrupted", textPdf(4));
    const recognizer = new FakeRecognizer();
    recognizer.hold();
    const events: WorkerEvent[] = [];
    const working = runUntilEmpty(queue, parserOf(recognizer), (event) => events.push(event));
    await expect.poll(() => recognizer.asked.length, { timeout: 60_000 }).toBeGreaterThan(0);
    await postgres.restart();
    recognizer.release();
    await working;
    expect(events.map(({ kind }) => kind)).toContain("reconnecting");
    expect((await queue.status())[0]).toMatchObject({ done: 4, setAside: [] });
    const [{ attempts }] = await postgres.query(url, "select sum(attempts)::integer as attempts from mineru_diffusion.pages");
    expect(attempts).toBe(5);
  });

  test("where the model is gone, the worker gives its page back and ends", async () => {
    await using queue = await PageQueue.open(await postgres.createDatabase(), { supervise: true });
    await queue.submit("unlucky", textPdf(2));
    const recognizer = new FakeRecognizer();
    recognizer.answer = () => {
      throw new MineruError("runtime-failed", "the model's thread died");
    };
    await expect(runUntilEmpty(queue, parserOf(recognizer), () => {})).rejects.toMatchObject({ code: "runtime-failed" });
    expect((await queue.status())[0]).toMatchObject({ done: 0, reading: 0, waiting: 2, setAside: [] });
  });

  describe("workers that are killed", () => {
    const run = (...args: string[]): ChildProcess =>
      spawn(process.execPath, [main, "queue", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const output = async (child: ChildProcess): Promise<{ code: number; stdout: string; stderr: string }> => {
      let [stdout, stderr] = ["", ""];
      child.stdout!.on("data", (chunk) => {
        stdout += chunk;
      });
      child.stderr!.on("data", (chunk) => {
        stderr += chunk;
      });
      const [code] = await once(child, "close");
      return { code, stdout, stderr };
    };

    test(`lose nothing: ${PAGES} pages, ${KILLS} workers killed, every page once in the result`, { timeout: 600_000 }, async () => {
      const server = await listeningServer({ parser: slowly(new FakeRecognizer(), 40), atOnce: 16 });
      const database = await postgres.createDatabase();
      const [file, out] = [join(folder, "many.pdf"), join(folder, "out")];
      await writeFile(file, textPdf(PAGES));
      const submitted = await output(run("submit", file, "--database", database));
      expect(submitted).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PAGES} pages  many`) });

      const workers = new Set<ChildProcess>();
      const startWorker = (): void => {
        const child = run("work", "--database", database, "--server-url", server.url, "-o", out, "--until-empty", "-q");
        child.stdout!.resume();
        child.stderr!.resume();
        workers.add(child);
        child.once("close", () => workers.delete(child));
      };
      for (let i = 0; i < 2; i++) startWorker();
      const reading = async () =>
        (await postgres.query(database, "select count(*)::integer as count from mineru_diffusion.pages where state = 'reading'"))[0]
          .count as number;
      const settled = async () =>
        (await postgres.query(database, "select count(*)::integer as count from mineru_diffusion.pages where settled_at is not null"))[0]
          .count as number;
      let kills = 0;
      for (; kills < KILLS && (await settled()) < PAGES; kills++) {
        await expect.poll(reading, { timeout: 120_000, interval: 20 }).toBeGreaterThan(0);
        await new Promise((resolve) => setTimeout(resolve, 17 * kills));
        const victim = [...workers][kills % workers.size];
        const gone = once(victim, "close");
        victim.kill("SIGKILL");
        await gone;
        startWorker();
      }
      expect(kills).toBe(KILLS);
      const hurrying = setInterval(() => void hurry(database).catch(() => {}), 500);
      await expect.poll(() => workers.size, { timeout: 300_000, interval: 200 }).toBe(0);
      clearInterval(hurrying);

      const pages = await postgres.query(database, "select page, state, attempts, error from mineru_diffusion.pages order by page");
      expect(pages.map(({ state }) => state)).toEqual(Array(PAGES).fill("done"));
      expect(pages.reduce((sum, { attempts }) => sum + (attempts as number), 0)).toBeGreaterThan(PAGES);
      const json = JSON.parse(await readFile(join(out, "many", "many.json"), "utf8"));
      expect(json.pages.map(({ page }: { page: number }) => page)).toEqual(Array.from({ length: PAGES }, (_, i) => i));
      for (const { regions, warnings } of json.pages) {
        expect(regions.length).toBe(4);
        expect(warnings.filter(({ kind }: { kind: string }) => kind === "page-failed")).toEqual([]);
      }
      expect(await readdir(out)).toEqual(["many"]);

      const fetched = await output(run("fetch", "many", "-o", join(folder, "fetched"), "--database", database));
      expect(fetched).toMatchObject({ code: 0, stdout: `${join(folder, "fetched")}/many\n` });
      const [written, copy] = await Promise.all(
        [out, join(folder, "fetched")].map((place) => readFile(join(place, "many", "many.md"), "utf8")),
      );
      expect(copy).toBe(written);
      const state = JSON.parse((await output(run("status", "--json", "--database", database))).stdout);
      expectCliJson("queue", state);
      const again = await output(run("submit", file, "--json", "--database", database));
      expectCliJson("submitted", JSON.parse(again.stdout));
      expect(state).toMatchObject({ workers: 0, documents: [{ pages: PAGES, done: PAGES, setAside: [] }] });
      await server.stop();
    });
  });
});
