/** One line of progress on standard error: rewritten in place on a terminal where one file is parsed, one line per page elsewhere. */
import type { ParseProgress, Warning } from "../index.ts";

/** Warnings that only tell of what was mended; they stay in the data. */
const SILENT = new Set<Warning["kind"]>(["duplicate", "no-angle", "reversed-corners", "out-of-range", "banded", "near-empty", "zero-area"]);

export class Progress {
  readonly #label: string;
  readonly #shown: boolean;
  readonly #rewrites: boolean;
  readonly #began = performance.now();

  constructor(label: string, { shown, alone = true }: { readonly shown: boolean; readonly alone?: boolean }) {
    this.#label = label;
    this.#shown = shown;
    this.#rewrites = alone && process.stderr.isTTY === true;
  }

  update({ stage, page, pages, regions }: ParseProgress): void {
    if (!this.#shown) return;
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    const what = { open: "opening", render: "rendering", layout: "finding regions", read: `reading ${regions} regions`, done: "done" }[
      stage
    ];
    if (this.#rewrites) process.stderr.write(`\r\u001b[K${this.#label}: page ${page + 1}/${pages} ${what} (${seconds} s)`);
    else if (stage === "done") process.stderr.write(`${this.#label}: page ${page + 1}/${pages} done (${seconds} s)\n`);
  }

  warn(warnings: readonly Warning[]): void {
    for (const { kind, message, page } of warnings) if (!SILENT.has(kind)) this.note(message, page);
  }

  /** A line of its own, about a page (from 0) or the whole. */
  note(message: string, page?: number): void {
    if (!this.#shown) return;
    const where = page === undefined ? "" : ` page ${page + 1}`;
    process.stderr.write(`${this.#rewrites ? "\r\u001b[K" : ""}${this.#label}${where}: ${message}\n`);
  }

  finish(): void {
    if (this.#shown && this.#rewrites) process.stderr.write("\n");
  }
}
