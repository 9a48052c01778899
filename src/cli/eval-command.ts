/** `eval`: benchmarks, decoding baselines and the Semantic Shuffle. What measuring needs is loaded when something is measured. */
import { join } from "node:path";
import type { Command } from "commander";
import type { BenchmarkName, BenchmarkOptions, Evaluation, MetricMode } from "../eval.ts";
import { load } from "../index.ts";
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

/** Adds `eval` with a subcommand for each thing that can be measured. `finish` is told the exit code. */
export function addEvalCommand(
  program: Command,
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
}
