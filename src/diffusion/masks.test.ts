import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockMask, blockOf, mayAttend, promptBlockStarts } from "./block-mask.ts";
import { positionWeights } from "./objective.ts";
import { HIDDEN, mayAttendInTraining, NOISY, rowsOf, type TrainingRows, trainingMask, trainingRows } from "./training-mask.ts";

const golden = new URL("../../test/golden/diffusion/", import.meta.url);
const tensors = readTensors(readFileSync(new URL("masks.safetensors", golden)));
interface TrainingCase {
  case: string;
  promptLength: number;
  answer: number[];
  noisy: number[];
  blockLength: number;
  maskRates: number[];
  maskedCount: number;
  positions: number[];
  lossFloat64: number;
  maskSha256: string;
}
const training: { maskTokenId: number; cases: TrainingCase[] } = JSON.parse(readFileSync(new URL("training.json", golden), "utf8"));

function readTensors(file: Buffer): Map<string, Uint8Array> {
  const start = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, start).toString()) as Record<string, { data_offsets: [number, number] }>;
  return new Map(
    Object.entries(header).map(
      ([
        name,
        {
          data_offsets: [from, to],
        },
      ]) => [name, Uint8Array.from(file.subarray(start + from, start + to))],
    ),
  );
}

const binary = (mask: Float32Array): Uint8Array => Uint8Array.from(mask, (value) => (value === 0 ? 1 : 0));

describe("block mask", () => {
  const promptLengths: Record<string, number> = { "text-only": 5, image: 37, long: 110 };
  const names = [...tensors.keys()].filter((name) => name.startsWith("prefill."));

  it.each(names)("equals the reference: %s", (name) => {
    const [, prompt, block] = name.split(".");
    const blockLength = Number(block.slice(1));
    expect(blockMask(promptLengths[prompt], 2 * blockLength, blockLength)).toEqual(tensors.get(name));
  });

  it("was compared with all stored masks", () => expect(names).toHaveLength(7));

  it("counts prompt blocks back from the prompt's end", () => {
    expect(promptBlockStarts(37, 32)).toEqual([0, 5]);
    expect(promptBlockStarts(64, 32)).toEqual([0, 32]);
    expect(promptBlockStarts(0, 32)).toEqual([]);
    expect([0, 4, 5, 36, 37, 68, 69].map((position) => blockOf(position, 37, 32))).toEqual([-2, -2, -1, -1, 0, 0, 1]);
  });

  it("is causal attention with blocks of one", () => {
    expect(Array.from(blockMask(1, 2, 1))).toEqual([1, 0, 0, 1, 1, 0, 1, 1, 1]);
  });

  it("states equation (7) in every entry, from whatever row it starts", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 50 }), fc.nat(), (promptLength, answerLength, blockLength, from) => {
        const columns = promptLength + answerLength;
        const firstRow = from % (columns + 1);
        const mask = blockMask(promptLength, answerLength, blockLength, firstRow);
        expect(mask).toHaveLength((columns - firstRow) * columns);
        mask.forEach((value, index) => {
          const row = firstRow + Math.floor(index / columns);
          const sees = mayAttend(blockOf(row, promptLength, blockLength), blockOf(index % columns, promptLength, blockLength));
          if (value !== Number(sees)) throw new Error(`row ${row}, column ${index % columns}`);
        });
      }),
    );
  });

  it("refuses lengths that are none", () => {
    expect(() => blockMask(3, 4, 0)).toThrow("`blockLength` expected an integer of at least 1, got 0");
    expect(() => blockMask(-1, 4, 4)).toThrow(RangeError);
    expect(() => blockMask(3, 4, 4, 8)).toThrow("`firstRow` expected an integer from 0 to 7, got 8");
  });
});

describe("training mask", () => {
  it.each(training.cases)(
    "equals the reference, positions too: $case",
    ({ case: name, promptLength, answer, blockLength, positions, maskSha256 }) => {
      const rows = trainingRows([{ promptLength, answerLength: answer.length, blockLength }]);
      const mask = binary(trainingMask(rows));
      expect(Array.from(rows.position)).toEqual(positions);
      expect(createHash("sha256").update(mask).digest("hex")).toBe(maskSha256);
      expect(mask).toEqual(tensors.get(`training.${name.replace(".weighted", "")}.mask`));
    },
  );

  const sequence = fc.record({
    promptLength: fc.nat(9),
    answerLength: fc.nat(9),
    blockLength: fc.integer({ min: 1, max: 6 }),
    noisyCopies: fc.nat(3),
  });

  it("fills every entry by the rule, for any sequences in a bin", () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 4 }), fc.nat(5), (sequences, spare) => {
        const rows = trainingRows(sequences, sequences.reduce((sum, each) => sum + rowsOf(each), 0) + spare);
        const size = rows.kind.length;
        const mask = trainingMask(rows, new Float32Array(size * size).fill(3));
        mask.forEach((value, index) => {
          const sees = mayAttendInTraining(rows, Math.floor(index / size), index % size);
          if (value !== (sees ? 0 : Math.fround(HIDDEN))) throw new Error(`entry ${index} of ${size} x ${size}: ${value}`);
        });
      }),
    );
  });

  it("lets every row see itself and nothing of another sequence, however they are packed", () => {
    fc.assert(
      fc.property(sequence, sequence, (first, second) => {
        const both = binary(trainingMask(trainingRows([first, second])));
        const size = rowsOf(first) + rowsOf(second);
        for (const [each, offset] of [[first, 0] as const, [second, rowsOf(first)] as const]) {
          const alone = binary(trainingMask(trainingRows([each])));
          const rows = rowsOf(each);
          for (let row = 0; row < rows; row++) {
            const line = both.subarray((offset + row) * size, (offset + row + 1) * size);
            expect(line[offset + row]).toBe(1);
            expect(line.subarray(offset, offset + rows)).toEqual(alone.subarray(row * rows, (row + 1) * rows));
            expect(line.reduce((sum, value) => sum + value, 0)).toBe(
              line.subarray(offset, offset + rows).reduce((sum, value) => sum + value, 0),
            );
          }
        }
      }),
    );
  });

  it("shows a further noisy copy what it shows the first, and the copies nothing of each other", () => {
    const shape = { promptLength: 5, answerLength: 11, blockLength: 4 };
    const mask = binary(trainingMask(trainingRows([{ ...shape, noisyCopies: 2 }])));
    const size = 5 + 3 * 11;
    const known = 5 + 11;
    for (let row = 0; row < 11; row++) {
      const first = mask.subarray((known + row) * size, (known + row + 1) * size);
      const second = mask.subarray((known + 11 + row) * size, (known + 11 + row + 1) * size);
      expect(second.subarray(0, known)).toEqual(first.subarray(0, known));
      expect(second.subarray(known + 11)).toEqual(first.subarray(known, known + 11));
      expect(first.subarray(known + 11).includes(1)).toBe(false);
      expect(second.subarray(known, known + 11).includes(1)).toBe(false);
    }
  });

  it("trains each block in the context it is decoded in: noisy rows of block b stand where the canvas stands", () => {
    const [promptLength, answerLength, blockLength] = [7, 12, 4];
    const rows = trainingRows([{ promptLength, answerLength, blockLength }]);
    const size = rows.kind.length;
    const mask = binary(trainingMask(rows));
    for (let block = 0; block < 3; block++) {
      const decoding = blockMask(promptLength, (block + 1) * blockLength, blockLength);
      const columns = promptLength + (block + 1) * blockLength;
      for (let index = 0; index < blockLength; index++) {
        const position = promptLength + block * blockLength + index;
        const seen = new Set<number>();
        for (let column = 0; column < size; column++) if (mask[(answerLength + position) * size + column]) seen.add(rows.position[column]);
        const expected = new Set<number>();
        for (let column = 0; column < columns; column++) if (decoding[position * columns + column]) expected.add(column);
        expect(seen).toEqual(expected);
      }
    }
  });

  it("lets padding rows see themselves and nobody see them", () => {
    const mask = binary(trainingMask(trainingRows([{ promptLength: 1, answerLength: 0, blockLength: 2 }], 3)));
    expect(Array.from(mask)).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  });

  it("refuses bins that are too small and buffers that do not fit", () => {
    const rows: TrainingRows = trainingRows([{ promptLength: 2, answerLength: 3, blockLength: 2 }], 9);
    expect(rows.kind[8]).toBe(0);
    expect(rows.kind[7]).toBe(NOISY);
    expect(Array.from(rows.segment)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, -1]);
    expect(() => trainingRows([{ promptLength: 2, answerLength: 3, blockLength: 2 }], 7)).toThrow(
      "`rows` expected an integer of at least 8, got 7",
    );
    expect(() => trainingMask(rows, new Float32Array(80))).toThrow("`out` expected 81 numbers, got 80");
  });
});

describe("objective", () => {
  it.each(training.cases)("weighs the reference's cross entropies to its loss: $case", (example) => {
    const bytes = tensors.get(`training.${example.case.replace(".weighted", "")}.crossEntropy`)!;
    const crossEntropy = new Float32Array(bytes.buffer);
    const masked = Uint8Array.from(example.noisy, (token) => (token === training.maskTokenId ? 1 : 0));
    expect(masked.reduce((sum, flag) => sum + flag, 0)).toBe(example.maskedCount);
    const weights = example.case.endsWith(".weighted")
      ? positionWeights(masked, {
          kind: "likelihood",
          blockLength: example.blockLength,
          blockWeights: example.maskRates.map((rate: number) => 1 / rate),
        })
      : positionWeights(masked, { kind: "masked-mean" });
    const loss = weights.reduce((sum, weight, index) => sum + weight * crossEntropy[index], 0);
    expect(Math.abs(loss / example.lossFloat64 - 1)).toBeLessThan(1e-6);
  });

  it("weighs nothing where nothing is masked, scales, and wants a weight per block", () => {
    expect(Array.from(positionWeights(new Uint8Array(3), { kind: "masked-mean" }))).toEqual([0, 0, 0]);
    expect(Array.from(positionWeights(Uint8Array.of(1, 0, 1), { kind: "masked-mean" }, 4))).toEqual([2, 0, 2]);
    expect(() => positionWeights(new Uint8Array(9), { kind: "likelihood", blockLength: 4, blockWeights: [1, 2] })).toThrow(
      "`blockWeights` expected 3 numbers, got 2",
    );
  });
});
