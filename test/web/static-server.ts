/** A folder behind HTTP on this machine, as any static host serves it. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

export interface StaticServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves `folders`, the first that has a file; `isolated` allows its pages shared memory and so threads. */
export async function serveFolders(folders: readonly string[], { isolated = false } = {}): Promise<StaticServer> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url!, "http://localhost").pathname));
    const name = path.endsWith("/") ? `${path}index.html` : path;
    const read = async (): Promise<Buffer | null> => {
      for (const folder of folders) {
        const bytes = await readFile(join(folder, name)).catch(() => null);
        if (bytes) return bytes;
      }
      return null;
    };
    void read().then((bytes) => {
      response.writeHead(bytes ? 200 : 404, {
        "content-type": types[extname(name)] ?? "application/octet-stream",
        ...(isolated ? { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" } : {}),
      });
      response.end(bytes ?? "");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
