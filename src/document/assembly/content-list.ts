/**
 * Blocks as MinerU's content list, version 1, so that tools made for MinerU read our output: one flat array, per page the blocks and then
 * the text about the page. Field names and shapes are MinerU's.
 */
import type { Block, VisualBlock } from "./blocks.ts";
import { algorithmHtml, fencedCode } from "./code.ts";
import { type Delimiters, displayFormula, escapeLineStarts, inlineMarkdown } from "./escaping.ts";
import { DISPLAY_DELIMITERS, INLINE_DELIMITERS, tableBody } from "./markdown.ts";
import type { RunningText } from "./running-text.ts";
import { withoutDoubt } from "./scripts.ts";

/** One entry. `bbox` in thousandths of the page, `page_idx` from 0; the other fields depend on `type`. */
export interface ContentListEntry {
  readonly type: string;
  readonly bbox: readonly number[];
  readonly page_idx: number;
  readonly [field: string]: unknown;
}

/** Delimiters of formulas. */
export interface ContentListOptions {
  readonly inline?: Delimiters;
  readonly display?: Delimiters;
}

/** Writes blocks as a content list. */
export function writeContentList(blocks: readonly Block[], options: ContentListOptions = {}): ContentListEntry[] {
  const pages = [...new Set(blocks.map((block) => block.page))].sort((a, b) => a - b);
  return pages.flatMap((page) => {
    const here = blocks.filter((block) => block.page === page);
    const ordered = [...here.filter((block) => block.kind !== "paratext"), ...here.filter((block) => block.kind === "paratext")];
    return ordered.map((block): ContentListEntry => {
      const { type, ...fields } = entryFields(block, options);
      return { type, ...fields, bbox: [...block.box], page_idx: page };
    });
  });
}

function entryFields(block: Block, options: ContentListOptions): { type: string; [field: string]: unknown } {
  const inline = options.inline ?? INLINE_DELIMITERS;
  const text = (running: RunningText) => withoutDoubt(inlineMarkdown(running, inline));
  switch (block.kind) {
    case "title":
      return { type: "text", text: text(block.text), text_level: block.level };
    case "paragraph":
      return { type: block.role, text: block.role === "text" ? escapeLineStarts(text(block.text)) : text(block.text) };
    case "list":
      return { type: "list", sub_type: block.subType, list_items: block.items.map(text) };
    case "equation": {
      const formula = block.latex === "" ? "" : displayFormula(block.latex, options.display ?? DISPLAY_DELIMITERS);
      return { type: "equation", text: formula, text_format: "latex", ...(block.path === "" ? {} : { img_path: block.path }) };
    }
    case "paratext":
      return { type: block.role, text: text(block.text) };
    case "visual":
      return visualFields(block, inline, text);
  }
}

function visualFields(
  block: VisualBlock,
  inline: Delimiters,
  text: (running: RunningText) => string,
): { type: string; [field: string]: unknown } {
  const notes = (role: "caption" | "footnote") => block.notes.filter((note) => note.role === role).map((note) => text(note.text));
  const [captions, footnotes] = [notes("caption"), notes("footnote")];
  const { body } = block;
  switch (body.type) {
    case "image":
      return { type: "image", img_path: body.path, image_caption: captions, image_footnote: footnotes, content: text(body.content) };
    case "chart":
      return { type: "chart", img_path: body.path, content: text(body.content), chart_caption: captions, chart_footnote: footnotes };
    case "table": {
      const read = body.grid.length === 0 ? {} : { table_body: tableBody(body.grid, inline) };
      return { type: "table", img_path: body.path, table_caption: captions, table_footnote: footnotes, ...read };
    }
    default: {
      const code = body.type === "code" ? fencedCode(body.code, body.language) : algorithmHtml(body.text, inline);
      const closing = footnotes.length === 0 ? {} : { code_footnote: footnotes };
      return { type: "code", sub_type: body.type, code_caption: captions, ...closing, code_body: code };
    }
  }
}
