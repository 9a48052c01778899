/**
 * A pool of connections to PostgreSQL with pg-boss upon it, and transactions that both write in. Knows no documents.
 */
import pg from "pg";
import PgBoss from "pg-boss";
import { MineruError } from "../index.ts";
import { JOBS_SCHEMA, TABLES, WORKER_LOCKS } from "./schema.ts";

/** Jobs of pages; a job that failed for the last time goes to `POISON`. */
export const PAGES = "pages";
export const POISON = "poison";

/** Attempts after the first. Workers that are shut down hard spend attempts too, so there are more than a bad page alone would need. */
const RETRIES = 5;
/** Seconds before the second attempt; doubled each time, with some chance in it. */
const RETRY_DELAY = 1;
/** A worker that lives but hangs loses its page after this. Longer than a worker gives a page itself. */
const EXPIRY_SECONDS = 2 * 3600;
/** pg-boss forgets jobs nobody fetches; ten years are never. */
const RETENTION_MINUTES = 10 * 365 * 24 * 60;
const MAINTENANCE_SECONDS = 60;
/** A machine that vanished without closing its connections is missed after 30 + 3 × 10 seconds. */
const KEEP_ALIVE = "set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3";

export interface Transaction extends PgBoss.Db {
  // biome-ignore lint/suspicious/noExplicitAny: rows are what the statement says
  rows(text: string, values?: unknown[]): Promise<any[]>;
}

/** The database cannot be reached or refuses; what was under way did not happen. */
export class DatabaseFailure extends MineruError {
  constructor(cause: unknown) {
    const why = (cause as Error).message || (cause as { code?: string }).code || String(cause);
    super("server-failed", `the queue's database failed: ${why}; check --database and that PostgreSQL runs`, { cause });
  }
}

const lost = (cause: unknown): DatabaseFailure => (cause instanceof DatabaseFailure ? cause : new DatabaseFailure(cause));

const within = (client: pg.Pool | pg.PoolClient): Transaction => ({
  executeSql: (text, values) => client.query(text, values),
  rows: async (text, values) => (await client.query(text, values)).rows,
});

/** What a living worker holds on to. */
export interface Life extends AsyncDisposable {
  readonly number: number;
  /** Aborted when the connection is lost, with the reason: others may take this worker's pages then. */
  readonly lost: AbortSignal;
}

export class Database implements AsyncDisposable {
  readonly boss: PgBoss;
  readonly #pool: pg.Pool;
  readonly #url: string;

  private constructor(url: string, supervise: boolean) {
    this.#url = url;
    this.#pool = new pg.Pool({ connectionString: url, max: 4 });
    // A connection that breaks while it is idle is replaced; while it is used, its query fails.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.boss = new PgBoss({
      db: within(this.#pool),
      schema: JOBS_SCHEMA,
      supervise,
      schedule: false,
      maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    });
    this.boss.on("error", () => {});
  }

  /**
   * Connects and makes the tables where there are none. `supervise`: also look after expired jobs, as workers do.
   * @throws MineruError `server-failed`
   */
  static async open(url: string, { supervise = false } = {}): Promise<Database> {
    const database = new Database(url, supervise);
    try {
      await database.#prepare();
      return database;
    } catch (error) {
      await database.#pool.end();
      throw lost(error);
    }
  }

  /** All of `work` or nothing of it. Errors of `work` that are no database's are thrown as they are. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((cause) => {
      throw lost(cause);
    });
    let broken = true;
    try {
      await client.query("begin");
      const result = await work(within(client));
      await client.query("commit");
      broken = false;
      return result;
    } catch (error) {
      await client.query("rollback").then(
        () => {
          broken = false;
        },
        () => {},
      );
      throw error instanceof pg.DatabaseError || broken ? lost(error) : error;
    } finally {
      client.release(broken);
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows are what the statement says
  async rows(text: string, values: unknown[] = []): Promise<any[]> {
    try {
      return (await this.#pool.query(text, values)).rows;
    } catch (cause) {
      throw lost(cause);
    }
  }

  /** A number of its own, held as long as this connection lives: the other workers see at once when it ends, however it ends. */
  async live(sequence: string): Promise<Life> {
    const client = new pg.Client({ connectionString: this.#url, keepAlive: true });
    const ended = new AbortController();
    client.on("error", (cause) => ended.abort(lost(cause)));
    client.on("end", () => ended.abort(lost(new Error("the connection was closed"))));
    try {
      await client.connect();
      await client.query(KEEP_ALIVE);
      const { rows } = await client.query(`select nextval('${sequence}')::integer as number`);
      const { number } = rows[0] as { number: number };
      await client.query("select pg_advisory_lock($1, $2)", [WORKER_LOCKS, number]);
      return { number, lost: ended.signal, [Symbol.asyncDispose]: () => client.end() };
    } catch (cause) {
      await client.end().catch(() => {});
      throw lost(cause);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.boss.stop({ graceful: false });
    await this.#pool.end();
  }

  /** One program at a time: several workers may start upon an empty database. */
  async #prepare(): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query("select pg_advisory_lock($1, 0)", [WORKER_LOCKS]);
      await client.query(TABLES);
      await this.boss.start();
      const shared = { retryLimit: RETRIES, retryDelay: RETRY_DELAY, retryBackoff: true, retentionMinutes: RETENTION_MINUTES };
      await this.boss.createQueue(POISON, { name: POISON, ...shared });
      await this.boss.createQueue(PAGES, { name: PAGES, ...shared, expireInSeconds: EXPIRY_SECONDS, deadLetter: POISON });
    } finally {
      await client.query("select pg_advisory_unlock($1, 0)", [WORKER_LOCKS]).catch(() => {});
      client.release();
    }
  }
}
