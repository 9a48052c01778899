/**
 * Runs of neighbouring predicted pieces that read best as one: step 3 of OmniDocBench's quick match, which mends paragraphs that an
 * answer has split. A run grows while it gets closer to a true line and every piece is found in that line. It refuses to know of
 * categories, positions and formulas.
 */
import { levenshtein, normalisedEditDistance } from "./edit-distance.ts";
import { codePointLength, hasSurrogates } from "./python-text.ts";

/** Pairs closer than this are settled before runs are looked for. */
const SETTLED = 0.25;
/** A piece of a run must occur in the true line at most this far from exactly. */
const PIECE_LIMIT = 0.6;

/** Normalised edit distance of every true line to every predicted one, a true line a row. */
export function distanceMatrix(truth: readonly string[], pred: readonly string[]): number[][] {
  return truth.map((line) => pred.map((other) => normalisedEditDistance(other, line)));
}

/**
 * Least distance of `part` to any window of its length in `whole`, divided by that length, and where that window begins (in code
 * points); `null` if `part` is empty or longer than `whole`.
 */
export function bestWindow(
  part: string,
  whole: string,
): { readonly distance: number; readonly start: number; readonly text: string } | null {
  const length = codePointLength(part);
  const units = hasSurrogates(whole) ? Array.from(whole) : whole;
  if (length === 0 || length > units.length) return null;
  let best = { distance: Number.POSITIVE_INFINITY, start: 0, text: "" };
  for (let start = 0; start + length <= units.length; start++) {
    const window = units.slice(start, start + length);
    const text = typeof window === "string" ? window : window.join("");
    const distance = levenshtein(text, part) / length;
    if (distance < best.distance) best = { distance, start, text };
    if (distance === 0) break;
  }
  return best;
}

/** Whether the last of `pieces` belongs to the run of the others against a true line, and whether a further piece may be tried. */
export function judgeRun(truth: string, pieces: readonly string[]): { readonly belongs: boolean; readonly goOn: boolean } {
  const no = { belongs: false, goOn: false };
  if (pieces.length === 1) return no;
  const merged = pieces.join(" ");
  if (normalisedEditDistance(merged, truth) > normalisedEditDistance(pieces.slice(0, -1).join(" "), truth)) return no;
  const found = pieces.map((piece) => bestWindow(piece, truth)?.distance ?? null);
  const added = found[found.length - 1];
  if (added === null || found.slice(0, -1).some((distance) => distance === null || distance > PIECE_LIMIT)) return no;
  return { belongs: added < PIECE_LIMIT, goOn: codePointLength(merged) <= codePointLength(truth) };
}

export interface Runs {
  /** Indices of predicted pieces, joined ones together. */
  readonly indices: number[][];
  /** Distances of every true line to every run. */
  readonly cost: number[][];
}

/** Joins predicted pieces where that brings them closer to a true line. */
export function findRuns(truth: readonly string[], pred: readonly string[]): Runs {
  const alone: Runs = { indices: pred.map((_, index) => [index]), cost: distanceMatrix(truth, pred) };
  const settledTruth = new Set<number>();
  const settledPred = new Set<number>();
  alone.cost.forEach((row, i) => {
    row.forEach((distance, j) => {
      if (distance < SETTLED) {
        settledTruth.add(i);
        settledPred.add(j);
      }
    });
  });
  const candidates: Run[] = [];
  truth.forEach((line, i) => {
    if (settledTruth.has(i)) return;
    let best: Run | null = null;
    for (let start = 0; start < pred.length; start++) {
      if (settledPred.has(start)) continue;
      const run = growRun(line, pred, start, settledPred);
      const cost = normalisedEditDistance(run.map((index) => pred[index]).join(" "), line);
      if (best === null || cost < best.cost) best = { indices: run, cost };
    }
    if (best) candidates.push(best);
  });
  const chosen = chooseRuns(candidates);
  if (chosen.length === 0) return alone;
  const indices: number[][] = [];
  const starts = new Map(chosen.map((run) => [run[0], run]));
  for (let index = 0; index < pred.length; ) {
    const run = starts.get(index) ?? [index];
    indices.push(run);
    index += run.length;
  }
  return {
    indices,
    cost: distanceMatrix(
      truth,
      indices.map((run) => run.map((index) => pred[index]).join(" ")),
    ),
  };
}

function growRun(line: string, pred: readonly string[], start: number, settled: ReadonlySet<number>): number[] {
  const pieces = [pred[start]];
  const run = [start];
  for (let next = start + 1; next < pred.length && !settled.has(next); next++) {
    pieces.push(pred[next]);
    const { belongs, goOn } = judgeRun(line, pieces);
    if (!belongs) break;
    run.push(next);
    if (!goOn) break;
  }
  return run;
}

/** Consecutive indices and what they cost. */
export interface Run {
  readonly indices: readonly number[];
  readonly cost: number;
}

/** Disjoint runs out of overlapping ones: in every group of overlapping runs the path of disjoint ones that costs least on average. */
export function chooseRuns(candidates: readonly Run[]): number[][] {
  const groups: Run[][] = [];
  for (const run of candidates.toSorted((a, b) => a.indices[0] - b.indices[0])) {
    const group = groups.at(-1);
    if (group?.some((other) => overlap(run, other))) group.push(run);
    else groups.push([run]);
  }
  return groups.flatMap((group) => (group.length === 1 ? [[...group[0].indices]] : cheapestPath(group)));
}

function overlap(a: Run, b: Run): boolean {
  return a.indices.some((index) => b.indices.includes(index));
}

function same(a: Run, b: Run): boolean {
  return a.indices.length === b.indices.length && a.indices.every((index, k) => index === b.indices[k]);
}

/** Paths are built in the official order: a run joins every path it is disjoint from, replaces its dearer twin, or begins a new one. */
function cheapestPath(group: readonly Run[]): number[][] {
  const paths: Run[][] = [[group[0]]];
  for (const run of group.slice(1)) {
    let startsPath = true;
    for (const path of paths) {
      let isTaken = false;
      let isTwin = false;
      for (let index = 0; index < path.length; index++) {
        const item = path[index];
        if (same(item, run)) {
          isTaken = true;
          isTwin = true;
          if (item.cost > run.cost) {
            path.splice(
              path.findIndex((other) => same(other, item) && other.cost === item.cost),
              1,
            );
            path.push(run);
          }
        } else if (overlap(item, run)) isTaken = true;
      }
      if (!isTaken) {
        path.push(run);
        startsPath = false;
      }
      if (isTwin) startsPath = false;
    }
    if (startsPath) paths.push([run]);
  }
  let best: Run[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const path of paths) {
    const mean = path.reduce((sum, run) => sum + run.cost, 0) / path.length;
    if (mean < least) {
      best = path;
      least = mean;
    }
  }
  return best.map((run) => [...run.indices]);
}
