/**
 * Writes a checkpoint of random weights at the published shape (2.5 billion parameters, bfloat16, 5 GB), or at that of a training recipe,
 * for measuring memory and speed before real weights are at hand. Weights and config only: enough for bench/step-cost.ts, not for reading
 * text. On Node 22.18 and newer: `node scripts/make-random-checkpoint.ts FOLDER [--recipe recipes/mini.json] [--dtype float32]`; on Node 20
 * put `node -e 'import("vite").then((vite) => vite.runnerImport("./scripts/make-random-checkpoint.ts"))' --` in front of the arguments.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { TorchDtype } from "../src/checkpoint/config.ts";
import { writeRandomCheckpoint } from "../src/checkpoint/random.ts";
import type { ModelConfig } from "../src/model/config.ts";
import { parameterShapes } from "../src/model/parameters.ts";

const published: Pick<ModelConfig, "text" | "vision"> = {
  text: {
    hiddenSize: 2048,
    intermediateSize: 6144,
    layers: 28,
    heads: 16,
    kvHeads: 8,
    headDim: 128,
    vocabSize: 151936,
    ropeTheta: 1e6,
    rmsNormEps: 1e-6,
    tied: false,
  },
  vision: { depth: 32, embedDim: 1280, heads: 16, mlpRatio: 4, patchSize: 14, temporalPatchSize: 2, mergeSize: 2, inChannels: 3 },
};
const publishedTokens = { imageTokenId: 151655, visionStartTokenId: 151652, visionEndTokenId: 151653, maskTokenId: 151669 };

const { values, positionals } = parseArgs({
  args: process.argv.slice(process.argv[1]?.endsWith(".ts") ? 2 : 1),
  allowPositionals: true,
  options: {
    recipe: { type: "string" },
    dtype: { type: "string", default: "bfloat16" },
    layers: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const [folder] = positionals;
if (!folder) throw new TypeError("expected the folder to write, got no argument");

const shape = values.recipe ? (JSON.parse(await readFile(values.recipe, "utf8")).model as typeof published) : published;
const text = { ...shape.text, ...(values.layers ? { layers: Number(values.layers) } : {}) };
const last = text.vocabSize - 1;
const tokens =
  text.vocabSize === published.text.vocabSize
    ? publishedTokens
    : { imageTokenId: last, visionStartTokenId: last - 1, visionEndTokenId: last - 2, maskTokenId: last - 3 };
const config: ModelConfig = { text, vision: shape.vision, ...tokens };
const shapes = parameterShapes(config);
await writeRandomCheckpoint(folder, { config, shapes, seed: Number(values.seed), dtype: values.dtype as TorchDtype });
const count = [...shapes.values()].reduce((sum, lengths) => sum + lengths.reduce((product, length) => product * length, 1), 0);
process.stdout.write(`${folder}: ${shapes.size} tensors, ${(count / 1e6).toFixed(1)} million parameters\n`);
