/**
 * What assembly makes of regions: blocks in reading order, each of them one thing on the page (a title, a paragraph, a figure with its
 * caption), made of one region or of several. Blocks hold text and formulas apart and know no output format.
 */
import type { TableGrid } from "../otsl.ts";
import type { Box } from "../types.ts";
import type { RunningText } from "./running-text.ts";

/** The region a block, or a part of it, came from: index of the page, place on the page, box. */
export interface Source {
  readonly page: number;
  readonly region: number;
  readonly box: Box;
}

interface BlockBase {
  /** Index of the page the block begins on, and the box of its first part there. */
  readonly page: number;
  readonly box: Box;
  /** All regions it was made of; the first gave `page` and `box`. */
  sources: Source[];
}

/** A heading; `level` 1..4. */
export interface TitleBlock extends BlockBase {
  readonly kind: "title";
  readonly level: number;
  readonly text: RunningText;
}

/** A paragraph. */
export interface ParagraphBlock extends BlockBase {
  readonly kind: "paragraph";
  readonly role: "text" | "ref_text" | "phonetic";
  text: RunningText;
  /** The regions it was joined from, in order, with their plain texts; only regions of class `text` join. */
  readonly pieces: { readonly source: Source; readonly plain: string; readonly joins: boolean; readonly mergePrev: boolean }[];
}

/** A list; items keep their own signs. */
export interface ListBlock extends BlockBase {
  readonly kind: "list";
  readonly subType: "text" | "ref_text";
  readonly items: readonly RunningText[];
}

/** What a visual shows. `path` is where the crop was saved, empty if nowhere. */
export type VisualBody =
  | { readonly type: "image" | "chart"; readonly path: string; readonly content: RunningText }
  | { readonly type: "table"; readonly path: string; readonly grid: TableGrid }
  | { readonly type: "code"; readonly code: string; readonly language: string }
  | { readonly type: "algorithm"; readonly text: RunningText };

/** A caption or footnote of a visual; `before` if it stands before the body in reading order. */
export interface VisualNote {
  readonly role: "caption" | "footnote";
  readonly before: boolean;
  readonly text: RunningText;
  readonly source: Source;
}

/** A picture, chart, table, listing or algorithm with its captions and footnotes in reading order. */
export interface VisualBlock extends BlockBase {
  readonly kind: "visual";
  body: VisualBody;
  notes: VisualNote[];
}

/** A display formula; `latex` is empty when nothing was read. */
export interface EquationBlock extends BlockBase {
  readonly kind: "equation";
  readonly latex: string;
  readonly path: string;
}

/** Text about the page rather than of it. */
export interface ParatextBlock extends BlockBase {
  readonly kind: "paratext";
  readonly role: "header" | "footer" | "page_number" | "aside_text" | "page_footnote";
  readonly text: RunningText;
}

/** Any block. */
export type Block = TitleBlock | ParagraphBlock | ListBlock | VisualBlock | EquationBlock | ParatextBlock;

/** The classes of text about the page. */
export const PARATEXT_CLASSES = ["header", "footer", "page_number", "aside_text", "page_footnote"] as const;

/** Whether a class is text about the page. */
export function isParatext(name: string): name is ParatextBlock["role"] {
  return (PARATEXT_CLASSES as readonly string[]).includes(name);
}
