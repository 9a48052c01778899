#!/usr/bin/env node
/**
 * The command line. Data go to stdout, progress and errors to stderr; exit codes: 0 ok, 1 failed, 2 wrong usage, 3 some files failed,
 * 130 interrupted.
 */
import { CommanderError } from "commander";
import { MineruError } from "../index.ts";
import { Interrupted, UsageError } from "./errors.ts";
import { createProgram } from "./program.ts";

const interrupt = new AbortController();
const onSignal = (): void => {
  if (interrupt.signal.aborted) process.exit(130);
  interrupt.abort(new Interrupted());
};
process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return 130;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError || error instanceof RangeError) return 2;
  return 1;
}

function messageOf(error: unknown): string {
  if (error instanceof MineruError || error instanceof UsageError || error instanceof RangeError) return error.message;
  if (error instanceof Error) return process.env.MINERU_DEBUG ? (error.stack ?? error.message) : error.message;
  return String(error);
}

try {
  process.exitCode = (await createProgram(interrupt.signal).parseAsync(process.argv)).exitCode ?? 0;
} catch (error) {
  process.exitCode = exitCodeOf(error);
  // Commander has already printed what is wrong with the arguments.
  if (!(error instanceof CommanderError))
    process.stderr.write(error instanceof Interrupted ? "interrupted\n" : `mineru-diffusion: ${messageOf(error)}\n`);
}
