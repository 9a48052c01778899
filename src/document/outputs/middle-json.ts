/**
 * MinerU's middle.json (its `vlm` form), for tools that draw or post-process from it: per page the blocks with lines and spans, boxes in
 * whole points, and the text about the page in `discarded_blocks`. Blocks are not joined over pages here. Field names are MinerU's.
 */
import type { Block, VisualBlock, VisualNote } from "../assembly/blocks.ts";
import { algorithmHtml } from "../assembly/code.ts";
import { tableBody } from "../assembly/markdown.ts";
import type { RunningText } from "../assembly/running-text.ts";
import { withoutDoubt } from "../assembly/scripts.ts";
import { type AssemblyOptions, assemble } from "../assembly.ts";
import type { Box, ParsedPage, ReadPage } from "../types.ts";

/** The file's content. */
export interface MiddleJson {
  readonly pdf_info: readonly MiddlePage[];
  readonly _backend: "vlm";
  readonly _version_name: string;
}

/** One page: blocks in reading order, then what was set aside. */
export interface MiddlePage {
  readonly preproc_blocks: readonly MiddleBlock[];
  readonly para_blocks: readonly MiddleBlock[];
  readonly discarded_blocks: readonly MiddleBlock[];
  readonly page_size: readonly [width: number, height: number];
  readonly page_idx: number;
}

/** A block: simple ones have `lines`, visuals and lists have `blocks`. */
export interface MiddleBlock {
  readonly type: string;
  readonly bbox: readonly number[];
  readonly index: number;
  readonly angle?: number;
  readonly level?: number;
  readonly sub_type?: string;
  readonly lines?: readonly { readonly bbox: readonly number[]; readonly spans: readonly MiddleSpan[] }[];
  readonly blocks?: readonly MiddleBlock[];
}

/** A span of a line. */
export interface MiddleSpan {
  readonly bbox: readonly number[];
  readonly type: string;
  readonly content?: string;
  readonly html?: string;
  readonly image_path?: string;
}

/** Pixels to points where a page does not know its size in points: MinerU renders at 200 dots per inch. */
const POINTS_PER_PIXEL = 72 / 200;

/** Writes pages as middle.json. `versionName` stands in `_version_name`. */
export function documentToMiddleJson(
  pages: readonly (ReadPage & Pick<ParsedPage, "points">)[],
  versionName: string,
  options: AssemblyOptions = {},
): MiddleJson {
  const pdf_info = pages.map((page): MiddlePage => {
    const size = page.points ?? { width: page.width * POINTS_PER_PIXEL, height: page.height * POINTS_PER_PIXEL };
    const context: Context = {
      points: (box) => box.map((edge, i) => Math.trunc((edge / 1000) * (i % 2 === 0 ? size.width : size.height))),
      angle: (region) => page.regions[region].angle ?? 0,
    };
    const blocks = assemble([page], { ...options, mergeParagraphs: false, mergeTables: false });
    const of = (paratext: boolean) =>
      blocks.filter((block) => (block.kind === "paratext") === paratext).map((block) => middleBlock(block, context));
    const body = of(false);
    const page_size = [Math.trunc(size.width), Math.trunc(size.height)] as const;
    return { preproc_blocks: body, para_blocks: body, discarded_blocks: of(true), page_size, page_idx: page.index };
  });
  return { pdf_info, _backend: "vlm", _version_name: versionName };
}

interface Context {
  readonly points: (box: Box) => number[];
  readonly angle: (region: number) => number;
}

function middleBlock(block: Block, context: Context): MiddleBlock {
  const bbox = context.points(block.box);
  const index = block.sources[0].region;
  const base = { bbox, angle: context.angle(index), index };
  switch (block.kind) {
    case "title":
      return { type: "title", ...base, level: block.level, lines: [textLine(block.text, bbox)] };
    case "paragraph":
    case "paratext":
      return { type: block.role, ...base, lines: [textLine(block.text, bbox)] };
    case "equation": {
      const image = block.path === "" ? {} : { image_path: block.path };
      return {
        type: "interline_equation",
        ...base,
        lines: [{ bbox, spans: [{ bbox, type: "interline_equation", content: block.latex, ...image }] }],
      };
    }
    case "list": {
      const items = block.items.map((item, i): MiddleBlock => {
        const source = block.sources[i + 1] ?? block.sources[0];
        const box = context.points(source.box);
        return { type: block.subType, bbox: box, angle: context.angle(source.region), index: source.region, lines: [textLine(item, box)] };
      });
      return { type: "list", ...base, sub_type: block.subType, blocks: items };
    }
    case "visual":
      return visualBlock(block, base, context);
  }
}

function visualBlock(block: VisualBlock, base: { bbox: number[]; angle: number; index: number }, context: Context): MiddleBlock {
  const type = block.body.type === "algorithm" ? "code" : block.body.type;
  const note = ({ role, text, source }: VisualNote): MiddleBlock => {
    const bbox = context.points(source.box);
    return { type: `${type}_${role}`, bbox, angle: context.angle(source.region), index: source.region, lines: [textLine(text, bbox)] };
  };
  const body: MiddleBlock = { type: `${type}_body`, ...base, lines: [{ bbox: base.bbox, spans: [bodySpan(block, base.bbox)] }] };
  const blocks = [...block.notes.filter((n) => n.before).map(note), body, ...block.notes.filter((n) => !n.before).map(note)];
  return { type, ...base, ...(type === "code" ? { sub_type: block.body.type } : {}), blocks };
}

function bodySpan({ body }: VisualBlock, bbox: number[]): MiddleSpan {
  switch (body.type) {
    case "table":
      return {
        bbox,
        type: "table",
        html: tableBody(body.grid, ["<eq>", "</eq>"]).replace(/&lt;(\/?)eq&gt;/g, "<$1eq>"),
        image_path: body.path,
      };
    case "code":
      return { bbox, type: "text", content: body.code };
    case "algorithm":
      return { bbox, type: "text", content: algorithmHtml(body.text, ["$", "$"]) };
    default:
      return {
        bbox,
        type: body.type,
        image_path: body.path,
        content: withoutDoubt(body.content.map((p) => (p.kind === "words" ? p.text : p.latex)).join("")),
      };
  }
}

function textLine(text: RunningText, bbox: number[]): { bbox: number[]; spans: MiddleSpan[] } {
  const spans = text.map(
    (part): MiddleSpan =>
      part.kind === "words"
        ? { bbox, type: "text", content: withoutDoubt(part.text) }
        : { bbox, type: "inline_equation", content: part.latex },
  );
  return { bbox, spans };
}
