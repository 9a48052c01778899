/**
 * Takes shadows off a photographed page: paper is where a neighbourhood is brightest, and every pixel is set against the paper around it.
 * Pages of even paper, and dark ones, come back as they are. For finding print, not for showing: pictures on the page come out pale.
 */
import type { RgbImage } from "./rgb-image.ts";

/** Neighbourhoods per longer edge. */
const CELLS = 40;
/** Brightness that this share of a neighbourhood stays below is taken for its paper's. */
const PAPER_SHARE = 0.85;
/** Paper whose brightness varies less than this, of 255, between its darkest and lightest tenth is even. */
const EVEN = 40;
const DARK_PAGE = 110;

const brightness = (data: Uint8Array, at: number): number => (data[at] * 77 + data[at + 1] * 151 + data[at + 2] * 28) >> 8;

interface Cells {
  readonly columns: number;
  readonly rows: number;
  readonly side: number;
  readonly paper: Float32Array;
}

function paperOf({ width, height, data }: RgbImage): Cells {
  const side = Math.max(8, Math.ceil(Math.max(width, height) / CELLS));
  const [columns, rows] = [Math.ceil(width / side), Math.ceil(height / side)];
  const paper = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const histogram = new Uint32Array(256);
      let count = 0;
      for (let y = row * side; y < Math.min(height, (row + 1) * side); y += 2)
        for (let x = column * side; x < Math.min(width, (column + 1) * side); x += 2, count++)
          histogram[brightness(data, (y * width + x) * 3)]++;
      let below = 0;
      let value = 0;
      while (value < 255 && below + histogram[value] < PAPER_SHARE * count) below += histogram[value++];
      paper[row * columns + column] = value;
    }
  return { columns, rows, side, paper: widened({ columns, rows, paper }) };
}

/** Each cell the brightest of its neighbourhood: a cell full of ink has no paper of its own. */
function widened({ columns, rows, paper }: Omit<Cells, "side">): Float32Array {
  return paper.map((_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    let most = 0;
    for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++)
      for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++) most = Math.max(most, paper[r * columns + c]);
    return most;
  });
}

/** Whether most of a picture is dark: print on it is lighter than its ground. */
function isDark({ data }: RgbImage): boolean {
  let dark = 0;
  for (let at = 0; at < data.length; at += 3) if (brightness(data, at) < DARK_PAGE) dark++;
  return 6 * dark > data.length;
}

/** `image` with its paper equally bright everywhere. */
export function withEvenLight(image: RgbImage): RgbImage {
  if (isDark(image)) return image;
  const { width, height, data } = image;
  const { columns, rows, side, paper } = paperOf(image);
  const sorted = paper.slice().sort();
  const [dark, light] = [0.1, 0.9].map((share) => sorted[Math.floor((sorted.length - 1) * share)]);
  if (light - dark < EVEN) return image;
  const even = new Uint8Array(data.length);
  for (let y = 0, at = 0; y < height; y++) {
    const down = Math.min(rows - 1, Math.max(0, (y + 0.5) / side - 0.5));
    const [row, shareY] = [Math.floor(down), down % 1];
    const below = Math.min(rows - 1, row + 1);
    for (let x = 0; x < width; x++, at += 3) {
      const along = Math.min(columns - 1, Math.max(0, (x + 0.5) / side - 0.5));
      const [column, shareX] = [Math.floor(along), along % 1];
      const next = Math.min(columns - 1, column + 1);
      const above = paper[row * columns + column] * (1 - shareX) + paper[row * columns + next] * shareX;
      const under = paper[below * columns + column] * (1 - shareX) + paper[below * columns + next] * shareX;
      const factor = 240 / Math.max(24, above * (1 - shareY) + under * shareY);
      for (let channel = 0; channel < 3; channel++) even[at + channel] = Math.min(255, data[at + channel] * factor);
    }
  }
  return { width, height, data: even };
}
