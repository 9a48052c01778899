/**
 * The rows of a training pass and who of them sees whom (the paper's Figure 3). A sequence is laid out as
 * `[prompt | clean answer | noisy answer 1 | … | noisy answer k]`, every noisy copy repeating the positions of the clean one:
 *
 * - prompt and clean rows see prompt and clean rows of blocks not later than their own (equation (7));
 * - noisy rows see prompt and clean rows of *earlier* blocks, and their own block of their own copy.
 *
 * So one pass trains every block as if all blocks before it were settled. Clean rows follow the block length too (a settled block was
 * read with attention both ways), hence one block length per sequence and as many noisings as wanted. Several sequences share a bin of
 * rows without seeing each other (`segment`), each with its own block length. Knows rows, not tokens.
 */

import { blockOf, mayAttend } from "./block-mask.ts";
import { integerIn } from "./ranges.ts";

/** Row kinds: prompt 0, clean answer 1, noisy copy n (from 0) `NOISY + n`. */
export const PROMPT = 0;
export const CLEAN = 1;
export const NOISY = 2;

/** Segment of rows that only fill up a bin; such a row sees itself alone, so that its softmax has something to divide by. */
export const PADDING_SEGMENT = -1;

/** What is added to an attention score that must not count. Finite, so that no -Infinity meets another; exp of it is 0 in float32. */
export const HIDDEN = -1e9;

/** One sequence to lay out; lengths in tokens. `noisyCopies` defaults to 1. */
export interface TrainingSequence {
  readonly promptLength: number;
  readonly answerLength: number;
  readonly blockLength: number;
  readonly noisyCopies?: number;
}

/** One entry per row. `position` is the rotary position; padding rows have position 0. */
export interface TrainingRows {
  readonly kind: Uint8Array;
  readonly block: Int32Array;
  readonly segment: Int32Array;
  readonly position: Int32Array;
}

/** How many rows a sequence takes: prompt, clean answer and every noisy copy. */
export function rowsOf(sequence: TrainingSequence): number {
  return sequence.promptLength + sequence.answerLength * (1 + (sequence.noisyCopies ?? 1));
}

/**
 * Lays sequences into a bin one after another; sequence i becomes segment i. `rows` is the bin's size, by default just what is needed;
 * what is left over is padding. RangeError if they do not fit.
 */
export function trainingRows(sequences: readonly TrainingSequence[], rows?: number): TrainingRows {
  const needed = sequences.reduce((sum, sequence) => sum + rowsOf(sequence), 0);
  const size = integerIn("rows", rows ?? needed, needed);
  const result: TrainingRows = {
    kind: new Uint8Array(size),
    block: new Int32Array(size),
    segment: new Int32Array(size).fill(PADDING_SEGMENT),
    position: new Int32Array(size),
  };
  let row = 0;
  sequences.forEach((sequence, segment) => {
    const promptLength = integerIn("promptLength", sequence.promptLength, 0);
    const answerLength = integerIn("answerLength", sequence.answerLength, 0);
    const blockLength = integerIn("blockLength", sequence.blockLength, 1);
    const copies = integerIn("noisyCopies", sequence.noisyCopies ?? 1, 0, 255 - NOISY);
    const lay = (kind: number, from: number, to: number): void => {
      for (let position = from; position < to; position++, row++) {
        result.kind[row] = kind;
        result.block[row] = blockOf(position, promptLength, blockLength);
        result.segment[row] = segment;
        result.position[row] = position;
      }
    };
    lay(PROMPT, 0, promptLength);
    for (let kind = CLEAN; kind < NOISY + copies; kind++) lay(kind, promptLength, promptLength + answerLength);
  });
  return result;
}

/** The rule above for one row and one column of the same bin. */
export function mayAttendInTraining(rows: TrainingRows, row: number, column: number): boolean {
  if (rows.segment[row] === PADDING_SEGMENT) return row === column;
  if (rows.segment[row] !== rows.segment[column]) return false;
  const rowBlock = rows.block[row];
  const columnBlock = rows.block[column];
  if (rows.kind[column] >= NOISY) return rows.kind[row] === rows.kind[column] && rowBlock === columnBlock;
  return mayAttend(rows.kind[row] >= NOISY ? rowBlock - 1 : rowBlock, columnBlock);
}

/**
 * The additive mask of a bin, 0 where a row may attend and `HIDDEN` elsewhere: float32 `[rows, rows]`, written into `out` if given
 * (RangeError if its length differs). Rows of one block are alike, so the rule is asked once per pair of runs; 768 × 768 rows take
 * 0.3 ms with blocks of 32 and 4 ms with blocks of 1.
 */
export function trainingMask(rows: TrainingRows, out?: Float32Array): Float32Array {
  const size = rows.kind.length;
  const mask = out ?? new Float32Array(size * size);
  if (mask.length !== size * size) throw new RangeError(`\`out\` expected ${size * size} numbers, got ${mask.length}`);
  mask.fill(HIDDEN);
  const starts = runStarts(rows);
  for (let run = 0; run + 1 < starts.length; run++) {
    const first = starts[run];
    for (let other = 0; other + 1 < starts.length; ) {
      if (!mayAttendInTraining(rows, first, starts[other])) {
        other++;
        continue;
      }
      const from = starts[other];
      do other++;
      while (other + 1 < starts.length && mayAttendInTraining(rows, first, starts[other]));
      mask.fill(0, first * size + from, first * size + starts[other]);
    }
    for (let row = first + 1; row < starts[run + 1]; row++) mask.copyWithin(row * size, first * size, (first + 1) * size);
  }
  return mask;
}

/** One block of one noisy copy: the sequence it belongs to and its place in the answer, from 0. */
export interface NoisyBlock {
  readonly segment: number;
  readonly block: number;
}

/**
 * What noisy blocks see of a bin of prompts and clean answers (`context`, laid out with `noisyCopies` 0), one row per block since its
 * rows are alike: float32 `[blocks, rows]`, 0 or `HIDDEN`, written into `out`, whose further rows are `HIDDEN` throughout. With the block
 * itself, which every noisy row sees, this is the rule above.
 */
export function noisyBlockMask(context: TrainingRows, blocks: readonly NoisyBlock[], out?: Float32Array): Float32Array {
  const size = context.kind.length;
  const mask = out ?? new Float32Array(blocks.length * size);
  if (mask.length < blocks.length * size)
    throw new RangeError(`\`out\` expected at least ${blocks.length * size} numbers, got ${mask.length}`);
  mask.fill(HIDDEN);
  const first = new Map<number, number>();
  const end = new Map<number, number>();
  for (let row = size - 1; row >= 0; row--) first.set(context.segment[row], row);
  for (let row = 0; row < size; row++) end.set(context.segment[row], row + 1);
  blocks.forEach(({ segment, block }, i) => {
    const from = first.get(segment) ?? 0;
    let to = from;
    while (to < (end.get(segment) ?? 0) && mayAttend(block - 1, context.block[to])) to++;
    mask.fill(0, i * size + from, i * size + to);
  });
  return mask;
}

/** First rows of the runs of equal rows, and the end of the last. Padding rows are runs of their own. */
function runStarts({ kind, block, segment }: TrainingRows): number[] {
  const starts = [0];
  for (let row = 1; row < kind.length; row++) {
    const same = kind[row] === kind[row - 1] && block[row] === block[row - 1] && segment[row] === segment[row - 1];
    if (!same || segment[row] === PADDING_SEGMENT) starts.push(row);
  }
  if (kind.length > 0) starts.push(kind.length);
  return starts;
}
