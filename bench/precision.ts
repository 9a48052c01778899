/**
 * What each precision costs in reading: character error rate against the truth, how often a region reads exactly as in float32, steps and
 * tokens per pass, on held-out synthetic regions or on pictures with their text beside them (name.png, name.txt).
 *
 *   node bench/precision.ts FOLDER [--regions 64] [--images DIR] [--data .train] [--precisions float32,int8] [--lines 1,4] [--seed 7]
 *
 * On Node 20 put `node -e 'import("vite").then((vite) => vite.runnerImport("./bench/precision.ts"))' --` in front of the arguments.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type PrecisionChoice, precisions } from "../src/engine/precision.ts";
import { loadRecognizer } from "../src/engine/recognizer.ts";
import type { RecognitionRequest, RecognitionResult } from "../src/engine/types.ts";
import { decodeImage } from "../src/image/decode-image.ts";
import type { RgbImage } from "../src/image/rgb-image.ts";
import { levenshtein } from "../src/metrics/edit-distance.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { openSynth, textPage } from "../src/synth/index.ts";

interface Region {
  readonly image: RgbImage;
  readonly text: string;
}

const { values, positionals } = parseArgs({
  args: process.argv.slice(process.argv[1]?.endsWith(".ts") ? 2 : 1),
  allowPositionals: true,
  options: {
    regions: { type: "string", default: "64" },
    images: { type: "string" },
    data: { type: "string" },
    precisions: { type: "string", default: precisions.join(",") },
    lines: { type: "string", default: "1,4" },
    width: { type: "string", default: "200,560" },
    size: { type: "string", default: "20,30" },
    augmentation: { type: "string", default: "0.3" },
    seed: { type: "string", default: "7" },
    threads: { type: "string" },
    batch: { type: "string", default: "8" },
  },
});

async function readRegions(folder: string): Promise<Region[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".txt")).map((name) => name.slice(0, -4));
  return Promise.all(
    names.sort().map(async (name) => ({
      image: await decodeImage(await readFile(join(folder, `${name}.png`))),
      text: (await readFile(join(folder, `${name}.txt`), "utf8")).trimEnd(),
    })),
  );
}

const range = (text: string): readonly [number, number] => text.split(",").map(Number) as [number, number];

async function drawRegions(count: number): Promise<Region[]> {
  const { data } = values;
  const sources = await openSynth({
    split: "heldout",
    ...(data ? { fontPaths: [join(data, "fonts")], corpusFolder: join(data, "corpus") } : {}),
  });
  const regions: Region[] = [];
  const cropsPerPage = 16;
  for (let page = 0; regions.length < count; page++) {
    regions.push(
      ...textPage(sources, Number(values.seed), page, {
        lines: range(values.lines),
        widthPx: range(values.width),
        sizePx: range(values.size),
        augmentation: Number(values.augmentation),
        cropsPerPage: Math.min(cropsPerPage, count - regions.length),
      }),
    );
  }
  return regions;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sum = <T>(items: readonly T[], of: (item: T, i: number) => number): number =>
  items.reduce((total, item, i) => total + of(item, i), 0);
const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

const [folder] = positionals;
if (!folder) throw new TypeError("expected a checkpoint folder, got no argument");
const regions = values.images ? await readRegions(values.images) : await drawRegions(Number(values.regions));
const characters = sum(regions, ({ text }) => text.length);
print(`${folder}: ${regions.length} regions, ${characters} characters`);
print("| precision | CER | exact regions | reads as in float32 | passes | tokens per pass | median confidence | processor ms per region |");
print("|---|---|---|---|---|---|---|---|");
let reference: readonly RecognitionResult[] | undefined;
for (const precision of values.precisions.split(",")) {
  const recognizer = await loadRecognizer(folder, nodeRuntime, {
    precision: precision as PrecisionChoice,
    threads: values.threads ? Number(values.threads) : undefined,
  });
  const requests = regions.map(({ image }): RecognitionRequest => ({ task: "text", image }));
  const used = process.cpuUsage();
  const results = await recognizer.recognize(requests, { batchSize: Number(values.batch) });
  const { user, system } = process.cpuUsage(used);
  await recognizer.close();
  reference ??= results;
  const errors = sum(results, ({ text }, i) => levenshtein(text, regions[i].text));
  const exact = sum(results, ({ text }, i) => Number(text === regions[i].text));
  const same = sum(results, ({ text }, i) => Number(text === reference?.[i].text));
  const passes = sum(results, ({ forwards }) => forwards);
  const settled = sum(results, ({ tokensPerForward, forwards }) => tokensPerForward * forwards);
  const confidence = median(results.flatMap(({ tokens }) => tokens.map((token) => token.confidence)));
  const cells = [
    precision,
    (errors / characters).toFixed(4),
    `${exact}`,
    `${same}`,
    `${passes}`,
    (settled / passes).toFixed(2),
    confidence.toFixed(4),
    ((user + system) / 1000 / regions.length).toFixed(1),
  ];
  print(`| ${cells.join(" | ")} |`);
}
