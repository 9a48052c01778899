/**
 * The web page at the root of the server: the files that `npm run build:web` has made, and nothing else of the disk. The page is told that a
 * server shows it, so that it asks this server instead of computing by itself. Where it has not been built, the root leads to /docs.
 */
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";

/** Paths of the page's files, as they are asked for, to the files. */
export type WebPage = ReadonlyMap<string, string>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".md": "text/plain; charset=utf-8",
};

/** What the page may do: run its own code and WebAssembly, ask its own server, show pictures it has made. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The built page of this package, from source or compiled; empty if it has not been built. */
export function builtWebPage(): WebPage {
  let folder = dirname(fileURLToPath(import.meta.url));
  const built = (): string => join(folder, "dist", "web");
  while (!existsSync(join(built(), "index.html")) && dirname(folder) !== folder) folder = dirname(folder);
  return webPageIn(built());
}

/** The files of a folder that holds a built page. */
export function webPageIn(folder: string): WebPage {
  if (!existsSync(join(folder, "index.html"))) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return new Map([
    ["/", join(folder, "index.html")],
    ...paths.map((path): [string, string] => [path.slice(folder.length).replaceAll("\\", "/"), path]),
  ]);
}

export function webRoutes(app: Hono, page: WebPage, { locked }: { readonly locked: boolean }): void {
  if (page.size === 0) {
    app.get("/", (c) => c.redirect("docs"));
    return;
  }
  for (const [path, file] of page)
    app.get(path, async (c) => {
      const bytes = await readFile(file);
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      // Names under assets/ change with their contents.
      const caching = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
      const body = type.startsWith("text/html")
        ? bytes.toString().replace('data-backend="browser"', `data-backend="${locked ? "locked-server" : "server"}"`)
        : new Uint8Array(bytes);
      return c.body(body, 200, {
        "content-type": type,
        "cache-control": caching,
        "content-security-policy": POLICY,
        // Alone, a page may share memory with its workers, and so compute in several threads.
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "cross-origin-resource-policy": "same-origin",
      });
    });
}
