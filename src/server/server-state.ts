/** What all routes share, and how they tell failures. */
import type { Parser } from "../index.ts";
import type { Admission } from "./admission.ts";
import type { Counters } from "./counters.ts";
import type { HttpFailure } from "./failure.ts";

export interface ServerLimits {
  /** Bytes of one request's body. */
  readonly uploadBytes: number;
  /** Longest time for one answer, waiting included; for tasks, without waiting. */
  readonly timeoutMs: number;
  /** Requests worked on at once. */
  readonly atOnce: number;
}

export interface ServerState {
  readonly parser: Parser;
  readonly version: string;
  readonly admission: Admission;
  readonly counters: Counters;
  readonly limits: ServerLimits;
  /** Tokens to text while an answer is under way; without it a stream tells the answer at its end. */
  readonly textOfTokens?: (tokens: ArrayLike<number>) => string;
  /** Told of every failure, once. */
  onFailure(failure: HttpFailure): void;
}

/** A failure in the forms that OpenAI clients (`error`) and MinerU clients (`detail`) read. */
export function openaiError({ status, code, message }: HttpFailure) {
  const type =
    status === 401 ? "authentication_error" : status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { error: { message, type, code, param: null }, detail: message };
}
