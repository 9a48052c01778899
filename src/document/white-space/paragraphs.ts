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
const LIKE_SIZE = 1.4;
/** Lines of a run are no further apart than this many usual gaps of the page, or letter heights. */
const USUAL_GAPS = 1.6;
const LEAST_GAP = 0.5;
const MOST_GAP = 2.2;
/** An indented line begins this many letter heights further right. */
const INDENT = 0.7;
/** A line ends a paragraph if the next one's first word had room on it, with this many letter heights to spare. */
const SPARE = 1.5;
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
  const gapTo = (i: number): number => lines[below[i]].top - lines[i].bottom;
  const linked = below.map((next, i) => next >= 0 && above.get(next)!.length === 1 && likeSize(lines[i], lines[next]));
  const gaps = lines.flatMap((line, i) => (linked[i] && gapTo(i) < MOST_GAP * line.letterHeight ? [gapTo(i) / line.letterHeight] : []));
  const most = Math.min(MOST_GAP, Math.max(LEAST_GAP, USUAL_GAPS * median(gaps)));
  const starts = lines
    .map((_, i) => i)
    .filter((i) => !(above.get(i) ?? []).some((k) => linked[k] && gapTo(k) <= most * lines[k].letterHeight));
  return starts.map((start) => {
    const run = [lines[start]];
    for (let i = start; linked[i] && gapTo(i) <= most * lines[i].letterHeight; i = below[i]) run.push(lines[below[i]]);
    return run;
  });
}

function likeSize(a: PrintLine, b: PrintLine): boolean {
  return Math.max(a.letterHeight, b.letterHeight) <= LIKE_SIZE * Math.min(a.letterHeight, b.letterHeight);
}

/** Lines set about a middle axis have no edge to be indented from. */
function isCentred(lines: readonly PrintLine[], letterHeight: number): boolean {
  const middles = lines.map(({ left, right }) => (left + right) / 2);
  const spread = Math.max(...middles) - Math.min(...middles);
  const lefts = lines.map(({ left }) => left);
  return spread < 1.2 * letterHeight && Math.max(...lefts) - Math.min(...lefts) > 2 * letterHeight;
}

/** Edges near line `i` of a run: those of the lines around it, since a column may narrow beside a picture. */
function edgesAround(run: readonly PrintLine[], i: number): { left: number; right: number } {
  const near = run.slice(Math.max(0, i - 2), i + 3);
  return { left: Math.min(...near.map(({ left }) => left)), right: Math.max(...near.map(({ right }) => right)) };
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
    const begins = hanging ? !indented[i] && indented[i - 1] : indented[i] && !indented[i - 1] && !narrows;
    if (begins || (short[i - 1] && !narrows)) parts.push([run[i]]);
    else parts[parts.length - 1].push(run[i]);
  }
  return parts;
}

/** The paragraphs of a page's lines, in no particular order. */
export function paragraphs(lines: readonly PrintLine[]): Paragraph[] {
  return runs(lines).flatMap(parted).map(paragraphOf);
}
