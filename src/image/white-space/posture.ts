/**
 * How the print of a page stands: turned by quarters, and by how many degrees off the level. Letters stand close along a line and further
 * apart between lines; their feet stand on one level more often than their heads do, in scripts with a base line. Judges nothing it has
 * little evidence for: such a page counts as upright.
 */
import type { QuarterTurn } from "../rgb-image.ts";
import { chains } from "./lines.ts";
import { type Extent, heightOf, median, type PageMarks, widthOf } from "./marks.ts";

export interface Posture {
  /** Counter-clockwise turn that sets the print upright. */
  readonly turn: QuarterTurn;
  /** Degrees by which lines fall to the right once the page is turned; what a turn counter-clockwise by as much makes level. */
  readonly skew: number;
}

/** Letters of a word stand this close, those of a line no further apart, in letter heights. */
const CLOSE = 0.55;
const APART = 1.8;
const LEAST_CHAIN = 5;
/** Fewer letters than this tell nothing. */
const LEAST_LETTERS = 40;
/** Slopes tell more than feet: they agree or they do not. */
const LEAST_SLOPES = 16;
/** One way must hold so many times the letters of the other to be believed. */
const CLEARLY = 2;
const CLEARLY_FEET = 1.4;
/** Where fewer letters than this share tell heads from feet they are figures or capitals, which tell nothing. */
const TELLING = 0.12;
/** Slopes are taken over at least so many letter heights; this share of them must agree to so much for the page to count as crooked. */
const LEVER = 10;
const AGREEMENT = 0.01;
const AGREEING = 0.55;
/** Degrees; what is steeper is no skew. */
const MOST_SKEW = 12;

const turned = ({ left, top, right, bottom }: Extent): Extent => ({ left: top, top: left, right: bottom, bottom: right });

function longChains(letters: readonly Extent[], letterHeight: number, reach = CLOSE): Extent[][] {
  return chains(letters, letterHeight, reach)
    .filter((chain) => chain.length >= LEAST_CHAIN)
    .map((chain) => chain.sort((a, b) => a.left - b.left));
}

const lettersIn = (lines: readonly Extent[][]): number => lines.reduce((sum, line) => sum + line.length, 0);

/** How often neighbours have only their lower, and only their upper, edges on one level. */
function levels(lines: readonly Extent[][], letterHeight: number): { feet: number; heads: number } {
  const slack = 0.1 * letterHeight;
  let [feet, heads] = [0, 0];
  for (const line of lines)
    for (let i = 1; i < line.length; i++) {
      const down = Math.abs(line[i].bottom - line[i - 1].bottom) <= slack;
      const up = Math.abs(line[i].top - line[i - 1].top) <= slack;
      if (down && !up) feet++;
      if (up && !down) heads++;
    }
  return { feet, heads };
}

/** Slopes of the feet of a line, between letters half a line apart. */
function slopesOf(line: readonly Extent[], letterHeight: number): number[] {
  const half = line.length >> 1;
  return line.slice(half).flatMap((letter, i) => {
    const across = letter.left - line[i].left;
    return across < LEVER * letterHeight ? [] : [(letter.bottom - line[i].bottom) / across];
  });
}

function skewOf(letters: readonly Extent[], letterHeight: number): number {
  const slopes = longChains(letters, letterHeight, APART).flatMap((line) => slopesOf(line, letterHeight));
  const slope = median(slopes);
  const agreeing = slopes.filter((other) => Math.abs(other - slope) < AGREEMENT).length;
  if (slopes.length < LEAST_SLOPES || agreeing < AGREEING * slopes.length) return 0;
  const degrees = (Math.atan(slope) * 180) / Math.PI;
  return Math.abs(degrees) > MOST_SKEW ? 0 : degrees;
}

/** The letters as they would be on the page mirrored so that what was upright is level; slim ones that lay on their side count as well. */
function mirrored({ letters, dots, letterHeight }: PageMarks): { readonly letters: Extent[]; readonly letterHeight: number } {
  const high = letters.filter((letter) => Math.max(heightOf(letter), widthOf(letter)) < 3 * letterHeight).map(turned);
  const usual = median(high.map(heightOf));
  return { letters: [...high, ...dots.map(turned).filter((dot) => heightOf(dot) >= 0.5 * usual)], letterHeight: usual };
}

/** The posture of a page with these marks. */
export function postureOf(marks: PageMarks): Posture {
  const { letters, letterHeight } = marks;
  if (letters.length < LEAST_LETTERS) return { turn: 0, skew: 0 };
  const level = longChains(letters, letterHeight);
  const other = mirrored(marks);
  const upright = longChains(other.letters, other.letterHeight);
  if (lettersIn(upright) > CLEARLY * lettersIn(level) && lettersIn(upright) >= LEAST_LETTERS) {
    const { feet, heads } = levels(upright, other.letterHeight);
    // In the mirrored page feet lie where right is: letters lean to the left and are read upwards.
    return { turn: feet >= heads ? 270 : 90, skew: -skewOf(other.letters, other.letterHeight) };
  }
  const { feet, heads } = levels(level, letterHeight);
  const skew = skewOf(letters, letterHeight);
  const upsideDown = heads > CLEARLY_FEET * feet && heads > TELLING * lettersIn(level) && lettersIn(level) >= LEAST_LETTERS;
  return { turn: upsideDown ? 180 : 0, skew };
}
