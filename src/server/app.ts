/**
 * The whole server as one function from requests to responses: every door, who may pass, what is counted, how failures are told. Opens no
 * port; `listen.ts` does.
 */
import { Hono } from "hono";
import type { Parser } from "../index.ts";
import { access } from "./access.ts";
import { Admission } from "./admission.ts";
import { chatRoutes } from "./chat-completions.ts";
import { Counters } from "./counters.ts";
import { documentRoutes, PROTOCOL_VERSION } from "./document-routes.ts";
import { watchEventLoop } from "./event-loop-delay.ts";
import { failureOf, HttpFailure } from "./failure.ts";
import { openapiDocument, openapiPage } from "./openapi.ts";
import { FormFailure } from "./parse-form.ts";
import { openaiError, type ServerState } from "./server-state.ts";
import { Tasks } from "./tasks.ts";
import { type WebPage, webRoutes } from "./web-page.ts";

export interface ServerOptions {
  readonly parser: Parser;
  readonly version: string;
  /** Tokens to text while an answer is under way; without it a stream tells the answer at its end. */
  readonly textOfTokens?: (tokens: ArrayLike<number>) => string;
  readonly apiKey?: string;
  /** Whether the server listens on a loopback address. Default false. */
  readonly loopback?: boolean;
  /** The page at the root; without it the root leads to /docs. */
  readonly webPage?: WebPage;
  /** Bytes of one upload. Default 100 MiB. */
  readonly uploadBytes?: number;
  /** Requests worked on at once. Default 4. */
  readonly atOnce?: number;
  /** Requests that wait beyond those. Default 128, since the official client sends 100 at once. */
  readonly queue?: number;
  /** Default 600 000: as long as the official client waits. */
  readonly timeoutMs?: number;
  /** How long results of tasks are kept. Default a day. */
  readonly retentionSeconds?: number;
  /** One line per request. */
  readonly onRequest?: (line: string) => void;
  /** Failures nobody foresaw, with their cause. */
  readonly onError?: (error: unknown) => void;
}

export interface ServerApp {
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Takes no new work and resolves when all that was taken is done and, for tasks, told to a client or `graceMs` has passed. Tasks can be
   * asked for meanwhile.
   */
  drain(graceMs: number): Promise<void>;
}

const MIB = 1024 ** 2;
/** Results of tasks kept at most. */
const RESULT_BYTES = 512 * MIB;
const FINISHED_TASKS = 1000;
const KNOWN_PATHS = new Set([
  "/v1/models",
  "/v1/chat/completions",
  "/file_parse",
  "/tasks",
  "/health",
  "/docs",
  "/openapi.json",
  "/metrics",
]);
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** A path as a label: few values, whatever clients ask for. */
const labelOf = (path: string): string =>
  KNOWN_PATHS.has(path) ? path : path.startsWith("/tasks/") ? "/tasks/{id}" : path.startsWith("/v1/models/") ? "/v1/models/{id}" : "other";

function checked(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`\`${name}\` expected an integer of at least ${least}, got ${value}`);
}

/** Throws RangeError for limits that do not fit. */
export function createServerApp(options: ServerOptions): ServerApp {
  const { parser, version, textOfTokens, apiKey, loopback = false, webPage = new Map(), onRequest, onError } = options;
  const limits = {
    uploadBytes: checked("uploadBytes", options.uploadBytes ?? 100 * MIB, 1),
    timeoutMs: checked("timeoutMs", options.timeoutMs ?? 600_000, 1),
    atOnce: checked("atOnce", options.atOnce ?? 4, 1),
  };
  if (apiKey === "") throw new TypeError("`apiKey` expected some characters, got none");
  const admission = new Admission({
    atOnce: limits.atOnce,
    waiting: checked("queue", options.queue ?? 128, 0),
    heldBytes: 4 * limits.uploadBytes,
  });
  const tasks = new Tasks({
    retentionSeconds: checked("retentionSeconds", options.retentionSeconds ?? 86_400, 1),
    resultBytes: RESULT_BYTES,
    finished: FINISHED_TASKS,
  });
  const counters = new Counters();
  /** Why the model can no longer work; a restart is the cure. */
  let broken: string | null = null;
  const onFailure = (failure: HttpFailure): void => {
    counters.add("mineru_failures_total", "Requests and tasks that failed, by code.", { code: failure.code });
    if (failure.code === "runtime-failed" && failure.cause instanceof Error) broken = failure.cause.message;
    if (failure.status === 500) onError?.(failure.cause ?? failure);
  };
  const state: ServerState = { parser, version, admission, counters, limits, textOfTokens, onFailure };

  const app = new Hono();
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    const seconds = (performance.now() - began) / 1000;
    const { method } = c.req;
    const labels = { method: /^[A-Z]{3,7}$/.test(method) ? method : "other", path: labelOf(c.req.path) };
    counters.add("mineru_http_requests_total", "Requests by path and status.", { ...labels, status: c.res.status });
    counters.observe("mineru_http_request_seconds", "Time to the response, for streams to its first byte.", labels, seconds);
    onRequest?.(`${labels.method} ${labels.path} ${c.res.status} ${(seconds * 1000).toFixed(0)} ms`);
    c.header("x-content-type-options", "nosniff");
  });
  app.use(access({ apiKey, loopback, open: new Set(webPage.keys()) }));
  app.onError((error, c) => {
    const failure = failureOf(error);
    onFailure(failure);
    if (failure.retryAfter !== undefined) c.header("retry-after", String(failure.retryAfter));
    const body = openaiError(failure);
    return new Response(JSON.stringify(failure instanceof FormFailure ? { ...body, detail: failure.detail } : body), {
      status: failure.status,
      headers: { ...Object.fromEntries(c.res.headers), "content-type": "application/json" },
    });
  });
  app.notFound((c) => {
    const failure = new HttpFailure(
      404,
      "no-such-path",
      `there is no ${c.req.method} ${c.req.path.slice(0, 200)}; /docs lists what there is`,
    );
    return c.json(openaiError(failure), 404);
  });

  chatRoutes(app, state);
  documentRoutes(app, state, tasks);

  app.get("/health", (c) => {
    const status = broken !== null ? "unhealthy" : admission.open ? "healthy" : "draining";
    return c.json(
      {
        status,
        version,
        protocol_version: PROTOCOL_VERSION,
        queued_tasks: tasks.count("pending"),
        processing_tasks: tasks.count("processing"),
        completed_tasks: tasks.count("completed"),
        failed_tasks: tasks.count("failed"),
        queued_requests: admission.waiting,
        processing_requests: admission.working,
        max_concurrent_requests: limits.atOnce,
        task_retention_seconds: tasks.limits.retentionSeconds,
        model: parser.recognizer.info.name,
        ...(broken !== null ? { error: broken } : {}),
      },
      status === "healthy" ? 200 : 503,
    );
  });
  const eventLoop = watchEventLoop();
  app.get("/metrics", (c) =>
    c.body(
      counters.text({
        mineru_requests_working: ["Requests worked on now.", admission.working],
        mineru_requests_waiting: ["Requests that wait or are being received now.", admission.waiting],
        mineru_tasks_pending: ["Tasks that wait now.", tasks.count("pending")],
        process_resident_memory_bytes: ["Memory of the process.", process.memoryUsage.rss()],
        ...eventLoop(),
      }),
      200,
      { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    ),
  );
  const document = openapiDocument(version, apiKey !== undefined);
  app.get("/openapi.json", (c) => c.json(document));
  app.get("/docs", (c) => c.html(openapiPage(document), 200, { "content-security-policy": PAGE_POLICY }));
  webRoutes(app, webPage, { locked: apiKey !== undefined });

  return {
    fetch: (request) => app.fetch(request),
    async drain(graceMs) {
      await admission.close();
      await tasks.delivered(graceMs);
    },
  };
}
