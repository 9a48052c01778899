/**
 * From the answers about one region to its content: texts of bands joined, formulas repaired,
 * answers that ran away cut, and a warning for whatever a reader should know. Refuses to ask.
 */
import type { RecognitionResult } from "../engine/types.ts";
import { rejoin } from "./crop-guards.ts";
import { parseFormula } from "./formula.ts";
import type { RegionPlan } from "./regions.ts";
import { cutRunaway } from "./runaway.ts";
import type { LayoutRegion, ParsedRegion, Provenance, RecognitionTask, RegionContent, TokenReading, Warning } from "./types.ts";

/** Tokens as the outputs tell them; what the engine put between lines counts to the step before it. */
export function tokensOf(results: readonly RecognitionResult[]): TokenReading[] {
  return results.flatMap(({ tokens }) => tokens.map(({ text, confidence, step }) => ({ text, confidence, step: Math.max(0, step - 1) })));
}

/** A page number that says something else is text after all: only the layout of white space guesses it by its place. */
export function namedByContent(name: string, content: RegionContent): string {
  if (name !== "page_number" || content.kind !== "text") return name;
  return /^[\W_]*(?:page|p\.|seite|s\.)?[\W_]*(?:\d{1,4}|[ivxlcdm]{1,7})[\W_]*$/i.test(content.text) ? name : "text";
}

const ENDED: Readonly<Record<string, Provenance["ended"]>> = { stop: "stop-token", length: "length", repetition: "repetition" };

/** What an answer says; one that did not come to its end loses what it says over and over. */
function textOf({ text, ended }: RecognitionResult): { readonly text: string; readonly cut: boolean } {
  const kept = ended === "stop" ? null : cutRunaway(text);
  return { text: kept ?? text, cut: kept !== null };
}

function contentOf(task: RecognitionTask, texts: readonly string[]): { content: RegionContent; repairs?: readonly string[] } {
  const answer = rejoin(texts, task);
  if (task === "table") return { content: { kind: "table", otsl: answer } };
  if (task === "text") return { content: { kind: "text", text: answer } };
  const { latex, flagged, repairs } = parseFormula(answer);
  return { content: { kind: "formula", latex, ...(flagged ? { flagged } : {}) }, repairs };
}

/** The region `plan` is about, read. `results` are the answers about its pieces in order: bands. */
export function readRegion(
  plan: RegionPlan,
  region: LayoutRegion,
  results: readonly RecognitionResult[],
  options: { readonly page: number; readonly keepTokens?: boolean; readonly warn: (warning: Warning) => void },
): ParsedRegion {
  const { task } = plan;
  if (task === null || results.length === 0)
    return { ...region, content: { kind: "none" }, provenance: { task, ...(plan.skipped ? { skipped: plan.skipped } : {}) } };
  const answers = results.map(textOf);
  const { content, repairs } = contentOf(
    task,
    answers.map(({ text }) => text),
  );
  const confidences = results.flatMap(({ tokens }) => tokens.filter(({ step }) => step > 0).map(({ confidence }) => confidence));
  const warn = (kind: Warning["kind"], message: string) => options.warn({ kind, message, page: options.page, region: plan.region });
  if (answers.some(({ cut }) => cut) || results.some(({ ended }) => ended === "repetition"))
    warn("runaway", "the answer repeated itself and was cut");
  else if (results.some(({ ended }) => ended === "length"))
    warn("answer-truncated", "the answer reached its token limit and may be incomplete");
  if (content.kind === "formula" && content.flagged) warn("formula-unrendered", "the formula does not render and is kept as it was read");
  if (results.length > 1) warn("banded", `the region was read in ${results.length} bands`);
  const sum = (of: (result: RecognitionResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const pieces = sum(({ lines }) => lines?.length ?? 1);
  return {
    ...region,
    class: namedByContent(region.class, content),
    content,
    ...(confidences.length > 0
      ? { confidence: confidences.reduce((a, b) => a + b, 0) / confidences.length, minConfidence: Math.min(...confidences) }
      : {}),
    ...(options.keepTokens ? { tokens: tokensOf(results) } : {}),
    provenance: {
      task,
      ...(task === "formula" ? { answer: results.map(({ text }) => text).join("\n") } : {}),
      steps: sum(({ steps }) => steps),
      forwardPasses: sum(({ forwards }) => forwards),
      ended: ENDED[results[results.length - 1].ended],
      ...(pieces > 1 ? { bands: pieces } : {}),
      ...(repairs && repairs.length > 0 ? { repairs } : {}),
    },
  };
}
