/**
 * The result of OmniDocBench v1.5 over a data set: edit distance of text, formulas, tables and reading order, TEDS and TEDS-S of tables,
 * over all rows, by block attribute and by page attribute, in the shape of the official `metric_result.json`. Strict passes over pages
 * without an answer and loses formulas that were read as text where no text is scored; sound counts a missing answer as an empty one.
 * Formula scores by CDM come from outside, a number a row. It refuses to know where pages and answers are kept.
 */

import { countEdits, levenshteinOfLists } from "./edit-distance.ts";
import { LatexTextError } from "./latex-nodes.ts";
import { latexToText } from "./latex-text.ts";
import type { MetricMode } from "./mode.ts";
import type { MatchedRow } from "./omnidocbench-match.ts";
import { cleanString } from "./omnidocbench-normalise.ts";
import { matchPage, type PageMatch } from "./omnidocbench-page.ts";
import type { OmniDocPage } from "./omnidocbench-record.ts";
import { tedsOfDocuments } from "./teds.ts";

/** A row with the image of its page. */
export interface DatasetRow extends MatchedRow {
  readonly image: string;
}

export interface DatasetMatch {
  readonly text: readonly DatasetRow[];
  readonly formulas: readonly DatasetRow[];
  readonly tables: readonly DatasetRow[];
  readonly orders: readonly { readonly image: string; readonly truth: readonly number[]; readonly pred: readonly number[] }[];
  /** Share of predicted characters that no true block took; the official scores do not see them. */
  readonly spuriousShare: number;
}

/** A page and the answer for it, `null` if there is none. */
export interface AnsweredPage {
  readonly page: OmniDocPage;
  readonly markdown: string | null;
}

/**
 * Matches every page.
 * @throws MineruError `data-invalid` in strict mode where the official run ends with an exception
 */
export function matchDataset(pages: readonly AnsweredPage[], mode: MetricMode = "sound"): DatasetMatch {
  const matches = pages
    .filter(({ markdown }) => mode === "sound" || markdown !== null)
    .map(({ page, markdown }) => matchPage(page, markdown ?? "", mode));
  const rowsOf = (pick: (match: PageMatch) => readonly MatchedRow[]) =>
    matches.flatMap((match) => pick(match).map((row): DatasetRow => ({ ...row, image: match.image })));
  const text = rowsOf((match) => match.text);
  const formulas = rowsOf((match) => match.formulas);
  const isFormula = (row: DatasetRow) => ["equation_inline", "equation_isolated", ""].includes(row.predCategory);
  const readAsText = formulas.filter((row) => !isFormula(row)).map((row) => formulaAsText(row, mode));
  const characters = matches.map((match) => match.characters);
  const predicted = characters.reduce((sum, c) => sum + c.predicted, 0);
  return {
    text: text.length > 0 || mode === "sound" ? [...text, ...readAsText] : text,
    formulas: formulas.filter(isFormula),
    tables: [...rowsOf((match) => match.tables), ...rowsOf((match) => match.blankedTables)],
    orders: matches.flatMap((match) => (match.order ? [{ image: match.image, truth: match.order.truth, pred: match.order.pred }] : [])),
    spuriousShare: predicted > 0 ? characters.reduce((sum, c) => sum + c.spurious, 0) / predicted : 0,
  };
}

function formulaAsText(row: DatasetRow, mode: MetricMode): DatasetRow {
  let truth: string;
  try {
    truth = latexToText(row.truth);
  } catch (error) {
    if (mode === "strict" || !(error instanceof LatexTextError)) throw error;
    truth = row.truth;
  }
  return { ...row, truth, normTruth: cleanString(truth, mode) };
}

/** Numbers by name; `null` where the official code has NaN. */
export type Scores = Record<string, number | null>;

/** Results of one kind of element, as the official file stores them. */
export interface ElementResult {
  /** Metric name to its values over all rows. */
  readonly all: Record<string, Scores>;
  /** Metric name to means by attribute of the true blocks; `sample_count` counts rows. */
  readonly group: Record<string, Scores>;
  /** Metric name to means over pages by attribute of the page; `ALL` over all pages. */
  readonly page: Record<string, Scores>;
  /** Edit distance of each page. */
  readonly perPage: Scores;
}

export interface DatasetResult {
  readonly text_block: ElementResult;
  readonly display_formula: ElementResult;
  readonly table: ElementResult;
  readonly reading_order: ElementResult;
  readonly spuriousShare: number;
}

/** What is scored: a row, or the reading order of a page. */
interface Sample {
  readonly image: string;
  readonly attributes: readonly Readonly<Record<string, unknown>>[];
  readonly edits: number;
  /** The longer length. */
  readonly length: number;
  /** Metric name to value. */
  readonly metrics: Record<string, number>;
}

/** Further scores of rows, in their order, by metric name: CDM of formulas, for example. */
export interface ExtraScores {
  readonly formulas?: Record<string, readonly number[]>;
}

export function scoreDataset(
  match: DatasetMatch,
  pages: readonly OmniDocPage[],
  mode: MetricMode = "sound",
  extra: ExtraScores = {},
): DatasetResult {
  const attributes = new Map(pages.map((page) => [page.page_info.image_path.split("/").at(-1)!, page.page_info.page_attribute ?? {}]));
  const formulas = match.formulas.map((row, index) => {
    const sample = sampleOf(row);
    for (const [name, values] of Object.entries(extra.formulas ?? {})) sample.metrics[name] = values[index];
    return sample;
  });
  const tables = match.tables.map((row) => {
    const pair = [row.normPred || row.pred, row.normTruth || row.truth] as const;
    const sample = sampleOf(row);
    sample.metrics.TEDS = tedsOfDocuments(...pair, { mode });
    sample.metrics.TEDS_structure_only = tedsOfDocuments(...pair, { mode, structureOnly: true });
    return sample;
  });
  const orders = match.orders.map(({ image, truth, pred }): Sample => {
    const edits = levenshteinOfLists(pred, truth);
    const length = Math.max(pred.length, truth.length);
    return { image, attributes: [], edits, length, metrics: { Edit_dist: edits / length } };
  });
  return {
    text_block: resultOf(match.text.map(sampleOf), attributes, []),
    display_formula: resultOf(formulas, attributes, Object.keys(extra.formulas ?? {})),
    table: resultOf(tables, attributes, ["TEDS", "TEDS_structure_only"]),
    reading_order: resultOf(orders, attributes, []),
    spuriousShare: match.spuriousShare,
  };
}

/** Matches and scores at once. `filter` keeps pages whose attributes have the given values. */
export function evaluateOmniDocBench(
  pages: readonly AnsweredPage[],
  options: { readonly mode?: MetricMode; readonly filter?: Readonly<Record<string, unknown>> } = {},
): DatasetResult {
  const { mode = "sound", filter = {} } = options;
  const kept = pages.filter(({ page }) => Object.entries(filter).every(([name, value]) => page.page_info.page_attribute?.[name] === value));
  return scoreDataset(
    matchDataset(kept, mode),
    kept.map(({ page }) => page),
    mode,
  );
}

/** The published overall score, 0 to 100, from the page means of text edit distance, formula CDM and table TEDS (each 0 to 1). */
export function overallScore(textEdit: number, formulaCdm: number, tableTeds: number): number {
  return ((1 - textEdit) * 100 + formulaCdm * 100 + tableTeds * 100) / 3;
}

function sampleOf(row: DatasetRow): Sample & { metrics: Record<string, number> } {
  const { distance, lengthPred, lengthTruth } = countEdits(row.normPred || row.pred, row.normTruth || row.truth);
  const length = Math.max(lengthPred, lengthTruth);
  return {
    image: row.image,
    attributes: row.truthAttributes,
    edits: distance,
    length,
    metrics: length > 0 ? { Edit_dist: distance / length } : {},
  };
}

function resultOf(
  samples: readonly Sample[],
  pages: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  extra: readonly string[],
): ElementResult {
  const byImage = groupBy(samples, (sample) => [sample.image]);
  const perPage = Object.fromEntries(
    [...byImage].sort(([a], [b]) => (a < b ? -1 : 1)).map(([image, group]) => [image, ratio(group)] as const),
  );
  const all: Record<string, Scores> = {};
  for (const name of extra) all[name] = { all: mean(valuesOf(samples, name)) };
  all.Edit_dist = {
    ALL_page_avg: mean(Object.values(perPage)),
    edit_whole: ratio(samples),
    edit_sample_avg: mean(valuesOf(samples, "Edit_dist")),
  };
  return { all, group: byAttribute(samples), page: byPageAttribute(samples, pages), perPage };
}

function byAttribute(samples: readonly Sample[]): Record<string, Scores> {
  const groups = groupBy(samples, (sample) => [
    ...new Set(sample.attributes.flatMap((attribute) => Object.entries(attribute).map(([name, value]) => `${name}: ${spelled(value)}`))),
  ]);
  const result: Record<string, Scores> = { sample_count: {} };
  for (const [label, group] of groups) {
    for (const name of new Set(group.flatMap((sample) => Object.keys(sample.metrics)))) {
      const values = valuesOf(group, name);
      result[name] ??= {};
      result[name][label] = mean(values);
      result.sample_count[label] = values.length;
    }
  }
  return result;
}

function byPageAttribute(
  samples: readonly Sample[],
  pages: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
): Record<string, Scores> {
  const labelsOf = (image: string) =>
    Object.entries(pages.get(image) ?? {}).flatMap(([name, value]) =>
      Array.isArray(value) ? value.map(String).filter((issue) => !issue.includes("table")) : [`${name}: ${spelled(value)}`],
    );
  const groups = groupBy(samples, (sample) => ["ALL", ...labelsOf(sample.image)]);
  const result: Record<string, Scores> = {};
  for (const [label, group] of groups) {
    const pagesOfGroup = [...groupBy(group, (sample) => [sample.image]).values()];
    for (const name of new Set(group.flatMap((sample) => Object.keys(sample.metrics)))) {
      const values = pagesOfGroup.map((page) => (name === "Edit_dist" ? ratio(page) : mean(valuesOf(page, name))));
      result[name] ??= {};
      result[name][label] = mean(values);
    }
  }
  return result;
}

function groupBy(samples: readonly Sample[], labelsOf: (sample: Sample) => readonly string[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    for (const label of labelsOf(sample)) groups.set(label, [...(groups.get(label) ?? []), sample]);
  }
  return groups;
}

function valuesOf(samples: readonly Sample[], name: string): number[] {
  return samples.map((sample) => sample.metrics[name]).filter((value) => value !== undefined);
}

function ratio(samples: readonly Sample[]): number | null {
  const length = samples.reduce((sum, sample) => sum + sample.length, 0);
  return length > 0 ? samples.reduce((sum, sample) => sum + sample.edits, 0) / length : null;
}

function mean(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  return numbers.length > 0 ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
}

/** A value as Python's `str` writes it. */
function spelled(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  return value === null || value === undefined ? "None" : String(value);
}
