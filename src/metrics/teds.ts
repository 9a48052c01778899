/**
 * TEDS, tree-edit-distance similarity of tables (Zhong et al. 2020, PubTabNet), and TEDS-S, the same on structure alone:
 * 1 - distance / number of elements of the larger table. Nodes are the elements of the table; a cell is a leaf with its spans and its
 * content (characters and inline tags). Inserting or deleting costs 1, renaming 1 if tag or spans differ, else for cells the normalised
 * edit distance of their contents. It refuses to know how benchmarks clean tables before they are compared.
 */
import { levenshtein, speller } from "./edit-distance.ts";
import { type HtmlElement, parseLenientHtml } from "./lenient-html.ts";
import type { MetricMode } from "./mode.ts";
import { strip } from "./python-text.ts";
import { type Tree, treeEditDistance } from "./tree-edit-distance.ts";

export interface TedsOptions {
  /** Default `sound`. */
  readonly mode?: MetricMode;
  /** Ignore what cells contain: TEDS-S. Default false. */
  readonly structureOnly?: boolean;
}

/** What TEDS compares of an element; spans and content are empty for what is not a cell. */
interface TableLabel {
  readonly tag: string;
  readonly colspan: number;
  readonly rowspan: number;
  /** Characters and inline tags, spelled one unit each. */
  readonly content: string;
}

type Spell = (items: Iterable<string>) => string;

interface TableTree {
  readonly tree: Tree<TableLabel>;
  /** Elements below the table, those inside cells included. */
  readonly elements: number;
}

/**
 * Similarity of two tables given as HTML, 1 for equal ones, 0 if one side has no table. Strict mode is the official class on
 * `<html><body>…</body></html>`: only the first table of a side counts, `th` has no content, a span that is not a number or two tables
 * without elements score 0. Sound mode compares all tables of a side as one, compares `th` as cells, counts text outside cells as an
 * element, reads a bad span as 1, and gives 1 to two empty tables.
 */
export function teds(pred: string, truth: string, options: TedsOptions = {}): number {
  const wrap = (table: string) => (table === "" ? "" : `<html><body>${table}</body></html>`);
  return tedsOfDocuments(wrap(pred), wrap(truth), options);
}

/** TEDS-S: {@link teds} with `structureOnly`. */
export function tedsStructure(pred: string, truth: string, mode: MetricMode = "sound"): number {
  return teds(pred, truth, { mode, structureOnly: true });
}

/** {@link teds} of two documents as they are: what does not begin like an HTML document has no `body`, so no table. */
export function tedsOfDocuments(pred: string, truth: string, options: TedsOptions = {}): number {
  const { mode = "sound", structureOnly = false } = options;
  const spell: Spell = structureOnly ? () => "" : speller<string>();
  const a = tableTree(pred, mode, spell);
  const b = tableTree(truth, mode, spell);
  if (a === null || b === null) return 0;
  const elements = Math.max(a.elements, b.elements);
  if (elements === 0) return mode === "strict" ? 0 : 1;
  return 1 - treeEditDistance(a.tree, b.tree, renameCost) / elements;
}

function tableTree(document: string, mode: MetricMode, spell: Spell): TableTree | null {
  if (!/^[\t-\r\x1c-\x20\x85\xa0]*<(?:html|!doctype)/i.test(document)) return null;
  const body = parseLenientHtml(document)?.children.find((element) => element.tag === "body");
  const tables = body?.children.filter((element) => element.tag === "table") ?? [];
  if (tables.length === 0) return null;
  const trees = (mode === "strict" ? tables.slice(0, 1) : tables).map((table) => nodeOf(table, mode, spell));
  if (trees.some((tree) => tree === null)) return null;
  const all = trees as TableTree[];
  if (all.length === 1) return { tree: all[0].tree, elements: all[0].elements - 1 };
  return {
    tree: { label: { tag: "table", colspan: 0, rowspan: 0, content: "" }, children: all.map((table) => table.tree) },
    elements: all.reduce((sum, table) => sum + table.elements, 0),
  };
}

/** The node of an element and the number of elements in it, itself included; `null` if a span makes the official code fail. */
function nodeOf(element: HtmlElement, mode: MetricMode, spell: Spell): TableTree | null {
  if (element.tag === "td" || (mode === "sound" && element.tag === "th")) {
    const colspan = spanOf(element, "colspan", mode);
    const rowspan = spanOf(element, "rowspan", mode);
    if (colspan === null || rowspan === null) return null;
    const content = spell(contentOf(element));
    return { tree: { label: { tag: element.tag, colspan, rowspan, content }, children: [] }, elements: countElements(element) };
  }
  const children: Tree<TableLabel>[] = [];
  let elements = 1;
  const addText = (text: string) => {
    if (mode === "strict" || strip(text) === "") return;
    children.push({ label: { tag: "#text", colspan: 0, rowspan: 0, content: spell(strip(text)) }, children: [] });
    elements++;
  };
  const holdsText = !TABLE_PARTS.has(element.tag);
  if (!holdsText) addText(element.text);
  for (const child of element.children) {
    const node = nodeOf(child, mode, spell);
    if (node === null) return null;
    children.push(node.tree);
    elements += node.elements;
    if (!holdsText) addText(child.tail);
  }
  return { tree: { label: { tag: element.tag, colspan: 0, rowspan: 0, content: "" }, children }, elements };
}

const TABLE_PARTS = new Set(["table", "thead", "tbody", "tfoot", "tr"]);

function countElements(element: HtmlElement): number {
  return element.children.reduce((sum, child) => sum + countElements(child), 1);
}

/** `int(attribute)` as Python reads it; `null` if it cannot. */
function spanOf(element: HtmlElement, name: string, mode: MetricMode): number | null {
  const digits = strip(element.attributes.get(name) ?? "1");
  if (/^[+-]?[0-9]+(?:_[0-9]+)*$/.test(digits)) return Number(digits.replaceAll("_", ""));
  return mode === "strict" ? null : 1;
}

/** Characters and tags inside a cell. An `unk` element has no end tag, and what follows a nested cell is left out. */
function contentOf(cell: HtmlElement): string[] {
  const content: string[] = [];
  const add = (element: HtmlElement) => {
    content.push(`<${element.tag}>`, ...element.text);
    element.children.forEach(add);
    if (element.tag !== "unk") content.push(`</${element.tag}>`);
    if (element.tag !== "td") content.push(...element.tail);
  };
  content.push(...cell.text);
  cell.children.forEach(add);
  return content;
}

/** Between 0 and 1, a metric of labels. */
function renameCost(a: TableLabel, b: TableLabel): number {
  if (a.tag !== b.tag || a.colspan !== b.colspan || a.rowspan !== b.rowspan) return 1;
  if (a.content === b.content) return 0;
  return levenshtein(a.content, b.content) / Math.max(a.content.length, b.content.length);
}
