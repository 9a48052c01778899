/**
 * Command-line entry of the training room, run from the compiled tree:
 *
 *   node dist/train/main.js train RECIPE.json FOLDER [--data DIR] [--threads N] [--steps N] [--every N] [--from CHECKPOINT [--at STEP]]
 *   node dist/train/main.js export RECIPE.json FOLDER TARGET [--latest]
 *   node dist/train/main.js report FOLDER
 *   node dist/train/main.js evaluate CHECKPOINT [--tasks text,table] [--data DIR] [--samples N] [--split train|heldout] [--show N]
 *   node dist/train/main.js mine CHECKPOINT HARD.jsonl [--tasks …] [--data DIR] [--samples N] [--passes T] [--temperature X] [--beta B] [--seed N]
 *   node dist/train/main.js hardness CHECKPOINT [--tasks …] [--data DIR] [--samples N] [--passes T] [--temperature X] [--seed N]
 *
 * What each does stands in docs/training.md.
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadRecognizer, type Recognizer } from "../engine/recognizer.ts";
import { MineruError } from "../error.ts";
import { startCdm } from "../metrics/cdm.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { type TaskName, taskNames } from "../text/prompts.ts";
import { agreementOf } from "./answer-scores.ts";
import { HARD_BELOW } from "./consistency.ts";
import { openSources } from "./drawing.ts";
import { evaluateReading } from "./evaluate.ts";
import { exportCheckpoint } from "./export.ts";
import { writeHardSamples } from "./hard-samples.ts";
import { type HardnessEstimator, hardnessEstimators } from "./hardness.ts";
import { drawHeldOut, HELD_OUT_DRAWING } from "./held-out.ts";
import { estimateHardness, hardSamplesOf, identifiedSamples, type JudgedSample, judgeConsistency } from "./mining.ts";
import { rankCorrelation } from "./rank-correlation.ts";
import type { DrawingRecipe } from "./recipe.ts";
import { reportHtml } from "./report.ts";
import { logFile, runTraining, stateFile } from "./run.ts";
import type { StepReport } from "./trainer.ts";
import type { EvaluationReport } from "./training-evaluation.ts";
import { parseTrainingLog } from "./training-log.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: "string" },
    threads: { type: "string" },
    steps: { type: "string" },
    every: { type: "string" },
    from: { type: "string" },
    at: { type: "string" },
    tasks: { type: "string" },
    samples: { type: "string" },
    split: { type: "string" },
    show: { type: "string" },
    latest: { type: "boolean" },
    augmentation: { type: "string" },
    passes: { type: "string" },
    temperature: { type: "string" },
    beta: { type: "string" },
    seed: { type: "string" },
  },
});

type NumberFlag = "threads" | "steps" | "every" | "at" | "samples" | "show" | "augmentation" | "passes" | "temperature" | "beta" | "seed";

/** The number of a flag. */
function optional(name: NumberFlag): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new RangeError(`--${name} expected a number from 0, got ${text}`);
  return value;
}

const print = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

function reportLine(report: StepReport): string {
  const losses = Object.entries(report.losses).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  const parts = [`step ${report.step}`, report.stage, ...losses, `norm ${report.gradientNorm.toFixed(2)}`, `${report.samples} samples`];
  parts.push(
    `${report.imageTokens} tokens`,
    `${report.rows} rows`,
    `${Math.round(report.milliseconds)} ms`,
    `waited ${Math.round(report.waitedMilliseconds)} ms`,
  );
  return parts.join("  ");
}

function evaluationLine({ step, losses, scores }: EvaluationReport): string {
  const numbers = (of: object) => Object.entries(of).map(([name, value]) => `${name} ${(value as number).toFixed(4)}`);
  const parts = Object.entries(losses).map(([kind, own]) => `${kind}: ${numbers(own).join(" ")}`);
  for (const [kind, byBlock] of Object.entries(scores ?? {})) {
    for (const [block, own] of Object.entries(byBlock)) parts.push(`${kind} ${block}: ${numbers(own).join(" ")}`);
  }
  return `evaluation at step ${step}  ${parts.join("  ")}`;
}

async function train([recipePath, folder]: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  const every = optional("every") ?? 20;
  await runTraining({
    recipePath,
    folder,
    dataFolder: values.data,
    threads: optional("threads"),
    maxSteps: optional("steps"),
    ...(values.from === undefined ? {} : { restart: { checkpoint: values.from, step: optional("at") } }),
    signal: stop.signal,
    onStep: (report) => {
      if (report.step % every === 0 || report.step <= 3) print(reportLine(report));
    },
    onEvaluation: (report) => print(evaluationLine(report)),
  });
}

async function report([folder]: readonly string[]): Promise<void> {
  const path = join(folder, logFile);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `${path}: expected the log of a training run; name the run's folder`, { cause });
  }
  const target = join(folder, "report.html");
  await writeFile(target, reportHtml(parseTrainingLog(text, path), basename(resolve(folder))));
  print(target);
}

function tasksAsked(): TaskName[] {
  const asked = values.tasks?.split(",") ?? ["text"];
  const unknown = asked.find((task) => !(taskNames as readonly string[]).includes(task));
  if (unknown !== undefined) throw new RangeError(`--tasks expected some of ${taskNames.join(",")}, got ${unknown}`);
  return asked as TaskName[];
}

async function evaluate([folder]: readonly string[]): Promise<void> {
  const count = optional("samples") ?? 40;
  const augmentation = optional("augmentation") ?? HELD_OUT_DRAWING.augmentation;
  const drawn = await drawHeldOut({
    samples: Object.fromEntries(tasksAsked().map((task) => [task, count])),
    drawing: { ...HELD_OUT_DRAWING, augmentation },
    split: values.split === "train" ? "train" : "heldout",
    dataFolder: values.data,
  });
  await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads: optional("threads") });
  for (const task of tasksAsked()) {
    const samples = drawn[task]!.map(({ image, answer }) => ({ task, image, truth: answer }));
    for (const blockLength of [1, 4, 32]) {
      const result = await evaluateReading(recognizer, samples, { blockLength, ...(task === "text" ? { maxTokens: 512 } : {}) });
      const { tokensPerForward, tokensPerSecond, characters } = result;
      const scores = Object.entries(result.scores[task]!).map(([name, value]) => `${name} ${value.toFixed(4)}`);
      print(
        `${task}, block ${blockLength}: ${scores.join(", ")} (${samples.length} samples, ${characters} characters, ${tokensPerForward.toFixed(2)} tokens per forward, ${tokensPerSecond.toFixed(0)} tokens/s)`,
      );
      if (blockLength !== 32) continue;
      const worst = [...result.answers].sort((a, b) => b.edits - a.edits).slice(0, optional("show") ?? 4);
      for (const { truth, answer, edits } of worst) print(`  ${edits} edits\n    truth  ${truth}\n    answer ${answer}`);
    }
  }
}

/** Crops of a page that is drawn to be mined: few, since a page is drawn whole for each hard sample on it. */
const MINED_CROPS = 20;

function miningDrawing(): DrawingRecipe {
  return { ...HELD_OUT_DRAWING, augmentation: optional("augmentation") ?? HELD_OUT_DRAWING.augmentation };
}

/** Consistency of the samples that the flags ask for, task by task. */
async function judged(recognizer: Recognizer): Promise<JudgedSample[]> {
  const sources = await openSources("train", values.data);
  const cdm = await startCdm();
  const [count, seed] = [optional("samples") ?? 40, optional("seed") ?? 1];
  const all: JudgedSample[] = [];
  for (const task of tasksAsked()) {
    const samples = identifiedSamples(sources, { task, seed, count, crops: MINED_CROPS }, miningDrawing());
    all.push(
      ...(await judgeConsistency(samples, {
        recognizer,
        agreementOf: (name) => agreementOf(name, cdm),
        passes: optional("passes"),
        temperature: optional("temperature"),
        seed,
        onProgress: (done, of) => print(`${task}: ${done} of ${of}`),
      })),
    );
  }
  return all;
}

async function mine([folder, target]: readonly string[]): Promise<void> {
  await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads: optional("threads") });
  const all = await judged(recognizer);
  const beta = optional("beta") ?? 1;
  const samples = hardSamplesOf(all, { beta });
  if (samples.length === 0)
    throw new MineruError("data-invalid", `expected hard samples, found none among ${all.length}: draw more (--samples)`);
  const [passes, temperature] = [optional("passes") ?? 3, optional("temperature") ?? 1];
  const mining = { checkpoint: folder, date: new Date().toISOString(), of: all.length, passes, temperature, beta, below: HARD_BELOW };
  await writeHardSamples(target, { kind: "hard-samples", drawing: miningDrawing(), crops: MINED_CROPS, mining, samples });
  for (const task of tasksAsked()) {
    const own = all.filter(({ sample }) => sample.task === task);
    const hard = samples.filter((sample) => sample.task === task).length;
    const meanConsistency = own.reduce((sum, { consistency }) => sum + consistency, 0) / own.length;
    print(`${task}: mean consistency ${meanConsistency.toFixed(3)}, ${hard} of ${own.length} below ${HARD_BELOW[task]}`);
  }
  print(target);
}

async function hardness([folder]: readonly string[]): Promise<void> {
  await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads: optional("threads") });
  const all = await judged(recognizer);
  const estimates = await estimateHardness(all, { recognizer });
  print("rank correlation (Spearman) of each estimator with 1 - C(x):");
  for (const task of tasksAsked()) {
    const places = all.flatMap(({ sample }, i) => (sample.task === task ? [i] : []));
    const inconsistency = places.map((i) => 1 - all[i].consistency);
    for (const name of Object.keys(hardnessEstimators) as HardnessEstimator[]) {
      const correlation = rankCorrelation(
        inconsistency,
        places.map((i) => estimates[i][name]),
      );
      print(`  ${task} (${places.length}): ${name} ${correlation === null ? "undefined, all alike" : correlation.toFixed(3)}`);
    }
  }
}

async function exportWeights([recipePath, folder, target]: readonly string[]): Promise<void> {
  const step = await exportCheckpoint({ recipePath, statePath: join(folder, stateFile), target, latest: values.latest });
  print(`exported the weights of step ${step} to ${target}`);
}

const verbs: Readonly<Record<string, { readonly run: (operands: readonly string[]) => Promise<void>; readonly operands: string }>> = {
  train: { run: train, operands: "RECIPE.json FOLDER" },
  export: { run: exportWeights, operands: "RECIPE.json FOLDER TARGET" },
  report: { run: report, operands: "FOLDER" },
  evaluate: { run: evaluate, operands: "CHECKPOINT" },
  mine: { run: mine, operands: "CHECKPOINT HARD.jsonl" },
  hardness: { run: hardness, operands: "CHECKPOINT" },
};

const [name = "", ...rest] = positionals;
const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
if (!verb || rest.length !== verb.operands.split(" ").length) {
  const usage = Object.entries(verbs).map(([each, { operands }]) => `${each} ${operands}`);
  print(`usage: ${usage.join(" | ")}; see docs/training.md`);
  process.exit(2);
}
try {
  await verb.run(rest);
} catch (error) {
  if (!(error instanceof MineruError || error instanceof RangeError)) throw error;
  print(error.message);
  process.exitCode = 1;
}
