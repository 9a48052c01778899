/**
 * One answer out of several: a picture of text whose weights read a line at a time is asked line by line, and its caller sees one request.
 * Knows how answers add up; where lines are is the image room's business.
 */
import type { RgbImage } from "../image/rgb-image.ts";
import type { RecognitionRequest, RecognitionResult, TokenRecord } from "./types.ts";

/** What is asked of the weights: a whole request, or one printed line of it. */
export interface Question {
  readonly request: number;
  /** Of several lines; absent for a request asked whole. */
  readonly line?: number;
  /** Written between this line and the next. */
  readonly joint: "" | " " | "\n";
  readonly asked: RecognitionRequest;
}

export interface FittedPicture {
  readonly image: RgbImage;
  readonly continues: boolean;
}

/** The questions of request number `request`, read as `pictures`. */
export function lineQuestions(request: number, asked: RecognitionRequest, pictures: readonly FittedPicture[]): Question[] {
  return pictures.map(({ image, continues }, line) => ({
    request,
    ...(pictures.length > 1 ? { line } : {}),
    joint: line === pictures.length - 1 ? "" : continues ? " " : "\n",
    asked: { ...asked, image },
  }));
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The answer of a request from those of its lines, in order; `joint` tokens stand between them, sure and without a step. */
export function joinLines(
  lines: readonly RecognitionResult[],
  joints: readonly string[],
  tokenOf: (text: string) => number,
): RecognitionResult {
  if (lines.length === 1) return lines[0];
  const tokens = lines.flatMap((line, i): TokenRecord[] =>
    joints[i] === "" ? [...line.tokens] : [...line.tokens, { token: tokenOf(joints[i]), text: joints[i], confidence: 1, step: 0 }],
  );
  const forwards = sum(lines.map((line) => line.forwards));
  return {
    text: lines.map(({ text }, i) => text + joints[i]).join(""),
    tokens,
    ended: lines.find(({ ended }) => ended !== "stop")?.ended ?? "stop",
    promptTokens: sum(lines.map((line) => line.promptTokens)),
    imageTokens: sum(lines.map((line) => line.imageTokens)),
    steps: sum(lines.map((line) => line.steps)),
    forwards,
    tokensPerForward: forwards === 0 ? 0 : sum(lines.map((line) => line.tokensPerForward * line.forwards)) / forwards,
    stepsOfBlock: lines.flatMap(({ stepsOfBlock }) => stepsOfBlock),
    milliseconds: sum(lines.map((line) => line.milliseconds)),
    lines,
  };
}
