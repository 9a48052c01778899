/**
 * Fax decompression (ITU-T T.4 one- and two-dimensional, T.6): runs of white and black to packed rows, most significant bit left, 1 = black.
 * A broken line of T.4 repeats the line above and resumes at the next end-of-line mark, as fax machines do; T.6 has no such marks, so
 * there the rows end at the break. Knows nothing of TIFF beyond the three coding variants it names.
 */

/** T.4 in one dimension without marks (rows padded to bytes), T.4 with marks, T.4 in two dimensions, T.6. */
export type FaxCoding = "modified-huffman" | "t4-1d" | "t4-2d" | "t6";

const WHITE_ENDING =
  "00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111 0001100 0001000 " +
  "0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 00010100 00010101 " +
  "00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 01010010 01010011 01010100 " +
  "01010101 00100100 00100101 01011000 01011001 01011010 01011011 01001010 01001011 00110010 00110011 00110100";
const WHITE_MAKE_UP =
  "11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 011010011 011010100 " +
  "011010101 011010110 011010111 011011000 011011001 011011010 011011011 010011000 010011001 010011010 011000 010011011";
const BLACK_ENDING =
  "0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111 0000011000 0000001000 " +
  "00001100111 00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 " +
  "000001101000 000001101001 000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 " +
  "000001101100 000001101101 000011011010 000011011011 000001010100 000001010101 000001010110 000001010111 000001100100 000001100101 " +
  "000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 000000101000 000001011000 000001011001 000000101011 " +
  "000000101100 000001011010 000001100110 000001100111";
const BLACK_MAKE_UP =
  "0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 0000001101101 0000001001010 " +
  "0000001001011 0000001001100 0000001001101 0000001110010 0000001110011 0000001110100 0000001110101 0000001110110 0000001110111 " +
  "0000001010010 0000001010011 0000001010100 0000001010101 0000001011010 0000001011011 0000001100100 0000001100101";
const LONG_MAKE_UP =
  "00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 000000010111 000000011100 " +
  "000000011101 000000011110 000000011111";

const LONGEST_CODE = 13;
const NO_CODE = -1;

/** For each 13-bit look-ahead: run (in 64s for make-up codes) << 5 | make-up flag << 4 | code length, or -1. */
function codeTable(ending: string, makeUp: string): Int16Array<ArrayBuffer> {
  const table = new Int16Array(1 << LONGEST_CODE).fill(NO_CODE);
  const enter = (codes: string, firstRun: number, step: number): void =>
    codes.split(" ").forEach((code, i) => {
      const spare = LONGEST_CODE - code.length;
      const first = Number.parseInt(code, 2) << spare;
      const packed = (((firstRun + i * step) / (step === 1 ? 1 : 64)) << 5) | (step === 1 ? 0 : 16) | code.length;
      table.fill(packed, first, first + (1 << spare));
    });
  enter(ending, 0, 1);
  enter(makeUp, 64, 64);
  enter(LONG_MAKE_UP, 1792, 64);
  return table;
}

const WHITE_CODES = codeTable(WHITE_ENDING, WHITE_MAKE_UP);
const BLACK_CODES = codeTable(BLACK_ENDING, BLACK_MAKE_UP);

/** Reads bits, most significant first; beyond the end come zeros. */
class BitReader {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get atEnd(): boolean {
    return this.position >= this.bytes.length * 8;
  }

  peek(count: number): number {
    const at = this.position >> 3;
    const { bytes } = this;
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    return (word >> (24 - count - (this.position & 7))) & ((1 << count) - 1);
  }
}

/** A run of one colour, make-up codes included, or -1 when no code fits. */
function readRun(reader: BitReader, codes: Int16Array): number {
  let run = 0;
  for (;;) {
    const packed = codes[reader.peek(LONGEST_CODE)];
    if (packed === NO_CODE) return -1;
    reader.position += packed & 15;
    if ((packed & 16) === 0) return run + (packed >> 5);
    run += (packed >> 5) * 64;
  }
}

/** Changing elements of a row: columns where the colour flips, white first, strictly rising. */
class Row {
  readonly changes: Int32Array;
  count = 0;
  readonly width: number;

  constructor(width: number) {
    this.width = width;
    this.changes = new Int32Array(width + 1);
  }

  /** A flip at `column`; two at the same column are none, one behind the last column is the row's end. */
  flip(column: number): void {
    if (column >= this.width) return;
    if (this.count > 0 && this.changes[this.count - 1] === column) this.count--;
    else this.changes[this.count++] = column;
  }

  copyFrom(other: Row): void {
    this.changes.set(other.changes);
    this.count = other.count;
  }
}

function readRow1d(reader: BitReader, row: Row): boolean {
  let column = 0;
  let black = false;
  row.count = 0;
  while (column < row.width) {
    const run = readRun(reader, black ? BLACK_CODES : WHITE_CODES);
    if (run < 0 || column + run > row.width) return false;
    column += run;
    row.flip(column);
    black = !black;
  }
  return true;
}

function readRow2d(reader: BitReader, row: Row, above: Row): boolean {
  const { width } = row;
  row.count = 0;
  let column = -1;
  let black = false;
  let reference = 0;
  const flip = (to: number): boolean => {
    if (to < Math.max(0, column) || to > width) return false;
    row.flip(to);
    column = to;
    black = !black;
    return true;
  };
  while (column < width) {
    while (reference > 0 && above.changes[reference - 1] > column) reference--;
    while (reference < above.count && (above.changes[reference] <= column || (reference & 1) !== (black ? 1 : 0))) reference++;
    const b1 = reference < above.count ? above.changes[reference] : width;
    const look = reader.peek(7);
    if (look >= 64) {
      reader.position += 1;
      if (!flip(b1)) return false;
    } else if (look >= 32) {
      reader.position += 3;
      if (!flip(look >= 48 ? b1 + 1 : b1 - 1)) return false;
    } else if (look >= 16) {
      reader.position += 3;
      const from = Math.max(0, column);
      const first = readRun(reader, black ? BLACK_CODES : WHITE_CODES);
      const second = first < 0 ? -1 : readRun(reader, black ? WHITE_CODES : BLACK_CODES);
      if (second < 0 || from + first + second > width) return false;
      row.flip(from + first);
      row.flip(from + first + second);
      column = from + first + second;
    } else if (look >= 8) {
      reader.position += 4;
      column = reference + 1 < above.count ? above.changes[reference + 1] : width;
    } else if (look >= 4) {
      reader.position += 6;
      if (!flip(look >= 6 ? b1 + 2 : b1 - 2)) return false;
    } else if (look >= 2) {
      reader.position += 7;
      if (!flip(look === 3 ? b1 + 3 : b1 - 3)) return false;
    } else return false;
  }
  return true;
}

function paint(row: Row, target: Uint8Array, start: number): void {
  for (let i = 0; i < row.count; i += 2) {
    const end = i + 1 < row.count ? row.changes[i + 1] : row.width;
    for (let x = row.changes[i]; x < end; ) {
      if ((x & 7) === 0 && end - x >= 8) {
        target[start + (x >> 3)] = 0xff;
        x += 8;
      } else {
        target[start + (x >> 3)] |= 0x80 >> (x & 7);
        x++;
      }
    }
  }
}

/** Moves behind the next end-of-line mark (eleven zeros, any number more, a one); false when there is none. */
function seekEndOfLine(reader: BitReader): boolean {
  let zeros = 0;
  while (!reader.atEnd) {
    const bit = reader.peek(1);
    reader.position++;
    if (bit === 0) zeros++;
    else if (zeros >= 11) return true;
    else zeros = 0;
  }
  return false;
}

/** Whether an end-of-line mark, fill bits before it included, stands right here; if so moves behind it. */
function skipEndOfLine(reader: BitReader): boolean {
  const start = reader.position;
  let zeros = 0;
  while (!reader.atEnd && reader.peek(1) === 0) {
    zeros++;
    reader.position++;
  }
  if (zeros >= 11 && !reader.atEnd) {
    reader.position++;
    return true;
  }
  reader.position = start;
  return false;
}

function readRow(reader: BitReader, coding: FaxCoding, row: Row, above: Row): boolean {
  if (coding === "t6") return readRow2d(reader, row, above);
  if (coding === "modified-huffman") {
    reader.position = (reader.position + 7) & ~7;
    return readRow1d(reader, row);
  }
  skipEndOfLine(reader);
  if (coding === "t4-1d") return readRow1d(reader, row);
  const oneDimensional = reader.peek(1) === 1;
  reader.position++;
  return oneDimensional ? readRow1d(reader, row) : readRow2d(reader, row, above);
}

/** Unpacks up to `height` rows of `width` pixels: `[rows, ceil(width / 8)]`. `rows` is smaller than `height` when the data end or break. */
export function inflateFax(bytes: Uint8Array, coding: FaxCoding, width: number, height: number): { rows: number; data: Uint8Array } {
  const reader = new BitReader(bytes);
  const rowBytes = Math.ceil(width / 8);
  const data = new Uint8Array(rowBytes * height);
  let above = new Row(width);
  let row = new Row(width);
  for (let y = 0; y < height; y++) {
    if (reader.atEnd) return { rows: y, data };
    if (!readRow(reader, coding, row, above)) {
      if (coding === "t6" || coding === "modified-huffman" || !seekEndOfLine(reader)) return { rows: y, data };
      reader.position -= 12;
      row.copyFrom(above);
    }
    paint(row, data, y * rowBytes);
    [above, row] = [row, above];
  }
  return { rows: height, data };
}
