/** `train`: a checkpoint learns a user's own pictures. What training needs is loaded when something is trained. */
import type { Command } from "commander";
import type { OwnDataResult, StepReport } from "../train.ts";
import { numberBetween } from "./arguments.ts";
import { Interrupted } from "./errors.ts";

interface TrainFlags {
  readonly data: string;
  readonly output: string;
  readonly from?: string;
  readonly steps?: number;
  readonly learningRate?: number;
  readonly batchTokens?: number;
  readonly heldOut?: number;
  readonly augmentation?: number;
  readonly seed?: number;
  readonly threads?: number;
  readonly saveEvery?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const say = (line: string): void => void process.stderr.write(`mineru-diffusion: ${line}\n`);

function stepLine({ step, losses, samples, milliseconds, waitedMilliseconds }: StepReport, steps: number): string {
  const seconds = ((milliseconds + waitedMilliseconds) / 1000).toFixed(1);
  return `step ${step} of ${steps}  loss ${losses.textLoss.toFixed(3)}  ${samples} samples  ${seconds} s`;
}

const spelled = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function resultTable({ trained, judged, judgedOn, before, after, steps }: OwnDataResult): string {
  const lines = [
    `${steps} steps on ${trained} samples; judged on ${judged} ${judgedOn}`,
    "",
    "| task | score | before | after |",
    "|---|---|--:|--:|",
  ];
  for (const [task, scores] of Object.entries(before) as [keyof typeof before, Readonly<Record<string, number>>][]) {
    for (const [name, value] of Object.entries(scores)) {
      lines.push(`| ${task} | ${spelled(name)} | ${value.toFixed(4)} | ${after[task]![name].toFixed(4)} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

async function trainCommand(flags: TrainFlags, signal: AbortSignal): Promise<number> {
  const { json, quiet, ...options } = flags;
  const { trainOnData } = await import("../train.ts");
  const every = Math.max(1, Math.round((flags.steps ?? 200) / 20));
  let result: OwnDataResult;
  try {
    result = await trainOnData({
      ...options,
      signal,
      onWarning: say,
      onStep: (report) => {
        if (!quiet && (report.step === 1 || report.step % every === 0)) say(stepLine(report, flags.steps ?? 200));
      },
    });
  } catch (error) {
    throw signal.aborted ? new Interrupted() : error;
  }
  process.stdout.write(json ? `${JSON.stringify(result, null, 1)}\n` : resultTable(result));
  return 0;
}

export function addTrainCommand(program: Command, signal: AbortSignal, finish: (exitCode: number) => void): void {
  program
    .command("train")
    .description("train a checkpoint on your own pictures and answers; the same command goes on after an interruption")
    .requiredOption("--data <path>", "folder of pictures with answers beside them (a.png, a.txt), or a manifest (JSON lines)")
    .requiredOption("-o, --output <dir>", "checkpoint folder to write; --model takes it")
    .option("--from <dir>", "checkpoint folder to start from (default: the embedded mini)")
    .option("--steps <n>", "steps of training (default 200)", numberBetween(1, 10_000_000, { whole: true }))
    .option("--learning-rate <number>", "highest learning rate (default 3e-4)", numberBetween(0, 1))
    .option("--batch-tokens <n>", "image tokens of one step (default 1024)", numberBetween(1, 1_000_000, { whole: true }))
    .option("--held-out <share>", "share of the samples to judge by and not to train on (default 0.1)", numberBetween(0, 0.9))
    .option("--augmentation <number>", "wear of the pictures, 0 to 1 (default 0.2)", numberBetween(0, 1))
    .option("--seed <n>", "of order, wear and noise (default 1)", numberBetween(0, 2 ** 31, { whole: true }))
    .option("--threads <n>", "threads of one operation", numberBetween(1, 1024, { whole: true }))
    .option("--save-every <seconds>", "seconds between saves of the state (default 180)", numberBetween(0, 86_400))
    .option("--json", "the result as JSON")
    .option("-q, --quiet", "no progress")
    .action(async (flags: TrainFlags) => finish(await trainCommand(flags, signal)));
}
