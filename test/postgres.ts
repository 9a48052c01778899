/**
 * A PostgreSQL of the test's own, from Debian's package, on a socket in a folder of its own: nothing of the machine's databases is touched. It
 * refuses to run as root, so it is run as `nobody` then.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

const VERSIONS = "/usr/lib/postgresql";
const NOBODY = 65534;

/** The newest PostgreSQL that Debian's package has put here; null if there is none. */
export function postgresPrograms(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
  const folder = versions.map((version) => join(VERSIONS, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
  return folder ?? null;
}

export interface TestPostgres extends AsyncDisposable {
  /** An empty database. */
  createDatabase(): Promise<string>;
  query(url: string, text: string): Promise<Record<string, unknown>[]>;
  /** Stops at once and starts again, as after a power cut. */
  restart(): Promise<void>;
}

export async function startPostgres(bin: string): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "mineru-postgres-"));
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, "data");
  const urlOf = (name: string): string => `postgres://queue@localhost/${name}?host=${encodeURIComponent(folder)}`;
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "queue", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], {
    ...identity,
    stdio: "ignore",
    cwd: folder,
  });
  const query = async (url: string, text: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    const server = spawn(join(bin, "postgres"), ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"], {
      ...identity,
      stdio: "ignore",
      cwd: folder,
    });
    for (let attempt = 0; ; attempt++) {
      try {
        await query(urlOf("postgres"), "select 1");
        return server;
      } catch (error) {
        if (attempt > 600 || server.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  let server = await start();
  const stop = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    // Immediate shutdown: connections are cut.
    server.kill("SIGQUIT");
    await ended;
  };
  let count = 0;
  return {
    query,
    async createDatabase() {
      const name = `queue_${++count}`;
      await query(urlOf("postgres"), `create database ${name}`);
      return urlOf(name);
    },
    async restart() {
      await stop();
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
