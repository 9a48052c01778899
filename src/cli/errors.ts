/** Errors of the command line itself. */

/** Arguments that cannot be meant; exit code 2. */
export class UsageError extends Error {}

/** The user asked to stop; exit code 130. */
export class Interrupted extends Error {
  constructor() {
    super("interrupted");
  }
}

/** Some of several files failed; exit code 3. The failures are already printed. */
export class PartialFailure extends Error {}
