/**
 * What an answer is worth, task by task, and how much two answers agree. Scores compare an answer with the truth: character error rate of
 * text, TEDS of tables, normalised edit distance of formulas, PageIoU, classes and order of layouts. Agreement is the similarity S of
 * the paper's equation (10), symmetric and from 0 to 1. It refuses to know where answers come from.
 */
import { parseLayout } from "../document/layout-text.ts";
import { parseOtsl } from "../document/otsl.ts";
import { tableToHtml } from "../document/table-html.ts";
import { assignMinimum } from "../metrics/assignment.ts";
import type { CdmMetric } from "../metrics/cdm.ts";
import { levenshtein, normalisedEditDistance } from "../metrics/edit-distance.ts";
import { type LabelledBox, pageIoU } from "../metrics/page-iou.ts";
import { readingOrderEdit } from "../metrics/reading-order.ts";
import { teds, tedsStructure } from "../metrics/teds.ts";
import { normaliseUnimer } from "../metrics/unimer.ts";
import type { TaskName } from "../text/prompts.ts";

export interface AnsweredSample {
  readonly truth: string;
  readonly answer: string;
}

/** Scores by name: the mean over samples, of text over characters. */
export type Scores = Readonly<Record<string, number>>;

/** Which way a score is good, for whoever draws or compares it. */
export const lowerIsBetter: ReadonlySet<string> = new Set(["characterErrorRate", "formulaEdit", "orderEdit"]);

/** Layouts are compared in thousandths of the page. */
const PAGE = { width: 1000, height: 1000 };
/** A true region is found by a box that shares at least half of their union. */
const FOUND_OVERLAP = 0.5;

/** Text with every run of white space as one blank. */
export const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

const tableHtml = (otsl: string): string => tableToHtml(parseOtsl(otsl));

const boxesOf = (layout: string): LabelledBox[] => parseLayout(layout, PAGE).regions.map(({ class: label, box }) => ({ box, label }));

const coverOf = (a: LabelledBox, b: LabelledBox): number => pageIoU([a], [b], PAGE).all.pageIoU;

/** PageIoU, the share of true regions found and named right, and how far those found stand from their order. */
function layoutScores(answer: string, truth: string): { pageIoU: number; classAccuracy: number; orderEdit: number } {
  const [found, wanted] = [boxesOf(answer), boxesOf(truth)];
  const overlaps = wanted.map((region) => found.map((other) => coverOf(region, other)));
  const { rows, columns } = assignMinimum(overlaps.map((row) => row.map((overlap) => 1 - overlap)));
  const pairs = rows.map((row, i) => [row, columns[i]] as const).filter(([row, column]) => overlaps[row][column] >= FOUND_OVERLAP);
  const named = pairs.filter(([row, column]) => wanted[row].label === found[column].label);
  const read = [...pairs].sort((a, b) => a[1] - b[1]).map(([row]) => row);
  return {
    pageIoU: pageIoU(found, wanted, PAGE).all.pageIoU,
    classAccuracy: wanted.length === 0 ? 1 : named.length / wanted.length,
    orderEdit: readingOrderEdit(
      read,
      wanted.map((_, i) => i),
    ),
  };
}

const scorers: { readonly [Task in TaskName]: (samples: readonly AnsweredSample[]) => Scores } = {
  text(samples) {
    const pairs = samples.map(({ truth, answer }) => [folded(answer), folded(truth)] as const);
    const characters = pairs.reduce((sum, [, truth]) => sum + [...truth].length, 0);
    return {
      characterErrorRate: pairs.reduce((sum, [answer, truth]) => sum + levenshtein(answer, truth), 0) / Math.max(1, characters),
      exact: mean(pairs.map(([answer, truth]) => (answer === truth ? 1 : 0))),
    };
  },
  table: (samples) => ({
    teds: mean(samples.map(({ truth, answer }) => teds(tableHtml(answer), tableHtml(truth)))),
    tedsStructure: mean(samples.map(({ truth, answer }) => tedsStructure(tableHtml(answer), tableHtml(truth)))),
  }),
  formula(samples) {
    const pairs = samples.map(({ truth, answer }) => [normaliseUnimer(answer), normaliseUnimer(truth)] as const);
    return {
      formulaEdit: mean(pairs.map(([answer, truth]) => normalisedEditDistance(answer, truth))),
      exact: mean(pairs.map(([answer, truth]) => (answer === truth ? 1 : 0))),
    };
  },
  layout(samples) {
    const all = samples.map(({ truth, answer }) => layoutScores(answer, truth));
    return {
      pageIoU: mean(all.map((scores) => scores.pageIoU)),
      classAccuracy: mean(all.map((scores) => scores.classAccuracy)),
      orderEdit: mean(all.map((scores) => scores.orderEdit)),
    };
  },
};

/** @throws RangeError without samples */
export function scoreAnswers(task: TaskName, samples: readonly AnsweredSample[]): Scores {
  if (samples.length === 0) throw new RangeError("`samples` expected at least one, got none");
  return scorers[task](samples);
}

/** Agreement of two answers to one picture. */
export type Agreement = (a: string, b: string) => Promise<number>;

/**
 * S of each task: PageIoU of layouts, TEDS of tables, CDM of formulas, 1 - normalised edit distance of text (the paper names no metric for
 * text). Equal answers agree wholly, whatever they are; answers that cannot be read as what they should be agree with no other.
 */
export function agreementOf(task: TaskName, cdm: CdmMetric): Agreement {
  const measures: { readonly [Task in TaskName]: (a: string, b: string) => number | Promise<number> } = {
    text: (a, b) => 1 - normalisedEditDistance(a, b),
    table: (a, b) => teds(tableHtml(a), tableHtml(b)),
    formula: async (a, b) => (await cdm.score(a, b))?.f1 ?? 0,
    layout(a, b) {
      const [first, second] = [boxesOf(a), boxesOf(b)];
      return first.length === 0 || second.length === 0 ? 0 : pageIoU(first, second, PAGE).all.pageIoU;
    },
  };
  const measure = measures[task];
  return async (a, b) => {
    if (folded(a) === folded(b)) return 1;
    return a < b ? measure(a, b) : measure(b, a);
  };
}
