/**
 * CC-OCR's document track: tables by TEDS after cleaning, formulas and pages by 1 - normalised edit distance without blanks. Strict
 * cleans and compares as the benchmark does (all blanks in cells go, only the first table counts, the end tag of an inner table ends
 * it); sound keeps single blanks, treats `th` as `td` and compares all tables. It refuses to know how answers were asked for.
 */
import { normalisedEditDistance } from "./edit-distance.ts";
import type { MetricMode } from "./mode.ts";
import { htmlTables } from "./omnidocbench-extract.ts";
import { toHalfWidth } from "./omnidocbench-normalise.ts";
import { tedsOfDocuments } from "./teds.ts";

/** The table of an answer as CC-OCR compares it; `""` if there is none. */
export function cleanCcOcrTable(answer: string, mode: MetricMode = "sound"): string {
  let text = answer.includes("```html") ? answer.split("```html")[1].split("```")[0] : answer;
  if (mode === "sound") return cleanSoundly(text);
  if (text.includes("<table") && !text.includes("</table>")) text += "</table>";
  return [...text.matchAll(/<table[\s\S]*?<\/table>/g)]
    .map(([table]) =>
      toAsciiWidth(
        table.replace(/<table[^>]*>/g, "<table>").replace(/>([^<>]*)</g, (_, inner: string) => `>${inner.replace(/[ \n]/g, "")}<`),
      ),
    )
    .join("");
}

/** Full-width ASCII to half-width; the ideographic space stays. */
function toAsciiWidth(text: string): string {
  return text.split("\u3000").map(toHalfWidth).join("\u3000");
}

function cleanSoundly(answer: string): string {
  const closed = /<table/i.test(answer) && !/<\/table>/i.test(answer) ? `${answer}</table>` : answer;
  return htmlTables(closed, "sound")
    .map(({ text }) =>
      toHalfWidth(text)
        .replace(/<table[^>]*>/gi, "<table>")
        .replace(/<(\/?)th(?=[\s>])/gi, "<$1td")
        .replace(/<\/?(?:thead|tbody|tfoot)[^>]*>/gi, "")
        .replace(/>([^<>]*)</g, (_, inner: string) => `>${inner.trim().replace(/\s+/g, " ")}<`),
    )
    .join("");
}

/** TEDS of a table, or TEDS-S (which the benchmark itself does not report), 0 to 1. A bad span stops the official run; here it scores 0. */
export function scoreCcOcrTable(
  pred: string,
  truth: string,
  options: { readonly mode?: MetricMode; readonly structureOnly?: boolean } = {},
): number {
  const { mode = "sound" } = options;
  const wrap = (answer: string) => `<html><body>${cleanCcOcrTable(answer, mode)}</body></html>`;
  return tedsOfDocuments(wrap(pred), wrap(truth), options);
}

/** 1 - normalised edit distance of formulas without blanks, 0 to 1. */
export function scoreCcOcrFormula(pred: string, truth: string): number {
  const bare = pred.replaceAll("\n", " ").replaceAll("```latex", "").replaceAll("```", "").replaceAll("\t", " ").replaceAll(" ", "");
  return 1 - normalisedEditDistance(bare, truth.replaceAll(" ", ""));
}

const PREAMBLE =
  /\\documentclass\{[^\n]*?\}|\\usepackage\[[^\n]*?\]\{[^\n]*?\}|\\usepackage\{[^\n]*?\}|\\geometry\{[^\n]*?\}|\\begin\{document\}|\\end\{document\}|\\noindent/g;

/** 1 - normalised edit distance of pages without LaTeX preamble and blanks, 0 to 1. */
export function scoreCcOcrDocument(pred: string, truth: string): number {
  const body = pred.replace(PREAMBLE, "");
  const fenced = body.includes("```latex") ? body.split("```latex")[1].split("```")[0] : body;
  const bare = (text: string) => text.replaceAll("```", "").replace(/[ \n]/g, "");
  return 1 - normalisedEditDistance(bare(fenced), truth.replace(/[ \n]/g, ""));
}

/** Mean table score over the truths of a set; an image without an answer counts 0. */
export function scoreCcOcrTables(
  pred: Readonly<Record<string, string>>,
  truth: Readonly<Record<string, string>>,
  options: { readonly mode?: MetricMode; readonly structureOnly?: boolean } = {},
): number {
  const images = Object.keys(truth);
  if (images.length === 0) throw new RangeError("`truth` expected at least one image, got none");
  const scores = images.map((image) => (pred[image] === undefined ? 0 : scoreCcOcrTable(pred[image], truth[image], options)));
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
