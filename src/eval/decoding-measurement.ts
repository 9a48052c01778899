/**
 * The whole comparison of decoders in one run: all settings on held-out lines, a few on real pages, and batches; and its tables. The
 * names of settings tie rows to tables. Refuses to know where results are kept.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import {
  type BatchRow,
  type DecodingMeasureOptions,
  type DecodingRow,
  type DecodingSample,
  measureBatches,
  measureDecoding,
} from "./decoding.ts";
import {
  AUTOREGRESSION,
  BATCH_SIZES,
  batchSettings,
  blockDiffusion,
  blockLengthSettings,
  type DecodingSetting,
  strategySettings,
  thresholdSettings,
} from "./decoding-settings.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { linePlot } from "./plots.ts";

/** Decoders compared on the same weights: errors, passes and time. */
export interface DecodingMeasurement {
  readonly kind: "decoding";
  readonly date: string;
  readonly machine: Machine;
  readonly model: string;
  readonly rounds: number;
  readonly lineCount: number;
  readonly characters: number;
  readonly lines: readonly DecodingRow[];
  readonly pages: readonly DecodingRow[];
  readonly batches: readonly BatchRow[];
}

const unique = (settings: readonly DecodingSetting[]): DecodingSetting[] => [
  ...new Map(settings.map((setting) => [setting.name, setting])).values(),
];

const lineSettings = unique([...strategySettings, ...thresholdSettings, ...blockLengthSettings]);
const pageSettings = [AUTOREGRESSION, blockDiffusion(8, 0.95), blockDiffusion(32, 0.95), blockDiffusion(32, 0.8)];

/** Measures everything. `model` names the weights. */
export async function measureAllDecoding(
  recognizer: Recognizer<RecognizerIdentity>,
  lines: readonly DecodingSample[],
  pages: readonly DecodingSample[],
  { rounds = 3, signal, onProgress }: DecodingMeasureOptions = {},
): Promise<DecodingMeasurement> {
  const options = { rounds, signal, onProgress };
  const lineRows = await measureDecoding(recognizer, lines, lineSettings, options);
  const pageRows =
    pages.length > 0 ? await measureDecoding(recognizer, pages, pageSettings, { ...options, rounds: Math.min(rounds, 2) }) : [];
  return {
    kind: "decoding",
    date: new Date().toISOString(),
    machine: thisMachine(),
    model: recognizer.info.name,
    rounds,
    lineCount: lines.length,
    characters: lineRows[0].answers.reduce((total, { characters }) => total + characters, 0),
    lines: lineRows,
    pages: pageRows,
    batches: await measureBatches(recognizer, lines, batchSettings, BATCH_SIZES, options),
  };
}

const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
const times = (ratio: number): string => `${ratio.toFixed(2)}×`;

/** Rows as a Markdown table. */
export function decodingTable(rows: readonly DecodingRow[]): string {
  return [
    "| decoding | CER | relative accuracy | tokens per forward | tokens/s | against autoregression | by processor time |",
    "|---|--:|--:|--:|--:|--:|--:|",
    ...rows.map(
      (row) =>
        `| ${row.name} | ${percent(row.characterErrorRate)} | ${percent(row.relativeAccuracy)} | ${row.tokensPerForward.toFixed(2)} | ` +
        `${row.tokensPerSecond.toFixed(0)} | ${times(row.speed)} | ${times(row.processorSpeed)} |`,
    ),
  ].join("\n");
}

const named = (rows: readonly DecodingRow[], settings: readonly DecodingSetting[]): DecodingRow[] =>
  settings.flatMap(({ name }) => rows.filter((row) => row.name === name));

export const strategyRows = ({ lines }: DecodingMeasurement): DecodingRow[] => named(lines, strategySettings);
export const thresholdRows = ({ lines }: DecodingMeasurement): DecodingRow[] => named(lines, [AUTOREGRESSION, ...thresholdSettings]);
export const blockLengthRows = ({ lines }: DecodingMeasurement): DecodingRow[] => named(lines, [AUTOREGRESSION, ...blockLengthSettings]);

/** The few rows that tell the story. */
export const headlineRows = ({ lines }: DecodingMeasurement): DecodingRow[] =>
  named(lines, [
    AUTOREGRESSION,
    blockDiffusion(8, 0.95),
    blockDiffusion(32, 0.95),
    blockDiffusion(32, 0.8),
    blockDiffusion(32, 0.6),
    strategySettings.at(-1)!,
  ]);

/** Throughput by batch size, with the ratio of each way of diffusion to autoregression at that size. */
export function batchTable(rows: readonly BatchRow[]): string {
  const sizes = [...new Set(rows.map(({ batchSize }) => batchSize))];
  const names = [...new Set(rows.map(({ name }) => name))];
  const at = (name: string, size: number) => rows.find((row) => row.name === name && row.batchSize === size)!;
  const [first, ...rest] = names;
  const line = (size: number): string =>
    `| ${size} | ${at(first, size).tokensPerSecond.toFixed(0)} | ${rest
      .map(
        (name) =>
          `${at(name, size).tokensPerSecond.toFixed(0)} (${times(at(name, size).tokensPerSecond / at(first, size).tokensPerSecond)})`,
      )
      .join(" | ")} |`;
  return [`| side by side | ${names.join(" | ")} |`, `|--:|${"--:|".repeat(names.length)}`, ...sizes.map(line)].join("\n");
}

/** For each way of diffusion, the smallest batch from which on autoregression is as fast at every size; `null` if there is none. */
export function breakEven(rows: readonly BatchRow[]): ReadonlyMap<string, number | null> {
  const [first, ...rest] = [...new Set(rows.map(({ name }) => name))];
  const speed = (name: string, size: number) => rows.find((row) => row.name === name && row.batchSize === size)!.tokensPerSecond;
  const sizes = [...new Set(rows.map(({ batchSize }) => batchSize))].sort((a, b) => a - b);
  const loses = (name: string, size: number) => speed(name, size) <= speed(first, size);
  return new Map(rest.map((name) => [name, sizes.find((size) => sizes.every((other) => other < size || loses(name, other))) ?? null]));
}

/** Speed against accuracy along the threshold, as the paper's Figure 1, with autoregression beside it. */
export function tradeOffPlot(measurement: DecodingMeasurement): string {
  const [autoregression, ...rows] = thresholdRows(measurement);
  const lengths = blockLengthRows(measurement).slice(1);
  const point = ({ tokensPerSecond, characterErrorRate }: DecodingRow) => [tokensPerSecond, 100 * (1 - characterErrorRate)] as const;
  return linePlot(
    [
      { name: "block 32, τ 0.5 to 0.99", points: rows.map(point), labels: rows.map(({ name }) => name.replace(/^.*τ /, "")) },
      {
        name: "τ 0.95, block 2 to 64",
        points: lengths.map(point),
        labels: lengths.map(({ name }) => name.replace(/^block (\d+).*/, "$1")),
      },
      { name: "autoregression", points: [point(autoregression)], labels: ["1"] },
    ],
    { title: "Speed and accuracy", x: { label: "tokens per second" }, y: { label: "characters right, %" } },
  );
}

/** All tables, with headings of the given level. */
export function decodingMarkdown(measurement: DecodingMeasurement, heading = "##"): string {
  const { batches, pages } = measurement;
  const losing = [...breakEven(batches)].map(([name, size]) => `${name}: ${size === null ? "not within these sizes" : `from ${size} on`}`);
  return [
    `${heading} Strategies\n\n${decodingTable(strategyRows(measurement))}`,
    `${heading} Threshold\n\n${decodingTable(thresholdRows(measurement))}`,
    `${heading} Block length\n\n${decodingTable(blockLengthRows(measurement))}`,
    ...(pages.length > 0 ? [`${heading} Real pages\n\n${decodingTable(pages)}`] : []),
    `${heading} Regions side by side\n\nTokens per second over all lines; in brackets against autoregression at the same size.\n\n${batchTable(batches)}\n\nWhere autoregression is as fast or faster: ${losing.join("; ")}.`,
  ].join("\n\n");
}
