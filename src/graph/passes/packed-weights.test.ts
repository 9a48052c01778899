import { expect, test } from "vitest";
import { createRandom } from "../../diffusion/random.ts";
import { emptyPackedData, type PackedData, type PackedFormat, type PackedWeight, packedWeight, packRows } from "./packed-weights.ts";

const ROWS = 70;
const WIDTH = 75;

function drawn(seed = 1): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: ROWS * WIDTH }, () => random.uniform() * 2 - 1);
}

/** The matrix that packed numbers stand for: [rows, width]. */
function unpack({ rows, width, format }: PackedWeight, { values, scales }: PackedData): Float32Array {
  const blocks = format.kind === "blocks" ? Math.ceil(width / format.blockSize) : 0;
  return Float32Array.from({ length: rows * width }, (_, at) => {
    const [row, i] = [Math.floor(at / width), at % width];
    if (format.kind === "columns") return values[i * rows + row] * scales[row];
    if (format.kind === "table") return values[at] * scales[row];
    const place = (row * blocks + Math.floor(i / format.blockSize)) * format.blockSize + (i % format.blockSize);
    const code = format.bits === 8 ? values[place] : (values[place >> 1] >> (4 * (place & 1))) & 15;
    return (code - 2 ** (format.bits - 1)) * scales[row * blocks + Math.floor(i / format.blockSize)];
  });
}

const formats: readonly [PackedFormat, number][] = [
  [{ kind: "columns", limit: 127 }, 0.5 / 127],
  [{ kind: "columns", limit: 63 }, 0.5 / 63],
  [{ kind: "table" }, 0.5 / 127],
  // The end opposite to the extreme may be one whole step short.
  [{ kind: "blocks", bits: 4, blockSize: 32 }, 1 / 8],
  [{ kind: "blocks", bits: 8, blockSize: 64 }, 1 / 128],
];

test.each(formats)("%o comes back within half a step", (format, bound) => {
  const rows = drawn();
  const weight = packedWeight("w", ROWS, WIDTH, format);
  const data = emptyPackedData(weight);
  packRows(weight, data, 0, rows);
  const back = unpack(weight, data);
  const worst = rows.reduce((most, value, i) => Math.max(most, Math.abs(value - back[i])), 0);
  expect(worst).toBeLessThan(bound * 1.001);
  expect(worst).toBeGreaterThan(bound * 0.3);
});

test.each(formats)("%o: pieces give what the whole gives", (format) => {
  const rows = drawn(2);
  const weight = packedWeight("w", ROWS, WIDTH, format);
  const whole = emptyPackedData(weight);
  packRows(weight, whole, 0, rows);
  const pieces = emptyPackedData(weight);
  for (const [from, to] of [
    [65, ROWS],
    [0, 1],
    [1, 65],
  ])
    packRows(weight, pieces, from, rows.subarray(from * WIDTH, to * WIDTH));
  expect(pieces).toEqual(whole);
});

test.each(formats)("%o: a row of zeros stays zero and a NaN is not hidden", (format) => {
  const rows = drawn(3);
  rows.fill(0, WIDTH, 2 * WIDTH);
  rows[5] = Number.NaN;
  const weight = packedWeight("w", ROWS, WIDTH, format);
  const data = emptyPackedData(weight);
  packRows(weight, data, 0, rows);
  const back = unpack(weight, data);
  expect(back.subarray(WIDTH, 2 * WIDTH).every((value) => value === 0)).toBe(true);
  expect(back[5]).toBeNaN();
});

test("the limit bounds the integers, so that pairs of products fit 16 bits", () => {
  const weight = packedWeight("w", ROWS, WIDTH, { kind: "columns", limit: 63 });
  const data = emptyPackedData(weight);
  packRows(weight, data, 0, drawn());
  expect(Math.max(...data.values)).toBe(63);
  expect(Math.min(...data.values)).toBe(-63);
  expect(2 * 255 * 63).toBeLessThan(2 ** 15);
});

test("names tell source and format, so no two packings are mistaken for one another", () => {
  const names = formats.map(([format]) => packedWeight("layer.weight", ROWS, WIDTH, format).values.attributes.name);
  expect(names).toEqual([
    "layer.weight:int8",
    "layer.weight:int7",
    "layer.weight:int8-table",
    "layer.weight:int4x32",
    "layer.weight:int8x64",
  ]);
});

test("rows that do not fit are refused", () => {
  const weight = packedWeight("w", 2, 3, { kind: "table" });
  const data = emptyPackedData(weight);
  expect(() => packRows(weight, data, 0, new Float32Array(4))).toThrow(RangeError);
  expect(() => packRows(weight, data, 1, new Float32Array(6))).toThrow(
    "`rows` expected whole rows of 3 within 2, got 6 numbers from row 1",
  );
});
