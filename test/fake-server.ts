/** A server app over the fake recogniser, and requests to it. */
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { parserOf } from "../src/index.ts";
import { createServerApp, type ServerApp, type ServerOptions } from "../src/server/app.ts";
import { listen } from "../src/server/listen.ts";
import { FakeRecognizer, fakeTextOfTokens } from "./fake-recognizer.ts";

export interface FakeServer {
  readonly app: ServerApp;
  readonly recognizer: FakeRecognizer;
  readonly errors: unknown[];
  get(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
}

export function fakeServer(options: Partial<ServerOptions> = {}): FakeServer {
  const recognizer = new FakeRecognizer();
  const errors: unknown[] = [];
  const app = createServerApp({
    parser: parserOf(recognizer),
    version: "1.2.3",
    textOfTokens: fakeTextOfTokens,
    onError: (error) => errors.push(error),
    ...options,
  });
  const get = async (path: string, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(new URL(path, "http://127.0.0.1:8000"), init));
  return {
    app,
    recognizer,
    errors,
    get,
    post: (path, body, init = {}) =>
      body instanceof FormData
        ? get(path, { method: "POST", body, ...init })
        : get(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...init }),
  };
}

/** A fake server on a port of its own, for other processes. */
export async function listeningServer(
  options: Partial<ServerOptions> = {},
): Promise<FakeServer & { readonly url: string; stop(): Promise<void> }> {
  const server = fakeServer({ queue: 10_000, ...options });
  const stopping = new AbortController();
  let done: Promise<void> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    done = listen(server.app, { host: "127.0.0.1", port: 0, signal: stopping.signal, graceMs: 0, onListening: resolve });
    done.catch(reject);
  });
  return {
    ...server,
    url,
    stop: async () => {
      server.recognizer.release();
      stopping.abort();
      await done;
    },
  };
}

const sample = (name: string): URL => new URL(`./samples/${name}`, import.meta.url);

export const samplePicture = (): Promise<Buffer> => readFile(sample("testocr.png"));
export const samplePdf = (): Promise<Buffer> => readFile(sample("ocr_test.pdf"));

/** A multipart form with these files and fields. */
export function uploadForm(files: Readonly<Record<string, Uint8Array>>, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [name, bytes] of Object.entries(files)) form.append("files", new File([Uint8Array.from(bytes)], name));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** Expects of `look` what becomes true sooner or later, on a busy machine later. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 60_000 });
