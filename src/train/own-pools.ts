/**
 * A user's samples as training pools: epochs in an order that the seed decides, pictures read, worn and cut into lines when they are asked
 * for, so that memory holds two pools and not the data. Pool k is a function of (seed, k), as for synthetic documents.
 */
import { readFile } from "node:fs/promises";
import { MineruError } from "../error.ts";
import { decodeImage } from "../image/decode-image.ts";
import { linePictures } from "../image/line-pictures.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { augment } from "../synth/augment.ts";
import { createRandom } from "../synth/random.ts";
import type { OwnSample } from "./own-samples.ts";
import { type PreparationConfig, type PreparedSample, prepareSample } from "./sample.ts";

/** Places of a pool in the endless row of epochs. */
const POOL = 128;

export async function readPicture({ image, source }: OwnSample): Promise<RgbImage> {
  try {
    return await decodeImage(await readFile(image));
  } catch (cause) {
    throw new MineruError("data-invalid", `${image} (of ${source}): ${(cause as Error).message}`, { cause });
  }
}

/** Lines of a picture of text that its answer has as many of, else null. */
function lineSamples(image: RgbImage, answer: string, config: PreparationConfig): { image: RgbImage; answer: string }[] | null {
  const { linePixels, processor } = config;
  const pictures = linePictures(image, linePixels!, processor.patchSize * processor.mergeSize);
  const lines = answer.split("\n").filter((line) => line.trim() !== "");
  if (pictures.length !== lines.length || pictures.some(({ continues }) => continues)) return null;
  return pictures.map((picture, i) => ({ image: picture.image, answer: lines[i] }));
}

/**
 * One sample prepared; of a text that weights read line by line, one for each line. Null where the picture does not part into the answer's
 * lines, or is larger than the weights are to read.
 */
export function prepareOwn(sample: OwnSample, image: RgbImage, config: PreparationConfig, mostTokens: number): PreparedSample[] | null {
  const { task, answer } = sample;
  const byLine = task === "text" && config.linePixels !== undefined;
  const parts = byLine ? lineSamples(image, answer, config) : [{ image, answer }];
  if (!parts) return null;
  // Lines come fitted.
  const prepared = parts.map((part) => prepareSample({ task, ...part }, byLine ? { ...config, linePixels: undefined } : config));
  const tokensOf = ({ rows, columns }: PreparedSample) => (rows * columns) / config.processor.mergeSize ** 2;
  return task === "layout" || prepared.every((part) => tokensOf(part) <= mostTokens) ? prepared : null;
}

export interface OwnPoolOptions {
  readonly samples: readonly OwnSample[];
  readonly config: PreparationConfig;
  readonly mostTokens: number;
  readonly seed: number;
  /** Strength, 0 to 1. */
  readonly augmentation: number;
}

/** What stands at `place` in the endless row of epochs. */
function sampleAt(samples: readonly OwnSample[], place: number, seed: number): OwnSample {
  const epoch = Math.floor(place / samples.length);
  return createRandom("epoch", seed, epoch).shuffled(samples)[place % samples.length];
}

/** Samples of pool `pool`; a picture that only its wear keeps from being cut into lines is taken as it is. */
export async function ownPool(
  { samples, config, mostTokens, seed, augmentation }: OwnPoolOptions,
  pool: number,
): Promise<PreparedSample[]> {
  const prepared: PreparedSample[] = [];
  for (let place = pool * POOL; place < (pool + 1) * POOL; place++) {
    const sample = sampleAt(samples, place, seed);
    const image = await readPicture(sample);
    const random = createRandom("wear", seed, place);
    const worn = augment({ image, characters: [] }, random, augmentation, { photometricOnly: sample.task === "layout" }).image;
    prepared.push(...(prepareOwn(sample, worn, config, mostTokens) ?? prepareOwn(sample, image, config, mostTokens) ?? []));
  }
  return prepared;
}
