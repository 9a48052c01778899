/**
 * The one class for operational failures: a file that cannot be read, a checkpoint that does not fit, a device that is missing.
 * Wrong arguments are `TypeError`/`RangeError`; broken invariants are plain errors that begin with "internal:".
 */

/** Stable names of operational failures; programs branch on these, people read the message. */
export type ErrorCode =
  | "file-unreadable"
  | "file-damaged"
  | "file-unsupported"
  | "file-encrypted"
  | "file-too-large"
  | "output-unwritable"
  | "checkpoint-invalid"
  | "checkpoint-missing"
  | "runtime-unavailable"
  | "runtime-failed"
  | "network-failed"
  | "server-failed"
  | "limit-exceeded"
  | "data-invalid";

/** An operational failure. `message` says what was expected, what was found and how to mend it. */
export class MineruError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "MineruError";
    this.code = code;
  }
}
