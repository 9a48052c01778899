/**
 * Who may ask at all. With an API key: whoever has it. Without one, a server on a loopback address answers only requests that name a
 * loopback host and come from no foreign web page, so that pages open in a browser on the same machine cannot use it.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { HttpFailure } from "./failure.ts";

/** Open to all: what probes and credential checks of other programs call. */
const PUBLIC_PATHS = new Set(["/health", "/docs", "/openapi.json"]);

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Whether `host`, as a server is told to listen on, is reachable from this machine only. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

export interface AccessOptions {
  readonly apiKey?: string;
  readonly loopback: boolean;
  /** Paths that are open without the key as well. */
  readonly open?: ReadonlySet<string>;
}

export function access({ apiKey, loopback, open = new Set() }: AccessOptions): MiddlewareHandler {
  const wanted = apiKey === undefined ? null : digest(apiKey);
  return async (c, next) => {
    if (wanted) {
      const given = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
      if (!PUBLIC_PATHS.has(c.req.path) && !open.has(c.req.path) && !timingSafeEqual(digest(given), wanted)) {
        c.header("www-authenticate", "Bearer");
        throw new HttpFailure(401, "unauthorized", "expected the header `Authorization: Bearer <key>` with this server's API key");
      }
    } else if (loopback) {
      const host = c.req.header("host") ?? new URL(c.req.url).host;
      if (!LOOPBACK.test(host))
        throw new HttpFailure(
          403,
          "foreign-host",
          `expected a request to this machine, got one to ${host}; serve with --api-key to allow it`,
        );
      const origin = c.req.header("origin");
      if (origin !== undefined && hostOf(origin) !== host)
        throw new HttpFailure(
          403,
          "foreign-origin",
          `expected no request from another site, got one from ${origin}; serve with --api-key to allow it`,
        );
    }
    await next();
  };
}
