/** A parser in a thread of Node's. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { OpenaiRecognizerOptions } from "../engine/openai-recognizer.ts";
import type { SessionsOptions } from "../engine/sessions.ts";
import { MineruError } from "../error.ts";
import type { Parser } from "./document-parser.ts";
import { connectParser } from "./remote-parser.ts";

/** What the thread is started with: a checkpoint folder, or the server that computes. */
export type ParserStart =
  | { readonly dir: string; readonly sessions: Omit<SessionsOptions, "onWarning"> }
  | { readonly server: Omit<OpenaiRecognizerOptions, "fetch" | "signal"> };

/** The compiled worker: beside this file, or in dist/ when this file itself runs as TypeScript. */
function workerFile(): URL {
  const here = import.meta.url;
  const url = here.endsWith(".ts") ? new URL("../../dist/document/parser-worker.js", here) : new URL("./parser-worker.js", here);
  const path = fileURLToPath(url);
  if (!existsSync(path))
    throw new MineruError("runtime-unavailable", `${path} expected to be the compiled worker, got nothing: npm run build`);
  return url;
}

/**
 * Loads a checkpoint folder, or reaches a server, from a thread of its own.
 * @throws as `loadWorkerRecognizer` and `openaiRecognizer`; MineruError `runtime-failed` if the thread dies.
 */
export async function loadWorkerParser(start: ParserStart, onWarning?: (message: string) => void): Promise<Parser> {
  // Flags of the caller's own start, such as --input-type, are not for a file.
  const worker = new Worker(workerFile(), { workerData: start, execArgv: [] });
  return connectParser<string>(
    {
      say: (message) => worker.postMessage(message),
      listen: (heard, died) => {
        worker.on("message", heard).once("error", died);
        worker.once("exit", (code) => died(`exit code ${code}`));
      },
      busy: (busy) => (busy ? worker.ref() : worker.unref()),
      end: () => worker.terminate(),
    },
    { onNotice: onWarning },
  );
}
