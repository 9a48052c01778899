/**
 * Rotary tables, computed outside the graph: one-dimensional for the decoder, row and column for the vision tower
 * (Qwen2-VL: half of the frequencies turn with the row, half with the column, theta 10000).
 */

const VISION_THETA = 10_000;

export interface RotaryTables {
  readonly cos: Float32Array; // [rows, headDim / 2]
  readonly sin: Float32Array;
}

function frequencies(count: number, theta: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => theta ** (-i / count));
}

/** Tables of the decoder for the given positions. */
export function decoderRotary(positions: ArrayLike<number>, headDim: number, theta: number): RotaryTables {
  const half = headDim / 2;
  const frequency = frequencies(half, theta);
  const cos = new Float32Array(positions.length * half);
  const sin = new Float32Array(positions.length * half);
  for (let row = 0; row < positions.length; row++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(positions[row] * frequency[i]);
      cos[row * half + i] = Math.cos(angle);
      sin[row * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Tables of the vision tower for a grid of `rows` × `columns` patches in merge order: 2×2 squares, squares row by row. */
export function visionRotary(rows: number, columns: number, mergeSize: number, headDim: number): RotaryTables {
  const quarter = headDim / 4;
  const half = headDim / 2;
  const frequency = frequencies(quarter, VISION_THETA);
  const cos = new Float32Array(rows * columns * half);
  const sin = new Float32Array(rows * columns * half);
  let at = 0;
  const write = (position: number) => {
    for (let i = 0; i < quarter; i++) {
      const angle = Math.fround(position * frequency[i]);
      cos[at] = Math.cos(angle);
      sin[at++] = Math.sin(angle);
    }
  };
  for (let squareRow = 0; squareRow < rows; squareRow += mergeSize) {
    for (let squareColumn = 0; squareColumn < columns; squareColumn += mergeSize) {
      for (let y = 0; y < mergeSize; y++) {
        for (let x = 0; x < mergeSize; x++) {
          write(squareRow + y);
          write(squareColumn + x);
        }
      }
    }
  }
  return { cos, sin };
}
