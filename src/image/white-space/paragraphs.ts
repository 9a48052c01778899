/**
 * Lines to paragraphs: a line follows the one above where both stand alone at their height, are of one size and as close as lines of the
 * page are; a run of such lines is parted where an indented line begins or one that had room for more ends. Refuses to know reading order.
 */
import type { PrintLine } from "./lines.ts";
import { around, type Extent, heightOf, median, overlapAcross, overlapDown, widthOf } from "./marks.ts";

export interface Paragraph extends Extent {
  readonly lines: readonly PrintLine[];
  /** Median height of letters, in pixels. */
  readonly letterHeight: number;
}

/** Lines of one size differ by no more than this factor. */
const LIKE_SIZE = 1.3;
/** Lines of a run follow each other by no more than so many usual steps of the page from foot to foot. */
const USUAL_STEPS = 1.35;
/** A step of more letter heights is none from line to line. */
const MOST_STEP = 4.5;
/** An indented line begins this many letter heights further right. */
const INDENT = 0.7;
/** A line ends a paragraph if the next one's first word had room on it, with this many letter heights to spare. */
const SPARE = 1.5;
/** A sign or number before the text of a line is no wider than this, in letter heights. */
const LABEL = 2.5;
/** Letters of a word are no further apart than this, in letter heights. */
const WORD_GAP = 0.5;

export function paragraphOf(lines: readonly PrintLine[]): Paragraph {
  return { ...around(lines), lines, letterHeight: median(lines.map(({ letterHeight }) => letterHeight)) };
}

const besideEachOther = (a: Extent, b: Extent): boolean => overlapDown(a, b) > 0.3 * Math.min(heightOf(a), heightOf(b));
const oneAboveOther = (a: Extent, b: Extent): boolean => overlapAcross(a, b) > 0.25 * Math.min(widthOf(a), widthOf(b));

/** For each line the line right below it, -1 where there is none or several stand side by side. */
function linesBelow(lines: readonly PrintLine[]): number[] {
  return lines.map((line, i) => {
    const below = lines.flatMap((other, k) =>
      k !== i && other.top > line.top && !besideEachOther(line, other) && oneAboveOther(line, other) ? [k] : [],
    );
    if (below.length === 0) return -1;
    const nearest = below.reduce((best, k) => (lines[k].top < lines[best].top ? k : best));
    return below.some((k) => k !== nearest && besideEachOther(lines[k], lines[nearest])) ? -1 : nearest;
  });
}

/** Runs of lines that follow each other, each top to bottom. */
function runs(lines: readonly PrintLine[]): PrintLine[][] {
  const below = linesBelow(lines);
  const above = new Map<number, number[]>();
  below.forEach((next, i) => {
    if (next >= 0) above.set(next, [...(above.get(next) ?? []), i]);
  });
  const stepTo = (i: number): number => (lines[below[i]].foot - lines[i].foot) / lines[i].letterHeight;
  const linked = below.map(
    (next, i) => next >= 0 && above.get(next)!.length === 1 && likeSize(lines[i], lines[next]) && stepTo(i) < MOST_STEP,
  );
  const steps = lines.flatMap((_, i) => (linked[i] ? [stepTo(i)] : []));
  const most = USUAL_STEPS * median(steps);
  const follows = lines.map((_, i) => linked[i] && stepTo(i) <= most);
  const starts = lines.map((_, i) => i).filter((i) => !(above.get(i) ?? []).some((k) => follows[k]));
  return starts.map((start) => {
    const run = [lines[start]];
    for (let i = start; follows[i]; i = below[i]) run.push(lines[below[i]]);
    return run;
  });
}

function likeSize(a: PrintLine, b: PrintLine): boolean {
  return Math.max(a.size, b.size) <= LIKE_SIZE * Math.min(a.size, b.size);
}

/** Lines set about a middle axis have no edge to be indented from. */
function isCentred(lines: readonly PrintLine[], letterHeight: number): boolean {
  const middles = lines.map(({ left, right }) => (left + right) / 2);
  const spread = Math.max(...middles) - Math.min(...middles);
  const lefts = lines.map(({ left }) => left);
  return spread < 1.2 * letterHeight && Math.max(...lefts) - Math.min(...lefts) > 2 * letterHeight;
}

/** Edges of the column at line `i` of a run, which it shares with those before or those after it: beside a picture a column narrows. */
function edgesAround(run: readonly PrintLine[], i: number): { left: number; right: number } {
  const [before, after] = [run.slice(Math.max(0, i - 2), i + 1), run.slice(i, i + 3)];
  const edges = [before, after].filter((near) => near.length > 1).map(around);
  return { left: Math.max(...edges.map(({ left }) => left)), right: Math.min(...edges.map(({ right }) => right)) };
}

/** Where the text of a line begins that has a sign or number before it. */
function textAfterLabel(line: PrintLine): number {
  const sorted = [...line.letters].sort((a, b) => a.left - b.left);
  if (sorted[0].left - line.left > line.letterHeight) return sorted[0].left;
  const end = line.left + firstWord(line);
  if (end - line.left > LABEL * line.letterHeight) return line.left;
  return sorted.find(({ left }) => left > end)?.left ?? line.left;
}

/** Width of the first word of a line, in pixels. */
function firstWord({ letters, left, letterHeight }: PrintLine): number {
  const sorted = [...letters].sort((a, b) => a.left - b.left);
  const end = sorted.findIndex((letter, i) => i + 1 < sorted.length && sorted[i + 1].left - letter.right > WORD_GAP * letterHeight);
  return (end < 0 ? sorted[sorted.length - 1] : sorted[end]).right - left;
}

function parted(run: readonly PrintLine[]): PrintLine[][] {
  const letterHeight = median(run.map((line) => line.letterHeight));
  if (run.length < 2 || isCentred(run, letterHeight)) return [[...run]];
  const indented = run.map((line, i) => line.left - edgesAround(run, i).left > INDENT * letterHeight);
  const short = run.map((line, i) => {
    const next = run[i + 1];
    return next !== undefined && edgesAround(run, i).right - line.right > firstWord(next) + SPARE * letterHeight;
  });
  // Where most lines are indented, those that hang out begin.
  const hanging = indented.filter(Boolean).length * 2 > run.length;
  const parts: PrintLine[][] = [[run[0]]];
  for (let i = 1; i < run.length; i++) {
    const narrows = Math.abs(run[i].left - run[i - 1].left) > 8 * letterHeight;
    const hangs = Math.abs(run[i].left - textAfterLabel(parts[parts.length - 1][0])) < INDENT * letterHeight;
    const begins = hangs ? false : hanging ? !indented[i] && indented[i - 1] : indented[i] && !indented[i - 1] && !narrows;
    if (begins || (short[i - 1] && !narrows)) parts.push([run[i]]);
    else parts[parts.length - 1].push(run[i]);
  }
  return parts;
}

/** The paragraphs of a page's lines, in no particular order. */
export function paragraphs(lines: readonly PrintLine[]): Paragraph[] {
  return runs(lines).flatMap(parted).map(paragraphOf);
}
