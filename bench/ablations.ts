/**
 * The paper's ablations at small scale: each variant trains from the same weights with the same number of steps and is judged on the same
 * held-out samples. Suites: block length, fixed against mixed block lengths, stages (broad, hard, both, and both with samples chosen at random, judged
 * on lines that the starting weights read inconsistently too), full sequence against blocks, mask rates, text that can be guessed against text that cannot. Writes dated JSON and a table; says nothing about what it did not run.
 *
 *   npx tsx bench/ablations.ts [--suites block-length,mask-rates] [--from models/mini] [--steps 60] [--samples 40] [--data .train]
 *                              [--threads 2] [--output .train/ablations]
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadRecognizer } from "../src/engine/recognizer.ts";
import { startCdm } from "../src/metrics/cdm.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { agreementOf } from "../src/train/answer-scores.ts";
import { openCheckpointFiles } from "../src/train/base-files.ts";
import type { NoisingRecipe } from "../src/train/batch.ts";
import { openSources } from "../src/train/drawing.ts";
import { writeHardSamples } from "../src/train/hard-samples.ts";
import { drawHeldOut, HELD_OUT_DRAWING } from "../src/train/held-out.ts";
import { hardSamplesOf, identifiedSamples, type JudgedSample, judgeConsistency } from "../src/train/mining.ts";
import { saveModelFolder } from "../src/train/model-folder.ts";
import { defaultOptimizer } from "../src/train/optimizer.ts";
import type { DrawingRecipe, Recipe, StageRecipe } from "../src/train/recipe.ts";
import type { RawSample } from "../src/train/sample.ts";
import { openSamplePools } from "../src/train/sample-pools.ts";
import { describeCheckpoint, stateFromCheckpoint } from "../src/train/start.ts";
import { modelConfigOf, Trainer } from "../src/train/trainer.ts";
import { TrainingEvaluation } from "../src/train/training-evaluation.ts";

const { values } = parseArgs({
  options: {
    suites: { type: "string", default: "block-length,mixed,stages,full-sequence,mask-rates,random-text" },
    from: { type: "string", default: "models/mini" },
    steps: { type: "string", default: "60" },
    samples: { type: "string", default: "40" },
    data: { type: "string" },
    threads: { type: "string", default: "2" },
    output: { type: "string", default: ".train/ablations" },
  },
});
const [steps, samples, threads] = [values.steps, values.samples, values.threads].map(Number);
/** Longer than any held-out line: one block is the whole sequence. */
const FULL = 128;
/** Lines of a page that is drawn to be mined. */
const CROPS = 20;
/** Above any consistency: every sample counts as hard. */
const ALL = { layout: 2, table: 2, formula: 2, text: 2 };
const MIXED = [1, 2, 4, 8, 16, 32, 32, 32];
const TRAINED = { seed: 11, peakRate: 5e-4, floorRate: 5e-5, augmentation: 0.3 };

interface Variant {
  readonly name: string;
  readonly stages: readonly StageRecipe[];
  /** Block lengths it is judged at. */
  readonly judgedAt: readonly number[];
  /** Held-out text other than the usual mix. */
  readonly judgedOn?: DrawingRecipe;
  /** Judged on lines alone that the starting weights read inconsistently. */
  readonly judgedOnHard?: boolean;
}

const plainNoising: NoisingRecipe = {
  blockLengths: MIXED,
  weighting: "masked-mean",
  copies: 2,
  complementary: true,
  low: 0.2,
  high: 1,
  allMasked: 0.15,
};

function stageOf(noising: Partial<NoisingRecipe> = {}, changes: Partial<StageRecipe> = {}): StageRecipe {
  return {
    ...HELD_OUT_DRAWING,
    name: "broad",
    scope: "full",
    steps,
    peakRate: TRAINED.peakRate,
    floorRate: TRAINED.floorRate,
    warmupSteps: Math.min(10, Math.ceil(steps / 10)),
    pool: { text: 160 },
    augmentation: TRAINED.augmentation,
    imageTokens: 1024,
    rows: 6000,
    noising: { ...plainNoising, ...noising },
    characterWeight: 0,
    regionWeight: 0,
    edgeWeight: 0,
    ...changes,
  };
}

const described = await describeCheckpoint(values.from);
const base = await openCheckpointFiles(values.from);
const recipeOf = (stages: readonly StageRecipe[], blockLengths: readonly number[]): Recipe => ({
  ...described.base,
  seed: TRAINED.seed,
  characterSlots: 0,
  optimizer: defaultOptimizer,
  averageDecay: 0.99,
  evaluation: { every: 1, samples: { text: samples }, blockLengths },
  stages,
});

async function trained(recipe: Recipe): Promise<{ readonly trainer: Trainer; readonly seconds: number }> {
  const pools = await openSamplePools({ recipe, dataFolder: values.data });
  const state = await stateFromCheckpoint(values.from, recipe, modelConfigOf(recipe, base));
  const trainer = new Trainer({ recipe, base, state, pool: async (request) => pools.pool(request), threads });
  let milliseconds = 0;
  for (let report = await trainer.step(); report; report = await trainer.step()) milliseconds += report.milliseconds;
  await trainer.close();
  return { trainer, seconds: milliseconds / 1000 };
}

/** A trained variant judged on its held-out lines, and on hard ones where it asks for them. */
async function judge({ name, stages, judgedAt, judgedOn, judgedOnHard }: Variant) {
  const recipe = recipeOf(stages, judgedAt);
  const { trainer, seconds } = await trained(recipe);
  const usual = await drawHeldOut({ samples: { text: samples }, drawing: judgedOn, dataFolder: values.data });
  const sets = [{ name, lines: usual.text! }, ...(judgedOnHard ? [{ name: `${name}, on hard lines`, lines: await hardHeldOut() }] : [])];
  const rows = [];
  for (const set of sets) {
    const evaluation = new TrainingEvaluation({ recipe, base, config: trainer.model, heldOut: { text: set.lines }, threads });
    const { losses, scores } = await evaluation.evaluate(trainer.state.step, trainer.state.average, true);
    await evaluation.close();
    rows.push({ name: set.name, seconds, losses: losses.text!, scores: scores!.text! });
  }
  return rows;
}

/** Lines and how consistently a checkpoint reads them. */
async function judgedLines(folder: string, split: "train" | "heldout", count: number): Promise<JudgedSample[]> {
  await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads, quietThreads: true });
  const cdm = await startCdm();
  const drawn = identifiedSamples(await openSources(split, values.data), { task: "text", seed: 5, count, crops: CROPS }, HELD_OUT_DRAWING);
  return judgeConsistency(drawn, { recognizer, agreementOf: (task) => agreementOf(task, cdm), maxTokens: FULL });
}

/** The least consistent quarter, so that there are some however well the weights read. */
function leastConsistent(judged: readonly JudgedSample[]): JudgedSample[] {
  return [...judged].sort((a, b) => a.consistency - b.consistency).slice(0, Math.ceil(judged.length / 4));
}

let hardLines: Promise<RawSample[]> | undefined;
/** The held-out lines that the starting weights read least consistently. */
function hardHeldOut(): Promise<RawSample[]> {
  hardLines ??= judgedLines(values.from, "heldout", samples * 4).then((judged) => leastConsistent(judged).map(({ sample }) => sample));
  return hardLines;
}

/** Samples that weights trained broadly read differently each time, and as many chosen at random: two files. */
async function mineAfter(stage: StageRecipe): Promise<{ readonly mined: string; readonly random: string }> {
  const recipe = recipeOf([stage], [32]);
  const { trainer } = await trained(recipe);
  const folder = join(values.output, "broad");
  await saveModelFolder(folder, { recipe, config: trainer.model, weights: trainer.state.average, dtype: "float32" });
  const judged = await judgedLines(folder, "train", samples * 8);
  const hard = leastConsistent(judged);
  const everyFourth = judged.filter((_, i) => i % 4 === 0);
  const write = async (name: string, chosen: readonly JudgedSample[], beta: number): Promise<string> => {
    const file = join(values.output, `${name}.jsonl`);
    await writeHardSamples(file, {
      kind: "hard-samples",
      drawing: HELD_OUT_DRAWING,
      crops: CROPS,
      mining: { of: judged.length, chosen: name, beta },
      samples: hardSamplesOf([...chosen].sort(inDrawingOrder), { beta, below: ALL }),
    });
    return file;
  };
  return { mined: await write("hard", hard, 1), random: await write("random", everyFourth, 0) };
}

/** Samples of a page follow each other, so that it is drawn once. */
const inDrawingOrder = (a: JudgedSample, b: JudgedSample): number =>
  a.identity.page - b.identity.page || a.identity.index - b.identity.index;

const suites: Readonly<Record<string, () => Promise<Variant[]> | Variant[]>> = {
  "block-length": () =>
    [1, 2, 4, 8, 16, 32, 64].map((length) => ({
      name: `block ${length}`,
      stages: [stageOf({ blockLengths: [length] })],
      judgedAt: [length],
    })),
  mixed: () => [
    { name: "block 32 alone", stages: [stageOf({ blockLengths: [32] })], judgedAt: [1, 8, 32] },
    { name: "mixed block lengths", stages: [stageOf()], judgedAt: [1, 8, 32] },
  ],
  async stages() {
    const { mined, random } = await mineAfter(stageOf({}, { steps: Math.ceil(steps / 2) }));
    const broad = stageOf({}, { name: "broad", steps: Math.ceil(steps / 2) });
    const narrow = (file: string) =>
      stageOf({}, { name: "hard", steps: Math.floor(steps / 2), pool: { text: 40 }, hardSamples: { file, perPool: 120 } });
    const judged = { judgedAt: [1, 32], judgedOnHard: true };
    return [
      { name: "stage 1 only", stages: [{ ...broad, steps }], ...judged },
      { name: "stage 2 only", stages: [{ ...narrow(mined), steps }], ...judged },
      { name: "stages 1 and 2", stages: [broad, narrow(mined)], ...judged },
      { name: "stages 1 and 2, chosen at random", stages: [broad, narrow(random)], ...judged },
    ];
  },
  "full-sequence": () => [
    { name: "full sequence", stages: [stageOf({ blockLengths: [FULL] })], judgedAt: [FULL] },
    { name: "blocks of 32", stages: [stageOf({ blockLengths: [32] })], judgedAt: [32] },
  ],
  "mask-rates": () =>
    (
      [
        ["even 0.1 to 1", { low: 0.1, high: 1, allMasked: 0 }],
        ["even 0.2 to 1, 15 % all masked", {}],
        ["clipped 0.45 to 0.95", { low: 0.45, high: 0.95, allMasked: 0 }],
        ["always 0.5", { low: 0.5, high: 0.5, allMasked: 0 }],
        ["cosine 0.1 to 1", { schedule: "cosine", low: 0.1, high: 1, allMasked: 0 }],
        ["one rate per sequence", { per: "sequence", low: 0.1, high: 1, allMasked: 0 }],
        ["likelihood weights", { weighting: "likelihood", low: 0.1, high: 1, allMasked: 0, complementary: false }],
      ] as const satisfies readonly (readonly [string, Partial<NoisingRecipe>])[]
    ).map(([name, noising]) => ({ name, stages: [stageOf({ blockLengths: [32], ...noising })], judgedAt: [32] })),
  "random-text": () => {
    const guessable = { prose: 60, heading: 15, "list-item": 15, reference: 10 };
    const judgedOn: DrawingRecipe = { ...HELD_OUT_DRAWING, content: { strings: 1, shuffled: 1, pseudo: 1 } };
    return [
      { name: "usual mix, judged on what cannot be guessed", stages: [stageOf()], judgedAt: [1, 32], judgedOn },
      { name: "prose alone, judged on what cannot be guessed", stages: [stageOf({}, { content: guessable })], judgedAt: [1, 32], judgedOn },
      { name: "usual mix, judged on the usual mix", stages: [stageOf()], judgedAt: [1, 32] },
      { name: "prose alone, judged on the usual mix", stages: [stageOf({}, { content: guessable })], judgedAt: [1, 32] },
    ];
  },
};

function tableOf(suite: string, rows: Awaited<ReturnType<typeof judge>>): string {
  const lines = [`### ${suite}`, "", "| variant | block | nats per token | CER | tokens per forward |", "|---|--:|--:|--:|--:|"];
  for (const { name, losses, scores } of rows) {
    for (const [block, { characterErrorRate, tokensPerForward }] of Object.entries(scores)) {
      const cells = [
        block.slice("block".length),
        losses[block].toFixed(3),
        `${(100 * characterErrorRate).toFixed(2)} %`,
        tokensPerForward.toFixed(2),
      ];
      lines.push(`| ${name} | ${cells.join(" | ")} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

await mkdir(values.output, { recursive: true });
const asked = values.suites.split(",");
const unknown = asked.find((suite) => !Object.hasOwn(suites, suite));
if (unknown !== undefined) throw new RangeError(`--suites expected some of ${Object.keys(suites).join(",")}, got ${unknown}`);
const results: Record<string, Awaited<ReturnType<typeof judge>>> = {};
const date = new Date().toISOString();
const scale = `${values.from}, ${steps} steps, ${samples} held-out lines, ${cpus().length} × ${cpus()[0].model}, ${date.slice(0, 10)}`;
for (const suite of asked) {
  results[suite] = [];
  for (const variant of await suites[suite]()) {
    const rows = await judge(variant);
    results[suite].push(...rows);
    process.stderr.write(`${suite}: ${variant.name}, ${rows[0].seconds.toFixed(0)} s\n`);
  }
  process.stdout.write(`${tableOf(suite, results[suite])}\n`);
  // After each suite, so that a run cut short leaves what it has.
  const file = join(values.output, `ablations-${date.slice(0, 10)}`);
  await writeFile(`${file}.json`, `${JSON.stringify({ date, scale, trained: TRAINED, results }, null, 1)}\n`);
  await writeFile(
    `${file}.md`,
    `${scale}\n\n${Object.entries(results)
      .map(([name, rows]) => tableOf(name, rows))
      .join("\n")}`,
  );
}
