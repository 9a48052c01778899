/**
 * Letters to lines: neighbours of like height on one level make a stretch of print, stretches with no more than word spaces between make a
 * line. White between stretches that goes on over several lines parts columns, however narrow it is; other white, however wide in a
 * justified line, does not. Refuses to know paragraphs.
 */
import type { InkMask } from "../ink-mask.ts";
import { around, type Extent, heightOf, type Letter, overlapAcross, overlapDown, type PageMarks, quantile, widthOf } from "./marks.ts";

export interface PrintLine extends Extent {
  readonly letters: readonly Letter[];
  /** Height that a third of its letters do not exceed, in pixels: the x-height, or that of capitals or digits where it has no other. */
  readonly letterHeight: number;
  /** Where most of its letters stand, in pixels from the top of the page. */
  readonly foot: number;
  /** Usual height of its letters, capitals and ascenders counted in: steadier than `letterHeight`, for comparing sizes. */
  readonly size: number;
}

/** Neighbours' centres lie this close, in heights of the lower one; their heights differ by no more than this factor. */
const SAME_LEVEL = 0.6;
const LIKE_HEIGHT = 3;
/** Letters of a stretch are no further apart than this, in letter heights. */
const STRETCH_GAP = 0.75;
/** Narrower gaps have no room for a rule, in letter heights. */
const RULED = 0.3;
/** White this wide parts, whatever stands above and below, in letter heights. */
const WIDE = 3.2;
/** White that goes on over so many lines parts columns if it stays this wide, in letter heights. */
const ALLEY_LINES = 5;
const ALLEY = 0.8;
/** Stretches of one line differ in size by no more than this factor: a number in a frame is larger than its line. */
const LIKE_SIZE = 2.6;
/** A stretch this narrow at the beginning of a line may be the sign of a list's item, in letter heights. */
const LABEL = 2.5;
/** Wider white is the rest of a short line, or room for a picture: no evidence for an alley, in letter heights. */
const MOST_ALLEY = 10;
/** The next line begins within this many letter heights; one may be passed over. */
const NEXT_LINE = 4;

/** Groups of indices that `join` has joined. */
class Groups {
  readonly #parents: number[];

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, i) => i);
  }

  find(i: number): number {
    while (this.#parents[i] !== i) {
      this.#parents[i] = this.#parents[this.#parents[i]];
      i = this.#parents[i];
    }
    return i;
  }

  join(a: number, b: number): void {
    this.#parents[this.find(a)] = this.find(b);
  }

  members(): number[][] {
    const groups = new Map<number, number[]>();
    this.#parents.forEach((_, i) => {
      const root = this.find(i);
      const group = groups.get(root);
      if (group) group.push(i);
      else groups.set(root, [i]);
    });
    return [...groups.values()];
  }
}

const middle = ({ top, bottom }: Extent): number => (top + bottom) / 2;

function onOneLevel(a: Extent, b: Extent): boolean {
  const [low, high] = [Math.min(heightOf(a), heightOf(b)), Math.max(heightOf(a), heightOf(b))];
  return high <= LIKE_HEIGHT * low && Math.abs(middle(a) - middle(b)) <= SAME_LEVEL * low;
}

/** Chains of letters whose gaps are at most `reach` letter heights and hold nothing that parts: [letters of the chain]. */
export function chains<T extends Extent>(
  letters: readonly T[],
  letterHeight: number,
  reach: number,
  isParted: (gap: Extent) => boolean = () => false,
): T[][] {
  const order = letters.map((_, i) => i).sort((a, b) => letters[a].left - letters[b].left);
  const rows = new Map<number, number[]>();
  const groups = new Groups(letters.length);
  for (const i of order) {
    const letter = letters[i];
    for (let row = Math.floor(letter.top / letterHeight); row <= Math.floor((letter.bottom - 1) / letterHeight); row++) {
      const before = rows.get(row) ?? [];
      for (let k = before.length - 1; k >= 0; k--) {
        const other = letters[before[k]];
        // Sorted by their left edges; further back than a heading's letter nothing can reach.
        if (letter.left - other.left > 8 * letterHeight) break;
        const gap = letter.left - other.right;
        if (gap > reach * Math.max(letterHeight, Math.min(heightOf(letter), heightOf(other))) || !onOneLevel(letter, other)) continue;
        const between = {
          left: other.right,
          right: letter.left,
          top: Math.max(letter.top, other.top),
          bottom: Math.min(letter.bottom, other.bottom),
        };
        if (gap < RULED * letterHeight || !isParted(between)) groups.join(i, before[k]);
      }
      before.push(i);
      rows.set(row, before);
    }
  }
  return groups.members().map((members) => members.map((i) => letters[i]));
}

/** The line that `letters` make up. */
export function lineOf(letters: readonly Letter[]): PrintLine {
  const heights = letters.map(heightOf).sort((a, b) => a - b);
  const usual = heights.slice(heights.length >> 2, Math.ceil(heights.length * 0.75));
  return {
    ...around(letters),
    letters,
    letterHeight: quantile(heights, 1 / 3),
    foot: quantile(
      letters.map(({ bottom }) => bottom),
      0.5,
    ),
    size: usual.reduce((sum, height) => sum + height, 0) / usual.length,
  };
}

/** White between a stretch and the next one at its right; `white` is the widest part of it without a dot, in pixels. */
interface Hole extends Extent {
  readonly before: number;
  readonly after: number;
  readonly white: number;
}

function widestWhite(hole: Extent, dots: readonly Extent[]): number {
  const within = dots.filter((dot) => overlapDown(dot, hole) > 0 && dot.left < hole.right && dot.right > hole.left);
  let [white, from] = [0, hole.left];
  for (const dot of within.sort((a, b) => a.left - b.left)) {
    white = Math.max(white, dot.left - from);
    from = Math.max(from, dot.right);
  }
  return Math.max(white, hole.right - from);
}

function holesBetween(stretches: readonly PrintLine[], dots: readonly Extent[]): Hole[] {
  const holes: Hole[] = [];
  stretches.forEach((left, before) => {
    let after = -1;
    stretches.forEach((right, i) => {
      if (i === before || right.left < left.right) return;
      if (overlapDown(left, right) < 0.4 * Math.min(heightOf(left), heightOf(right))) return;
      if (after < 0 || right.left < stretches[after].left) after = i;
    });
    if (after < 0) return;
    const right = stretches[after];
    const top = Math.min(left.top, right.top);
    const extent = { left: left.right, right: right.left, top, bottom: Math.max(left.bottom, right.bottom) };
    holes.push({ ...extent, before, after, white: widestWhite(extent, dots) });
  });
  return holes.sort((a, b) => a.top - b.top);
}

/** Over how many lines the white of a hole goes on, itself counted; nothing may stand in it on the way. */
function alleyLines(hole: Hole, holes: readonly Hole[], stretches: readonly PrintLine[], letterHeight: number): number {
  let count = 1;
  for (const step of [1, -1]) {
    let here: Extent = hole;
    for (;;) {
      const next = holes.find((other) => {
        const distance = step > 0 ? other.top - here.bottom : here.top - other.bottom;
        const away = step > 0 ? middle(other) > middle(here) : middle(other) < middle(here);
        if (!away || other.white > MOST_ALLEY * letterHeight || distance < -0.6 * letterHeight || distance > NEXT_LINE * letterHeight)
          return false;
        if (overlapAcross(here, other) < ALLEY * letterHeight) return false;
        const strip = {
          left: Math.max(here.left, other.left),
          right: Math.min(here.right, other.right),
          top: middle(step > 0 ? here : other),
          bottom: middle(step > 0 ? other : here),
        };
        return !stretches.some((stretch) => overlapAcross(stretch, strip) > 0 && overlapDown(stretch, strip) > 0);
      });
      if (!next || ++count >= ALLEY_LINES) break;
      here = { left: Math.max(here.left, next.left), right: Math.min(here.right, next.right), top: next.top, bottom: next.bottom };
    }
  }
  return count;
}

/** Whether an upright rule stands in a hole, over its whole height. */
function isRuled({ left, top, right, bottom }: Extent, { ink, width }: InkMask): boolean {
  if (bottom <= top) return false;
  for (let x = left; x < right; x++) {
    let y = top;
    while (y < bottom && ink[y * width + x] === 1) y++;
    if (y === bottom) return true;
  }
  return false;
}

/** A mark or two of less than this height, in letter heights, that no neighbour is level with: a comma, a quotation mark, a dash. */
const PUNCTUATION = 0.68;

/** The lines of a page, given its ink and its marks. Dots that belong to no line are left out. */
export function printLines(page: InkMask, { letters, dots, letterHeight }: PageMarks): PrintLine[] {
  if (letterHeight === 0) return [];
  const all = chains(letters, letterHeight, STRETCH_GAP, (gap) => isRuled(gap, page)).map(lineOf);
  const isPunctuation = (stretch: PrintLine): boolean => stretch.letters.length <= 2 && heightOf(stretch) < PUNCTUATION * letterHeight;
  const stretches = all.filter((stretch) => !isPunctuation(stretch));
  const small = [...dots, ...all.filter(isPunctuation)];
  const holes = holesBetween(stretches, small);
  const preceded = new Set(holes.filter(({ white }) => white <= WIDE * letterHeight).map(({ after }) => after));
  const groups = new Groups(stretches.length);
  for (const hole of holes) {
    const [left, right] = [stretches[hole.before], stretches[hole.after]];
    const [low, high] = [left.letterHeight, right.letterHeight].sort((a, b) => a - b);
    if (isRuled(hole, page) || high > LIKE_SIZE * low || hole.white > WIDE * Math.max(letterHeight, low)) continue;
    // The number or sign of a list's item stands in a column of its own, and yet belongs to its line.
    const isLabel = widthOf(left) < LABEL * letterHeight && !preceded.has(hole.before);
    if (isLabel || hole.white < ALLEY * letterHeight || alleyLines(hole, holes, stretches, letterHeight) < ALLEY_LINES)
      groups.join(hole.before, hole.after);
  }
  const lines = groups.members().map((members) => lineOf(members.flatMap((i) => stretches[i].letters)));
  return withDots(lines, small, letterHeight);
}

/** Tables found among lines, and the lines that are in none. */
export interface LinedPage<Table> {
  readonly tables: readonly Table[];
  readonly rest: readonly PrintLine[];
}

/** Each dot goes to the nearest line it stands in, above or below by no more than half a letter, or at whose ends it stands. */
export function withDots(lines: readonly PrintLine[], dots: readonly Extent[], letterHeight: number): PrintLine[] {
  const taken = lines.map((line) => [line as Extent]);
  for (const dot of dots) {
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    lines.forEach((line, i) => {
      const across = -overlapAcross(dot, line);
      const down = -overlapDown(dot, line);
      if (across > 1.2 * line.letterHeight || down > 0.5 * line.letterHeight) return;
      const distance = Math.max(0, across) + 2 * Math.max(0, down);
      if (distance < least) [best, least] = [i, distance];
    });
    if (best >= 0) taken[best].push(dot);
  }
  return lines
    .map((line, i) => ({ ...line, ...around(taken[i]) }))
    .filter((line) => line.letters.length > 1 || heightOf(line) >= 0.7 * letterHeight);
}
