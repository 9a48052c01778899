/**
 * Documents as jobs of single pages on PostgreSQL: submitted once however often, taken by any number of workers, settled exactly once. A page's
 * row, its pictures and its job change in one transaction, so what a dying worker leaves behind is either all there or not at all. Knows
 * neither how pages are read nor what documents are written as.
 */
import { createHash } from "node:crypto";
import { MineruError, openSource, type PageJson, type ParsedDocument, type ParseOptions, pageFromJson } from "../index.ts";
import { Database, type Life, PAGES, POISON, type Transaction } from "./database.ts";
import { SCHEMA, WORKER_LOCKS } from "./schema.ts";

/** How a document is to be read; with its bytes and its pages, what tells documents apart. */
export type ReadingOptions = Pick<ParseOptions, "password" | "dpi" | "decoding" | "layoutPrompt">;

export interface SubmitOptions extends ReadingOptions {
  /** Chooses the pages, from 0, once their number is known; all if absent. */
  readonly choosePages?: (pageCount: number) => readonly number[];
}

export interface Submitted {
  readonly id: string;
  /** The name it is written under: the one it was first submitted with, with `_2`, `_3`, … where another document has it. */
  readonly name: string;
  readonly pages: number;
  /** The same document was there already. */
  readonly known: boolean;
}

export interface TakenPage {
  readonly document: string;
  readonly page: number;
  readonly job: string;
  readonly worker: number;
}

/** What a worker makes of a page. */
export interface PageResult {
  readonly page: PageJson;
  /** PNG files by their path in the output folder. */
  readonly pictures: ReadonlyMap<string, Uint8Array>;
  readonly reader: Reader;
}

/** What assembly must know of the checkpoint that read a page. */
export interface Reader {
  readonly checkpoint: string;
  readonly printedLineBreaks: boolean;
}

export interface DocumentStatus {
  readonly id: string;
  readonly name: string;
  readonly pages: number;
  readonly done: number;
  readonly reading: number;
  readonly waiting: number;
  /** Pages given up, from 0, with the reason of the last attempt. */
  readonly setAside: readonly { readonly page: number; readonly error: string }[];
  readonly submittedAt: string;
  readonly finishedAt: string | null;
  readonly writtenAt: string | null;
}

/** A document all of whose pages are settled. */
export interface FinishedDocument {
  readonly id: string;
  readonly name: string;
  readonly document: ParsedDocument;
  readonly printedLineBreaks: boolean;
  readonly setAside: readonly number[];
  /** Pictures of all pages, one page after the other. */
  pictures(): AsyncGenerator<readonly [path: string, bytes: Uint8Array], void, undefined>;
}

/** Above this, the wire form of a document outgrows a string. */
const LARGEST_BYTES = 200 * 1024 ** 2;
const ID_LENGTH = 16;
const POISON_AT_ONCE = 16;

const identityOf = (bytes: Uint8Array, options: ReadingOptions, pages: readonly number[]): string =>
  createHash("sha256")
    .update(bytes)
    .update(canonical({ ...options, pages }))
    .digest("hex")
    .slice(0, ID_LENGTH);

/** JSON with its keys in order: equal options are equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`)
    .join(",")}}`;
}

async function pagesOf(bytes: Uint8Array, { choosePages, password }: SubmitOptions): Promise<readonly number[]> {
  await using source = await openSource(bytes, { password });
  const all = Array.from({ length: source.pageCount }, (_, i) => i);
  return choosePages?.(all.length) ?? all;
}

/** A page nobody could read: it stays in the document, with the reason. */
function failedPage(page: number, message: string): PageJson {
  return { page, width: 1, height: 1, regions: [], warnings: [{ kind: "page-failed", message, page }] };
}

export class PageQueue implements AsyncDisposable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Connects to `postgres://…` and makes the tables where there are none. `supervise` is for workers.
   * @throws MineruError `server-failed`
   */
  static async open(url: string, options: { readonly supervise?: boolean } = {}): Promise<PageQueue> {
    return new PageQueue(await Database.open(url, options));
  }

  /**
   * Puts a document's pages in line; the same bytes with the same options are one document.
   * @throws MineruError as `openSource`, `file-too-large`, `server-failed`; what `choosePages` throws.
   */
  async submit(name: string, bytes: Uint8Array, { choosePages, ...options }: SubmitOptions = {}): Promise<Submitted> {
    if (bytes.length > LARGEST_BYTES)
      throw new MineruError("file-too-large", `${name} expected at most ${LARGEST_BYTES} bytes in a queue, got ${bytes.length}; split it`);
    const pages = await pagesOf(bytes, { choosePages, ...options });
    const id = identityOf(bytes, options, pages);
    return this.#database.transaction(async (transaction) => {
      // Names are given out one at a time.
      await transaction.rows("select pg_advisory_xact_lock($1, 0)", [WORKER_LOCKS]);
      const [known] = await transaction.rows(
        `select name, (select count(*)::integer from ${SCHEMA}.pages where document = id) as pages from ${SCHEMA}.documents where id = $1`,
        [id],
      );
      if (known) return { id, ...known, known: true };
      const taken = new Set((await transaction.rows(`select name from ${SCHEMA}.documents`)).map((row) => row.name as string));
      let free = name;
      for (let i = 2; taken.has(free); i++) free = `${name}_${i}`;
      await transaction.rows(`insert into ${SCHEMA}.documents (id, name, bytes, options) values ($1, $2, $3, $4)`, [
        id,
        free,
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        options,
      ]);
      await transaction.rows(`insert into ${SCHEMA}.pages (document, page) select $1, unnest($2::integer[])`, [id, pages]);
      await this.#enqueue(id, pages, transaction);
      return { id, name: free, pages: pages.length, known: false };
    });
  }

  /** A worker's hold on life; its number is what pages are taken with. */
  live(): Promise<Life> {
    return this.#database.live(`${SCHEMA}.worker_numbers`);
  }

  /** The next page that is due; null if there is none now. */
  take(worker: number): Promise<TakenPage | null> {
    return this.#database.transaction(async (transaction) => {
      for (;;) {
        const [job] = await this.#database.boss.fetch<{ document: string; page: number }>(PAGES, { batchSize: 1, db: transaction });
        if (!job) return null;
        const { document, page } = job.data;
        const rows = await transaction.rows(
          `update ${SCHEMA}.pages set state = 'reading', job = $3, worker = $4, attempts = attempts + 1
           where document = $1 and page = $2 and settled_at is null returning page`,
          [document, page, job.id, worker],
        );
        if (rows.length > 0) return { document, page, job: job.id, worker };
        // Its document was removed.
        await this.#database.boss.complete(PAGES, job.id, {}, { db: transaction });
      }
    });
  }

  /** Bytes and options of a document; null if it was removed. */
  async content(document: string): Promise<{ readonly bytes: Uint8Array; readonly options: ReadingOptions } | null> {
    const [row] = await this.#database.rows(`select bytes, options from ${SCHEMA}.documents where id = $1`, [document]);
    return row ?? null;
  }

  /** Settles a page that was read. False if it is no longer this worker's: then what was read counts for nothing. */
  finish(taken: TakenPage, { page, pictures, reader }: PageResult): Promise<boolean> {
    const { document, job } = taken;
    return this.#database.transaction(async (transaction) => {
      // Of two last pages, the second one must see the first.
      await transaction.rows(`select from ${SCHEMA}.documents where id = $1 for update`, [document]);
      const owned = await transaction.rows(
        `update ${SCHEMA}.pages set state = 'done', result = $5, reader = $6, error = null, settled_at = clock_timestamp()
         where document = $1 and page = $2 and job = $3 and worker = $4 and state = 'reading' returning page`,
        [document, taken.page, job, taken.worker, JSON.stringify(page), reader],
      );
      if (owned.length === 0) return false;
      for (const [path, bytes] of pictures)
        await transaction.rows(`insert into ${SCHEMA}.pictures (document, page, path, bytes) values ($1, $2, $3, $4)`, [
          document,
          taken.page,
          path,
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        ]);
      await this.#database.boss.complete(PAGES, job, {}, { db: transaction });
      await this.#close(document, transaction);
      return true;
    });
  }

  /** Gives a page back after a failed attempt; it is tried again later, or set aside after the last one. */
  fail({ document, page, job, worker }: TakenPage, message: string): Promise<void> {
    return this.#database.transaction(async (transaction) => {
      const owned = await transaction.rows(
        `update ${SCHEMA}.pages set state = 'waiting', worker = null, error = $5
         where document = $1 and page = $2 and job = $3 and worker = $4 and state = 'reading' returning page`,
        [document, page, job, worker, message],
      );
      if (owned.length > 0) await this.#database.boss.fail(PAGES, job, { message }, { db: transaction });
    });
  }

  /** Puts the pages of workers that no longer live back in line. Returns how many. */
  releaseLost(): Promise<number> {
    const message = "the worker that read it died";
    return this.#database.transaction(async (transaction) => {
      const jobs = await transaction.rows(
        `update ${SCHEMA}.pages set state = 'waiting', worker = null, error = $2
         where state = 'reading' and not exists (
           select from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
             and database = (select oid from pg_database where datname = current_database())
             and classid::bigint = $1 and objid::bigint = worker)
         returning job`,
        [WORKER_LOCKS, message],
      );
      for (const { job } of jobs) await this.#database.boss.fail(PAGES, job, { message }, { db: transaction });
      return jobs.length;
    });
  }

  /** Sets pages aside whose last attempt failed. Returns them. */
  setAside(): Promise<readonly { readonly document: string; readonly page: number; readonly error: string }[]> {
    return this.#database.transaction(async (transaction) => {
      const { boss } = this.#database;
      const jobs = await boss.fetch<{ document: string; page: number }>(POISON, {
        batchSize: POISON_AT_ONCE,
        includeMetadata: true,
        db: transaction,
      });
      const settled: { document: string; page: number; error: string }[] = [];
      for (const { id, data, output } of jobs) {
        const { document, page } = data;
        const error = (output as { message?: string } | null)?.message ?? "it took too long";
        await transaction.rows(`select from ${SCHEMA}.documents where id = $1 for update`, [document]);
        const rows = await transaction.rows(
          `update ${SCHEMA}.pages set state = 'set-aside', worker = null, error = $3, result = $4, settled_at = clock_timestamp()
           where document = $1 and page = $2 and settled_at is null returning page`,
          [document, page, error, JSON.stringify(failedPage(page, error))],
        );
        await boss.complete(POISON, id, {}, { db: transaction });
        await this.#close(document, transaction);
        if (rows.length > 0) settled.push({ document, page, error });
      }
      return settled;
    });
  }

  /** Puts pages that were set aside back in line. Returns how many. */
  retry(documents: readonly string[]): Promise<number> {
    return this.#database.transaction(async (transaction) => {
      const rows = await transaction.rows(
        `update ${SCHEMA}.pages set state = 'waiting', result = null, settled_at = null, attempts = 0
         where state = 'set-aside' and document = any($1) returning document, page`,
        [documents],
      );
      await transaction.rows(`update ${SCHEMA}.documents set finished_at = null, written_at = null where id = any($1)`, [
        [...new Set(rows.map(({ document }) => document))],
      ]);
      for (const { document, page } of rows) await this.#enqueue(document, [page], transaction);
      return rows.length;
    });
  }

  /** Forgets documents and all that was read of them. Returns how many. */
  async remove(documents: readonly string[]): Promise<number> {
    return (await this.#database.rows(`delete from ${SCHEMA}.documents where id = any($1) returning id`, [documents])).length;
  }

  /** How documents stand, the oldest first; all of them, or those whose name is, or whose id begins with, one of `words`. */
  async status(words: readonly string[] = []): Promise<DocumentStatus[]> {
    const rows = await this.#database.rows(
      `select id, name, submitted_at, finished_at, written_at, count(page)::integer as pages,
         count(*) filter (where state = 'done')::integer as done,
         count(*) filter (where state = 'reading')::integer as reading,
         count(*) filter (where state = 'waiting')::integer as waiting,
         coalesce(json_agg(json_build_object('page', page, 'error', error) order by page) filter (where state = 'set-aside'), '[]') as bad
       from ${SCHEMA}.documents join ${SCHEMA}.pages on document = id
       where cardinality($1::text[]) = 0 or name = any($1) or exists (select from unnest($1::text[]) word where word <> '' and starts_with(id, word))
       group by id order by submitted_at, id`,
      [words],
    );
    return rows.map(({ id, name, pages, done, reading, waiting, bad, submitted_at, finished_at, written_at }) => ({
      id,
      name,
      pages,
      done,
      reading,
      waiting,
      setAside: bad,
      submittedAt: submitted_at.toISOString(),
      finishedAt: finished_at?.toISOString() ?? null,
      writtenAt: written_at?.toISOString() ?? null,
    }));
  }

  /** Workers that live. */
  async workers(): Promise<number> {
    const [{ count }] = await this.#database.rows(
      `select count(*)::integer as count from pg_locks where locktype = 'advisory' and objsubid = 2 and granted and objid > 0
         and database = (select oid from pg_database where datname = current_database()) and classid::bigint = $1`,
      [WORKER_LOCKS],
    );
    return count;
  }

  /** Whether every page of every document is settled. */
  async settled(): Promise<boolean> {
    return (await this.#database.rows(`select from ${SCHEMA}.pages where settled_at is null limit 1`)).length === 0;
  }

  /**
   * Writes one finished document that no worker has written yet, and notes that it is written; if `write` fails or this process dies, it is
   * as it was. False if there is none.
   */
  writeNext(write: (finished: FinishedDocument) => Promise<void>): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.rows(
        `select id from ${SCHEMA}.documents where finished_at is not null and written_at is null
         order by finished_at limit 1 for update skip locked`,
      );
      if (!row) return false;
      await write(await this.read(row.id));
      await transaction.rows(`update ${SCHEMA}.documents set written_at = clock_timestamp() where id = $1`, [row.id]);
      return true;
    });
  }

  /** All that was read of a document whose pages are settled. Throws RangeError if it is not there or not settled. */
  async read(id: string): Promise<FinishedDocument> {
    const [head] = await this.#database.rows(`select name, finished_at from ${SCHEMA}.documents where id = $1`, [id]);
    if (!head?.finished_at) throw new RangeError(`\`id\` expected a finished document, got ${id}`);
    const rows = await this.#database.rows(`select page, state, result, reader from ${SCHEMA}.pages where document = $1 order by page`, [
      id,
    ]);
    const readers = rows.flatMap(({ reader }) => (reader ? [reader as Reader] : []));
    const checkpoint = [...new Set(readers.map((reader) => reader.checkpoint))].join(", ");
    const database = this.#database;
    return {
      id,
      name: head.name,
      document: {
        source: { name: head.name, pageCount: rows.length, ...(checkpoint ? { checkpoint } : {}) },
        pages: rows.map(({ result }) => pageFromJson(result)),
        warnings: [],
      },
      printedLineBreaks: readers.some(({ printedLineBreaks }) => printedLineBreaks),
      setAside: rows.filter(({ state }) => state === "set-aside").map(({ page }) => page),
      async *pictures() {
        for (const { page } of rows)
          for (const { path, bytes } of await database.rows(
            `select path, bytes from ${SCHEMA}.pictures where document = $1 and page = $2 order by path`,
            [id, page],
          ))
            yield [path, bytes] as const;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }

  async #enqueue(document: string, pages: readonly number[], transaction: Transaction): Promise<void> {
    const jobs = pages.map((page) => ({ name: PAGES, data: { document, page } }));
    await this.#database.boss.insert(jobs, { db: transaction });
  }

  /** Notes that a document's last page is settled, if it is. */
  async #close(document: string, transaction: Transaction): Promise<void> {
    await transaction.rows(
      `update ${SCHEMA}.documents set finished_at = clock_timestamp() where id = $1 and finished_at is null
       and not exists (select from ${SCHEMA}.pages where document = $1 and settled_at is null)`,
      [document],
    );
  }
}
