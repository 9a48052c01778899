/**
 * Blocks as one Markdown text: blocks parted by blank lines, pages without a mark, text about the page left out unless asked for.
 */
import { withoutBlankLines } from "../answer-text.ts";
import type { TableGrid } from "../otsl.ts";
import { escapeHtml, tableToHtml } from "../table-html.ts";
import { spanningCells, tableToMarkdown, withoutSpans } from "../table-markdown.ts";
import type { Block, VisualBlock } from "./blocks.ts";
import { algorithmHtml, fencedCode } from "./code.ts";
import { type Delimiters, displayFormula, escapeLineStarts, inlineFormula, inlineMarkdown } from "./escaping.ts";
import { parseRunningText } from "./running-text.ts";
import { DOUBT_END, DOUBT_START } from "./scripts.ts";

/** How Markdown is written. */
export interface MarkdownOptions {
  /** Print headers, footers, page numbers, side text and page footnotes at their place. Default false. */
  readonly keepParatext?: boolean;
  /** `html`: every table as HTML. `auto`: as Markdown where no cell spans places. `markdown`: always as Markdown. Default `html`. */
  readonly tables?: "html" | "markdown" | "auto";
  /** Told of each table that Markdown cannot show as it is. All its text is kept. */
  readonly onTableLoss?: (loss: { readonly page: number; readonly message: string }) => void;
  /** Delimiters of formulas in a line, default `$ $`, and on their own, default `$$ $$`. */
  readonly inline?: Delimiters;
  readonly display?: Delimiters;
  /** What stands around passages marked as doubtful. Default `<mark>` and `</mark>`. */
  readonly doubt?: Delimiters;
}

export const INLINE_DELIMITERS: Delimiters = ["$", "$"];
export const DISPLAY_DELIMITERS: Delimiters = ["$$", "$$"];

/** Writes blocks as Markdown, without a final line end. */
export function writeMarkdown(blocks: readonly Block[], options: MarkdownOptions = {}): string {
  const [start, end] = options.doubt ?? ["<mark>", "</mark>"];
  return blocks
    .map((block) => blockMarkdown(block, options))
    .filter((text) => text !== "")
    .join("\n\n")
    .replaceAll(DOUBT_START, start)
    .replaceAll(DOUBT_END, end);
}

/** A table as HTML with formulas in delimiters; what stands inside a Markdown page may hold no blank line. */
export function tableBody(grid: TableGrid, inline: Delimiters): string {
  const cell = (text: string) =>
    parseRunningText(text)
      .map((part) => escapeHtml(part.kind === "words" ? part.text : inlineFormula(part.latex, inline)))
      .join("");
  return withoutBlankLines(tableToHtml(grid, cell));
}

/** A picture as Markdown; empty if it was not saved. */
export function picture(path: string): string {
  if (path === "") return "";
  return /[\s()<>]/.test(path) ? `![](<${path.replace(/[<>\n]/g, encodeURIComponent)}>)` : `![](${path})`;
}

function blockMarkdown(block: Block, options: MarkdownOptions): string {
  const inline = options.inline ?? INLINE_DELIMITERS;
  switch (block.kind) {
    case "title":
      return `${"#".repeat(block.level)} ${inlineMarkdown(block.text, inline).replace(/(^|\s)(#+)$/, "$1\\$2")}`;
    case "paragraph":
      return escapeLineStarts(inlineMarkdown(block.text, inline));
    case "list":
      return block.items.map((item) => withoutBlankLines(inlineMarkdown(item, inline))).join("  \n");
    case "equation":
      return block.latex === "" ? picture(block.path) : displayFormula(block.latex, options.display ?? DISPLAY_DELIMITERS);
    case "paratext":
      return options.keepParatext ? escapeLineStarts(inlineMarkdown(block.text, inline)) : "";
    case "visual":
      return visualMarkdown(block, options, inline);
  }
}

interface Part {
  readonly text: string;
  /** HTML and Markdown tables need blank lines around them. */
  readonly apart: boolean;
}

function visualMarkdown(block: VisualBlock, options: MarkdownOptions, inline: Delimiters): string {
  const notes = (before: boolean): Part[] =>
    block.notes
      .filter((note) => note.before === before)
      .map((note) => ({ text: escapeLineStarts(inlineMarkdown(note.text, inline)), apart: false }));
  const parts = [...notes(true), ...bodyParts(block, options, inline), ...notes(false)].filter((part) => part.text !== "");
  return parts.map((part, i) => (i === 0 ? "" : part.apart || parts[i - 1].apart ? "\n\n" : "  \n") + part.text).join("");
}

function tableText(grid: TableGrid, page: number, options: MarkdownOptions, inline: Delimiters): string {
  const { tables = "html", onTableLoss } = options;
  if (tables === "html") return tableBody(grid, inline);
  const spanning = spanningCells(grid);
  if (tables === "markdown" && spanning > 0) {
    const cells = spanning === 1 ? "one cell spans" : `${spanning} cells span`;
    onTableLoss?.({ page, message: `${cells} several places of a table, which Markdown cannot say: the text stands in the first of them` });
  }
  return tableToMarkdown(tables === "markdown" ? withoutSpans(grid) : grid, inline) ?? tableBody(grid, inline);
}

function bodyParts({ body, page }: VisualBlock, options: MarkdownOptions, inline: Delimiters): Part[] {
  switch (body.type) {
    case "code":
      return [{ text: fencedCode(body.code, body.language), apart: false }];
    case "algorithm":
      return [{ text: algorithmHtml(body.text, inline), apart: true }];
    case "table": {
      if (body.grid.length === 0) return [{ text: picture(body.path), apart: false }];
      return [{ text: tableText(body.grid, page, options, inline), apart: true }];
    }
    default: {
      const content = escapeLineStarts(inlineMarkdown(body.content, inline));
      const details = content === "" ? "" : `<details>\n<summary>${body.type} content</summary>\n\n${content}\n\n</details>`;
      return [
        { text: picture(body.path), apart: false },
        { text: details, apart: true },
      ];
    }
  }
}
