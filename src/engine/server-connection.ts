/**
 * JSON over HTTP to one server, with patience: at most so many requests at once, each tried again with growing pauses while the server is
 * busy or out of reach. Knows nothing of what is asked.
 */
import { MineruError } from "../error.ts";

export interface ConnectionOptions {
  /** Such as http://127.0.0.1:30000; a path is kept, and /v1 is added unless it ends so. */
  readonly serverUrl: string;
  readonly apiKey?: string;
  /** Questions in flight at once. Default 8. */
  readonly concurrency?: number;
  /** How often a failed question is asked again. Default 3. */
  readonly retries?: number;
  /** First pause before asking again in milliseconds; it doubles each time. Default 500. */
  readonly retryDelayMs?: number;
  /** Longest wait for one answer. Default 600 000. */
  readonly timeoutMs?: number;
  /** Ends everything, connecting included. */
  readonly signal?: AbortSignal;
  /** What sends requests; the platform's if absent. */
  readonly fetch?: typeof fetch;
}

/** Answers that may be better next time. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_PAUSE_MS = 60_000;

function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`\`${name}\` expected an integer of at least ${least}, got ${value}`);
}

/** http(s)://host[:port][/path]/v1, without a final slash. */
function baseOf(serverUrl: string): string {
  let url: URL;
  try {
    url = new URL(serverUrl);
  } catch (cause) {
    throw new TypeError(`\`serverUrl\` expected a URL such as http://127.0.0.1:30000, got ${serverUrl}`, { cause });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError(`\`serverUrl\` expected http or https, got ${serverUrl}`);
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${/\/v\d+$/.test(path) ? path : `${path}/v1`}`;
}

/** `Retry-After` in milliseconds: seconds or a date. */
function askedPause(header: string | null): number {
  if (!header) return 0;
  const seconds = Number(header);
  const pause = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(pause) ? 0 : Math.max(0, pause);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

export class ServerConnection {
  readonly base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;
  readonly #signal: AbortSignal | undefined;
  readonly #retries: number;
  readonly #retryDelayMs: number;
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(options: ConnectionOptions) {
    this.base = baseOf(options.serverUrl);
    this.#headers = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {};
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#signal = options.signal;
    this.#free = wholeNumber("concurrency", options.concurrency ?? 8, 1);
    this.#retries = wholeNumber("retries", options.retries ?? 3, 0);
    this.#retryDelayMs = wholeNumber("retryDelayMs", options.retryDelayMs ?? 500, 0);
    this.#timeoutMs = wholeNumber("timeoutMs", options.timeoutMs ?? 600_000, 1);
  }

  get(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#patiently(path, { method: "GET" }, signal);
  }

  /** Posts what `body` makes once there is room for the request, so that waiting requests hold no body. */
  async post(path: string, signal: AbortSignal | undefined, body: () => unknown): Promise<unknown> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      signal?.throwIfAborted();
      const text = JSON.stringify(await body());
      return await this.#patiently(path, { method: "POST", body: text, headers: { "content-type": "application/json" } }, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #patiently(path: string, init: RequestInit, signal: AbortSignal | undefined): Promise<unknown> {
    const ends = AbortSignal.any([signal, this.#signal].filter((entry) => entry !== undefined));
    for (let attempt = 0; ; attempt++) {
      const { answer, failure, afterMs } = await this.#once(path, init, ends);
      if (!failure) return answer;
      if (afterMs === undefined || attempt >= this.#retries) throw failure;
      // Up to half of a pause is chance, so that clients refused together do not return together.
      const grown = this.#retryDelayMs * 2 ** attempt * (1 - Math.random() / 2);
      await pause(Math.min(LONGEST_PAUSE_MS, Math.max(afterMs, grown)), ends);
    }
  }

  /** One try; a `failure` that may pass has `afterMs`, the least pause. */
  async #once(
    path: string,
    init: RequestInit,
    ends: AbortSignal,
  ): Promise<{ readonly answer?: unknown; readonly failure?: MineruError; readonly afterMs?: number }> {
    ends.throwIfAborted();
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#fetch(`${this.base}/${path}`, {
        ...init,
        headers: { ...this.#headers, ...(init.headers as Record<string, string> | undefined) },
        signal: AbortSignal.any([ends, deadline]),
        redirect: "error",
      });
      const text = await response.text();
      if (!response.ok) {
        const cure = response.status === 401 || response.status === 403 ? "; check the API key" : "";
        const failure = new MineruError(
          "server-failed",
          `${this.base}/${path} expected status 200, got ${response.status}: ${text.slice(0, 300)}${cure}`,
        );
        return PASSING.has(response.status) ? { failure, afterMs: askedPause(response.headers.get("retry-after")) } : { failure };
      }
      try {
        return { answer: JSON.parse(text) };
      } catch (cause) {
        return { failure: new MineruError("server-failed", `${this.base}/${path} expected JSON, got ${text.slice(0, 100)}`, { cause }) };
      }
    } catch (cause) {
      ends.throwIfAborted();
      const why = deadline.aborted ? `no answer within ${this.#timeoutMs / 1000} s` : reasonOf(cause);
      const message = `${this.base} could not be reached: ${why}; check that the server runs and that its address is right`;
      // Whoever was too slow once would be so again, and has not been told to stop.
      return { failure: new MineruError("network-failed", message, { cause }), ...(deadline.aborted ? {} : { afterMs: 0 }) };
    }
  }
}

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || String((error.cause as NodeJS.ErrnoException).code) : error.message;
}
