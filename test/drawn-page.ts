/** Pages drawn letter by letter, for tests of what looks at ink: letters with feet on one line, some with heads above the others'. */
import { type RgbImage, rgbImage } from "../src/image/rgb-image.ts";

export const LETTER = { width: 7, pitch: 9, low: 10, high: 15, line: 26, space: 12 };

export class DrawnPage {
  readonly image: RgbImage;

  constructor(width: number, height: number) {
    this.image = rgbImage(width, height);
  }

  fill(left: number, top: number, width: number, height: number, grey = 0): this {
    for (let y = top; y < top + height; y++)
      this.image.data.fill(grey, (y * this.image.width + left) * 3, (y * this.image.width + left + width) * 3);
    return this;
  }

  /** Words of so many letters, on one line whose feet stand at `foot`; returns where they end. */
  line(left: number, foot: number, words: readonly number[], { grey = 0, space = LETTER.space } = {}): number {
    let x = left;
    for (const [i, letters] of words.entries()) {
      if (i > 0) x += space - (LETTER.pitch - LETTER.width);
      for (let letter = 0; letter < letters; letter++, x += LETTER.pitch) {
        const height = (letter + i) % 4 === 1 ? LETTER.high : LETTER.low;
        this.fill(x, foot - height, 3, height, grey)
          .fill(x, foot - LETTER.low, LETTER.width, 3, grey)
          .fill(x + 4, foot - LETTER.low, 3, LETTER.low, grey);
      }
    }
    return x - (LETTER.pitch - LETTER.width);
  }

  /** Lines of running text, set in full `width`, but for the last; `seed` chooses the lengths of words. */
  text(left: number, top: number, width: number, lines: number, seed = 1): this {
    let state = seed;
    const wordLength = (): number => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return 1 + Math.floor((state / 2147483648) * 8);
    };
    const extent = (words: readonly number[], space: number): number =>
      words.reduce((sum, word) => sum + word * LETTER.pitch - (LETTER.pitch - LETTER.width) + space, -space);
    for (let i = 0; i < lines; i++) {
      const last = i === lines - 1;
      const words: number[] = [];
      for (let next = wordLength(); extent([...words, next], LETTER.space) <= (last ? 0.6 : 1) * width; next = wordLength())
        words.push(next);
      const space = last ? LETTER.space : LETTER.space + Math.floor((width - extent(words, LETTER.space)) / Math.max(1, words.length - 1));
      this.line(left, top + i * LETTER.line + LETTER.high, words, { space });
    }
    return this;
  }
}

/** A head, three rows, the second of two lines in its first cell, between three rules. */
export function bookTable(page: DrawnPage, top: number): void {
  const rowPitch = 44;
  for (const y of [top, top + 44, top + 70 + 3 * rowPitch]) page.fill(60, y, 560, 2);
  page.line(80, top + 30, [6]);
  page.line(300, top + 30, [5, 4]);
  page.line(500, top + 30, [4]);
  for (let row = 0; row < 3; row++) {
    const foot = top + 74 + rowPitch * row + (row > 1 ? 22 : 0);
    for (const [left, letters] of [[80, 7], [300, 5], [520, 4]]) if (row !== 2 || left !== 300) page.line(left, foot, [letters]); // biome-ignore format: row
    if (row === 1) page.line(80, foot + 22, [5]);
  }
}
