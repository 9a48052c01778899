/**
 * What became of every file of a run: a JSON file for programs (`schema/report.schema.json`), a few lines for people. Knows outcomes, not
 * documents.
 */
import type { ErrorCode, ParsedPage, WarningKind } from "../index.ts";
import type { ListingProblem } from "./source-files.ts";

/** `incomplete`: written, but without some pages; `interrupted`: begun or still waiting when the run was stopped. */
export type FileStatus = "parsed" | "incomplete" | "skipped" | "failed" | "interrupted";

export interface FileReport {
  readonly source: string;
  /** Folder of the output below the output folder. */
  readonly output: string;
  readonly status: FileStatus;
  readonly pages?: number;
  /** Pages, from 1, that could not be read. */
  readonly failedPages?: readonly number[];
  /** How often each kind of warning was given. */
  readonly warnings?: Readonly<Partial<Record<WarningKind, number>>>;
  readonly seconds?: number;
  readonly error?: { readonly code: ErrorCode | "wrong-argument" | "internal"; readonly message: string };
}

export interface RunReport {
  readonly format: "mineru-diffusion/report";
  readonly version: 1;
  readonly program: string;
  readonly seconds: number;
  readonly counts: Readonly<Record<FileStatus, number>>;
  readonly files: readonly FileReport[];
  /** Folders and links that could not be followed. */
  readonly problems: readonly ListingProblem[];
}

const STATUSES: readonly FileStatus[] = ["parsed", "incomplete", "skipped", "failed", "interrupted"];

export function runReport(program: string, seconds: number, files: readonly FileReport[], problems: readonly ListingProblem[]): RunReport {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, files.filter((file) => file.status === status).length]));
  return {
    format: "mineru-diffusion/report",
    version: 1,
    program,
    seconds: Math.round(seconds * 10) / 10,
    counts: counts as Record<FileStatus, number>,
    files,
    problems,
  };
}

export function warningCounts(pages: readonly Pick<ParsedPage, "warnings">[]): Partial<Record<WarningKind, number>> {
  const counts: Partial<Record<WarningKind, number>> = {};
  for (const { warnings } of pages) for (const { kind } of warnings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** 0: all is well; 1: nothing came of it; 3: some of it is missing. */
export function exitCodeOf({ counts, files, problems }: RunReport): number {
  const incomplete = files.filter(({ failedPages }) => failedPages !== undefined).length;
  const missing = counts.failed + incomplete + counts.interrupted + problems.length;
  if (missing === 0) return 0;
  return counts.parsed + counts.incomplete + counts.skipped === 0 ? 1 : 3;
}

/** A line of counts, then a line for each file that is not as it should be. */
export function summaryOf({ counts, files, problems, seconds }: RunReport): string {
  const pages = files.reduce((sum, file) => sum + (file.status === "skipped" ? 0 : (file.pages ?? 0)), 0);
  const said = STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  const lines = [`${files.length} ${files.length === 1 ? "file" : "files"}: ${said.join(", ")} (${pages} pages, ${seconds} s)`];
  for (const { source, status, failedPages, error } of files) {
    if (failedPages) lines.push(`  ${source}: without page ${failedPages.join(", ")}`);
    if (status === "failed") lines.push(`  ${source}: ${error?.message}`);
  }
  for (const { message } of problems) lines.push(`  ${message}`);
  return `${lines.join("\n")}\n`;
}
