/**
 * OCRBench v2's table parsing: TEDS of HTML or Markdown tables, the kind chosen by a word in the question. Strict wraps and converts
 * as the benchmark does (the second line of Markdown always goes, letters of the fence word are eaten, `th` is no cell); sound looks
 * for a separator line, strips fences only, treats `th` as `td`, and gives text without a table 0. It refuses to know other tasks.
 */
import { cleanCcOcrTable } from "./cc-ocr.ts";
import type { MetricMode } from "./mode.ts";
import { pipeTablesToHtml } from "./pipe-table.ts";
import { strip, stripCharacters } from "./python-text.ts";
import { tedsOfDocuments } from "./teds.ts";

/** Adds the tags a table lacks to be a document; newlines go. */
export function wrapHtmlTable(table: string): string {
  let html = table.replaceAll("\n", "");
  if (!html.includes("<table")) html = `<table>${html}`;
  if (!html.includes("</table>")) html = `${html}</table>`;
  if (!html.includes("<body>")) html = `<body>${html}</body>`;
  return html.includes("<html>") ? html : `<html>${html}</html>`;
}

/** A Markdown table as an HTML document, as the benchmark converts it: the second line goes, whatever it is. */
export function markdownTableToHtml(markdown: string): string {
  const lines = strip(stripCharacters(stripCharacters(markdown, "`markdown"), "`")).split("\n");
  const rows = [lines[0], ...lines.slice(2)].map((line) => {
    const cells = strip(line).split("|").slice(1, -1);
    return `<tr>${cells.map((cell) => `<td>${/^ +$/.test(cell) ? " " : strip(cell)}</td>`).join("")}</tr>`;
  });
  return `<html><body><table>${rows.join("")}</table></body></html>`;
}

/** One item of the table parsing tasks. `pred` is `null` where the model gave no text. */
export interface TableItem {
  readonly type: "table parsing en" | "table parsing cn";
  readonly question: string;
  readonly pred: string | null;
  readonly truth: string;
}

/** TEDS of an item, or TEDS-S (which the benchmark itself does not report), 0 to 1. */
export function scoreOcrBenchTable(
  item: TableItem,
  options: { readonly mode?: MetricMode; readonly structureOnly?: boolean } = {},
): number {
  const { mode = "sound" } = options;
  const { pred, truth } = item;
  if (pred === null) return 0;
  const isHtml = item.type === "table parsing cn" || item.question.toLowerCase().includes("html");
  if (mode === "sound") return scoreSoundly(pred, truth, isHtml, options);
  if (!isHtml) return tedsOfDocuments(markdownTableToHtml(pred), markdownTableToHtml(truth), options);
  const line = pred.replaceAll("\n", "");
  const start = line.includes("<body") ? line.indexOf("<body") : line.indexOf("<table");
  return start < 0 ? 0 : tedsOfDocuments(wrapHtmlTable(line.slice(start)), wrapHtmlTable(truth), { mode, ...options });
}

function scoreSoundly(pred: string, truth: string, isHtml: boolean, options: { readonly structureOnly?: boolean }): number {
  const table = (text: string) => {
    const html = isHtml ? text : pipeTablesToHtml(text.replace(/^\s*```[a-z]*\n|```\s*$/g, ""), "sound");
    const rows = /<table/i.test(html) || !/<tr/i.test(html) ? html : `<table>${html}</table>`;
    return `<html><body>${cleanCcOcrTable(rows, "sound")}</body></html>`;
  };
  return tedsOfDocuments(table(pred), table(truth), { ...options, mode: "sound" });
}
