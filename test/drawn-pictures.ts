/**
 * A few pictures of 28 × 28 pixels that only their drawing tells apart, with answers that nothing but the picture tells, and a recipe that
 * learns them in seconds: what tests of training run on.
 */
import { type RgbImage, rgbImage } from "../src/image/rgb-image.ts";
import type { Recipe, StageRecipe } from "../src/train/recipe.ts";
import type { RawSample } from "../src/train/sample.ts";
import { tinyFolder } from "./tiny.ts";

const shapes: readonly (readonly [answer: string, dark: (x: number, y: number) => boolean])[] = [
  ["cross", (x, y) => Math.abs(x - 14) < 3 || Math.abs(y - 14) < 3],
  ["two bars", (x) => Math.floor(x / 7) % 2 === 0],
  ["ring 0", (x, y) => Math.abs(Math.hypot(x - 14, y - 14) - 9) < 3],
  ["half", (_, y) => y < 14],
  ["dot", (x, y) => Math.hypot(x - 14, y - 14) < 6],
  ["empty", () => false],
];

/** The drawing number `index`, moved by some pixels. */
export function drawPicture(index: number, move = 0): RgbImage {
  const image = rgbImage(28, 28);
  const [, dark] = shapes[index];
  for (let y = 0; y < 28; y++) {
    for (let x = 0; x < 28; x++) if (dark(x - move, y)) image.data.fill(0, (y * 28 + x) * 3, (y * 28 + x) * 3 + 3);
  }
  return image;
}

export const drawings: readonly RawSample[] = shapes.map(([answer], i) => ({ task: "text", image: drawPicture(i), answer }));

export const tinyStage: StageRecipe = {
  name: "read",
  scope: "full",
  steps: 160,
  peakRate: 4e-3,
  floorRate: 1e-3,
  warmupSteps: 10,
  pool: { text: 6 },
  lines: [1, 1],
  widthPx: [28, 56],
  sizePx: [8, 8],
  augmentation: 0,
  imageTokens: 64,
  rows: 4096,
  noising: { blockLengths: [4], weighting: "masked-mean", copies: 2, complementary: true },
  characterWeight: 0,
  regionWeight: 0,
  edgeWeight: 0,
};

export const tinyRecipe: Recipe = {
  seed: 5,
  base: tinyFolder(),
  model: {
    blockLength: 4,
    text: {
      hiddenSize: 48,
      intermediateSize: 96,
      layers: 2,
      heads: 2,
      kvHeads: 1,
      headDim: 24,
      vocabSize: 576,
      ropeTheta: 10_000,
      rmsNormEps: 1e-6,
      tied: false,
    },
    vision: { depth: 1, embedDim: 32, heads: 2, mlpRatio: 2, patchSize: 14, temporalPatchSize: 2, mergeSize: 2, inChannels: 3 },
  },
  layoutSize: 56,
  maxRegionTokens: 16,
  characterSlots: 1,
  optimizer: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxNorm: 1, muonMomentum: 0.95 },
  averageDecay: 0.9,
  stages: [tinyStage],
};
