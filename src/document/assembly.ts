/**
 * From regions to a document: the regions of all pages, in the order the layout gave them (which is trusted), become blocks: titles with
 * levels, paragraphs joined over column and page breaks, lists, visuals with their captions, tables joined over page breaks, numbered
 * equations (rules: test/golden/documents/README.md). Nothing read is lost. Refuses to know any output format; the writers are in
 * `assembly/markdown.ts`, `assembly/content-list.ts` and `outputs/`.
 */
import { filledLines } from "./answer-text.ts";
import { type Block, isParatext, type ParagraphBlock, type VisualBlock, type VisualBody } from "./assembly/blocks.ts";
import { attachNotes, isVisual } from "./assembly/captions.ts";
import { algorithmBody, codeBody } from "./assembly/code.ts";
import { attachNumbers, groupEquations } from "./assembly/equations.ts";
import { type Item, itemsOf, sourcesOf } from "./assembly/items.ts";
import { gatherLists, type ListParts } from "./assembly/lists.ts";
import { mergeParagraphs } from "./assembly/paragraphs.ts";
import { onOneLine, parseRunningText, type RunningText } from "./assembly/running-text.ts";
import { withoutDoubt } from "./assembly/scripts.ts";
import { type Compounds, compoundsIn } from "./assembly/seams.ts";
import { mergeTables } from "./assembly/tables.ts";
import { isTitle, titleLevel } from "./assembly/titles.ts";
import { doubtfulText } from "./low-confidence.ts";
import { hasText } from "./otsl.ts";
import type { ReadPage, ReadRegion } from "./types.ts";
import { isWrapped, unwrapLines } from "./unwrap.ts";

/** How regions become blocks. */
export interface AssemblyOptions {
  /** Join paragraphs over column and page breaks. Default true. */
  readonly mergeParagraphs?: boolean;
  /** Join tables over page breaks. Default true. */
  readonly mergeTables?: boolean;
  /** The model writes a line break where the printed line ends: join the lines of a paragraph. Default false. */
  readonly unwrap?: boolean;
  /** Mark passages whose confidence is below this, 0..1. Default 0: none. */
  readonly markBelow?: number;
}

/** Makes blocks of the pages of one document, in reading order. Never throws on any content. */
export function assemble(pages: readonly ReadPage[], options: AssemblyOptions = {}): Block[] {
  const compounds = compoundsIn(textsOf(pages));
  const textOf = (region: ReadRegion) => regionText(region, options, compounds);
  let titleSeen = false;
  const built = pages.map((page, i) => {
    const blocks = pageBlocks(page, textOf, compounds, (name, text) => {
      const level = titleLevel(name, text, !titleSeen && i === 0);
      titleSeen = true;
      return level;
    });
    return { index: page.index, blocks };
  });
  const blocks = (options.mergeTables === false ? built.map((page) => page.blocks) : mergeTables(built)).flat();
  return options.mergeParagraphs === false ? blocks : mergeParagraphs(blocks, compounds);
}

function* textsOf(pages: readonly ReadPage[]): Generator<string> {
  for (const { regions } of pages)
    for (const { content } of regions)
      if (content.kind === "text") yield content.text;
      else if (content.kind === "table") yield content.otsl;
}

function regionText(region: ReadRegion, options: AssemblyOptions, compounds: Compounds): string {
  const text = doubtfulText(region, options.markBelow ?? 0);
  return options.unwrap && isWrapped(region.class) ? unwrapLines(text, { compounds }) : text;
}

function pageBlocks(
  page: ReadPage,
  textOf: (region: ReadRegion) => string,
  compounds: Compounds,
  levelOf: (name: string, text: string) => number,
): Block[] {
  const items = itemsOf(page, textOf);
  attachNumbers(items);
  const grouped = groupEquations(items);
  const lists = gatherLists(items);
  const notes = attachNotes(items, page);
  return items.flatMap((item) => (item.used ? [] : itemBlocks(item, { grouped, lists, notes, compounds, levelOf })));
}

interface PageContext {
  readonly grouped: ReadonlySet<Item>;
  readonly lists: ReadonlyMap<Item, ListParts>;
  readonly notes: ReadonlyMap<Item, readonly Item[]>;
  readonly compounds: Compounds;
  readonly levelOf: (name: string, text: string) => number;
}

function itemBlocks(item: Item, context: PageContext): Block[] {
  const { source, name, text } = item;
  const base = { page: source.page, box: source.box, sources: sourcesOf(item) };
  const running = (words: string) => parseRunningText(words, context.compounds);
  if (name === "equation" || context.grouped.has(item)) return [{ ...base, kind: "equation", latex: text, path: item.region.image ?? "" }];
  if (isTitle(name)) {
    const title = onOneLine(running(text));
    return [{ ...base, kind: "title", level: context.levelOf(name, withoutDoubt(text)), text: title }];
  }
  if (isParatext(name)) return [{ ...base, kind: "paratext", role: name, text: running(text) }];
  if (name === "list") {
    const list = context.lists.get(item);
    if (list === undefined) return [];
    return [{ ...base, kind: "list", subType: list.subType, items: list.texts.map(running) }];
  }
  if (name === "index") return [{ ...base, kind: "list", subType: "text", items: filledLines(text).map(running) }];
  if (isVisual(name)) return visualBlocks(item, context.notes.get(item) ?? [], running);
  if (text === "") return [];
  const role: ParagraphBlock["role"] = name === "ref_text" || name === "phonetic" ? name : "text";
  const piece = { source, plain: withoutDoubt(text), joins: name === "text", mergePrev: item.region.mergePrev === true };
  return [{ ...base, kind: "paragraph", role, text: running(text), pieces: [piece] }];
}

function visualBlocks(item: Item, notes: readonly Item[], running: (words: string) => RunningText): Block[] {
  const body = visualBody(item, running);
  if (body.type === "table" && body.grid.length === 0 && body.path === "" && notes.length === 0) return [];
  const block: VisualBlock = {
    kind: "visual",
    page: item.source.page,
    box: item.source.box,
    sources: sourcesOf(item),
    body,
    notes: notes.map((note) => ({
      role: note.name.endsWith("footnote") ? "footnote" : "caption",
      before: note.source.region < item.source.region,
      text: running(note.text),
      source: note.source,
    })),
  };
  return [block];
}

function visualBody(item: Item, running: (words: string) => RunningText): VisualBody {
  const path = item.region.image ?? "";
  switch (item.name) {
    case "code":
      return codeBody(item.text);
    case "algorithm":
      return algorithmBody(item.text);
    case "chart":
      return { type: "chart", path, content: running(item.text) };
    case "image":
    case "image_block":
      return { type: "image", path, content: running(item.text) };
    default:
      return { type: "table", path, grid: hasText(item.grid) ? item.grid : [] };
  }
}
