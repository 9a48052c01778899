/**
 * Matching of the true elements of a page with predicted ones, OmniDocBench v1.5's quick match: runs of pieces are joined, lines
 * are assigned at least cost, hopeless pairs are undone, true lines are looked for inside predictions, what is left is paired. Strict
 * keeps the official slip by which lines without content shift the positions and categories of all that follow; sound does not. The
 * official limit of 30 seconds a page is not part of it. It refuses to know of tables and of scores.
 */
import { MineruError } from "../error.ts";
import { assignMinimum } from "./assignment.ts";
import { normalisedEditDistance } from "./edit-distance.ts";
import type { MetricMode } from "./mode.ts";
import type { PageElement } from "./omnidocbench-extract.ts";
import { normaliseFormula, normaliseText } from "./omnidocbench-normalise.ts";
import { type OmniDocBlock, UNSCORED_CATEGORIES } from "./omnidocbench-record.ts";
import { bestWindow, distanceMatrix, findRuns } from "./prediction-runs.ts";
import { pythonSetOrder } from "./python-set-order.ts";
import { codePointLength, strip, stripCharacters } from "./python-text.ts";

/** Lines this close to an unscored block leave the pool. */
const UNSCORED_LIMIT = 0.25;
/** Assigned pairs dearer than this are undone. */
const PAIR_LIMIT = 0.7;
/** A true line this close to a part of a prediction joins it. */
const PART_LIMIT = 0.4;

/** True blocks and the predictions they were matched with; either side may be missing. */
export interface MatchedRow {
  /** Indices among the true lines, or the true tables, of the page. */
  readonly truthIndices: readonly number[];
  readonly predIndices: readonly number[];
  readonly truth: string;
  readonly pred: string;
  readonly normTruth: string;
  readonly normPred: string;
  readonly truthOrders: readonly (number | null)[];
  readonly predPosition: number | null;
  readonly truthCategory: string;
  readonly predCategory: string;
  readonly truthAttributes: readonly Readonly<Record<string, unknown>>[];
  /** The matcher's own distance, 0 to 1; scores are computed anew from the strings. */
  readonly edit: number;
}

interface Line {
  readonly raw: string;
  readonly norm: string;
  /** Index among the lines of its side. */
  readonly index: number;
}

interface TruthLine extends Line {
  readonly category: string;
  readonly order: number | null;
  readonly attribute: Readonly<Record<string, unknown>>;
}

interface PredLine extends Line {
  readonly category: string;
  readonly position: number;
}

/** What {@link matchElements} found besides the rows. */
export interface ElementMatch {
  readonly rows: MatchedRow[];
  /** Predicted lines that no true block took, inline formulas left out: what was invented or misread beyond recognition. */
  readonly spurious: readonly string[];
}

/** Matches text and formulas of a page. Rows of unscored categories may be missing. */
export function matchElements(blocks: readonly OmniDocBlock[], elements: readonly PageElement[], mode: MetricMode = "sound"): ElementMatch {
  const truth = truthLines(splitArrays(blocks, mode), mode);
  const inReadingOrder = elements.toSorted(
    (a, b) => Number(a.fine === "equation_inline") - Number(b.fine === "equation_inline") || a.position[0] - b.position[0],
  );
  const pred = predLines(inReadingOrder.flatMap(splitPredictedArray), mode);
  if (truth.length === 0) return { rows: pred.map((line) => row([], [line], 1)), spurious: spuriousOf(pred) };
  if (pred.length === 0) return { rows: truth.map((line) => row([line], [], 1)), spurious: [] };
  if (truth.length === 1 && pred.length === 1) {
    return { rows: [row(truth, pred, normalisedEditDistance(pred[0].norm, truth[0].norm))], spurious: [] };
  }
  const unscored = truth.filter((line) => UNSCORED_CATEGORIES.has(line.category));
  const taken = new Set(
    pred
      .filter((line) => unscored.some((other) => normalisedEditDistance(line.norm, other.norm) < UNSCORED_LIMIT))
      .map((line) => line.index),
  );
  const scored = truth.filter((line) => !UNSCORED_CATEGORIES.has(line.category));
  const pool = pred.filter((line) => !taken.has(line.index));
  const rows = matchScored(scored, pool, mode);
  const matched = new Set(rows.filter((r) => r.truthIndices.length > 0).flatMap((r) => r.predIndices));
  return { rows, spurious: spuriousOf(pool.filter((line) => !matched.has(line.index))) };
}

function spuriousOf(lines: readonly PredLine[]): string[] {
  return lines.filter((line) => line.category !== "equation_inline").map((line) => line.norm);
}

function truthLines(blocks: readonly OmniDocBlock[], mode: MetricMode): TruthLine[] {
  const all = blocks.map((block) => {
    const isFormula = block.category_type === "equation_isolated";
    const raw = isFormula ? block.latex : block.text;
    if (raw === undefined && mode === "strict") {
      throw new MineruError(
        "data-invalid",
        `block ${block.anno_id} (${block.category_type}) expected a ${isFormula ? "latex" : "text"} field`,
      );
    }
    const norm = isFormula ? normaliseFormula(raw ?? "", mode) : normaliseText(raw ?? "", mode);
    return { raw: raw ?? "", norm, category: block.category_type, order: orderOf(block, mode), attribute: block.attribute ?? {} };
  });
  const kept = all.filter((line) => line.raw !== "" && line.norm !== "");
  return kept.map((line, index) => {
    const { order, attribute } = mode === "strict" ? all[index] : line;
    return { ...line, order, attribute, index };
  });
}

function orderOf(block: OmniDocBlock, mode: MetricMode): number | null {
  return mode === "strict" ? block.order || null : (block.order ?? null);
}

function predLines(elements: readonly PageElement[], mode: MetricMode): PredLine[] {
  const all = elements.map((element) => {
    const isFormula = element.category === "equation_isolated";
    const norm = isFormula ? normaliseFormula(element.content, mode) : normaliseText(element.content, mode);
    return { raw: element.content, norm, category: element.fine ?? element.category, position: element.position[0] };
  });
  const kept = all.filter((line) => line.raw !== "" && line.norm !== "");
  return kept.map((line, index) => {
    const { category, position } = mode === "strict" ? all[index] : line;
    return { ...line, category, position, index };
  });
}

const ARRAY = /\\begin\{array\}\{([^}]*)\}([\s\S]*?)\\end\{array\}/;

/** True for the column specification of a single plain column; bars and blanks do not count. */
export function isSingleColumn(specification: string): boolean {
  return /^[lcr]$/.test(specification.replace(/[\s|]+/g, "").replace(/[@!]\{[^}]*\}/g, ""));
}

function arrayRows(body: string): string[] {
  return body
    .split("\\\\")
    .map(strip)
    .filter((line) => line !== "");
}

/**
 * True formulas that are a one-column array as one formula a row, ordered within the formula's place.
 * @throws MineruError `data-invalid` in strict mode if such a formula has no order
 */
export function splitArrays(blocks: readonly OmniDocBlock[], mode: MetricMode = "sound"): OmniDocBlock[] {
  return blocks.flatMap((block) => {
    const match = block.category_type === "equation_isolated" && block.latex?.includes("\\begin{array") ? ARRAY.exec(block.latex) : null;
    if (!match || !isSingleColumn(match[1])) return [block];
    if (typeof block.order !== "number") {
      if (mode === "sound") return [block];
      throw new MineruError("data-invalid", `block ${block.anno_id}: an array of one column expected an order, got ${block.order}`);
    }
    const { order } = block;
    return arrayRows(match[2]).map((line, index) => ({
      ...block,
      latex: `\\[${line}\\]`,
      order: Math.round((order + (index + 1) / 10) * 10) / 10,
    }));
  });
}

/** A predicted one-column array as one formula a row; the end of a row's position is its last character. */
export function splitPredictedArray(element: PageElement): PageElement[] {
  const { content } = element;
  const match = element.category === "equation_isolated" && content.includes("\\begin{array") ? ARRAY.exec(content) : null;
  if (!match || !isSingleColumn(match[1])) return [element];
  const bodyStart = match.index + "\\begin{array}{}".length + match[1].length;
  let from = 0;
  return arrayRows(match[2]).map((line) => {
    const at = match[2].indexOf(line, from);
    from = at + line.length;
    const start = element.position[0] + codePointLength(content.slice(0, bodyStart + at));
    return { ...element, content: `\\[${line}\\]`, position: [start, start + codePointLength(line) - 1] as const };
  });
}

/** True lines of one run of predictions. */
interface Group {
  readonly pred: readonly number[];
  readonly truth: number[];
  edit: number;
}

/** Indices in here count within `truth` and `pred`. */
function matchScored(truth: readonly TruthLine[], pred: readonly PredLine[], mode: MetricMode): MatchedRow[] {
  const truthNorms = truth.map((line) => line.norm);
  const predNorms = pred.map((line) => line.norm);
  const groups = groupLines(truthNorms, predNorms);
  for (const group of groups) group.edit = editOfGroup(group, truthNorms, predNorms);
  const pairs = [...groups, ...pairLeftovers(groups, truthNorms, predNorms, mode)];
  const placed = new Set<number>();
  const merged: { truth: number[]; pred: readonly number[]; edit: number }[] = [];
  const byRun = new Map<string, { truth: number[]; pred: readonly number[]; edit: number }>();
  for (const pair of pairs) {
    if (pair.truth.length === 0 && groups.includes(pair as Group)) continue;
    const key = pair.pred.join(",");
    const existing = byRun.get(key);
    const ordered = pair.truth.toSorted((a, b) => a - b);
    if (existing) existing.truth.push(...ordered);
    else {
      const entry = { truth: ordered, pred: pair.pred, edit: pair.edit };
      byRun.set(key, entry);
      merged.push(entry);
    }
    for (const index of ordered) placed.add(index);
  }
  const rows = merged.map((entry) =>
    row(
      entry.truth.map((index) => truth[index]),
      entry.pred.map((index) => pred[index]),
      entry.edit,
    ),
  );
  const alone = truth.filter((_, index) => !placed.has(index)).map((line) => row([line], [], 1));
  return [...rows, ...alone].filter((r) => r.truthIndices.length > 0 || r.predCategory !== "equation_inline");
}

function groupLines(truthNorms: readonly string[], predNorms: readonly string[]): Group[] {
  const runs = findRuns(truthNorms, predNorms);
  const { rows, columns } = assignMinimum(runs.cost);
  const groups: Group[] = [];
  const unmatched = new Set(truthNorms.keys());
  rows.forEach((truthIndex, k) => {
    if (runs.cost[truthIndex][columns[k]] > PAIR_LIMIT) return;
    groups.push({ pred: runs.indices[columns[k]], truth: [truthIndex], edit: 0 });
    unmatched.delete(truthIndex);
  });
  const open = [...unmatched];
  const taken = new Set<number>();
  predNorms.forEach((line, predIndex) => {
    const found = open.filter((index) => (bestWindow(truthNorms[index], line)?.distance ?? 1) < PART_LIMIT);
    if (found.length === 0) return;
    const fresh = found.filter((index) => !taken.has(index));
    const group = groups.find((other) => other.pred.length === 1 && other.pred[0] === predIndex);
    if (group) group.truth.push(...fresh);
    else groups.push({ pred: [predIndex], truth: fresh, edit: 0 });
    for (const index of fresh) taken.add(index);
  });
  return groups;
}

function editOfGroup(group: Group, truthNorms: readonly string[], predNorms: readonly string[]): number {
  const lines = group.truth.toSorted((a, b) => a - b).map((index) => truthNorms[index]);
  if (lines.length === 0) return 1;
  if (lines.length > 1) return normalisedEditDistance(predNorms[group.pred[0]], lines.join(""));
  return normalisedEditDistance(group.pred.map((index) => predNorms[index]).join(" "), lines[0]);
}

/** Pairs what no group has, at least cost; predictions left when no true line is make one group without truth. */
function pairLeftovers(groups: readonly Group[], truthNorms: readonly string[], predNorms: readonly string[], mode: MetricMode): Group[] {
  const truthDone = new Set(groups.flatMap((group) => group.truth));
  const predDone = new Set(groups.flatMap((group) => group.pred));
  const truthLeft = leftIn(truthNorms.length, truthDone, mode);
  const predLeft = leftIn(predNorms.length, predDone, mode);
  if (predLeft.length === 0) return [];
  if (truthLeft.length === 0) return [{ pred: predLeft, truth: [], edit: 1 }];
  const cost = distanceMatrix(
    truthLeft.map((index) => truthNorms[index]),
    predLeft.map((index) => predNorms[index]),
  );
  const { rows, columns } = assignMinimum(cost);
  return rows.map((r, k) => ({ pred: [predLeft[columns[k]]], truth: [truthLeft[r]], edit: 1 }));
}

function leftIn(count: number, done: ReadonlySet<number>, mode: MetricMode): number[] {
  const left = Array.from({ length: count }, (_, index) => index).filter((index) => !done.has(index));
  const iteratesInOrder = mode === "sound" || Math.floor(count / 4) > done.size;
  return iteratesInOrder ? left : pythonSetOrder(left);
}

function row(truth: readonly TruthLine[], pred: readonly PredLine[], edit: number): MatchedRow {
  const truthCategory = truth.length > 0 ? commonest(truth.map((line) => line.category)) : "";
  const predCategory = pred[0]?.category ?? "";
  return {
    truthIndices: truth.map((line) => line.index),
    predIndices: pred.map((line) => line.index),
    truth: truthCategory === "equation_isolated" && truth.length > 1 ? stacked(truth) : truth.map((line) => line.raw).join(""),
    pred: predCategory.includes("equation") && pred.length > 1 ? stacked(pred) : pred.map((line) => line.raw).join(""),
    normTruth: truth.map((line) => line.norm).join(""),
    normPred: pred.map((line) => line.norm).join(""),
    truthOrders: truth.map((line) => line.order),
    predPosition: pred[0]?.position ?? null,
    truthCategory,
    predCategory,
    truthAttributes: truth.length > 0 ? truth.map((line) => line.attribute) : [{}],
    edit,
  };
}

/** Several formulas as the rows of one. */
function stacked(lines: readonly Line[]): string {
  const rows = lines.map((line) => `{${stripCharacters(stripCharacters(line.raw, "$"), "\n")}}`);
  return `\\begin{array}{l} ${rows.join(" \\\\ ")} \\end{array}`;
}

function commonest(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}
