/**
 * What a recogniser's thread and its caller say to each other, and how failures cross between them: a structured clone keeps an error's
 * message but loses its class and code, so both travel as data and are put together again on the other side.
 */
import { type ErrorCode, MineruError } from "../error.ts";
import type { RecognizerInfo } from "./recognizer.ts";
import type { SessionsOptions } from "./sessions.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult } from "./types.ts";

/** What the thread is started with. */
export interface WorkerStart {
  readonly dir: string;
  readonly options: Omit<SessionsOptions, "onWarning">;
}

export type ToWorker =
  | {
      readonly kind: "recognize";
      readonly call: number;
      readonly requests: readonly RecognitionRequest[];
      readonly batchSize?: number;
      /** Whether anyone listens. */
      readonly events: boolean;
    }
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready"; readonly info: RecognizerInfo }
  | { readonly kind: "refused"; readonly error: SentError }
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "event"; readonly call: number; readonly event: RecognitionEvent }
  | { readonly kind: "results"; readonly call: number; readonly results: readonly RecognitionResult[] }
  | { readonly kind: "failed"; readonly call: number; readonly error: SentError };

export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: ErrorCode;
  readonly cause?: SentError;
}

/** Links of a chain of causes that are sent; longer ones are circular or of no use to anyone. */
const CAUSES = 8;

export function packError(error: unknown, depth = CAUSES): SentError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    ...(error instanceof MineruError ? { code: error.code } : {}),
    ...(cause !== undefined && depth > 0 ? { cause: packError(cause, depth - 1) } : {}),
  };
}

function rebuild({ name, message, code }: SentError, options: ErrorOptions | undefined): Error {
  if (code !== undefined) return new MineruError(code, message, options);
  if (name === "TypeError") return new TypeError(message, options);
  if (name === "RangeError") return new RangeError(message, options);
  const error = new Error(message, options);
  error.name = name;
  return error;
}

/** The error as it was thrown, with the stack of the thread that threw it. */
export function unpackError(sent: SentError): Error {
  const error = rebuild(sent, sent.cause ? { cause: unpackError(sent.cause) } : undefined);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}
