/**
 * Writes what people read about speed from the newest measurements in `bench/results/`: `docs/benchmarks.md` as a whole, the plots in
 * `docs/plots/`, and the README's table between its two marks. Nothing in them is typed by hand.
 *
 *   npx tsx bench/draw-benchmarks.ts
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { decodingTable, headlineRows } from "../src/eval/decoding-measurement.ts";
import { machineText } from "../src/eval/machine.ts";
import { linePlot } from "../src/eval/plots.ts";
import {
  type DecodingMeasurement,
  decodingMarkdown,
  type ShuffleMeasurement,
  shuffleKinds,
  shuffleMarkdown,
  shufflePlot,
  tradeOffPlot,
} from "../src/eval.ts";
import { newestResult } from "./results.ts";
import type { RowsMeasurement } from "./rows.ts";

export interface Results {
  readonly decoding: DecodingMeasurement;
  readonly rows: RowsMeasurement;
  readonly shuffle: ShuffleMeasurement;
}

const root = new URL("../", import.meta.url);
const [OPEN, CLOSE] = ["<!-- decoding: drawn by bench/draw-benchmarks.ts -->", "<!-- /decoding -->"];

const day = (date: string): string => date.slice(0, 10);

function samplesText({ lineCount, characters }: DecodingMeasurement): string {
  return `${lineCount} lines, ${characters} characters, typefaces and texts never trained on`;
}

/** The README's table, with what it was measured on. */
export function readmeBlock({ decoding }: Pick<Results, "decoding">): string {
  return [
    decodingTable(headlineRows(decoding)),
    `\`${decoding.model}\`, ${samplesText(decoding)}, one region at a time; ${machineText(decoding.machine)}, ${day(decoding.date)}.`,
  ].join("\n\n");
}

/** A README with the block in its place. @throws Error if the marks are missing */
export function withBlock(readme: string, block: string): string {
  const [start, end] = [readme.indexOf(OPEN), readme.indexOf(CLOSE)];
  if (start < 0 || end < start) throw new Error(`README.md expected ${OPEN} and ${CLOSE}, got neither or one`);
  return `${readme.slice(0, start + OPEN.length)}\n${block}\n${readme.slice(end)}`;
}

function rowsMarkdown({ costs, steps, past, gigaflops, weightGigabytesPerSecond, weightMegabytes, ...rest }: RowsMeasurement): string {
  const [one] = costs;
  return [
    `One pass of the decoder against ${past} cached positions, one thread, float32, medians. The roofline is the longer of: the pass's operations at ` +
      `${gigaflops.toFixed(0)} GFLOP/s (measured: products of 256 rows), its ${weightMegabytes.toFixed(1)} MB of weights at ` +
      `${weightGigabytesPerSecond.toFixed(1)} GB/s (measured: products of one row with as many weights).`,
    [
      "| rows | wall ms | processor ms | times one row | roofline ms |",
      "|--:|--:|--:|--:|--:|",
      ...costs.map(
        (cost) =>
          `| ${cost.rows} | ${cost.milliseconds.toFixed(2)} | ${cost.processorMilliseconds.toFixed(2)} | ` +
          `${(cost.processorMilliseconds / one.processorMilliseconds).toFixed(2)} | ${cost.rooflineMilliseconds.toFixed(2)} |`,
      ),
    ].join("\n"),
    "![](plots/rows.svg)",
    "Where a step's processor time goes while lines are read one at a time:",
    [
      "| decoding | in ONNX Runtime, ms | around it (feeds, reading logits, committing, prompts), ms | share around | picture to features, ms an answer |",
      "|---|--:|--:|--:|--:|",
      ...steps.map(
        (step) =>
          `| ${step.name} | ${step.runtime.toFixed(2)} | ${step.around.toFixed(2)} | ${((100 * step.around) / (step.around + step.runtime)).toFixed(0)} % | ${step.imagePerAnswer.toFixed(2)} |`,
      ),
    ].join("\n"),
    `Answers from the worker thread take ${rest.workerMillisecondsPerAnswer.toFixed(1)} ms longer (wall, median) than in the caller's own thread.`,
  ].join("\n\n");
}

function rowsPlot({ costs }: RowsMeasurement): string {
  return linePlot(
    [
      { name: "measured, processor time", points: costs.map(({ rows, processorMilliseconds }) => [rows, processorMilliseconds]) },
      { name: "roofline", points: costs.map(({ rows, rooflineMilliseconds }) => [rows, rooflineMilliseconds]) },
    ],
    { title: "A pass by its rows", x: { label: "rows", doubling: true }, y: { label: "ms" } },
  );
}

export function benchmarksPage({ decoding, rows, shuffle }: Results): string {
  return `${[
    "# Benchmarks",
    "Drawn by `bench/draw-benchmarks.ts` from the newest files in `bench/results/`; a test checks that nothing here was changed by hand. " +
      "Everything again, on this machine: `npx tsx bench/all.ts --data .train` (fonts and texts: `sh scripts/synth-fetch-fonts.sh && node scripts/synth-fetch-corpus.mjs`). " +
      "Without `--data` the lines come from the few typefaces inside the typesetter, which were trained on.",
    "## Decoding",
    `\`${decoding.model}\`: the same weights, regions and run for all; ${samplesText(decoding)}; settings in turn, ${decoding.rounds} rounds, medians. ` +
      `${machineText(decoding.machine)}, ${day(decoding.date)}. Tokens per second count everything from pixels to text, one region at a time where nothing else is said. ` +
      "Ratios by processor time suffer less from other work on the machine. Relative accuracy is (1 − CER) over that of autoregression.",
    "![](plots/decoding.svg)",
    decodingMarkdown(decoding, "###"),
    "## A pass by its rows",
    `\`${rows.model}\`, ${machineText(rows.machine)}, ${day(rows.date)}.`,
    rowsMarkdown(rows),
    "## Semantic Shuffle",
    `\`${shuffle.model}\`, ${shuffle.pages} pages of each kind and share, the same weights by both decoders, true regions; ${day(shuffle.date)}. ` +
      "The look of a page stays, its meaning goes (paper section 4.5): a decoder that leans on language loses.",
    ...shuffleKinds.map((kind) => `![](plots/shuffle-${kind}.svg)`),
    shuffleMarkdown(shuffle, "###"),
  ].join("\n\n")}\n`;
}

/** File name to content. */
export function plotsOf({ decoding, rows, shuffle }: Results): Record<string, string> {
  return {
    "decoding.svg": tradeOffPlot(decoding),
    "rows.svg": rowsPlot(rows),
    ...Object.fromEntries(shuffleKinds.map((kind) => [`shuffle-${kind}.svg`, shufflePlot(shuffle, kind)])),
  };
}

export async function newestResults(): Promise<Results> {
  return {
    decoding: await newestResult<DecodingMeasurement>("decoding"),
    rows: await newestResult<RowsMeasurement>("rows"),
    shuffle: await newestResult<ShuffleMeasurement>("shuffle"),
  };
}

export async function draw(): Promise<void> {
  const results = await newestResults();
  await mkdir(new URL("docs/plots/", root), { recursive: true });
  for (const [name, svg] of Object.entries(plotsOf(results))) await writeFile(new URL(`docs/plots/${name}`, root), `${svg}\n`);
  await writeFile(new URL("docs/benchmarks.md", root), benchmarksPage(results));
  const readme = new URL("README.md", root);
  await writeFile(readme, withBlock(await readFile(readme, "utf8"), readmeBlock(results)));
}

if (process.argv[1]?.endsWith("draw-benchmarks.ts")) await draw();
