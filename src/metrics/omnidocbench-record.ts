/**
 * The annotation format of OmniDocBench v1.5 and the true elements of a page in it: blocks that page layout has cut in two are joined,
 * the rest stands as it is. Strict joins as the official code does (a block named by several links is repeated, `ignore` is not looked
 * at); sound joins every group once and leaves out ignored blocks. The annotations' spelling lives here and nowhere else.
 */
import { MineruError } from "../error.ts";
import type { MetricMode } from "./mode.ts";

/** One annotated block as the data set stores it. */
export interface OmniDocBlock {
  readonly category_type: string;
  readonly order?: number | null;
  readonly anno_id: number | string;
  readonly ignore?: boolean;
  /** Corners in pixels of the image: upper left, upper right, lower right, lower left, each x then y. */
  readonly poly?: readonly number[];
  readonly text?: string;
  readonly latex?: string;
  readonly html?: string;
  readonly attribute?: Readonly<Record<string, unknown>>;
}

/** One page of `OmniDocBench.json`. */
export interface OmniDocPage {
  readonly layout_dets: readonly OmniDocBlock[];
  readonly page_info: {
    readonly image_path: string;
    readonly width?: number;
    readonly height?: number;
    readonly page_attribute?: Readonly<Record<string, unknown>>;
  };
  readonly extra?: {
    readonly relation?: readonly {
      readonly source_anno_id: number | string;
      readonly target_anno_id: number | string;
      readonly relation_type?: string;
    }[];
  };
}

/** Categories that take part in matching text and formulas, in the order in which the official code collects them. */
export const MIXED_CATEGORIES = [
  ..."text_block title code_txt code_txt_caption reference equation_caption figure_caption figure_footnote table_caption".split(" "),
  ..."table_footnote code_algorithm code_algorithm_caption header footer page_footnote page_number equation_isolated".split(" "),
];

/** Categories that take predictions away but are not scored. */
export const UNSCORED_CATEGORIES: ReadonlySet<string> = new Set(
  (
    "figure_caption figure_footnote table_caption table_footnote code_algorithm code_algorithm_caption header footer page_footnote " +
    "page_number equation_caption"
  ).split(" "),
);

/** The image's file name without folders: the name of the page everywhere else. */
export function imageOf(page: OmniDocPage): string {
  return page.page_info.image_path.split("/").at(-1)!;
}

/**
 * Blocks by category after joining.
 * @throws MineruError `data-invalid` where the official code fails: a link to a block that is missing or has no text or order
 */
export function blocksOfPage(page: OmniDocPage, mode: MetricMode = "sound"): Map<string, OmniDocBlock[]> {
  const blocks = mode === "strict" ? page.layout_dets : page.layout_dets.filter((block) => block.ignore !== true);
  const links = (page.extra?.relation ?? []).filter((link) => link.relation_type === "truncated");
  const groups = mode === "strict" ? officialGroups(links) : connectedGroups(links, blocks);
  const grouped = new Set(groups.flat());
  const byId = new Map(blocks.map((block) => [block.anno_id, block]));
  const byCategory = new Map<string, OmniDocBlock[]>();
  const add = (block: OmniDocBlock) => byCategory.set(block.category_type, [...(byCategory.get(block.category_type) ?? []), block]);
  for (const block of blocks) if (!grouped.has(block.anno_id)) add(block);
  for (const group of groups) {
    const parts = group.map((id) => byId.get(id));
    if (mode === "strict" && parts.some((part) => typeof part?.order !== "number" || part.text === undefined)) {
      throw new MineruError(
        "data-invalid",
        `${imageOf(page)}: blocks joined as truncated expected a text and an order; correct the relation or use sound mode`,
      );
    }
    const [first, ...rest] = parts.filter((part) => part !== undefined).toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
    const text = [first, ...rest].map((part) => part.text ?? "").join("");
    add({
      category_type: first.category_type,
      order: first.order,
      anno_id: first.anno_id,
      text,
      ...(mode === "sound" && { attribute: first.attribute, latex: first.latex, html: first.html }),
    });
  }
  return byCategory;
}

type Link = { readonly source_anno_id: number | string; readonly target_anno_id: number | string };

/** A link is added to every list that names one of its ends, as often as it occurs; lists are never united. */
function officialGroups(links: readonly Link[]): (number | string)[][] {
  const groups: (number | string)[][] = [];
  for (const { source_anno_id: source, target_anno_id: target } of links) {
    const found = groups.filter((group) => group.includes(source) || group.includes(target));
    for (const group of found) group.push(source, target);
    if (found.length === 0) groups.push([source, target]);
  }
  return groups;
}

function connectedGroups(links: readonly Link[], blocks: readonly OmniDocBlock[]): (number | string)[][] {
  const ids = new Set(blocks.map((block) => block.anno_id));
  let groups: Set<number | string>[] = [];
  for (const { source_anno_id: source, target_anno_id: target } of links) {
    if (!ids.has(source) || !ids.has(target)) continue;
    const united = new Set([source, target]);
    const apart: Set<number | string>[] = [];
    for (const group of groups) {
      if (group.has(source) || group.has(target)) for (const id of group) united.add(id);
      else apart.push(group);
    }
    groups = [...apart, united];
  }
  return groups.map((group) => [...group]);
}

/** Blocks in the order of their `order`; those without one come first. */
export function inOrder(blocks: readonly OmniDocBlock[]): OmniDocBlock[] {
  return blocks.toSorted((a, b) => (a.order || 0) - (b.order || 0));
}
