/**
 * Requests to a model hub: signed with the person's token, retried while a failure may pass, and with errors that say what to do.
 * What is asked for is in `hub-listing.ts` and `hub.ts`.
 */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MineruError } from "../error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Patience {
  readonly signal?: AbortSignal;
  /** Attempts per request before giving up. */
  readonly attempts?: number;
  /** Wait before the second attempt in milliseconds; it doubles with each further one. */
  readonly retryDelayMs?: number;
}

/** The folder of huggingface_hub: cache and stored login. */
export function hubHome(env: Environment): string {
  return env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "huggingface");
}

/** A GET whose answer is good, or 416 (the range is not there). */
export type Get = (url: string, headers?: Record<string, string>) => Promise<Response>;

/** A `fetch` that signs requests to the endpoint (`fetch` itself drops the header when redirected to another host) and retries. */
export function requester(patience: Patience, token?: string): Get {
  const { signal } = patience;
  return (url, headers = {}) =>
    withAttempts(patience, async () => {
      let response: Response;
      try {
        response = await fetch(url, { headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) }, signal });
      } catch (cause) {
        signal?.throwIfAborted();
        throw new Transient(`${url}: the hub could not be reached; check the network, or HF_ENDPOINT for a mirror`, cause);
      }
      if (response.ok || response.status === 416) return response;
      await response.body?.cancel();
      const said = `${url}: the hub answered ${response.status} ${response.statusText}`.trimEnd();
      if (response.status === 404) throw new MineruError("checkpoint-missing", `${said}; check the name and the revision`);
      if (response.status === 401 || response.status === 403) {
        throw new MineruError(
          "network-failed",
          `${said}; the repository is private, gated or not there: set HF_TOKEN to a token that may read it`,
        );
      }
      if (response.status >= 500 || response.status === 429 || response.status === 408) throw new Transient(`${said}; try again later`);
      throw new MineruError("network-failed", said);
    });
}

/** HF_TOKEN, else the login that `hf auth login` stored. */
export async function tokenOf(env: Environment): Promise<string | undefined> {
  if (env.HF_TOKEN) return env.HF_TOKEN.trim();
  const path = env.HF_TOKEN_PATH || join(hubHome(env), "token");
  const stored = await readFile(path, "utf8").catch(() => "");
  return stored.trim() || undefined;
}

/** A failure that may pass; becomes `network-failed` when it does not. */
export class Transient extends MineruError {
  constructor(message: string, cause?: unknown) {
    super("network-failed", message, { cause });
  }
}

/** Does `work` again after a `Transient` failure, until the attempts are used up. */
export async function withAttempts<T>({ attempts = 5, retryDelayMs = 1000, signal }: Patience, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Transient) || attempt >= attempts) throw error;
    }
    await sleep(retryDelayMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}
