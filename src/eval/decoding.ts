/**
 * Ways of decoding against each other: the same recogniser, the same regions, the same run. Every region is read with every setting in
 * turn, several rounds over, so that a busy machine is busy for all; times are medians over rounds. One region at a time, as the paper
 * measures; `measureBatches` tells what reading several side by side changes. Knows settings, not their names' meaning.
 */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionResult } from "../engine/types.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { countEdits } from "../metrics/edit-distance.ts";
import { codePointLength } from "../metrics/python-text.ts";
import type { DecodingSetting } from "./decoding-settings.ts";
import { plainText } from "./plain-text.ts";
import { readPages } from "./reading.ts";

/** A text region, or a page that is cut into regions first. */
export interface DecodingSample {
  readonly name: string;
  readonly kind: "region" | "page";
  readonly image: RgbImage;
  readonly truth: string;
}

/** One sample under one setting. */
export interface DecodedAnswer {
  readonly sample: string;
  readonly tokens: number;
  readonly forwards: number;
  readonly edits: number;
  readonly characters: number;
  /** Medians over rounds; processor time counts all threads of the process. */
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
}

/** One setting over all samples. Ratios are to the first setting measured, autoregression. */
export interface DecodingRow {
  readonly name: string;
  readonly tokens: number;
  readonly forwards: number;
  readonly tokensPerForward: number;
  readonly tokensPerSecond: number;
  readonly speed: number;
  /** The same by processor time, which other work on the machine touches less. */
  readonly tokensPerProcessorSecond: number;
  readonly processorSpeed: number;
  readonly characterErrorRate: number;
  /** (1 − error rate) / (1 − error rate of autoregression). */
  readonly relativeAccuracy: number;
  readonly answers: readonly DecodedAnswer[];
}

/** How often decoders are measured. */
export interface DecodingMeasureOptions {
  readonly rounds?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

type AnyRecognizer = Recognizer<RecognizerIdentity>;

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

interface Reading {
  readonly text: string;
  readonly tokens: number;
  readonly forwards: number;
}

async function read({ kind, image }: DecodingSample, { decoding }: DecodingSetting, recognizer: AnyRecognizer): Promise<Reading> {
  if (kind === "region") {
    const [{ text, tokens, forwards }] = await recognizer.recognize([{ task: "text", image, decoding }], { batchSize: 1 });
    return { text, tokens: tokens.length, forwards };
  }
  const { text, facts } = await readPages([image], { kind: "page" }, recognizer, { decoding, batchSize: 1 });
  return { text, tokens: facts!.tokens, forwards: facts!.forwards };
}

interface Times {
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
}

async function timed<T>(work: () => Promise<T>): Promise<[T, Times]> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, { milliseconds: performance.now() - began, processorMilliseconds: (user + system) / 1000 }];
}

const medianTimes = (times: readonly Times[]): Times => ({
  milliseconds: median(times.map(({ milliseconds }) => milliseconds)),
  processorMilliseconds: median(times.map(({ processorMilliseconds }) => processorMilliseconds)),
});

/** What one setting's answers come to, against those of autoregression. */
export function decodingRow(name: string, answers: readonly DecodedAnswer[], autoregression: readonly DecodedAnswer[]): DecodingRow {
  const total = (of: readonly DecodedAnswer[], key: Exclude<keyof DecodedAnswer, "sample">) => sum(of.map((answer) => answer[key]));
  const perSecond = (of: readonly DecodedAnswer[], key: keyof Times) => (1000 * total(of, "tokens")) / total(of, key);
  const errors = (of: readonly DecodedAnswer[]) => total(of, "edits") / total(of, "characters");
  const [tokens, forwards] = [total(answers, "tokens"), total(answers, "forwards")];
  return {
    name,
    tokens,
    forwards,
    tokensPerForward: tokens / forwards,
    tokensPerSecond: perSecond(answers, "milliseconds"),
    speed: perSecond(answers, "milliseconds") / perSecond(autoregression, "milliseconds"),
    tokensPerProcessorSecond: perSecond(answers, "processorMilliseconds"),
    processorSpeed: perSecond(answers, "processorMilliseconds") / perSecond(autoregression, "processorMilliseconds"),
    characterErrorRate: errors(answers),
    relativeAccuracy: (1 - errors(answers)) / (1 - errors(autoregression)),
    answers,
  };
}

/**
 * Reads every sample with every setting; the first is what the others are compared with.
 * @throws RangeError without samples or settings; the signal's reason
 */
export async function measureDecoding(
  recognizer: AnyRecognizer,
  samples: readonly DecodingSample[],
  settings: readonly DecodingSetting[],
  { rounds = 3, signal, onProgress }: DecodingMeasureOptions = {},
): Promise<DecodingRow[]> {
  if (samples.length === 0 || settings.length === 0) throw new RangeError("`samples` and `settings` expected one at least, got none");
  for (const setting of settings) await read(samples[0], setting, recognizer);
  const times = settings.map(() => samples.map((): Times[] => []));
  const readings = settings.map((): Reading[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [s, sample] of samples.entries()) {
      // Each setting goes first in its turn.
      for (let turn = 0; turn < settings.length; turn++) {
        const i = (turn + round + s) % settings.length;
        signal?.throwIfAborted();
        const [reading, time] = await timed(() => read(sample, settings[i], recognizer));
        readings[i][s] = reading;
        times[i][s].push(time);
      }
      onProgress?.(round * samples.length + s + 1, rounds * samples.length);
    }
  }
  const answers = settings.map((_, i) =>
    samples.map(({ name, truth }, s): DecodedAnswer => {
      const { text, tokens, forwards } = readings[i][s];
      const wanted = plainText(truth);
      return {
        sample: name,
        tokens,
        forwards,
        edits: countEdits(plainText(text), wanted).distance,
        characters: codePointLength(wanted),
        ...medianTimes(times[i][s]),
      };
    }),
  );
  return settings.map(({ name }, i) => decodingRow(name, answers[i], answers[0]));
}

/** All regions read `batchSize` side by side. */
export interface BatchRow extends Times {
  readonly name: string;
  readonly batchSize: number;
  readonly tokens: number;
  readonly tokensPerSecond: number;
  readonly tokensPerProcessorSecond: number;
}

/** Throughput over all regions by batch size, settings and sizes in turn. */
export async function measureBatches(
  recognizer: AnyRecognizer,
  samples: readonly DecodingSample[],
  settings: readonly DecodingSetting[],
  batchSizes: readonly number[],
  { rounds = 3, signal, onProgress }: DecodingMeasureOptions = {},
): Promise<BatchRow[]> {
  const cases = batchSizes.flatMap((batchSize) => settings.map((setting) => ({ batchSize, setting, times: [] as Times[], tokens: 0 })));
  for (let round = 0; round < rounds; round++) {
    for (const [i, entry] of cases.entries()) {
      signal?.throwIfAborted();
      const { batchSize, setting, times } = entry;
      const requests = samples.map(({ image }) => ({ task: "text" as const, image, decoding: setting.decoding }));
      const [results, time] = await timed<RecognitionResult[]>(() => recognizer.recognize(requests, { batchSize }));
      times.push(time);
      entry.tokens = sum(results.map(({ tokens }) => tokens.length));
      onProgress?.(round * cases.length + i + 1, rounds * cases.length);
    }
  }
  return cases.map(({ batchSize, setting, times, tokens }) => {
    const time = medianTimes(times);
    return {
      name: setting.name,
      batchSize,
      tokens,
      tokensPerSecond: (1000 * tokens) / time.milliseconds,
      tokensPerProcessorSecond: (1000 * tokens) / time.processorMilliseconds,
      ...time,
    };
  });
}
