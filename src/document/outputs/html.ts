/**
 * A document as one HTML page that needs nothing else: formulas as MathML, pictures as data where the caller has them, one small style
 * sheet, no script. Everything read from the page is escaped text; a content security policy forbids the rest. Refuses to fetch anything.
 */
import type { Block, VisualBlock } from "../assembly/blocks.ts";
import type { RunningText } from "../assembly/running-text.ts";
import { parseRunningText } from "../assembly/running-text.ts";
import { DOUBT_END, DOUBT_START } from "../assembly/scripts.ts";
import { type AssemblyOptions, assemble } from "../assembly.ts";
import { formulaToMathml } from "../formula/katex.ts";
import { escapeHtml, tableToHtml } from "../table-html.ts";
import type { ReadPage } from "../types.ts";

/** How the page is written. */
export interface HtmlOptions extends AssemblyOptions {
  /** Title of the page. Default "Document". */
  readonly title?: string;
  /** Print headers, footers and page numbers at their place. Default false. */
  readonly keepParatext?: boolean;
  /** The picture saved under `path` as a `data:image/…` address; what it does not know is linked by its relative path. */
  readonly images?: (path: string) => string | undefined;
}

/** Writes the pages of a document as HTML. */
export function documentHtml(pages: readonly ReadPage[], options: HtmlOptions = {}): string {
  const body = assemble(pages, options)
    .map((block) => blockHtml(block, options))
    .filter((html) => html !== "")
    .join("\n");
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(options.title ?? "Document")}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

const STYLE = `body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 serif;color:#111;background:#fff}
table{border-collapse:collapse}td{border:1px solid #888;padding:.2rem .5rem;vertical-align:top;white-space:pre-line}
figure{margin:1rem 0;overflow-x:auto}figcaption,.footnote{font-size:.9rem}img{max-width:100%}
pre{overflow-x:auto;background:#f4f4f4;padding:.6rem}.algorithm{white-space:pre-wrap;font-family:monospace}
ul{list-style:none;padding-left:1rem}.paratext{color:#666;font-size:.85rem}.unrendered{background:#fee}mark{background:#ff8}`;

/** One block as HTML, text escaped; empty where it is not printed. */
export function blockHtml(block: Block, options: HtmlOptions): string {
  return unmarkedHtml(block, options).replaceAll(DOUBT_START, "<mark>").replaceAll(DOUBT_END, "</mark>");
}

function unmarkedHtml(block: Block, options: HtmlOptions): string {
  switch (block.kind) {
    case "title":
      return `<h${block.level}>${runningHtml(block.text)}</h${block.level}>`;
    case "paragraph":
      return `<p>${runningHtml(block.text)}</p>`;
    case "list":
      return `<ul>${block.items.map((item) => `<li>${runningHtml(item)}</li>`).join("")}</ul>`;
    case "equation":
      return block.latex === "" ? pictureHtml(block.path, options) : `<figure>${formulaHtml(block.latex, true)}</figure>`;
    case "paratext":
      return options.keepParatext ? `<p class="paratext">${runningHtml(block.text)}</p>` : "";
    case "visual":
      return visualHtml(block, options);
  }
}

function visualHtml(block: VisualBlock, options: HtmlOptions): string {
  const notes = (before: boolean) =>
    block.notes
      .filter((note) => note.before === before)
      .map((note) => `<div class="${note.role}">${runningHtml(note.text)}</div>`)
      .join("");
  return `<figure>${notes(true)}${bodyHtml(block, options)}${notes(false)}</figure>`;
}

function bodyHtml({ body }: VisualBlock, options: HtmlOptions): string {
  switch (body.type) {
    case "code":
      return `<pre><code>${escapeHtml(body.code)}</code></pre>`;
    case "algorithm":
      return `<div class="algorithm">${runningHtml(body.text)}</div>`;
    case "table":
      return body.grid.length === 0
        ? pictureHtml(body.path, options)
        : tableToHtml(body.grid, (text) => runningHtml(parseRunningText(text)));
    default: {
      const content = runningHtml(body.content);
      return (
        pictureHtml(body.path, options) + (content === "" ? "" : `<details><summary>${body.type} content</summary>${content}</details>`)
      );
    }
  }
}

function runningHtml(text: RunningText): string {
  return text
    .map((part) => (part.kind === "words" ? escapeHtml(part.text).replace(/\n/g, "<br>") : formulaHtml(part.latex, false)))
    .join("");
}

function formulaHtml(latex: string, display: boolean): string {
  return formulaToMathml(latex, display) ?? `<code class="unrendered">${escapeHtml(latex)}</code>`;
}

/** A picture the caller gives as data, or a relative path; any other address is left out. */
function pictureHtml(path: string, options: HtmlOptions): string {
  if (path === "") return "";
  const data = options.images?.(path);
  const isData = data !== undefined && /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]*$/.test(data);
  if (!isData && /^(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\]{2})/.test(path.trim())) return "";
  return `<img alt="" src="${isData ? data : escapeHtml(path)}">`;
}
