import { expect, test } from "vitest";
import type { RecognitionResult } from "../browser.ts";
import { converse } from "../diffusion/conversation.ts";
import { recordBlocks } from "../diffusion/replay.ts";
import { cellsAt, figuresOf, grade, shownText, tracesOf, widthsOf } from "./trace.ts";

const MASK = 99;
const STOP = 0;
const texts = { 0: "<|end|>", 1: "a", 2: "b", 3: " c", 7: "x", 99: "?" };
/** What is written, and how sure the model is of each position when it first looks; it is sure of all when it looks again. */
const target = [1, 2, 3, 1, 2, STOP];
const sure = [0.99, 0.4, 0.97, 0.3, 0.96, 0.98];

function recordedResult(blockLength: number): RecognitionResult {
  const options = {
    blockLength,
    maskToken: MASK,
    maxTokens: 12,
    stopTokens: [STOP],
    rule: { strategy: "low_confidence_dynamic", threshold: 0.95 } as const,
  };
  const { conversation, recording } = recordBlocks(options);
  const decode = converse(conversation, ({ masked, position, stepOfBlock }) => ({
    tokens: Int32Array.from(masked, (place) => target[position + place] ?? STOP),
    confidences: Float32Array.from(masked, (place) => (stepOfBlock === 1 ? (sure[position + place] ?? 0.96) : 0.96)),
    candidates: Array.from(masked, (place) => [
      { token: target[position + place] ?? STOP, probability: 0.6 },
      { token: 7, probability: 0.2 },
    ]),
  }));
  return {
    text: "ab cab",
    tokens: Array.from(decode.tokens, (token, i) => ({
      token,
      text: texts[token as 1],
      confidence: decode.confidences[i],
      step: decode.stepMap[i],
    })),
    ended: decode.ended,
    promptTokens: 0,
    imageTokens: 0,
    steps: decode.steps,
    forwards: decode.steps,
    tokensPerForward: 1,
    stepsOfBlock: decode.stepsOfBlock,
    milliseconds: 1,
    recording,
    tokenTexts: texts,
  };
}

const picture = (step: number, result = recordedResult(4)): string =>
  cellsAt(tracesOf(result)[0], step)
    .map(({ state, text, beyond }) =>
      beyond ? "." : state === "mask" ? "_" : state === "candidate" ? `(${text})` : state === "new" ? `[${text}]` : text,
    )
    .join("");

test("text crystallises step by step, as it was decoded", () => {
  expect([0, 1, 2, 3].map((step) => picture(step))).toEqual(["____", "[a](b)[ c](a)", "a[b] c[a]", "ab ca[b]..."]);
});

test("before a step of a new block nothing is known of it, and behind the last step nothing changes", () => {
  const [trace] = tracesOf(recordedResult(4));
  expect(cellsAt(trace, 2)).toHaveLength(4);
  expect(cellsAt(trace, 3)).toHaveLength(8);
  expect(cellsAt(trace, 50)).toEqual(cellsAt(trace, trace.steps));
});

test("autoregression is the same with one position a step", () => {
  const result = recordedResult(1);
  expect([0, 1, 2].map((step) => picture(step, result))).toEqual(["_", "[a]", "a[b]"]);
  expect(figuresOf(tracesOf(result))).toEqual({ steps: 6, forwards: 6, tokens: 5, tokensPerForward: 5 / 6 });
  expect(figuresOf(tracesOf(recordedResult(4)))).toMatchObject({ steps: 3, tokens: 5, tokensPerForward: 5 / 3 });
});

test("a settled position keeps what competed when it was settled", () => {
  const [cell] = cellsAt(tracesOf(recordedResult(4))[0], 3);
  expect(cell).toMatchObject({ state: "settled", step: 1, confidence: Math.fround(0.99) });
  expect(cell.candidates).toEqual([
    { text: "a", probability: 0.6 },
    { text: "x", probability: 0.2 },
  ]);
});

test("lines have a trace each; without a recording there is none", () => {
  const line = recordedResult(4);
  expect(tracesOf({ ...line, recording: undefined, lines: [line, line] })).toHaveLength(2);
  expect(tracesOf({ ...line, recording: undefined })).toEqual([]);
});

test("positions are as wide as what they become; signs stand for what cannot be seen", () => {
  expect(widthsOf(tracesOf(recordedResult(4))[0]).slice(0, 4)).toEqual([1, 1, 2, 1]);
  expect(["<|im_end|>", "a b", "\n"].map(shownText)).toEqual(["◼", "a\u00a0b", "↵"]);
});

test("grades part at the usual thresholds", () => {
  expect([0, 0.5, 0.8, 0.95, 0.99, 1].map(grade)).toEqual([0, 1, 2, 3, 4, 4]);
});
