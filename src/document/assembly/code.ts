/**
 * Listings and algorithms: code goes into a fence that nothing inside can close, with the language only where the model wrote one; an
 * algorithm, which has formulas, into preformatted HTML. Content is untouched but for blank ends.
 */
import { trimWhite } from "../answer-text.ts";
import { escapeHtml } from "../table-html.ts";
import type { VisualBody } from "./blocks.ts";
import { type Delimiters, inlineFormula } from "./escaping.ts";
import { parseRunningText, type RunningText } from "./running-text.ts";
import { withoutDoubt } from "./scripts.ts";

/** Reads a code region; a fence the model wrote around the whole is taken off. */
export function codeBody(text: string): VisualBody {
  const bare = withoutDoubt(text);
  const fenced = /^(`{3,})[^\S\n]*([\w+#.-]*)[^\S\n]*\n([\s\S]*?)\n?[^\S\n]*\1\s*$/.exec(trimWhite(bare));
  if (fenced !== null && !fenced[3].includes(fenced[1])) return { type: "code", language: fenced[2], code: withoutBlankEnds(fenced[3]) };
  return { type: "code", language: "", code: withoutBlankEnds(bare) };
}

/** Reads an algorithm region. */
export function algorithmBody(text: string): VisualBody {
  return { type: "algorithm", text: parseRunningText(withoutBlankEnds(withoutDoubt(text))) };
}

/** Writes code in a fence. */
export function fencedCode(code: string, language: string): string {
  const longest = [...code.matchAll(/`{3,}/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** Writes an algorithm as preformatted HTML. */
export function algorithmHtml(text: RunningText, inline: Delimiters): string {
  const body = text.map((part) => escapeMarkup(part.kind === "words" ? part.text : inlineFormula(part.latex, inline))).join("");
  return `<div class="mineru-algorithm" style="white-space: pre-wrap; font-family:monospace;">\n${body}\n</div>`;
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, escapeHtml);
}

function withoutBlankEnds(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
