/**
 * Training over two streams against the reference implementation's losses and gradients, and against the plain statement of the
 * objective: one stream of rows under one mask.
 */

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { evaluate } from "../../test/evaluate.ts";
import { goldenJson, goldenTensors, tinyFolder } from "../../test/tiny.ts";
import { openCheckpoint } from "../checkpoint/folder.ts";
import { parseSafetensors } from "../checkpoint/safetensors.ts";
import { createRandom } from "../diffusion/random.ts";
import { noisyBlockMask, trainingMask, trainingRows } from "../diffusion/training-mask.ts";
import { backward } from "../graph/backward.ts";
import { lower } from "../graph/lowering.ts";
import * as g from "../graph/ops.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { float32, int64, type Tensors } from "../runtime/session.ts";
import { type BatchConfig, drawSequences, fullBatch, type NoisingRecipe, type Sequence } from "../train/batch.ts";
import type { PreparedSample } from "../train/sample.ts";
import type { ModelConfig } from "./config.ts";
import { decoderRotary, visionRotary } from "./positions.ts";
import { gradientName, type TrainingOptions, trainingProgram } from "./training.ts";

const MASK_TOKEN = 538;
const IMAGE_TOKEN = 524;
const HALF = 8;
const config: ModelConfig = {
  text: {
    hiddenSize: 64,
    intermediateSize: 128,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    headDim: 16,
    vocabSize: 576,
    ropeTheta: 1e6,
    rmsNormEps: 1e-6,
    tied: false,
  },
  vision: { depth: 2, embedDim: 32, heads: 2, mlpRatio: 4, patchSize: 14, temporalPatchSize: 2, mergeSize: 2, inChannels: 3 },
  imageTokenId: IMAGE_TOKEN,
  visionStartTokenId: 521,
  visionEndTokenId: 522,
  maskTokenId: MASK_TOKEN,
};

async function train(
  sequences: TrainingOptions["sequences"],
  feeds: Tensors,
): Promise<{ loss: number; gradients: Map<string, Float32Array> }> {
  const { program, parameters, losses } = trainingProgram(config, { sequences });
  const lowered = lower(program, () => ({ kind: "input" }));
  const session = await nodeRuntime.load(lowered, { threads: 1 });
  const checkpoint = await openCheckpoint(tinyFolder());
  const fed: Record<string, Tensors[string]> = {};
  for (const name of lowered.inputs) if (feeds[name]) fed[name] = feeds[name];
  for (const { attributes, shape } of parameters) {
    fed[attributes.name] = float32(await checkpoint.readFloat32(attributes.name), shape as readonly number[]);
  }
  const names = parameters.map(({ attributes }) => attributes.name);
  const results = await session.run(fed, [...losses, ...names.map(gradientName)]);
  await checkpoint.close();
  await session.release();
  return {
    loss: results.loss.data[0] as number,
    gradients: new Map(names.map((name) => [name, results[gradientName(name)].data as Float32Array])),
  };
}

function relativeDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [size, difference] = [0, 0];
  for (let i = 0; i < b.length; i++) {
    size += b[i] ** 2;
    difference += (a[i] - b[i]) ** 2;
  }
  return Math.sqrt(difference / size);
}

interface GoldenCase {
  readonly case: string;
  readonly promptIds: readonly number[];
  readonly answer: readonly number[];
  readonly noisy: readonly number[];
  readonly blockLength: number;
  readonly maskRates: readonly number[];
  readonly lossFloat64: number;
}

/** A golden case as feeds; its answer must end with a block. */
async function goldenFeeds({ case: name, promptIds, answer, noisy, blockLength, maskRates }: GoldenCase): Promise<Tensors> {
  const [image, height, width] = name.startsWith("a") ? ["text-84x56.png", 4, 6] : ["gradient-37x53.png", 6, 4];
  const pixels = parseSafetensors(await readFile(new URL("../../test/golden/image/pixel-values.safetensors", import.meta.url)), "pixels");
  const vision = visionRotary(height as number, width as number, 2, 16);
  const length = answer.length;
  const context = trainingRows([{ promptLength: promptIds.length, answerLength: length, blockLength, noisyCopies: 0 }]);
  const rows = promptIds.length + length;
  const blocks = Math.ceil(length / blockLength);
  const ids = [...promptIds, ...answer];
  let feature = 0;
  const rotary = decoderRotary(context.position, 16, 1e6);
  const noisyRotary = decoderRotary(
    Int32Array.from({ length: blocks * blockLength }, (_, i) => promptIds.length + i),
    16,
    1e6,
  );
  const wanted = noisy.flatMap((token, i) => (token === MASK_TOKEN ? [i] : []));
  const weighted = name.endsWith("weighted");
  const weights = wanted.map((i) => (weighted ? 1 / maskRates[Math.floor(i / blockLength)] / length : 1 / wanted.length));
  return {
    pixels: float32(pixels.readFloat32(image as string), [1, 6, 4 * 1176]),
    imageCos: float32(vision.cos, [1, 24, 8]),
    imageSin: float32(vision.sin, [1, 24, 8]),
    imageMask: float32(new Float32Array(24 * 24), [1, 1, 24, 24]),
    ids: int64(ids, [1, rows]),
    imageIndex: int64(
      ids.map((id) => (id === IMAGE_TOKEN ? feature++ : -1)),
      [1, rows],
    ),
    cos: float32(rotary.cos, [1, rows, HALF]),
    sin: float32(rotary.sin, [1, rows, HALF]),
    mask: float32(trainingMask(context), [1, 1, rows, rows]),
    noisyIds: int64([...noisy], [1, blocks, blockLength]),
    noisyCos: float32(noisyRotary.cos, [1, blocks, blockLength, HALF]),
    noisySin: float32(noisyRotary.sin, [1, blocks, blockLength, HALF]),
    noisyMask: float32(
      noisyBlockMask(
        context,
        Array.from({ length: blocks }, (_, block) => ({ segment: 0, block })),
      ),
      [1, 1, blocks, 1, rows],
    ),
    wanted: int64(wanted),
    targets: int64(wanted.map((i) => answer[i])),
    weights: float32(Float32Array.from(weights), [weights.length]),
  };
}

for (const name of ["a.b8", "a.b8.weighted"]) {
  test(`two streams reach the reference's loss and gradients: ${name}`, async () => {
    const { cases } = await goldenJson<{ cases: GoldenCase[] }>("training/training.json");
    const golden = cases.find((one) => one.case === name)!;
    const { loss, gradients } = await train("streams", await goldenFeeds(golden));
    expect(Math.abs(loss - golden.lossFloat64) / golden.lossFloat64).toBeLessThan(1e-6);
    const expected = await goldenTensors(`training/gradients.${name}.safetensors`);
    for (const [parameter, gradient] of gradients) {
      expect(relativeDifference(gradient, expected.readFloat32(parameter)), parameter).toBeLessThan(1e-4);
    }
  });
}

const batchConfig: BatchConfig = {
  model: config,
  dense: { characterSlots: 1, regionClasses: 2 },
  prompt: (_, imageTokens) => Int32Array.from([3, 4, 521, ...Array(imageTokens).fill(IMAGE_TOKEN), 522, 5]),
  fillToken: 7,
  characterWeight: 1,
  regionWeight: 1,
  edgeWeight: 1,
};

function drawSamples(): PreparedSample[] {
  const random = createRandom(1);
  return [
    [2, 4, 13],
    [4, 4, 5],
    [2, 2, 30],
    [4, 6, 9],
    [2, 2, 3],
  ].map(([rows, columns, length], i) => ({
    task: "text",
    patches: Float32Array.from({ length: rows * columns * 1176 }, () => random.uniform() - 0.5),
    rows,
    columns,
    answer: Int32Array.from({ length }, () => 10 + random.integer(400)),
    weight: 1 + i / 4,
  }));
}

/** The sequences of a streamed batch, laid one per bin in one stream under `trainingMask`. */
function joined(streamed: Tensors, sequences: readonly Sequence[]): Tensors {
  const bins = sequences.length;
  const rows = Math.max(...sequences.map(({ ids }) => ids.length));
  const ids = new Int32Array(bins * rows);
  const imageIndex = new Int32Array(bins * rows).fill(-1);
  const positions = new Int32Array(bins * rows);
  const mask = new Float32Array(bins * rows * rows);
  const [wanted, targets, weights]: number[][] = [[], [], []];
  const contextIds = Array.from(streamed.ids.data, Number);
  const contextImages = Array.from(streamed.imageIndex.data, Number);
  const streamRows = streamed.ids.shape[1];
  sequences.forEach((sequence, bin) => {
    const first = bin * rows;
    const laid = trainingRows([sequence], rows);
    trainingMask(laid, mask.subarray(first * rows, (first + rows) * rows));
    positions.set(laid.position, first);
    ids.set(sequence.ids, first);
    const length = sequence.promptLength + sequence.answerLength;
    const start = contextIds.findIndex((_, i) => {
      const inside = (i % streamRows) + length <= streamRows;
      return inside && sequence.ids.subarray(0, length).every((id, j) => contextIds[i + j] === id);
    });
    expect(start).toBeGreaterThanOrEqual(0);
    for (let row = 0; row < sequence.promptLength; row++) imageIndex[first + row] = contextImages[start + row];
    sequence.targets.forEach((target, row) => {
      if (target < 0) return;
      wanted.push(first + row);
      targets.push(target);
      weights.push(sequence.weights[row]);
    });
  });
  const rotary = decoderRotary(positions, 16, 1e6);
  return {
    ...streamed,
    ids: int64(ids, [bins, rows]),
    imageIndex: int64(imageIndex, [bins, rows]),
    cos: float32(rotary.cos, [bins, rows, HALF]),
    sin: float32(rotary.sin, [bins, rows, HALF]),
    mask: float32(mask, [bins, 1, rows, rows]),
    wanted: int64(wanted),
    targets: int64(targets),
    weights: float32(Float32Array.from(weights), [weights.length]),
  };
}

const recipes: Record<string, NoisingRecipe> = {
  "blocks of 8, two copies": { blockLengths: [8], weighting: "masked-mean", copies: 2, complementary: true },
  "blocks of 4, weighted by likelihood": { blockLengths: [4], weighting: "likelihood" },
  "blocks of one": { blockLengths: [1], weighting: "masked-mean", copies: 2 },
};

for (const [name, recipe] of Object.entries(recipes)) {
  test(`a packed batch of two streams equals every sequence alone in one stream: ${name}`, async () => {
    const samples = drawSamples();
    const feeds = fullBatch(samples, recipe, batchConfig, [5, 6]);
    expect(feeds.ids.shape[0]).toBeLessThan(samples.length);
    const streams = await train("streams", feeds);
    const plain = await train("joined", joined(feeds, drawSequences(samples, recipe, batchConfig, [5, 6])));
    expect(streams.loss).toBeGreaterThan(1);
    expect(Math.abs(streams.loss - plain.loss)).toBeLessThan(1e-5 * plain.loss);
    for (const [parameter, gradient] of streams.gradients) {
      expect(relativeDifference(gradient, plain.gradients.get(parameter)!), parameter).toBeLessThan(1e-4);
    }
  });
}

test("the gradient of `attend` is that of the softmax, the product and the log sum it stands for", async () => {
  const random = createRandom(2);
  const draw = (...shape: number[]) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return float32(
      Float32Array.from({ length: size }, () => 4 * random.uniform() - 2),
      shape,
    );
  };
  const feeds = { scores: draw(2, 3, 2, 4), values: draw(2, 1, 4, 3), outward: draw(2, 3, 2, 4) };
  const [scores, values, outward] = Object.entries(feeds).map(([name, { shape }]) => g.input(name, "float32", shape));
  const logSum = g.log(g.reduceSum(g.exp(scores), [3]));
  const plain = g.concat([g.matmul(g.softmax(scores), values), logSum], 3);
  const attended = g.attend(scores, values, { logSum: true });
  const results = await evaluate(
    Object.fromEntries(
      Object.entries({ plain, attended }).flatMap(([name, value]) => [
        [name, value],
        ...backward(g.sumAll(g.mul(value, outward)), [scores, values]).map((gradient, i) => [`${name}${i}`, gradient]),
      ]),
    ),
    feeds,
  );
  for (const part of ["", "0", "1"]) {
    const [a, b] = [results[`attended${part}`], results[`plain${part}`]];
    expect(a.shape).toEqual(b.shape);
    expect(relativeDifference(a.data as Float32Array, b.data as Float32Array)).toBeLessThan(1e-6);
  }
});
