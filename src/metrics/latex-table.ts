/**
 * LaTeX `tabular` as an HTML table, for sound comparison of answers that write tables in LaTeX: cells between `&`, rows between `\\`,
 * `\multicolumn` and `\multirow` as spans; rules, column widths and fonts go. It refuses to typeset what stands in a cell.
 */

const RULES = /\\(?:hline|toprule|midrule|bottomrule|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})(?:\[[^\]]*\])?/g;
const ENVIRONMENT = /\\begin\{tabular[x*]?\}(?:\{[^{}]*\})?(?:\[[^\]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}([\s\S]*?)\\end\{tabular[x*]?\}/;

/** The first `tabular` of a text as `<table>…</table>`; `""` if it holds none. */
export function latexTableToHtml(latex: string): string {
  const body = ENVIRONMENT.exec(latex)?.[1];
  if (body === undefined) return "";
  const rows = splitOutside(body.replace(RULES, ""), "\\\\")
    .map((row) => row.replace(/^\s*\[[^\]]*\]/, ""))
    .filter((row) => row.trim() !== "")
    .map((row) => `<tr>${splitOutside(row, "&").map(cellHtml).join("")}</tr>`);
  return `<table>${rows.join("")}</table>`;
}

/** Splits at a separator that stands outside braces and is not escaped. */
function splitOutside(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    if (depth === 0 && text.startsWith(separator, at)) {
      parts.push("");
      at += separator.length;
      continue;
    }
    const piece = text[at] === "\\" ? text.slice(at, at + 2) : text[at];
    if (piece === "{") depth++;
    else if (piece === "}") depth = Math.max(0, depth - 1);
    parts[parts.length - 1] += piece;
    at += piece.length;
  }
  return parts;
}

function cellHtml(cell: string): string {
  let content = cell.trim();
  let spans = "";
  for (;;) {
    const span = /^\\multi(column|row)\{(\d+)\}\{[^{}]*\}\{([\s\S]*)\}$/.exec(content);
    if (!span) break;
    spans += ` ${span[1] === "column" ? "colspan" : "rowspan"}="${span[2]}"`;
    content = span[3].trim();
  }
  const plain = content
    .replace(/\\(?:textbf|textit|emph|mathbf|makecell)\{([^{}]*)\}/g, "$1")
    .replace(/\\([&%$#_{}])/g, "$1")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
  return `<td${spans}>${plain}</td>`;
}
