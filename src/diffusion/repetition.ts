/**
 * Finds an answer that has run away: one unit of a few tokens said over and over (a table cell, a line of code, a digit), the failure that
 * fills a page with tens of thousands of tokens. A document may repeat itself for good reason, so the limits are generous: a dotted leader
 * is about a line long, equal table rows end with the table. Knows token ids only; what to do about it is the caller's affair.
 */

import { integerIn } from "./ranges.ts";

/** What counts as running away. */
export interface RepetitionOptions {
  /** Longest unit looked for, in tokens. Default 64. */
  readonly longestUnit?: number;
  /** A unit must fill at least this many tokens… Default 200. */
  readonly leastTokens?: number;
  /** …and come at least this often. Default 4. */
  readonly leastRepeats?: number;
  /** Tokens a blank form is made of (empty cell, new row): a unit of these alone must fill `leastBlankTokens` (default 1024). */
  readonly blankTokens?: readonly number[];
  readonly leastBlankTokens?: number;
}

/** A run of `tokens` tokens from `start` in which every token equals the one `unit` places before it. */
export interface Repetition {
  readonly start: number;
  readonly unit: number;
  readonly tokens: number;
}

/**
 * The earliest run that counts as running away, told by its shortest unit; null if there is none. An interruption that keeps
 * `start + unit` tokens keeps the unit once. Takes tokens × longestUnit comparisons: 1.3 ms for 2,000 tokens.
 */
export function findRepetition(tokens: ArrayLike<number>, options: RepetitionOptions = {}): Repetition | null {
  const longestUnit = integerIn("longestUnit", options.longestUnit ?? 64, 1);
  const leastTokens = integerIn("leastTokens", options.leastTokens ?? 200, 2);
  const leastRepeats = integerIn("leastRepeats", options.leastRepeats ?? 4, 2);
  const leastBlankTokens = integerIn("leastBlankTokens", options.leastBlankTokens ?? 1024, 2);
  const blankTokens = new Set(options.blankTokens);
  let found: Repetition | null = null;
  for (let unit = 1; unit <= longestUnit; unit++) {
    for (let start = 0; start + unit < tokens.length; ) {
      let end = start + unit;
      while (end < tokens.length && tokens[end] === tokens[end - unit]) end++;
      const length = end - start;
      if (length >= Math.max(leastTokens, leastRepeats * unit) && (found === null || start < found.start)) {
        if (length >= leastBlankTokens || !consistsOf(tokens, start, unit, blankTokens)) found = { start, unit, tokens: length };
      }
      start = end - unit + 1;
    }
  }
  return found;
}

function consistsOf(tokens: ArrayLike<number>, start: number, length: number, allowed: ReadonlySet<number>): boolean {
  for (let index = start; index < start + length; index++) if (!allowed.has(tokens[index])) return false;
  return true;
}
