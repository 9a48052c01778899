/**
 * The block attention mask of the paper's equation (7): a row sees a column whose block is not later than its own. Blocks of the answer
 * start at the prompt's end; blocks of the prompt count back from there, so that the first of them may be short. Inside a block attention
 * runs both ways, between blocks only backwards. Block length 1 is causal attention. Knows positions only: no tokens, no cache, no model.
 */

import { integerIn } from "./ranges.ts";

/** The block of a position: 0, 1, … in the answer, -1, -2, … backwards through the prompt. */
export function blockOf(position: number, promptLength: number, blockLength: number): number {
  return Math.floor((position - promptLength) / blockLength);
}

/** Equation (7): whether a row of `rowBlock` sees a column of `columnBlock`. */
export function mayAttend(rowBlock: number, columnBlock: number): boolean {
  return columnBlock <= rowBlock;
}

/** The first position of each block of the prompt, ascending; empty for an empty prompt. */
export function promptBlockStarts(promptLength: number, blockLength: number): number[] {
  integerIn("promptLength", promptLength, 0);
  integerIn("blockLength", blockLength, 1);
  const starts: number[] = [];
  for (let start = promptLength - blockLength; start > -blockLength; start -= blockLength) starts.unshift(Math.max(start, 0));
  return starts;
}

/**
 * The mask of the rows from `firstRow` on over all columns of prompt and answer, 1 where the row may attend:
 * `[promptLength + answerLength - firstRow, promptLength + answerLength]`. With `firstRow` 0 it serves a prefill, with the number of
 * cached rows it serves the rows that come after them (a settled block and the next canvas, say).
 */
export function blockMask(promptLength: number, answerLength: number, blockLength: number, firstRow = 0): Uint8Array {
  integerIn("promptLength", promptLength, 0);
  integerIn("answerLength", answerLength, 0);
  integerIn("blockLength", blockLength, 1);
  const columns = promptLength + answerLength;
  integerIn("firstRow", firstRow, 0, columns);
  const mask = new Uint8Array((columns - firstRow) * columns);
  for (let row = firstRow; row < columns; row++) {
    const blockEnd = promptLength + (blockOf(row, promptLength, blockLength) + 1) * blockLength;
    const start = (row - firstRow) * columns;
    mask.fill(1, start, start + Math.min(blockEnd, columns));
  }
  return mask;
}
