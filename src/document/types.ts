/**
 * The words for a parsed document: a document is pages, a page is regions in reading order, a region is a box with a class and what was
 * read in it. Pages are complete in themselves, so they can be produced, written and forgotten one by one. Every value is plain data that
 * survives JSON. Knows nothing of the engine that fills it in (paper section 4: layout first, then the content of each region).
 */

/** Layout classes the project knows by name. A model may answer others; they are kept and read as text. */
export const REGION_CLASSES = [
  "text",
  "title",
  "doc_title",
  "paragraph_title",
  "table",
  "equation",
  "formula_number",
  "code",
  "algorithm",
  "aside_text",
  "ref_text",
  "index",
  "phonetic",
  "list_item",
  "caption",
  "table_caption",
  "image_caption",
  "code_caption",
  "footnote",
  "table_footnote",
  "image_footnote",
  "header",
  "footer",
  "page_number",
  "page_footnote",
  "image",
  "chart",
  "list",
  "image_block",
  "equation_block",
  "unknown",
] as const;

/** One of {@link REGION_CLASSES}. */
export type RegionClass = (typeof REGION_CLASSES)[number];

/** Corners in thousandths of the page, whole numbers 0..1000: left, top, right, bottom. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** Counter-clockwise turn in degrees that sets the region upright; null when the layout does not say (read as 0). */
export type Angle = 0 | 90 | 180 | 270 | null;

/** What a region is read as. */
export type RecognitionTask = "text" | "table" | "formula";

/** Whether `name` is on the list of classes. */
export function isKnownClass(name: string): name is RegionClass {
  return (REGION_CLASSES as readonly string[]).includes(name);
}

/** Something the reader of the result should know. */
export type WarningKind =
  | "empty-layout"
  | "unparseable"
  | "bad-box"
  | "out-of-range"
  | "reversed-corners"
  | "zero-area"
  | "unknown-class"
  | "no-angle"
  | "truncated"
  | "duplicate"
  | "stray-text"
  | "layout-retried"
  | "whole-page"
  | "near-empty"
  | "banded"
  | "answer-truncated"
  | "runaway"
  | "formula-unrendered"
  | "region-failed"
  | "page-failed";

/** One warning. `page` counts from 0; `region` is the place in the page's regions. */
export interface Warning {
  readonly kind: WarningKind;
  readonly message: string;
  readonly page?: number;
  readonly region?: number;
}

/** One committed token: its text, the model's probability for it, and the denoising step (from 0, within its block) that fixed it. */
export interface TokenReading {
  readonly text: string;
  readonly confidence: number;
  readonly step: number;
}

/** What was read in a region. `otsl` is the raw table answer; `latex` stands without delimiters, already repaired. */
export type RegionContent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "table"; readonly otsl: string }
  | { readonly kind: "formula"; readonly latex: string; readonly flagged?: boolean }
  | { readonly kind: "none" };

/** A region as the layout tells it. */
export interface LayoutRegion {
  readonly class: string;
  readonly box: Box;
  readonly pixelBox: readonly [left: number, top: number, right: number, bottom: number];
  readonly angle: Angle;
  /** The layout says that this paragraph continues the one before. */
  readonly mergePrev?: true;
}

/** A region with its content: all that assembly needs. `image` is the path its crop was saved under. */
export interface ReadRegion {
  readonly class: string;
  readonly box: Box;
  readonly angle: Angle;
  readonly mergePrev?: true;
  readonly content: RegionContent;
  readonly image?: string;
  /** Mean probability of the committed tokens, 0..1. */
  readonly confidence?: number;
  /** The tokens whose texts, joined, are the raw answer. */
  readonly tokens?: readonly TokenReading[];
}

/** How a region's content came about. */
export interface Provenance {
  /** The task the crop was read with; null when it was not read. */
  readonly task: RecognitionTask | null;
  /** Why it was not read. */
  readonly skipped?: "picture" | "container" | "near-empty" | "switched-off" | "failed";
  /** The raw answer, when it differs from the content. */
  readonly answer?: string;
  /** Denoising steps and forward passes spent on it. */
  readonly steps?: number;
  readonly forwardPasses?: number;
  /** What ended the answer. */
  readonly ended?: "stop-token" | "length" | "repetition";
  /** Number of bands the crop was cut into; 1 when left out. */
  readonly bands?: number;
  /** Names of the repairs made to the answer. */
  readonly repairs?: readonly string[];
}

/** A region as the page parse hands it on. */
export interface ParsedRegion extends ReadRegion, LayoutRegion {
  readonly class: string;
  readonly box: Box;
  readonly angle: Angle;
  readonly mergePrev?: true;
  readonly provenance: Provenance;
  /** Least probability among the committed tokens, 0..1. */
  readonly minConfidence?: number;
}

/** A page with what was read on it: all that assembly needs. `index` counts from 0, sizes are pixels. */
export interface ReadPage {
  readonly index: number;
  readonly width: number;
  readonly height: number;
  readonly regions: readonly ReadRegion[];
}

/** A page as the parse hands it on; complete in itself. */
export interface ParsedPage extends ReadPage {
  readonly regions: readonly ParsedRegion[];
  readonly warnings: readonly Warning[];
  /** Quarters in degrees, counter-clockwise, by which the page was turned before it was read, and degrees by which it lay crooked. */
  readonly turn?: number;
  readonly skew?: number;
  /** Size in points (1/72 inch), when the source knows it. */
  readonly points?: { readonly width: number; readonly height: number };
  /** Raw layout answer, its tokens, and how often the layout was asked for. */
  readonly layout?: { readonly answer: string; readonly attempts: number; readonly tokens?: readonly TokenReading[] };
}

/** Where a document came from and what read it. */
export interface DocumentSource {
  readonly name?: string;
  readonly pageCount?: number;
  readonly checkpoint?: string;
}

/** A whole parsed document. Warnings of single pages stay with their pages. */
export interface ParsedDocument {
  readonly source: DocumentSource;
  readonly pages: readonly ParsedPage[];
  readonly warnings: readonly Warning[];
}
