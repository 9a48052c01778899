/** A parser in a browser's worker: what a page holds. */
import type { FetchProgress } from "../checkpoint/fetched.ts";
import type { Parser } from "../document/document-parser.ts";
import type { FromParser } from "../document/parser-messages.ts";
import { connectParser } from "../document/remote-parser.ts";
import type { Notice, ToWorker, WorkerStart } from "./messages.ts";

/** The part of a `Worker` that is used. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface WorkerParserOptions {
  readonly signal?: AbortSignal;
  readonly onDownload?: (progress: FetchProgress) => void;
  readonly onWarning?: (message: string) => void;
}

/** Starts a parser in `worker`. Errors as the parser's loading; the signal's reason. A worker that did not start is ended. */
export function startWorkerParser(worker: WorkerLike, start: WorkerStart, options: WorkerParserOptions = {}): Promise<Parser> {
  const { signal, onDownload, onWarning } = options;
  return connectParser<Notice>(
    {
      say: (message) => worker.postMessage(message),
      listen(heard, died) {
        worker.onmessage = ({ data }) => heard(data as FromParser<Notice>);
        worker.onerror = ({ message }) => died(message || "it could not be started");
        worker.postMessage({ start });
      },
      end: () => worker.terminate(),
    },
    {
      signal,
      onNotice: (notice) => ("download" in notice ? onDownload?.(notice.download) : onWarning?.(notice.warning)),
    },
  );
}
