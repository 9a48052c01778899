/** A server app on a port, until it is told to stop: then it takes nothing new, finishes what it took, and goes. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { MineruError } from "../index.ts";
import type { ServerApp } from "./app.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Asks the server to stop. */
  readonly signal: AbortSignal;
  /** How long finished tasks wait to be asked for after the last one is done. Default 10 000. */
  readonly graceMs?: number;
  readonly onListening?: (url: string) => void;
}

/**
 * Serves until `signal` is aborted and everything taken is done.
 * @throws MineruError `server-failed` if the port cannot be had.
 */
export async function listen(app: ServerApp, { host, port, signal, graceMs = 10_000, onListening }: ListenOptions): Promise<void> {
  if (signal.aborted) return;
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request), overrideGlobalObjects: false });
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === "EADDRINUSE"
        ? "another program has the port; choose another with --port"
        : (cause as Error).message;
    throw new MineruError("server-failed", `cannot listen on ${host}:${port}: ${why}`, { cause });
  }
  const address = server.address() as AddressInfo;
  onListening?.(`http://${host.includes(":") ? `[${host}]` : host}:${address.port}`);
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await app.drain(graceMs);
  const closed = once(server, "close");
  server.close();
  // Connections kept alive would stay for seconds after their last answer is out.
  const timer = setInterval(() => (server as Server).closeIdleConnections(), 50);
  await closed;
  clearInterval(timer);
}
