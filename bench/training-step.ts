/**
 * Where a training step's time goes: the forward pass alone, forward and backward, and the optimiser, for a recipe's model on samples of
 * drawn sizes with random pixels. Parts are interleaved and medians given, since machines are shared; processor seconds stand beside wall
 * seconds, since these do not mind company.
 *
 *   node bench/training-step.ts [--recipe recipes/mini.json] [--samples 16] [--runs 7] [--threads 2] [--block 32]
 *
 * On Node 20 put `node -e 'import("vite").then((vite) => vite.runnerImport("./bench/training-step.ts"))' --` in front of the arguments.
 */
import { parseArgs } from "node:util";
import { createRandom } from "../src/diffusion/random.ts";
import { lower } from "../src/graph/lowering.ts";
import { topologicalOrder } from "../src/graph/value.ts";
import { parameterShapes } from "../src/model/parameters.ts";
import { denseParameterShapes, gradientName, trainingProgram } from "../src/model/training.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { float32, type Tensor } from "../src/runtime/session.ts";
import { openCheckpointFiles } from "../src/train/base-files.ts";
import { type BatchConfig, fullBatch } from "../src/train/batch.ts";
import { initialWeights } from "../src/train/initialise.ts";
import { defaultRule, momentNames, type OptimizedParameter, optimizerProgram } from "../src/train/optimizer.ts";
import { readRecipe } from "../src/train/recipe.ts";
import type { PreparedSample } from "../src/train/sample.ts";
import { modelConfigOf } from "../src/train/trainer.ts";

const { values } = parseArgs({
  args: process.argv.slice(process.argv[1]?.endsWith(".ts") ? 2 : 1),
  options: {
    recipe: { type: "string", default: "recipes/mini.json" },
    samples: { type: "string", default: "16" },
    runs: { type: "string", default: "7" },
    threads: { type: "string", default: "2" },
    block: { type: "string", default: "32" },
  },
});
const threads = Number(values.threads);
const recipe = await readRecipe(values.recipe);
const base = await openCheckpointFiles(recipe.base);
const model = modelConfigOf(recipe, base);
const dense = { characterSlots: recipe.characterSlots, regionClasses: 22 };
const random = createRandom(1);

/** Crops of one to four lines: wide, low, and an answer about as long as their image tokens are many. */
function drawSample(): PreparedSample {
  const [rows, columns] = [2 * (1 + random.integer(4)), 2 * (4 + random.integer(20))];
  const tokens = (rows * columns) / 4;
  return {
    task: "text",
    patches: Float32Array.from({ length: rows * columns * 1176 }, () => random.uniform() - 0.5),
    rows,
    columns,
    answer: Int32Array.from({ length: Math.max(4, Math.round(tokens * 1.2)) }, () => 10 + random.integer(400)),
    characterTargets: Int32Array.from({ length: tokens * dense.characterSlots }, () => random.integer(400)),
    weight: 1,
  };
}

const config: BatchConfig = {
  model,
  dense,
  prompt: base.prompt,
  fillToken: base.fillToken,
  characterWeight: 1,
  regionWeight: 1,
  edgeWeight: 1,
};
const samples = Array.from({ length: Number(values.samples) }, drawSample);
const noising = { blockLengths: [Number(values.block)], weighting: "masked-mean", copies: 2, complementary: true } as const;
const batch = fullBatch(samples, noising, config, [1]);

const shapes = new Map([...parameterShapes(model), ...denseParameterShapes(model, dense)]);
const weights = initialWeights(shapes, model, 1);
const training = trainingProgram(model, { dense, sequences: "streams" });
const optimized = training.parameters.map(({ attributes: { name }, shape }): OptimizedParameter => {
  const sizes = shape as readonly number[];
  return { name, shape: sizes, rule: defaultRule(name, sizes) };
});
const optimizer = optimizerProgram(optimized, recipe.optimizer);
const load = (program: typeof optimizer) =>
  nodeRuntime.load(
    lower(program, () => ({ kind: "input" })),
    { threads },
  );
const { loss } = training.program.outputs;
// A session computes its whole graph whichever outputs are asked for, so the forward pass is a session of its own.
const [forward, step, update] = [await load({ name: "forward", outputs: { loss } }), await load(training.program), await load(optimizer)];
const feeds: Record<string, Tensor> = { ...batch };
for (const [name, shape] of shapes) feeds[name] = float32(weights.get(name)!, shape);
const gradientNames = optimized.map(({ name }) => gradientName(name));

const one = (value: number): Tensor => float32(Float32Array.of(value), []);
const state: Record<string, Tensor> = { learningRate: one(1e-3), correction1: one(0.1), correction2: one(0.05), gradientScale: one(1) };
for (const { name, shape, rule } of optimized) {
  state[name] = feeds[name];
  for (const moment of momentNames(name, rule)) state[moment] = float32(new Float32Array(weights.get(name)!.length), shape);
}

const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  forward: () => forward.run(feeds, ["loss"]),
  "forward and backward": () => step.run(feeds, ["loss", ...gradientNames]),
  optimiser: () => update.run(state, Object.keys(optimizer.outputs)),
};
const gradients = await step.run(feeds, gradientNames);
for (const name of gradientNames) state[name] = gradients[name];
await update.run(state, ["gradientNorm"]);

const seconds = new Map(Object.keys(parts).map((name) => [name, { wall: [] as number[], processor: [] as number[] }]));
for (let run = 0; run < Number(values.runs); run++) {
  for (const [name, part] of Object.entries(parts)) {
    const [began, used] = [performance.now(), process.cpuUsage()];
    await part();
    const { user, system } = process.cpuUsage(used);
    seconds.get(name)!.wall.push((performance.now() - began) / 1e3);
    seconds.get(name)!.processor.push((user + system) / 1e6);
  }
}
const median = (numbers: readonly number[]): string => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)].toFixed(3);
const [bins, rows] = batch.ids.shape;
const [, blocks, blockLength] = batch.noisyIds.shape;
const valueCount = topologicalOrder(Object.values(training.program.outputs)).length;
console.log(`${samples.length} samples: ${batch.pixels.shape[0]} bins of ${batch.pixels.shape[1]} image tokens, ${bins} bins of`);
console.log(`${rows} context and ${blocks * blockLength} noisy rows; ${valueCount} values; ${threads} threads`);
for (const [name, { wall, processor }] of seconds) console.log(`${name.padEnd(22)} ${median(wall)} s   processor ${median(processor)} s`);
