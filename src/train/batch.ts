/**
 * One training step's inputs: images in vision bins, sequences `[prompt | clean | noisy…]` in row bins, the loss weights of the masked
 * rows and the targets of dense supervision. Nothing is padded but the ends of bins.
 */

import { type NoisingOptions, noiseAnswer } from "../diffusion/noising.ts";
import { positionWeights, type Weighting } from "../diffusion/objective.ts";
import { createRandom, type Random } from "../diffusion/random.ts";
import { HIDDEN, rowsOf, type TrainingSequence, trainingMask, trainingRows } from "../diffusion/training-mask.ts";
import type { ModelConfig } from "../model/config.ts";
import { decoderRotary, visionRotary } from "../model/positions.ts";
import type { DenseSupervision } from "../model/training.ts";
import { float32, int64, type Tensor } from "../runtime/session.ts";
import { type Placement, packIntoBins } from "./packing.ts";
import { IGNORED, type PreparedSample } from "./sample.ts";

export type Feeds = Record<string, Tensor>;

export interface BatchConfig {
  readonly model: ModelConfig;
  readonly dense: DenseSupervision;
  /** Prompt tokens of a task around `imageTokens` image tokens. */
  prompt(task: PreparedSample["task"], imageTokens: number): Int32Array;
  /** Fills the last block behind the end token, as a label too: the model learns that nothing follows. */
  readonly fillToken: number;
  /** Weights of the loss parts. */
  readonly characterWeight: number;
  readonly regionWeight: number;
  readonly edgeWeight: number;
}

export interface NoisingRecipe extends Omit<NoisingOptions, "blockLength" | "maskToken"> {
  /** Drawn per sequence. */
  readonly blockLengths: readonly number[];
  readonly weighting: Weighting["kind"];
}

interface VisionBins {
  readonly feeds: Feeds;
  readonly placements: readonly Placement[];
  /** Image tokens per bin. */
  readonly capacity: number;
  readonly bins: number;
}

function visionBins(samples: readonly PreparedSample[], { vision }: ModelConfig): VisionBins {
  const squares = vision.mergeSize ** 2;
  const tokenCounts = samples.map(({ rows, columns }) => (rows * columns) / squares);
  const { bins, capacity, placements } = packIntoBins(tokenCounts);
  const patches = capacity * squares;
  const patchPixels = vision.inChannels * vision.temporalPatchSize * vision.patchSize ** 2;
  const half = vision.embedDim / vision.heads / 2;
  const pixels = new Float32Array(bins * patches * patchPixels);
  const cos = new Float32Array(bins * patches * half);
  const sin = new Float32Array(bins * patches * half);
  const mask = new Float32Array(bins * patches * patches).fill(HIDDEN);
  const used = new Int32Array(bins);
  samples.forEach((sample, i) => {
    const { bin, offset } = placements[i];
    const first = bin * patches + offset * squares;
    const count = sample.rows * sample.columns;
    pixels.set(sample.patches, first * patchPixels);
    const rotary = visionRotary(sample.rows, sample.columns, vision.mergeSize, vision.embedDim / vision.heads);
    cos.set(rotary.cos, first * half);
    sin.set(rotary.sin, first * half);
    for (let row = first; row < first + count; row++) {
      const start = row * patches + offset * squares;
      mask.fill(0, start, start + count);
    }
    used[bin] += count;
  });
  for (let bin = 0; bin < bins; bin++) {
    for (let row = used[bin]; row < patches; row++) mask[(bin * patches + row) * patches + row] = 0;
  }
  return {
    placements,
    capacity,
    bins,
    feeds: {
      pixels: float32(pixels, [bins, capacity, squares * patchPixels]),
      imageCos: float32(cos, [bins, patches, half]),
      imageSin: float32(sin, [bins, patches, half]),
      imageMask: float32(mask, [bins, 1, patches, patches]),
    },
  };
}

function denseFeeds(samples: readonly PreparedSample[], { placements, capacity, bins }: VisionBins, config: BatchConfig): Feeds {
  const slots = config.dense.characterSlots;
  const tokens = bins * capacity;
  const characterTargets = new Int32Array(tokens * slots);
  const characterWeights = new Float32Array(tokens * slots);
  const regionTargets = new Int32Array(tokens);
  const regionWeights = new Float32Array(tokens);
  const edgeTargets = new Float32Array(tokens * 4);
  const edgeWeights = new Float32Array(tokens);
  let [characterCount, regionCount, edgeCount] = [0, 0, 0];
  samples.forEach((sample, i) => {
    const first = placements[i].bin * capacity + placements[i].offset;
    sample.characterTargets?.forEach((target, j) => {
      if (target === IGNORED) return;
      characterTargets[first * slots + j] = target;
      characterWeights[first * slots + j] = 1;
      characterCount++;
    });
    sample.regionTargets?.forEach((target, j) => {
      regionTargets[first + j] = target;
      regionWeights[first + j] = 1;
      regionCount++;
      if (target === 0) return;
      edgeTargets.set(sample.edgeTargets!.subarray(j * 4, j * 4 + 4), (first + j) * 4);
      edgeWeights[first + j] = 1;
      edgeCount++;
    });
  });
  const scaled = (weights: Float32Array, factor: number) => weights.map((w) => w * factor);
  return {
    characterTargets: int64(characterTargets),
    characterWeights: float32(scaled(characterWeights, config.characterWeight / Math.max(1, characterCount)), [tokens * slots]),
    regionTargets: int64(regionTargets),
    regionWeights: float32(scaled(regionWeights, config.regionWeight / Math.max(1, regionCount)), [tokens]),
    edgeTargets: float32(edgeTargets, [tokens, 4]),
    edgeWeights: float32(scaled(edgeWeights, config.edgeWeight / Math.max(1, edgeCount)), [tokens, 1]),
  };
}

/** Inputs of the `tower` program: images and dense targets alone. */
export function towerBatch(samples: readonly PreparedSample[], config: BatchConfig): Feeds {
  const vision = visionBins(samples, config.model);
  return { ...vision.feeds, ...denseFeeds(samples, vision, config) };
}

interface Sequence extends TrainingSequence {
  readonly ids: Int32Array;
  readonly targets: Int32Array; // [rows], IGNORED where there is none
  readonly weights: Float32Array; // [rows]
}

function layOut(sample: PreparedSample, imageTokens: number, recipe: NoisingRecipe, config: BatchConfig, random: Random): Sequence {
  const { blockLengths, weighting, ...noising } = recipe;
  const blockLength = blockLengths[random.integer(blockLengths.length)];
  const prompt = config.prompt(sample.task, imageTokens);
  const answer = new Int32Array(Math.ceil(sample.answer.length / blockLength) * blockLength).fill(config.fillToken);
  answer.set(sample.answer);
  // A block of one position is either masked or teaches nothing.
  const options = {
    ...noising,
    blockLength,
    maskToken: config.model.maskTokenId,
    ...(blockLength === 1 ? { copies: 1, low: 1, high: 1 } : {}),
  };
  const copies = noiseAnswer(answer, options, random);
  const sequence = { promptLength: prompt.length, answerLength: answer.length, blockLength, noisyCopies: copies.length };
  const rows = rowsOf(sequence);
  const ids = new Int32Array(rows);
  const targets = new Int32Array(rows).fill(IGNORED);
  const weights = new Float32Array(rows);
  ids.set(prompt);
  ids.set(answer, prompt.length);
  copies.forEach((copy, i) => {
    const start = prompt.length + answer.length * (1 + i);
    ids.set(copy.tokens, start);
    copy.masked.forEach((masked, j) => {
      if (masked) targets[start + j] = answer[j];
    });
    const kind = weighting === "masked-mean" ? { kind: weighting } : { kind: weighting, blockLength, blockWeights: copy.weights };
    weights.set(positionWeights(copy.masked, kind), start);
  });
  return { ...sequence, ids, targets, weights };
}

/** Inputs of the `full` program. Loss: mean over samples (times their weight) of the mean over masked positions, or tokens alike. */
export function fullBatch(samples: readonly PreparedSample[], recipe: NoisingRecipe, config: BatchConfig, seed: readonly number[]): Feeds {
  const { model } = config;
  const squares = model.vision.mergeSize ** 2;
  const random = createRandom(seed[0], ...seed.slice(1));
  const vision = visionBins(samples, model);
  const sequences = samples.map((sample) => layOut(sample, (sample.rows * sample.columns) / squares, recipe, config, random));
  const { bins, capacity, placements } = packIntoBins(sequences.map((sequence) => sequence.ids.length));

  const ids = new Int32Array(bins * capacity);
  const imageIndex = new Int32Array(bins * capacity).fill(-1);
  const positions = new Int32Array(bins * capacity);
  const mask = new Float32Array(bins * capacity * capacity);
  const wanted: number[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  for (let bin = 0; bin < bins; bin++) {
    const members = sequences.map((_, i) => i).filter((i) => placements[i].bin === bin);
    members.sort((a, b) => placements[a].offset - placements[b].offset);
    const rows = trainingRows(
      members.map((i) => sequences[i]),
      capacity,
    );
    trainingMask(rows, mask.subarray(bin * capacity * capacity, (bin + 1) * capacity * capacity));
    positions.set(rows.position, bin * capacity);
    for (const i of members) {
      const first = bin * capacity + placements[i].offset;
      const sequence = sequences[i];
      ids.set(sequence.ids, first);
      let feature = vision.placements[i].bin * vision.capacity + vision.placements[i].offset;
      for (let row = 0; row < sequence.promptLength; row++) {
        if (sequence.ids[row] === model.imageTokenId) imageIndex[first + row] = feature++;
      }
      const scale = samples[i].weight * sequence.answerLength * (sequence.noisyCopies ?? 1);
      sequence.targets.forEach((target, row) => {
        if (target === IGNORED) return;
        wanted.push(first + row);
        targets.push(target);
        weights.push(sequence.weights[row] * scale);
      });
    }
  }
  // Each sample's mean counts as much as its length: a long answer is not drowned by short ones.
  const total = weights.reduce((a, b) => a + b, 0);
  const rotary = decoderRotary(positions, model.text.headDim, model.text.ropeTheta);
  const half = model.text.headDim / 2;
  return {
    ...vision.feeds,
    ...denseFeeds(samples, vision, config),
    ids: int64(ids, [bins, capacity]),
    imageIndex: int64(imageIndex, [bins, capacity]),
    cos: float32(rotary.cos, [bins, capacity, half]),
    sin: float32(rotary.sin, [bins, capacity, half]),
    mask: float32(mask, [bins, 1, capacity, capacity]),
    wanted: int64(wanted),
    targets: int64(targets),
    weights: float32(
      Float32Array.from(weights, (w) => w / total),
      [weights.length],
    ),
  };
}
