/**
 * Mining hard samples by consistency (the paper's section on them, equations 10 to 15): every sample is decoded several times by chance, its
 * answers are compared with each other, and where they disagree more than its task allows the sample is hard. No truth is asked for.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { SynthSources } from "../synth/index.ts";
import type { TaskName } from "../text/prompts.ts";
import type { Agreement } from "./answer-scores.ts";
import { consistencyOf, HARD_BELOW, hardWeight } from "./consistency.ts";
import { drawPage } from "./drawing.ts";
import { fingerprintOf, type HardSample, type SampleIdentity } from "./hard-samples.ts";
import { type HardnessEstimator, hardnessEstimators } from "./hardness.ts";
import type { DrawingRecipe, SampleKind } from "./recipe.ts";
import type { RawSample } from "./sample.ts";

export interface IdentifiedSample {
  readonly identity: SampleIdentity;
  readonly sample: RawSample;
}

/** The first `count` samples of a task, page by page. */
export function identifiedSamples(
  sources: SynthSources,
  { task, seed, count, crops }: { readonly task: SampleKind; readonly seed: number; readonly count: number; readonly crops: number },
  drawing: DrawingRecipe,
): IdentifiedSample[] {
  const found: IdentifiedSample[] = [];
  for (let page = 0; found.length < count; page++) {
    const samples = drawPage(sources, { task, seed, page }, drawing, crops);
    samples.forEach((sample, index) => {
      if (found.length < count) found.push({ identity: { task, seed, page, index }, sample });
    });
  }
  return found;
}

export interface MiningOptions {
  readonly recognizer: Recognizer<RecognizerIdentity>;
  readonly agreementOf: (task: TaskName) => Agreement;
  /** T, decodes of each sample, from 2; default 3, as MinerU2.5 does. */
  readonly passes?: number;
  /** Of sampling, above 0; default 1, as the paper decodes. */
  readonly temperature?: number;
  /** Of sampling. */
  readonly seed?: number;
  /** Longest answers in tokens; each task's own if absent. */
  readonly maxTokens?: number;
  /** Regions decoded side by side. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface JudgedSample extends IdentifiedSample {
  readonly consistency: number;
}

/** Samples decoded together; progress is told after each lot. */
const LOT = 16;

/**
 * C(x) of every sample.
 * @throws RangeError for options out of range
 */
export async function judgeConsistency(samples: readonly IdentifiedSample[], options: MiningOptions): Promise<JudgedSample[]> {
  const { recognizer, passes = 3, temperature = 1, seed = 0, maxTokens, batchSize, signal, onProgress } = options;
  if (!(passes >= 2)) throw new RangeError(`\`passes\` expected at least 2, got ${passes}`);
  if (!(temperature > 0)) throw new RangeError(`\`temperature\` expected more than 0, got ${temperature}`);
  const judged: JudgedSample[] = [];
  for (let from = 0; from < samples.length; from += LOT) {
    const lot = samples.slice(from, from + LOT);
    const requests = lot.flatMap(({ sample: { task, image } }, i) =>
      Array.from({ length: passes }, (_, pass) => {
        const decoding = { temperature, maxTokens, seed: (seed * samples.length + from + i) * passes + pass };
        return { task, image, decoding };
      }),
    );
    const results = await recognizer.recognize(requests, { batchSize, signal });
    for (const [i, one] of lot.entries()) {
      const answers = results.slice(i * passes, (i + 1) * passes).map(({ text }) => text);
      judged.push({ ...one, consistency: await consistencyOf(answers, options.agreementOf(one.sample.task)) });
    }
    onProgress?.(judged.length, samples.length);
  }
  return judged;
}

/** Those below their task's threshold, weighted, in the order in which they are drawn. */
export function hardSamplesOf(
  judged: readonly JudgedSample[],
  { beta = 1, below = HARD_BELOW }: { readonly beta?: number; readonly below?: Readonly<Record<TaskName, number>> } = {},
): HardSample[] {
  return judged
    .filter(({ sample, consistency }) => consistency < below[sample.task])
    .map(({ identity, sample, consistency }) => ({
      ...identity,
      consistency,
      weight: hardWeight(consistency, beta),
      fingerprint: fingerprintOf(sample.answer),
    }));
}

/** Every estimator of hardness for every sample, from one greedy decode each. */
export async function estimateHardness(
  samples: readonly IdentifiedSample[],
  { recognizer, maxTokens, batchSize, signal }: Pick<MiningOptions, "recognizer" | "maxTokens" | "batchSize" | "signal">,
): Promise<Readonly<Record<HardnessEstimator, number>>[]> {
  const results = await recognizer.recognize(
    samples.map(({ sample: { task, image } }) => ({ task, image, decoding: { maxTokens } })),
    { batchSize, signal },
  );
  const names = Object.keys(hardnessEstimators) as HardnessEstimator[];
  return results.map(
    (result) => Object.fromEntries(names.map((name) => [name, hardnessEstimators[name](result)])) as Record<HardnessEstimator, number>,
  );
}
