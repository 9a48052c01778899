/** `eval`: benchmarks, decoding baselines and the Semantic Shuffle. What measuring needs is loaded when something is measured. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import type { BenchmarkName, BenchmarkOptions, Evaluation, MetricMode } from "../eval.ts";
import { load, MineruError } from "../index.ts";
import { type DecodingFlags, decodingOf, loadOptionsOf, type ModelFlags, numberBetween, oneOf } from "./arguments.ts";
import { Interrupted, UsageError } from "./errors.ts";

const benchmarks: Readonly<Record<BenchmarkName, string>> = {
  omnidocbench: "OmniDocBench v1.5: pages to Markdown (OmniDocBench.json, images/)",
  "cc-ocr-tables": "CC-OCR: tables (label.json and images/, alone or in a folder for each set)",
  "ocrbench-v2-tables": "OCRBench v2: table parsing (OCRBench_v2.json and its pictures)",
  unimer: "UniMER-Test: formulas (spe.txt and spe/, cpe, sce, hwe)",
  olmocr: "olmOCR-bench: unit tests of pages (*.jsonl, pdfs/)",
  folder: "a folder of pictures or PDFs with texts beside them: character and word error rates",
};

interface BenchmarkFlags extends DecodingFlags, ModelFlags {
  readonly data: string;
  readonly mode: MetricMode;
  readonly layout?: BenchmarkOptions["layout"];
  readonly output?: string;
  readonly predictions?: string;
  readonly limit?: number;
  readonly worst: number;
  readonly batchSize?: number;
  readonly quiet?: boolean;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function benchmarkCommand(name: BenchmarkName, flags: BenchmarkFlags, signal: AbortSignal): Promise<number> {
  const { output, predictions, mode, limit, batchSize } = flags;
  if (predictions === undefined && output === undefined)
    throw new UsageError("expected -o DIR to keep answers and results in, or --predictions DIR with answers to score");
  const { evaluate, evaluationMarkdown, openBenchmark, writeEvaluation } = await import("../eval.ts");
  const benchmark = await openBenchmark(name, flags.data, { layout: flags.layout });
  const decoding = decodingOf(flags);
  const common = { mode, limit, signal, decoding, batchSize };
  let evaluation: Evaluation;
  if (predictions !== undefined) evaluation = await evaluate(benchmark, { ...common, predictions });
  else {
    await using parser = await load(loadOptionsOf(flags));
    try {
      evaluation = await evaluate(benchmark, {
        ...common,
        predictions: join(output!, "predictions"),
        recognizer: parser.recognizer,
        onProgress: ({ done, items, id, failure }) => {
          if (failure !== undefined) say(`mineru-diffusion: ${id}: ${failure}`);
          else if (!flags.quiet) say(`${done}/${items} ${id}`);
        },
      });
    } catch (error) {
      throw signal.aborted ? new Interrupted() : error;
    }
  }
  if (output !== undefined) await writeEvaluation(output, evaluation, benchmark, flags.worst);
  process.stdout.write(evaluationMarkdown(evaluation));
  return evaluation.counts.failed > 0 ? 3 : 0;
}

interface MeasureFlags extends ModelFlags {
  readonly data?: string;
  readonly output?: string;
  readonly quiet?: boolean;
}

interface DecodingMeasureFlags extends MeasureFlags {
  readonly pages?: string;
  readonly lines: number;
  readonly rounds: number;
}

interface ShuffleFlags extends MeasureFlags, DecodingFlags {
  readonly pages: number;
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  } catch (cause) {
    throw new MineruError("output-unwritable", `cannot write to ${folder}: ${(cause as Error).message}; check the folder`, { cause });
  }
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
const counted = (flags: MeasureFlags) => (done: number, all: number) => flags.quiet || say(`${done}/${all}`);

/** Times are those of this process, so the model computes in it. */
const ownThread = (flags: ModelFlags) => load({ ...loadOptionsOf(flags), thread: "own" });

async function decodingCommand(flags: DecodingMeasureFlags, signal: AbortSignal): Promise<number> {
  const { decodingMarkdown, heldOutLines, heldOutSources, measureAllDecoding, pagesIn, tradeOffPlot } = await import("../eval.ts");
  const lines = heldOutLines(await heldOutSources(flags.data), flags.lines);
  const pages = flags.pages === undefined ? [] : await pagesIn(flags.pages);
  await using parser = await ownThread(flags);
  const measurement = await measureAllDecoding(parser.recognizer, lines, pages, {
    rounds: flags.rounds,
    signal,
    onProgress: counted(flags),
  });
  const markdown = `# Decoding\n\n${decodingMarkdown(measurement)}\n`;
  if (flags.output !== undefined)
    await writeAll(flags.output, {
      "decoding.json": toJson(measurement),
      "decoding.md": markdown,
      "decoding.svg": tradeOffPlot(measurement),
    });
  process.stdout.write(markdown);
  return 0;
}

async function shuffleCommand(flags: ShuffleFlags, signal: AbortSignal): Promise<number> {
  const { AUTOREGRESSION, heldOutSources, measureShuffle, shuffleKinds, shuffleMarkdown, shufflePlot } = await import("../eval.ts");
  const sources = await heldOutSources(flags.data);
  await using parser = await load(loadOptionsOf(flags));
  const settings = [AUTOREGRESSION, { name: "block diffusion", decoding: decodingOf(flags) }];
  const measurement = await measureShuffle(parser.recognizer, sources, settings, {
    pages: flags.pages,
    signal,
    onProgress: counted(flags),
  });
  const markdown = `# Semantic Shuffle\n\n${shuffleMarkdown(measurement)}\n`;
  if (flags.output !== undefined)
    await writeAll(flags.output, {
      "shuffle.json": toJson(measurement),
      "shuffle.md": markdown,
      ...Object.fromEntries(shuffleKinds.map((kind) => [`shuffle-${kind}.svg`, shufflePlot(measurement, kind)])),
    });
  process.stdout.write(markdown);
  return 0;
}

/** Adds `eval` with a subcommand for each thing that can be measured. `finish` is told the exit code. */
export function addEvalCommand(
  program: Command,
  withModel: (command: Command) => Command,
  withDecoding: (command: Command) => Command,
  signal: AbortSignal,
  finish: (exitCode: number) => void,
): void {
  const evaluation = program.command("eval").description("measure: benchmarks, decoding, Semantic Shuffle");
  for (const [name, description] of Object.entries(benchmarks) as [BenchmarkName, string][]) {
    const command = withDecoding(
      evaluation
        .command(name)
        .description(description)
        .requiredOption("--data <dir>", "folder with the benchmark's data")
        .option(
          "-o, --output <dir>",
          "keep answers and write results.json, results.md and results.html there; goes on where it was stopped",
        )
        .option("--predictions <dir>", "score the answers (Markdown) in this folder instead of reading")
        .option("--mode <name>", "sound, or strict: as the official code scores, its mistakes included", oneOf("sound", "strict"), "sound")
        .option("--limit <n>", "only the first items", numberBetween(1, 1e9, { whole: true }))
        .option("--worst <n>", "worst cases to show", numberBetween(0, 10_000, { whole: true }), 12)
        .option("--batch-size <n>", "regions decoded side by side", numberBetween(1, 256, { whole: true }))
        .option("-q, --quiet", "no progress"),
    );
    if (name === "omnidocbench")
      command.option("--layout <whose>", "own, or truth: read the annotated regions", oneOf("own", "truth"), "own");
    command.action(async (flags) => finish(await benchmarkCommand(name, flags, signal)));
  }
  const synthetic = (command: Command): Command =>
    command
      .option("--data <dir>", "folder with fonts/ and corpus/ for the synthetic texts (default: what the typesetter brings along)")
      .option("-o, --output <dir>", "write JSON, Markdown and plots there")
      .option("-q, --quiet", "no progress");
  withModel(
    synthetic(evaluation.command("decoding").description("autoregression, block diffusion and full-sequence diffusion on the same weights"))
      .option("--pages <dir>", "real pages too: a folder of pictures with texts beside them")
      .option("--lines <n>", "held-out lines", numberBetween(1, 1000, { whole: true }), 24)
      .option("--rounds <n>", "rounds, whose median counts", numberBetween(1, 100, { whole: true }), 3),
  ).action(async (flags) => finish(await decodingCommand(flags, signal)));
  withDecoding(
    synthetic(evaluation.command("shuffle").description("Semantic Shuffle: pages whose look stays while their meaning goes")).option(
      "--pages <n>",
      "pages of each kind and share",
      numberBetween(1, 1000, { whole: true }),
      4,
    ),
  ).action(async (flags) => finish(await shuffleCommand(flags, signal)));
}
