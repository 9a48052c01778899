/**
 * Command-line entry of the training room, run from the compiled tree:
 *
 *   node dist/train/main.js train RECIPE.json FOLDER [--data DIR] [--threads N] [--steps N] [--every N]
 *   node dist/train/main.js export RECIPE.json FOLDER TARGET [--latest]
 *   node dist/train/main.js evaluate CHECKPOINT [--data DIR] [--samples N] [--split train|heldout] [--show N]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadRecognizer } from "../engine/recognizer.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { openSynth, textPage } from "../synth/index.ts";
import { evaluateReading } from "./evaluate.ts";
import { exportCheckpoint } from "./export.ts";
import { runTraining, stateFile } from "./run.ts";
import type { StepReport } from "./trainer.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: "string" },
    threads: { type: "string" },
    steps: { type: "string" },
    every: { type: "string" },
    samples: { type: "string" },
    split: { type: "string" },
    show: { type: "string" },
    latest: { type: "boolean" },
    augmentation: { type: "string" },
  },
});
const optional = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
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

async function train([recipePath, folder]: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  const every = optional(values.every) ?? 20;
  await runTraining({
    recipePath,
    folder,
    dataFolder: values.data,
    threads: optional(values.threads),
    maxSteps: optional(values.steps),
    signal: stop.signal,
    onStep: (report) => {
      if (report.step % every === 0 || report.step <= 3) print(reportLine(report));
    },
  });
}

async function evaluate([folder]: readonly string[]): Promise<void> {
  const { data } = values;
  const split = values.split === "train" ? "train" : "heldout";
  const sources = await openSynth({ split, ...(data ? { fontPaths: [join(data, "fonts")], corpusFolder: join(data, "corpus") } : {}) });
  const count = optional(values.samples) ?? 40;
  const crops = textPage(sources, 7, 0, {
    lines: [1, 1],
    widthPx: [150, 900],
    sizePx: [20, 30],
    augmentation: optional(values.augmentation) ?? 0.3,
    cropsPerPage: count,
  });
  const samples = crops.map(({ image, text }) => ({ task: "text" as const, image, truth: text }));
  await using recognizer = await loadRecognizer(folder, nodeRuntime);
  for (const blockLength of [1, 4, 32]) {
    const result = await evaluateReading(recognizer, samples, { blockLength, maxTokens: 512 });
    const { characterErrorRate, tokensPerForward, tokensPerSecond, characters } = result;
    print(
      `block ${blockLength}: CER ${(100 * characterErrorRate).toFixed(2)} % of ${characters} characters, ${tokensPerForward.toFixed(2)} tokens per forward, ${tokensPerSecond.toFixed(0)} tokens/s`,
    );
    if (blockLength !== 32) continue;
    const worst = [...result.answers].sort((a, b) => b.edits - a.edits).slice(0, optional(values.show) ?? 4);
    for (const { truth, answer, edits } of worst) print(`  ${edits} edits\n    truth  ${truth}\n    answer ${answer}`);
  }
}

const [verb, ...rest] = positionals;
if (verb === "train" && rest.length === 2) await train(rest);
else if (verb === "export" && rest.length === 3) {
  const step = await exportCheckpoint({ recipePath: rest[0], statePath: join(rest[1], stateFile), target: rest[2], latest: values.latest });
  print(`exported the weights of step ${step} to ${rest[2]}`);
} else if (verb === "evaluate" && rest.length === 1) await evaluate(rest);
else {
  print("usage: train RECIPE.json FOLDER | export RECIPE.json FOLDER TARGET | evaluate CHECKPOINT; see the head of src/train/main.ts");
  process.exit(2);
}
