/**
 * Pipe tables of Markdown as HTML, for the extraction step of OmniDocBench. Strict is the official conversion with its losses: cells
 * that hold a colon or `---` vanish, the line directly above a table is lost, a separator of single hyphens becomes a row. Sound reads
 * tables as GitHub's Markdown defines them. It refuses to know what becomes of the text around.
 */
import type { MetricMode } from "./mode.ts";
import { strip } from "./python-text.ts";

const ROW = /\|[\s\S]*?\|\n/g;
const CELL = '<td colspan="1" rowspan="1">';

/** True if the official extraction would convert pipe tables in this text: it needs two rows. */
export function hasPipeTable(text: string): boolean {
  return (`${text}\n`.match(ROW)?.length ?? 0) >= 2;
}

/** The text with its pipe tables as HTML; strict adds line ends around, as the official code does. */
export function pipeTablesToHtml(text: string, mode: MetricMode = "sound"): string {
  return mode === "strict" ? convertStrictly(text) : convertSoundly(text);
}

/** Lines of text, and between them tables as lists of their lines. */
type Part = { readonly text: string } | { readonly block: readonly string[] };

function convertStrictly(text: string): string {
  let source = `${text.replaceAll("\r", "")}\n`;
  for (const row of source.match(ROW) ?? []) {
    const at = source.indexOf(row);
    source = source.slice(0, at) + rowTable(row) + source.slice(at + row.length);
  }
  const output: string[] = [];
  let block: string | null = null;
  let last = "";
  for (const line of source.split("\n")) {
    if (line.includes("<table>")) block = (block ?? "") + last;
    else if (block !== null) {
      if (!looksLikeSeparator(last) && !last.includes("</thead>")) block += `\n${last}`;
      if (last.includes("</table>")) {
        output.push(joinRowTables(block));
        block = null;
      }
    } else output.push(last);
    last = line;
  }
  if (last !== "") output.push(block !== null || last.includes("</table>") ? joinRowTables(`${block ?? ""}\n${last}`) : last);
  return output.join("\n").replaceAll("<table>", '<table border="1" >').replaceAll("<td>", CELL);
}

/** A match of `ROW` as a table of its own: the first line as its head, the lines from the third on as its body. */
function rowTable(row: string): string {
  const lines = strip(row).split("\n").map(strip);
  const cells = (line: string, tag: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => `      <${tag}>${strip(cell)}</${tag}>\n`)
      .join("");
  const body = lines.slice(2).map((line) => `    <tr>\n${cells(line, "td")}    </tr>\n`);
  return `<table>\n  <thead>\n    <tr>\n${cells(lines[0], "th")}    </tr>\n  </thead>\n  <tbody>\n${body.join("")}  </tbody>\n</table>\n`;
}

function looksLikeSeparator(line: string): boolean {
  return line.includes(":") || line.includes("---");
}

function joinRowTables(blocks: string): string {
  const rows = [...blocks.replace(/<!--[\s\S]*?-->/g, "").matchAll(/<table>[\s\S]*?<\/table>/g)].flatMap(([table]) => {
    const lines = table
      .split("\n")
      .map((line) => (line.includes("<th>") ? line.replaceAll("<th>", "<td>").replaceAll("</th>", "</td>") : line))
      .filter((line) => !/<\/?t(?:able|head|body)>/.test(line));
    return lines.length > 2 ? lines : [];
  });
  return `\n\n<table>\n${rows.join("\n")}\n</table>\n\n`;
}

const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

function convertSoundly(text: string): string {
  return tableParts(text.split("\n"))
    .map((part) => {
      if ("text" in part) return part.text;
      const rows = part.block.filter((line, index) => index !== 1 || !SEPARATOR.test(line)).map(cellsOf);
      return `<table border="1" >${rows.map((row) => `<tr>${row.map((cell) => `${CELL}${cell}</td>`).join("")}</tr>`).join("")}</table>`;
    })
    .join("\n");
}

/** Tables are runs of lines that begin and end with a pipe, two or more with a separator second. */
function tableParts(lines: readonly string[]): Part[] {
  const parts: Part[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (end < lines.length && /^\s*\|.*\|\s*$/.test(lines[end])) end++;
    if (end - start >= 2 && SEPARATOR.test(lines[start + 1])) {
      parts.push({ block: lines.slice(start, end) });
      start = end;
    } else {
      parts.push({ text: lines[start] });
      start++;
    }
  }
  return parts;
}

/** Cells between pipes; an escaped pipe, or one inside a code span or a formula, does not separate. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  const cells = [""];
  for (const [piece] of inner.matchAll(/\\\||`[^`]*`|\$[^$]*\$|[\s\S]/g)) {
    if (piece === "|") cells.push("");
    else cells[cells.length - 1] += piece === "\\|" ? "|" : piece;
  }
  return cells.map((cell) => cell.trim());
}
