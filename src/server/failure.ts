/**
 * What a client is told when something goes wrong: a status, a stable code and a message for people. Failures of the library are mapped
 * here, once; anything unforeseen becomes a 500 that tells nothing of the inside.
 */
import { type ErrorCode, MineruError } from "../index.ts";

export class HttpFailure extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which asking again makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, options: { readonly retryAfter?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "HttpFailure";
    this.status = status;
    this.code = code;
    this.retryAfter = options.retryAfter;
  }
}

const statusOf: Readonly<Record<ErrorCode, number>> = {
  "file-unreadable": 400,
  "file-damaged": 400,
  "file-unsupported": 400,
  "file-encrypted": 400,
  "file-too-large": 413,
  "limit-exceeded": 413,
  "data-invalid": 400,
  "output-unwritable": 500,
  "checkpoint-invalid": 500,
  "checkpoint-missing": 500,
  "runtime-unavailable": 500,
  "runtime-failed": 500,
  "network-failed": 502,
  "server-failed": 502,
};

/** Messages about arguments begin with the argument's name; other errors of these classes are faults of ours. */
const isArgumentError = (error: unknown): error is TypeError | RangeError =>
  (error instanceof TypeError || error instanceof RangeError) && error.message.startsWith("`");

/** Whether the client is at fault, or a limit of the server; then nobody needs to look into the log. */
export const isForeseen = (failure: HttpFailure): boolean => failure.status !== 500;

export function failureOf(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (error instanceof MineruError) {
    const status = statusOf[error.code];
    return new HttpFailure(status, error.code, status === 500 ? "the model failed; see the server's log" : error.message, { cause: error });
  }
  if (isArgumentError(error)) return new HttpFailure(400, "invalid-value", error.message, { cause: error });
  return new HttpFailure(500, "internal", "something unforeseen went wrong; see the server's log", { cause: error });
}

/** The client closed the connection or cancelled its task; nobody waits for the answer. */
export const clientGone = (): HttpFailure => new HttpFailure(499, "client-gone", "the client gave the request up");
