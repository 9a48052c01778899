/**
 * How the print of a page stands: turned by quarters, and by how many degrees off the level. Letters stand close along a line and further
 * apart between lines; their feet stand on one level more often than their heads do, in scripts with a base line. Judges nothing it has
 * little evidence for: such a page counts as upright.
 */
import type { QuarterTurn } from "../../image/rgb-image.ts";
import { chains } from "./lines.ts";
import { type Extent, heightOf, median, type PageMarks, widthOf } from "./marks.ts";

export interface Posture {
  /** Counter-clockwise turn that sets the print upright. */
  readonly turn: QuarterTurn;
  /** Degrees by which lines fall to the right once the page is turned; what a turn counter-clockwise by as much makes level. */
  readonly skew: number;
}

/** Letters of a line stand this close, in letter heights. */
const CLOSE = 0.55;
const LEAST_CHAIN = 5;
/** Fewer letters than this tell nothing. */
const LEAST_LETTERS = 40;
/** One way must hold so many times the letters of the other to be believed. */
const CLEARLY = 2;
const CLEARLY_FEET = 1.2;
/** Degrees; what is steeper is no skew. */
const MOST_SKEW = 12;

const turned = ({ left, top, right, bottom }: Extent): Extent => ({ left: top, top: left, right: bottom, bottom: right });

function longChains(letters: readonly Extent[], letterHeight: number): Extent[][] {
  return chains(letters, letterHeight, CLOSE)
    .filter((chain) => chain.length >= LEAST_CHAIN)
    .map((chain) => chain.sort((a, b) => a.left - b.left));
}

const lettersIn = (lines: readonly Extent[][]): number => lines.reduce((sum, line) => sum + line.length, 0);

/** How often neighbours have their lower, and their upper, edges on one level. */
function levels(lines: readonly Extent[][], letterHeight: number): { feet: number; heads: number } {
  const slack = 0.1 * letterHeight;
  let [feet, heads] = [0, 0];
  for (const line of lines)
    for (let i = 1; i < line.length; i++) {
      if (Math.abs(line[i].bottom - line[i - 1].bottom) <= slack) feet++;
      if (Math.abs(line[i].top - line[i - 1].top) <= slack) heads++;
    }
  return { feet, heads };
}

/** Slope of the feet of a line: the median over pairs half a line apart. */
function slopeOf(line: readonly Extent[]): number {
  const half = line.length >> 1;
  return median(line.slice(half).map((letter, i) => (letter.bottom - line[i].bottom) / (letter.left - line[i].left || 1)));
}

function skewOf(lines: readonly Extent[][], letterHeight: number): number {
  const long = lines.filter((line) => line.length >= 8 && line[line.length - 1].right - line[0].left > 8 * letterHeight);
  if (lettersIn(long) < LEAST_LETTERS) return 0;
  const degrees = (Math.atan(median(long.map(slopeOf))) * 180) / Math.PI;
  return Math.abs(degrees) > MOST_SKEW ? 0 : degrees;
}

/** The posture of a page with these marks. */
export function postureOf({ letters, letterHeight }: PageMarks): Posture {
  if (letters.length < LEAST_LETTERS) return { turn: 0, skew: 0 };
  const level = longChains(letters, letterHeight);
  const wide = letters.filter((letter) => heightOf(letter) < 3 * letterHeight && widthOf(letter) < 3 * letterHeight);
  const upright = longChains(wide.map(turned), letterHeight);
  if (lettersIn(upright) > CLEARLY * lettersIn(level) && lettersIn(upright) >= LEAST_LETTERS) {
    const { feet, heads } = levels(upright, letterHeight);
    // In the mirrored page feet lie where right is: letters lean to the left and are read upwards.
    return feet >= heads ? { turn: 270, skew: -skewOf(upright, letterHeight) } : { turn: 90, skew: -skewOf(upright, letterHeight) };
  }
  const { feet, heads } = levels(level, letterHeight);
  const skew = skewOf(level, letterHeight);
  return heads > CLEARLY_FEET * feet && lettersIn(level) >= 2 * LEAST_LETTERS ? { turn: 180, skew } : { turn: 0, skew };
}
