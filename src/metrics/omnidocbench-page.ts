/**
 * One page of OmniDocBench v1.5 from its annotation and the predicted Markdown to matched rows of text, formulas, tables and reading
 * order. Strict takes the tables of the more frequent kind and blanks LaTeX ones; sound turns LaTeX tables into HTML and compares all.
 * It refuses to know of other pages and of means.
 */
import { MineruError } from "../error.ts";
import { assignMinimum } from "./assignment.ts";
import { latexTableToHtml } from "./latex-table.ts";
import type { MetricMode } from "./mode.ts";
import { extractElements, type PageElement } from "./omnidocbench-extract.ts";
import { type MatchedRow, matchElements } from "./omnidocbench-match.ts";
import { normaliseHtmlTable } from "./omnidocbench-normalise.ts";
import {
  blocksOfPage,
  imageOf,
  inOrder,
  MIXED_CATEGORIES,
  type OmniDocBlock,
  type OmniDocPage,
  UNSCORED_CATEGORIES,
} from "./omnidocbench-record.ts";
import { distanceMatrix } from "./prediction-runs.ts";
import { codePointLength, strip } from "./python-text.ts";
import { orderFromRows, type ReadingOrder } from "./reading-order.ts";
import { findTags, parseSoup, singleString } from "./soup-html.ts";

/** Matched rows of a page. */
export interface PageMatch {
  readonly image: string;
  readonly text: readonly MatchedRow[];
  /** Formulas, those still among them that were read as text. */
  readonly formulas: readonly MatchedRow[];
  readonly tables: readonly MatchedRow[];
  /** Strict only: tables matched with LaTeX ones, whose predictions the official code then blanks. */
  readonly blankedTables: readonly MatchedRow[];
  readonly order: ReadingOrder | null;
  /** Characters of predicted text and formulas, and how many of them no true block took. */
  readonly characters: { readonly predicted: number; readonly spurious: number };
}

/**
 * @param markdown the answer for the page; `""` for none
 * @throws MineruError `data-invalid` in strict mode where the official run ends with an exception
 */
export function matchPage(page: OmniDocPage, markdown: string, mode: MetricMode = "sound"): PageMatch {
  const elements = extractElements(markdown, mode);
  const blocks = blocksOfPage(page, mode);
  const truthTables = inOrder(blocks.get("table") ?? []);
  const tables = matchTables(truthTables, elements, mode);
  const pool = [...byFirstCategory(elements.filter((element) => !element.category.endsWith("table"))), ...tables.leftAsText];
  const mixed = inOrder(MIXED_CATEGORIES.flatMap((category) => blocks.get(category) ?? []));
  const { rows, spurious } = matchElements(mixed, pool, mode);
  const scored = rows.filter((row) => row.truthIndices.length > 0 && !UNSCORED_CATEGORIES.has(row.truthCategory));
  const text = scored.filter((row) => row.truthCategory !== "equation_isolated");
  const count = (lines: readonly string[]) => lines.reduce((sum, line) => sum + codePointLength(line), 0);
  const predicted = count(rows.map((row) => row.normPred)) + count(spurious);
  return {
    image: imageOf(page),
    text,
    formulas: scored.filter((row) => row.truthCategory === "equation_isolated"),
    tables: tables.rows,
    blankedTables: tables.blanked,
    order: orderFromRows(text, mode),
    characters: { predicted, spurious: count(spurious) },
  };
}

/** Elements grouped by category, categories in the order in which they first occur: the order in which the official code pools them. */
function byFirstCategory(elements: readonly PageElement[]): PageElement[] {
  return [...new Set(elements.map((element) => element.category))].flatMap((category) =>
    elements.filter((element) => element.category === category),
  );
}

interface TableMatch {
  readonly rows: MatchedRow[];
  readonly blanked: MatchedRow[];
  /** Cells of predicted tables that no true table took. */
  readonly leftAsText: PageElement[];
}

function matchTables(truth: readonly OmniDocBlock[], elements: readonly PageElement[], mode: MetricMode): TableMatch {
  if (truth.length === 0) return { rows: [], blanked: [], leftAsText: [] };
  const html = elements.filter((element) => element.category === "html_table");
  const latex = elements.filter((element) => element.category === "latex_table");
  if (mode === "sound") {
    const all = [...html, ...latex.map((element) => ({ ...element, content: latexTableToHtml(element.content) }))];
    const { rows } = assignTables(truth, (block) => block.html, all, mode);
    return { rows, blanked: [], leftAsText: [] };
  }
  if (latex.length <= html.length) return { ...assignTables(truth, (block) => block.html, html, mode), blanked: [] };
  const { rows, leftAsText } = assignTables(truth, (block) => block.latex, latex, mode);
  const blanked = rows.map((row) => ({
    ...row,
    predIndices: [],
    pred: "",
    normPred: "",
    predCategory: "",
    predPosition: null,
    edit: 1,
  }));
  return { rows: [], blanked, leftAsText };
}

function assignTables(
  truth: readonly OmniDocBlock[],
  sourceOf: (block: OmniDocBlock) => string | undefined,
  pred: readonly PageElement[],
  mode: MetricMode,
): { rows: MatchedRow[]; leftAsText: PageElement[] } {
  const sources = truth.map((block) => {
    const source = sourceOf(block);
    if ((source === undefined || block.html === undefined) && mode === "strict") {
      throw new MineruError(
        "data-invalid",
        `block ${block.anno_id} (table) expected its source in html, and in latex where LaTeX tables win`,
      );
    }
    return source ?? "";
  });
  const normalise = (table: string) => (mode === "strict" ? table : normaliseHtmlTable(table, mode));
  const cost = distanceMatrix(
    sources.map(normalise),
    pred.map((element) => normalise(element.content)),
  );
  const { rows: assigned, columns } = assignMinimum(cost);
  const columnOf = new Map(assigned.map((row, k) => [row, columns[k]]));
  const rows = truth.map((block, index): MatchedRow => {
    const column = columnOf.get(index);
    const element = column === undefined ? undefined : pred[column];
    const hasPlace = element !== undefined && (mode === "sound" || column !== 0);
    return {
      truthIndices: [index],
      predIndices: column === undefined ? [] : [column],
      truth: block.html ?? "",
      pred: element?.content ?? "",
      normTruth: normaliseHtmlTable(block.html ?? "", mode),
      normPred: element ? normaliseHtmlTable(element.content, mode) : "",
      truthOrders: [mode === "strict" ? block.order || null : (block.order ?? null)],
      predPosition: hasPlace ? element.position[0] : null,
      truthCategory: block.category_type,
      predCategory: hasPlace ? (element.fine ?? element.category) : "",
      truthAttributes: [block.attribute ?? {}],
      edit: column === undefined ? 1 : cost[index][column],
    };
  });
  const taken = new Set(columns);
  return { rows, leftAsText: pred.flatMap((element, column) => (taken.has(column) ? [] : cellsAsText(element))) };
}

/** Cells that hold a single string, each a piece of text at the place of the table. */
function cellsAsText(table: PageElement): PageElement[] {
  return findTags(parseSoup(table.content), "td")
    .map(singleString)
    .filter((text) => text !== null && text !== "")
    .map((text) => ({ ...table, category: "text_all" as const, content: strip(text!.replaceAll("$\\cdot$", "")) }));
}
