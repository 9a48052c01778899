import { describe, expect, test } from "vitest";
import type { RecognitionRequest } from "../src/engine/types.ts";
import { decodingRow, median } from "../src/eval/decoding.ts";
import {
  batchTable,
  blockLengthRows,
  breakEven,
  decodingMarkdown,
  decodingTable,
  headlineRows,
  strategyRows,
  thresholdRows,
  tradeOffPlot,
} from "../src/eval/decoding-measurement.ts";
import { plainText } from "../src/eval/plain-text.ts";
import {
  AUTOREGRESSION,
  blockDiffusion,
  type DecodedAnswer,
  heldOutLines,
  heldOutSources,
  measureAllDecoding,
  measureBatches,
  measureDecoding,
  measureShuffle,
  shuffleMarkdown,
  shufflePlot,
} from "../src/eval.ts";
import { rgbImage } from "../src/image/rgb-image.ts";
import { shuffledPage } from "../src/synth/index.ts";
import { readerOf, wholePage } from "./eval-data.ts";

const image = rgbImage(120, 30);
image.data.fill(0, 0, 4000);
const regions = [
  { name: "one", kind: "region" as const, image, truth: "abcdefghij" },
  { name: "two", kind: "region" as const, image, truth: "klmno" },
];

/** Right token by token; one letter wrong by diffusion, in a quarter of the passes. */
function reader() {
  const recognizer = readerOf({});
  recognizer.answer = ({ task, decoding }: RecognitionRequest) => {
    if (task === "layout") return { text: wholePage };
    return decoding?.blockLength === 1 ? { text: "abcdefghij", forwards: 10 } : { text: "abcdefghiX", forwards: 5 };
  };
  return recognizer;
}

describe("measuring", () => {
  test("counts tokens, passes and edits, against the first setting", async () => {
    const [autoregression, diffusion] = await measureDecoding(reader(), regions.slice(0, 1), [AUTOREGRESSION, blockDiffusion(32, 0.95)]);
    expect(autoregression).toMatchObject({
      tokens: 10,
      forwards: 10,
      tokensPerForward: 1,
      characterErrorRate: 0,
      relativeAccuracy: 1,
      speed: 1,
    });
    expect(diffusion).toMatchObject({ name: "block 32, τ 0.95", tokens: 10, forwards: 5, tokensPerForward: 2, characterErrorRate: 0.1 });
    expect(diffusion.relativeAccuracy).toBeCloseTo(0.9, 12);
    expect(diffusion.answers).toEqual([expect.objectContaining({ sample: "one", edits: 1, characters: 10 })]);
    await expect(measureDecoding(reader(), [], [AUTOREGRESSION])).rejects.toThrow(RangeError);
  });

  test("settings take turns, so that none always goes first", async () => {
    const recognizer = reader();
    await measureDecoding(recognizer, regions, [AUTOREGRESSION, blockDiffusion(8, 0.5)], { rounds: 2 });
    const lengths = recognizer.asked.map(({ decoding }) => decoding?.blockLength);
    // Warming up, then two samples in two rounds.
    expect(lengths).toEqual([1, 8, ...[1, 8], ...[8, 1], ...[8, 1], ...[1, 8]]);
  });

  test("pages are cut into regions and read with the same setting", async () => {
    const page = rgbImage(120, 90);
    page.data.fill(0, 0, 9000);
    const recognizer = reader();
    const [row] = await measureDecoding(recognizer, [{ name: "page", kind: "page", image: page, truth: "abcdefghij" }], [AUTOREGRESSION], {
      rounds: 1,
    });
    expect(row).toMatchObject({ tokens: 10, forwards: 10, characterErrorRate: 0 });
    expect(recognizer.asked.every(({ decoding }) => decoding?.blockLength === 1)).toBe(true);
  });

  test("batches: tokens per second of every size and setting", async () => {
    const rows = await measureBatches(reader(), regions, [AUTOREGRESSION, blockDiffusion(8, 0.95)], [1, 4], { rounds: 1 });
    expect(rows.map(({ name, batchSize, tokens }) => [name, batchSize, tokens])).toEqual([
      ["autoregression (block 1)", 1, 20],
      ["block 8, τ 0.95", 1, 20],
      ["autoregression (block 1)", 4, 20],
      ["block 8, τ 0.95", 4, 20],
    ]);
    for (const row of rows) expect(row.tokensPerSecond).toBeCloseTo((1000 * 20) / row.milliseconds, 6);
  });
});

describe("tables", () => {
  const answer = (milliseconds: number, edits: number, forwards: number): DecodedAnswer => ({
    sample: "one",
    tokens: 100,
    forwards,
    edits,
    characters: 100,
    milliseconds,
    processorMilliseconds: 2 * milliseconds,
  });

  test("sums answers before dividing", () => {
    const base = [answer(100, 0, 100), answer(300, 10, 100)];
    const row = decodingRow("x", [answer(50, 10, 20), answer(50, 10, 20)], base);
    expect(row).toMatchObject({ tokens: 200, forwards: 40, tokensPerForward: 5, tokensPerSecond: 2000, speed: 4, processorSpeed: 4 });
    expect(row.relativeAccuracy).toBeCloseTo(0.9 / 0.95, 12);
    expect(decodingTable([row]).split("\n").at(-1)).toBe("| x | 10.0 % | 94.7 % | 5.00 | 2000 | 4.00× | 4.00× |");
  });

  test("medians of even counts lie between the middle ones", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  test("where batches stop paying", () => {
    const row = (name: string, batchSize: number, tokensPerSecond: number) => ({
      ...{ name, batchSize, tokensPerSecond, tokensPerProcessorSecond: 1 },
      ...{ tokens: 1, milliseconds: 1, processorMilliseconds: 1 },
    });
    const rows = [row("ar", 1, 100), row("b8", 1, 200), row("b32", 1, 90), row("ar", 4, 300), row("b8", 4, 290), row("b32", 4, 80)];
    expect([...breakEven(rows)]).toEqual([
      ["b8", 4],
      ["b32", 1],
    ]);
    // A single slow batch is no end.
    const wavering = [...rows, row("ar", 8, 300), row("b8", 8, 310), row("b32", 8, 80)];
    expect([...breakEven(wavering)]).toEqual([
      ["b8", null],
      ["b32", 1],
    ]);
    expect(batchTable(rows).split("\n").slice(2)).toEqual([
      "| 1 | 100 | 200 (2.00×) | 90 (0.90×) |",
      "| 4 | 300 | 290 (0.97×) | 80 (0.27×) |",
    ]);
  });

  test("a whole measurement has every table and a plot without a broken number", async () => {
    const measurement = await measureAllDecoding(reader(), regions, [{ ...regions[0], kind: "page" }], { rounds: 1 });
    expect(strategyRows(measurement)).toHaveLength(8);
    expect(thresholdRows(measurement)).toHaveLength(11);
    expect(blockLengthRows(measurement).map(({ name }) => name)).toEqual([
      AUTOREGRESSION.name,
      ...[2, 4, 8, 16, 32, 64].map((length) => `block ${length}, τ 0.95`),
    ]);
    expect(headlineRows(measurement)).toHaveLength(6);
    expect(new Set(measurement.lines.map(({ name }) => name)).size).toBe(measurement.lines.length);
    const markdown = decodingMarkdown(measurement);
    for (const title of ["Strategies", "Threshold", "Block length", "Real pages", "Regions side by side"])
      expect(markdown).toContain(`## ${title}`);
    expect(markdown + tradeOffPlot(measurement)).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("Semantic Shuffle", () => {
  test("the same page by two decoders, errors against the changed text", async () => {
    const sources = await heldOutSources();
    const options = { pages: 1, paragraphs: 1, kinds: ["words"] as const, ratios: [0, 1] };
    const printed = options.ratios.map((ratio) => shuffledPage(sources, 5, 0, { kind: "words", ratio, paragraphs: 1 }).regions[0].text!);
    expect(printed[0]).toMatch(/[a-z]-\n[a-z]/);
    // Reads the page as it is printed; by diffusion without its e's on the changed page.
    const recognizer = readerOf({});
    const answers = [printed[0], printed[0], printed[1], printed[1].replaceAll("e", "")];
    recognizer.answer = () => ({ text: answers[recognizer.asked.length - 1], forwards: 50 });
    Object.assign(recognizer.info.profile, { printedLineBreaks: true });
    const diffusion = { name: "block diffusion", decoding: { blockLength: 8 } };
    const measurement = await measureShuffle(recognizer, sources, [AUTOREGRESSION, diffusion], options);
    expect(recognizer.asked.map(({ task, decoding }) => [task, decoding?.blockLength])).toEqual([
      ["text", 1],
      ["text", 8],
      ["text", 1],
      ["text", 8],
    ]);
    const lost = printed[1].split("e").length - 1;
    const { length } = plainText(printed[1]);
    expect(measurement.points.map(({ ratio, decoder, characterErrorRate }) => [ratio, decoder, characterErrorRate])).toEqual([
      [0, AUTOREGRESSION.name, 0],
      [0, "block diffusion", 0],
      [1, AUTOREGRESSION.name, 0],
      [1, "block diffusion", lost / length],
    ]);
    const [, , right, wrong] = measurement.points;
    expect(right).toMatchObject({ bleu: 1, precision: 1, recall: 1, f1: 1, relativeAccuracy: 1 });
    expect(wrong.relativeAccuracy).toBeCloseTo(1 - wrong.characterErrorRate, 12);
    expect(wrong.f1).toBeLessThan(1);
    expect(shuffleMarkdown(measurement)).toContain("## Words in another order");
    expect(shufflePlot(measurement, "words").match(/<polyline/g)).toHaveLength(2);
  });

  test("held-out lines are always the same", async () => {
    const sources = await heldOutSources();
    const [a, b] = [heldOutLines(sources, 3), heldOutLines(sources, 3)];
    expect(a.map(({ truth }) => truth)).toEqual(b.map(({ truth }) => truth));
    expect(a.every(({ truth }) => !truth.includes("\n"))).toBe(true);
  });
});
