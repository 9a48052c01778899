/**
 * How well a checkpoint reads synthetic crops it has never seen (fonts and texts of the held-out split): character error rate and
 * speed, for any decoding settings, on the same samples.
 */
import type { Recognizer } from "../engine/recognizer.ts";
import type { DecodingOptions, RecognitionResult } from "../engine/types.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { levenshtein } from "../metrics/edit-distance.ts";
import type { TaskName } from "../text/prompts.ts";

export interface EvaluationSample {
  readonly task: TaskName;
  readonly image: RgbImage;
  readonly truth: string;
}

export interface EvaluationResult {
  /** Edits per character of the truth, white space folded, over all samples. */
  readonly characterErrorRate: number;
  readonly samples: number;
  readonly characters: number;
  readonly tokens: number;
  readonly forwards: number;
  readonly tokensPerForward: number;
  readonly seconds: number;
  readonly tokensPerSecond: number;
  readonly answers: readonly { readonly truth: string; readonly answer: string; readonly edits: number }[];
}

const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

export async function evaluateReading(
  recognizer: Recognizer,
  samples: readonly EvaluationSample[],
  decoding: DecodingOptions,
  batchSize = 8,
): Promise<EvaluationResult> {
  const began = performance.now();
  const results: RecognitionResult[] = await recognizer.recognize(
    samples.map(({ task, image }) => ({ task, image, decoding })),
    { batchSize },
  );
  const seconds = (performance.now() - began) / 1000;
  const answers = results.map(({ text }, i) => {
    const [answer, truth] = [folded(text), folded(samples[i].truth)];
    return { truth, answer, edits: levenshtein(answer, truth) };
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const characters = sum(answers.map(({ truth }) => [...truth].length));
  const tokens = sum(results.map((result) => result.tokens.length));
  const forwards = sum(results.map((result) => result.forwards));
  return {
    characterErrorRate: sum(answers.map(({ edits }) => edits)) / characters,
    samples: samples.length,
    characters,
    tokens,
    forwards,
    tokensPerForward: tokens / forwards,
    seconds,
    tokensPerSecond: tokens / seconds,
    answers,
  };
}
