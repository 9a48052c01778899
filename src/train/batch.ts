/**
 * One training step's inputs: images in vision bins, sequences in bins of two streams (prompt and clean answer; noisy copies), the loss
 * weights of the masked rows and the targets of dense supervision. Nothing is padded but the ends of bins.
 */

import { type NoisingOptions, noiseAnswer } from "../diffusion/noising.ts";
import { positionWeights, type Weighting } from "../diffusion/objective.ts";
import { createRandom, type Random } from "../diffusion/random.ts";
import {
  HIDDEN,
  type NoisyBlock,
  noisyBlockMask,
  rowsOf,
  type TrainingSequence,
  trainingMask,
  trainingRows,
} from "../diffusion/training-mask.ts";
import type { ModelConfig } from "../model/config.ts";
import { decoderRotary, visionRotary } from "../model/positions.ts";
import type { DenseSupervision } from "../model/training.ts";
import { float32, int64, type Tensor } from "../runtime/session.ts";
import { type Placement, packIntoBins } from "./packing.ts";
import { IGNORED, type PreparedSample } from "./sample.ts";

export type Feeds = Record<string, Tensor>;

export interface BatchConfig {
  readonly model: ModelConfig;
  /** Absent where samples know nothing of their image tokens. */
  readonly dense?: DenseSupervision;
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
  /** Drawn per step: all sequences of a step have one block length. */
  readonly blockLengths: readonly number[];
  readonly weighting: Weighting["kind"];
  /** What `likelihood` divides its sum over tokens by, whatever a batch holds: about the answer tokens of one. Default 1000. */
  readonly tokensPerBatch?: number;
}

const TOKENS_PER_BATCH = 1000;

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
  if (!config.dense) return {};
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

/** A sample as `[prompt | clean | noisy …]`. */
export interface Sequence extends TrainingSequence {
  readonly noisyCopies: number;
  readonly ids: Int32Array;
  readonly targets: Int32Array; // [rows], IGNORED where there is none
  /** [rows]; under `masked-mean` those of a batch add up to 1, under `likelihood` to 1 in the mean where a batch has `tokensPerBatch`. */
  readonly weights: Float32Array;
}

function layOut(
  sample: PreparedSample,
  blockLength: number,
  imageTokens: number,
  recipe: NoisingRecipe,
  config: BatchConfig,
  random: Random,
): Sequence {
  const { blockLengths: _, weighting, tokensPerBatch: __, ...noising } = recipe;
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
  // Each sample's mean counts as much as its length: a long answer is not drowned by short ones.
  const scale = sample.weight * answer.length;
  copies.forEach((copy, i) => {
    const start = prompt.length + answer.length * (1 + i);
    ids.set(copy.tokens, start);
    copy.masked.forEach((masked, j) => {
      if (masked) targets[start + j] = answer[j];
    });
    const kind = weighting === "masked-mean" ? { kind: weighting } : { kind: weighting, blockLength, blockWeights: copy.weights };
    weights.set(positionWeights(copy.masked, kind, scale), start);
  });
  return { ...sequence, ids, targets, weights };
}

/**
 * The sequences of a step, noised. Loss under `masked-mean`: mean over samples (times their weight and length) of the mean over masked
 * positions. Under `likelihood`: sum over masked tokens of weight / rate, divided by the copies and by a constant; no batch's draw of
 * rates and no batch's size changes what a token counts, so the gradient is that of the bound.
 */
export function drawSequences(
  samples: readonly PreparedSample[],
  recipe: NoisingRecipe,
  config: BatchConfig,
  seed: readonly number[],
): Sequence[] {
  const random = createRandom(seed[0], ...seed.slice(1));
  const blockLength = recipe.blockLengths[random.integer(recipe.blockLengths.length)];
  const squares = config.model.vision.mergeSize ** 2;
  const sequences = samples.map((sample) => layOut(sample, blockLength, (sample.rows * sample.columns) / squares, recipe, config, random));
  const total = divisorOf(sequences, recipe);
  return sequences.map((sequence) => ({ ...sequence, weights: sequence.weights.map((weight) => weight / total) }));
}

function divisorOf(sequences: readonly Sequence[], { weighting, tokensPerBatch = TOKENS_PER_BATCH }: NoisingRecipe): number {
  if (weighting === "likelihood") return tokensPerBatch * sequences[0].noisyCopies;
  return sequences.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
}

interface StreamPlacement {
  readonly bin: number;
  readonly context: number;
  readonly noisy: number;
}

interface StreamPacking {
  readonly bins: number;
  /** Rows per bin of either stream. */
  readonly context: number;
  readonly noisy: number;
  readonly placements: readonly StreamPlacement[];
}

/** First fit under limits of both streams, from long to short. */
function packWithin(lengths: readonly (readonly [number, number])[], contextLimit: number, noisyLimit: number): StreamPacking {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b][0] - lengths[a][0]);
  const used: [number, number][] = [];
  const placements = new Array<StreamPlacement>(lengths.length);
  for (const item of order) {
    const [context, noisy] = lengths[item];
    let bin = used.findIndex((taken) => taken[0] + context <= contextLimit && taken[1] + noisy <= noisyLimit);
    if (bin < 0) bin = used.push([0, 0]) - 1;
    placements[item] = { bin, context: used[bin][0], noisy: used[bin][1] };
    used[bin][0] += context;
    used[bin][1] += noisy;
  }
  return {
    bins: used.length,
    context: Math.max(...used.map((taken) => taken[0])),
    noisy: Math.max(...used.map((taken) => taken[1])),
    placements,
  };
}

/** A row's layers cost about as much as its attention to this many context rows (measured with hidden size 192 on two cores). */
const ROW_COST = 800;

/** The cheapest of some first fits: short bins leave gaps, long bins score rows of other sequences in vain. 14 ms for 50 sequences. */
function packStreams(lengths: readonly (readonly [number, number])[]): StreamPacking {
  const [longest, noisiest] = [0, 1].map((stream) => Math.max(...lengths.map((pair) => pair[stream])));
  const costOf = ({ bins, context, noisy }: StreamPacking) => bins * (context + noisy) * (ROW_COST + context);
  const stretches = Array.from({ length: 16 }, (_, i) => 1 + i / 10);
  const packings = stretches.flatMap((c) => stretches.map((n) => packWithin(lengths, longest * c, noisiest * n)));
  return packings.reduce((best, packing) => (costOf(packing) < costOf(best) ? packing : best));
}

export interface FullBatch {
  /** Inputs of the `full` program with sequences as `streams`. */
  readonly feeds: Feeds;
  /** [wanted]: the sample that each wanted row belongs to. */
  readonly owners: Int32Array;
}

/** The feeds of {@link packBatch} alone. */
export function fullBatch(samples: readonly PreparedSample[], recipe: NoisingRecipe, config: BatchConfig, seed: readonly number[]): Feeds {
  return packBatch(samples, recipe, config, seed).feeds;
}

/** Noises samples and packs images and sequences into bins. */
export function packBatch(
  samples: readonly PreparedSample[],
  recipe: NoisingRecipe,
  config: BatchConfig,
  seed: readonly number[],
): FullBatch {
  const { model } = config;
  const vision = visionBins(samples, model);
  const sequences = drawSequences(samples, recipe, config, seed);
  const { blockLength } = sequences[0];
  const contextOf = ({ promptLength, answerLength }: Sequence) => promptLength + answerLength;
  const noisyOf = ({ answerLength, noisyCopies }: Sequence) => answerLength * noisyCopies;
  const packing = packStreams(sequences.map((sequence) => [contextOf(sequence), noisyOf(sequence)]));
  const { bins, context: rows, noisy: noisyRows, placements } = packing;
  const blocks = noisyRows / blockLength;

  const ids = new Int32Array(bins * rows);
  const imageIndex = new Int32Array(bins * rows).fill(-1);
  const positions = new Int32Array(bins * rows);
  const mask = new Float32Array(bins * rows * rows);
  const noisyIds = new Int32Array(bins * noisyRows);
  const noisyPositions = new Int32Array(bins * noisyRows);
  const noisyMask = new Float32Array(bins * blocks * rows);
  const wanted: number[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  const owners: number[] = [];
  for (let bin = 0; bin < bins; bin++) {
    const members = sequences.map((_, i) => i).filter((i) => placements[i].bin === bin);
    members.sort((a, b) => placements[a].context - placements[b].context);
    const context = trainingRows(
      members.map((i) => ({ ...sequences[i], noisyCopies: 0 })),
      rows,
    );
    trainingMask(context, mask.subarray(bin * rows * rows, (bin + 1) * rows * rows));
    positions.set(context.position, bin * rows);
    const noisyBlocks: NoisyBlock[] = [];
    members.forEach((i, segment) => {
      const sequence = sequences[i];
      const { promptLength, answerLength, noisyCopies } = sequence;
      const length = contextOf(sequence);
      const first = bin * rows + placements[i].context;
      ids.set(sequence.ids.subarray(0, length), first);
      let feature = vision.placements[i].bin * vision.capacity + vision.placements[i].offset;
      for (let row = 0; row < promptLength; row++) {
        if (sequence.ids[row] === model.imageTokenId) imageIndex[first + row] = feature++;
      }
      const firstNoisy = bin * noisyRows + placements[i].noisy;
      noisyIds.set(sequence.ids.subarray(length), firstNoisy);
      for (let row = 0; row < answerLength * noisyCopies; row++) {
        const place = row % answerLength;
        noisyPositions[firstNoisy + row] = promptLength + place;
        if (place % blockLength === 0) noisyBlocks.push({ segment, block: place / blockLength });
        if (sequence.targets[length + row] === IGNORED) continue;
        wanted.push(firstNoisy + row);
        targets.push(sequence.targets[length + row]);
        weights.push(sequence.weights[length + row]);
        owners.push(i);
      }
    });
    noisyBlockMask(context, noisyBlocks, noisyMask.subarray(bin * blocks * rows, (bin + 1) * blocks * rows));
  }
  const { headDim, ropeTheta } = model.text;
  const rotary = decoderRotary(positions, headDim, ropeTheta);
  const noisyRotary = decoderRotary(noisyPositions, headDim, ropeTheta);
  const feeds: Feeds = {
    ...vision.feeds,
    ...denseFeeds(samples, vision, config),
    ids: int64(ids, [bins, rows]),
    imageIndex: int64(imageIndex, [bins, rows]),
    cos: float32(rotary.cos, [bins, rows, headDim / 2]),
    sin: float32(rotary.sin, [bins, rows, headDim / 2]),
    mask: float32(mask, [bins, 1, rows, rows]),
    noisyIds: int64(noisyIds, [bins, blocks, blockLength]),
    noisyCos: float32(noisyRotary.cos, [bins, blocks, blockLength, headDim / 2]),
    noisySin: float32(noisyRotary.sin, [bins, blocks, blockLength, headDim / 2]),
    noisyMask: float32(noisyMask, [bins, 1, blocks, 1, rows]),
    wanted: int64(wanted),
    targets: int64(targets),
    weights: float32(Float32Array.from(weights), [weights.length]),
  };
  return { feeds, owners: Int32Array.from(owners) };
}
