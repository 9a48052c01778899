/**
 * The entropy-coded part of JPEG (ITU-T T.81, sections F.2 and G.2): Huffman tables, the bit reader, and the scan decoders of baseline and
 * progressive frames, from bytes to quantised coefficients. Knows nothing of samples or colours.
 */
import { damaged } from "./image-format.ts";

/** Natural position of the k-th coefficient in zigzag order. */
export const ZIGZAG = Uint8Array.from([
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57,
  50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
]);

const LOOK_AHEAD = 9;

/** A Huffman table: codes of up to nine bits by look-up, longer ones by their largest code. */
export interface HuffmanTable {
  /** `[512]`: code length << 8 | symbol; 0 where the code is longer. */
  readonly quick: Uint16Array;
  /** `[18]`: largest code of each length, -1 where there is none. */
  readonly largest: Int32Array;
  /** `[17]`: what to add to a code to index `symbols`. */
  readonly shift: Int32Array;
  readonly symbols: Uint8Array;
}

/** Builds a table from the counts of codes per length (1..16) and the symbols in code order. */
export function huffmanTable(counts: Uint8Array, symbols: Uint8Array): HuffmanTable {
  const quick = new Uint16Array(1 << LOOK_AHEAD);
  const largest = new Int32Array(18).fill(-1);
  const shift = new Int32Array(17);
  let code = 0;
  let index = 0;
  for (let length = 1; length <= 16; length++) {
    shift[length] = index - code;
    for (let i = 0; i < counts[length - 1]; i++, code++, index++) {
      if (length > LOOK_AHEAD) continue;
      const first = code << (LOOK_AHEAD - length);
      quick.fill((length << 8) | symbols[index], first, first + (1 << (LOOK_AHEAD - length)));
    }
    if (code > 1 << length) throw damaged("JPEG", "a Huffman table whose codes fit their lengths");
    if (counts[length - 1] > 0) largest[length] = code - 1;
    code <<= 1;
  }
  return { quick, largest, shift, symbols };
}

/** One component of the frame as the scans fill it. */
export interface ScanComponent {
  readonly horizontal: number;
  readonly vertical: number;
  /** Blocks that hold picture, without the padding to whole units. */
  readonly blockColumns: number;
  readonly blockRows: number;
  /** Blocks per stored row, padding included. */
  readonly storedColumns: number;
  /** `[blocks, 64]` in natural order. Null when blocks are handed on as soon as they are read (baseline). */
  readonly coefficients: Int16Array | null;
  /** Takes a finished baseline block: 64 coefficients in natural order. */
  readonly finish: (block: Int16Array, blockRow: number, blockColumn: number) => void;
  dcTable: HuffmanTable | undefined;
  acTable: HuffmanTable | undefined;
  predictor: number;
}

/** The parameters of one scan. */
export interface Scan {
  readonly components: readonly ScanComponent[];
  readonly progressive: boolean;
  readonly spectralStart: number;
  readonly spectralEnd: number;
  readonly successiveHigh: number;
  readonly successiveLow: number;
  /** Units between restart marks; 0 for none. */
  readonly restartInterval: number;
  /** Units (of all components together) per row and rows of units, for interleaved scans. */
  readonly unitsPerRow: number;
  readonly unitRows: number;
}

/** Reads bits of a scan, undoing byte stuffing; behind the last byte come zeros, which `checkOverrun` finds out. */
class ScanReader {
  readonly bytes: Uint8Array;
  position: number;
  buffer = 0;
  count = 0;
  padding = 0;

  constructor(bytes: Uint8Array, position: number) {
    this.bytes = bytes;
    this.position = position;
  }

  fill(): void {
    while (this.count <= 24) {
      let byte = 0;
      if (this.padding > 0 || this.position >= this.bytes.length) this.padding += 8;
      else {
        byte = this.bytes[this.position];
        if (byte !== 0xff) this.position++;
        else if (this.bytes[this.position + 1] === 0) this.position += 2;
        else {
          byte = 0;
          this.padding += 8;
        }
      }
      this.buffer = (this.buffer << 8) | byte;
      this.count += 8;
    }
  }

  bits(count: number): number {
    if (count === 0) return 0;
    if (this.count < count) this.fill();
    this.count -= count;
    return (this.buffer >>> this.count) & ((1 << count) - 1);
  }

  symbol(table: HuffmanTable): number {
    if (this.count < 16) this.fill();
    const quick = table.quick[(this.buffer >>> (this.count - LOOK_AHEAD)) & ((1 << LOOK_AHEAD) - 1)];
    if (quick !== 0) {
      this.count -= quick >> 8;
      return quick & 0xff;
    }
    for (let length = LOOK_AHEAD + 1; length <= 16; length++) {
      const code = (this.buffer >>> (this.count - length)) & ((1 << length) - 1);
      if (code > table.largest[length]) continue;
      this.count -= length;
      return table.symbols[code + table.shift[length]];
    }
    throw damaged("JPEG", `a legal Huffman code near byte ${this.position}`);
  }

  /** A signed value of `size` bits in JPEG's notation. */
  signed(size: number): number {
    if (size === 0) return 0;
    const value = this.bits(size);
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }

  /** Ends an interval: nothing beyond the data may have been used. */
  checkOverrun(): void {
    if (this.padding > this.count) throw damaged("JPEG", `more picture data, a scan ends early at byte ${this.position}`);
    this.buffer = 0;
    this.count = 0;
    this.padding = 0;
  }

  /** Moves behind the next restart mark. */
  restart(): void {
    this.checkOverrun();
    const { bytes } = this;
    while (this.position + 1 < bytes.length) {
      if (bytes[this.position] === 0xff && bytes[this.position + 1] >= 0xd0 && bytes[this.position + 1] <= 0xd7) {
        this.position += 2;
        return;
      }
      if (bytes[this.position] === 0xff && bytes[this.position + 1] !== 0 && bytes[this.position + 1] !== 0xff) break;
      this.position++;
    }
    throw damaged("JPEG", `a restart mark at byte ${this.position}`);
  }
}

/** Decodes one scan that begins at `position`. Returns where its data end. Throws `file-damaged`. */
export function decodeScan(bytes: Uint8Array, position: number, scan: Scan): number {
  const reader = new ScanReader(bytes, position);
  const readBlock = blockReader(reader, scan);
  const { components, restartInterval } = scan;
  const single = components.length === 1;
  const columns = single ? components[0].blockColumns : scan.unitsPerRow;
  const rows = single ? components[0].blockRows : scan.unitRows;
  let untilRestart = restartInterval;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      if (restartInterval > 0 && untilRestart-- === 0) {
        reader.restart();
        for (const component of components) component.predictor = 0;
        readBlock.resetRun();
        untilRestart = restartInterval - 1;
      }
      if (single) {
        readBlock(components[0], row, column);
        continue;
      }
      for (const component of components)
        for (let v = 0; v < component.vertical; v++)
          for (let h = 0; h < component.horizontal; h++)
            readBlock(component, row * component.vertical + v, column * component.horizontal + h);
    }
  reader.checkOverrun();
  return reader.position;
}

type BlockReader = ((component: ScanComponent, row: number, column: number) => void) & { resetRun(): void };

function blockReader(reader: ScanReader, scan: Scan): BlockReader {
  const { spectralStart, spectralEnd, successiveHigh, successiveLow: low } = scan;
  const scratch = new Int16Array(64);
  let endOfBandRun = 0;

  const tableOf = (component: ScanComponent, kind: "dcTable" | "acTable"): HuffmanTable => {
    const table = component[kind];
    if (table === undefined) throw damaged("JPEG", "a Huffman table for every scan");
    return table;
  };

  const baseline = (component: ScanComponent, row: number, column: number): void => {
    const ac = tableOf(component, "acTable");
    scratch.fill(0);
    component.predictor += reader.signed(reader.symbol(tableOf(component, "dcTable")) & 15);
    scratch[0] = component.predictor;
    for (let k = 1; k < 64; k++) {
      const symbol = reader.symbol(ac);
      const size = symbol & 15;
      k += symbol >> 4;
      if (size === 0) {
        if (symbol !== 0xf0) break;
        continue;
      }
      if (k > 63) throw damaged("JPEG", "at most 64 coefficients in a block");
      scratch[ZIGZAG[k]] = reader.signed(size);
    }
    component.finish(scratch, row, column);
  };

  const dcFirst = (component: ScanComponent, block: Int16Array): void => {
    component.predictor += reader.signed(reader.symbol(tableOf(component, "dcTable")) & 15);
    block[0] = component.predictor << low;
  };

  const dcRefine = (_component: ScanComponent, block: Int16Array): void => {
    if (reader.bits(1) === 1) block[0] |= 1 << low;
  };

  const acFirst = (component: ScanComponent, block: Int16Array): void => {
    if (endOfBandRun > 0) {
      endOfBandRun--;
      return;
    }
    const ac = tableOf(component, "acTable");
    for (let k = spectralStart; k <= spectralEnd; k++) {
      const symbol = reader.symbol(ac);
      const run = symbol >> 4;
      const size = symbol & 15;
      if (size === 0 && run < 15) {
        endOfBandRun = (1 << run) + reader.bits(run) - 1;
        return;
      }
      k += run;
      if (k > 63) throw damaged("JPEG", "at most 64 coefficients in a block");
      if (size > 0) block[ZIGZAG[k]] = reader.signed(size) << low;
    }
  };

  const acRefine = (component: ScanComponent, block: Int16Array): void => {
    const bit = 1 << low;
    const correct = (at: number): void => {
      if (reader.bits(1) === 1 && (block[at] & bit) === 0) block[at] += block[at] > 0 ? bit : -bit;
    };
    let k = spectralStart;
    if (endOfBandRun === 0) {
      const ac = tableOf(component, "acTable");
      for (; k <= spectralEnd; k++) {
        const symbol = reader.symbol(ac);
        let run = symbol >> 4;
        const size = symbol & 15;
        let value = 0;
        if (size > 0) value = reader.bits(1) === 1 ? bit : -bit;
        else if (run < 15) {
          endOfBandRun = (1 << run) + reader.bits(run);
          break;
        }
        for (; k <= spectralEnd; k++) {
          const at = ZIGZAG[k];
          if (block[at] !== 0) correct(at);
          else if (run-- === 0) {
            if (value !== 0) block[at] = value;
            break;
          }
        }
      }
    }
    if (endOfBandRun > 0) {
      for (; k <= spectralEnd; k++) if (block[ZIGZAG[k]] !== 0) correct(ZIGZAG[k]);
      endOfBandRun--;
    }
  };

  const resetRun = (): void => {
    endOfBandRun = 0;
  };
  if (!scan.progressive) return Object.assign(baseline, { resetRun });
  const read = spectralStart === 0 ? (successiveHigh === 0 ? dcFirst : dcRefine) : successiveHigh === 0 ? acFirst : acRefine;
  return Object.assign(
    (component: ScanComponent, row: number, column: number): void => {
      const at = (row * component.storedColumns + column) * 64;
      read(component, component.coefficients!.subarray(at, at + 64));
    },
    { resetRun },
  );
}
