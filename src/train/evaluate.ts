/**
 * How well a recogniser reads samples whose truth is known: the scores of each task and the speed, for any decoding settings. It refuses
 * to know where samples come from.
 */
import type { Recognizer } from "../engine/recognizer.ts";
import type { DecodingOptions, RecognitionResult } from "../engine/types.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { levenshtein } from "../metrics/edit-distance.ts";
import { type TaskName, taskNames } from "../text/prompts.ts";
import { type AnsweredSample, folded, type Scores, scoreAnswers } from "./answer-scores.ts";

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
  /** Of the tasks that occur. */
  readonly scores: Readonly<Partial<Record<TaskName, Scores>>>;
  readonly answers: readonly (AnsweredSample & { readonly task: TaskName; readonly edits: number })[];
}

function scoresByTask(answers: EvaluationResult["answers"]): EvaluationResult["scores"] {
  const scores: Partial<Record<TaskName, Scores>> = {};
  for (const task of taskNames) {
    const own = answers.filter((answer) => answer.task === task);
    if (own.length > 0) scores[task] = scoreAnswers(task, own);
  }
  return scores;
}

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
  const answers = results.map(({ text: answer }, i) => {
    const { task, truth } = samples[i];
    return { task, truth, answer, edits: levenshtein(folded(answer), folded(truth)) };
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const characters = sum(answers.map(({ truth }) => [...folded(truth)].length));
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
    scores: scoresByTask(answers),
    answers,
  };
}
