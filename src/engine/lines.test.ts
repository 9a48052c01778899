import { expect, test } from "vitest";
import { rgbImage } from "../image/rgb-image.ts";
import { cellQuestions, joinLines, lineQuestions } from "./lines.ts";
import type { RecognitionResult } from "./types.ts";

function answer(text: string, ended: RecognitionResult["ended"] = "stop"): RecognitionResult {
  const tokens = [...text].map((char, i) => ({ token: char.codePointAt(0)!, text: char, confidence: 0.9, step: i + 1 }));
  return {
    text,
    tokens,
    ended,
    promptTokens: 5,
    imageTokens: 2,
    steps: text.length,
    forwards: text.length,
    tokensPerForward: 2,
    stepsOfBlock: [text.length],
    milliseconds: 1,
  };
}

const picture = (continues: boolean) => ({ image: rgbImage(28, 28), continues });
const asked = { task: "text" as const, image: rgbImage(56, 56) };

test("each printed line is a question, joined as it is printed", () => {
  const questions = lineQuestions(3, asked, [picture(false), picture(true), picture(false)]);
  expect(questions.map(({ request, line, joint }) => [request, line, joint])).toEqual([
    [3, 0, "\n"],
    [3, 1, " "],
    [3, 2, ""],
  ]);
  expect(questions[1].asked.task).toBe("text");
});

test("a picture of one line is asked and answered as it is", () => {
  const [question] = lineQuestions(0, asked, [picture(false)]);
  expect(question).not.toHaveProperty("line");
  const only = answer("one");
  expect(joinLines([only], [question], () => [])).toBe(only);
});

test("answers of lines add up: text, tokens that spell it, steps, the reason of the first that did not end well", () => {
  const joints = [{ joint: "\n" }, { joint: " " }, { joint: "" }];
  const joined = joinLines([answer("ab"), answer("c", "length"), answer("de", "repetition")], joints, (text) => [
    { token: text.charCodeAt(0), text },
  ]);
  expect(joined.text).toBe("ab\nc de");
  expect(joined.tokens.map(({ text }) => text).join("")).toBe(joined.text);
  expect(joined.tokens[2]).toEqual({ token: 10, text: "\n", confidence: 1, step: 0 });
  expect(joined).toMatchObject({ ended: "length", steps: 5, forwards: 5, tokensPerForward: 2, stepsOfBlock: [2, 1, 2], imageTokens: 6 });
  expect(joined.lines).toHaveLength(3);
});

test("a table is asked cell by cell, and its tags stand between the answers", () => {
  const place = { rowspan: 1, colspan: 1 };
  const cells = [
    { row: 0, col: 0, rowspan: 2, colspan: 1, print: [0, 0, 10, 10] as const },
    { row: 0, col: 1, rowspan: 1, colspan: 2, print: [20, 0, 30, 10] as const },
    { row: 1, col: 1, ...place, print: null },
    { row: 1, col: 2, ...place, print: [40, 20, 50, 30] as const },
  ];
  const questions = cellQuestions(2, { task: "table", image: rgbImage(56, 56) }, cells, ([left]) =>
    left === 20 ? [picture(false), picture(false)] : [picture(false)],
  );
  expect(questions.map(({ line, asked: { task } }) => [line, task])).toEqual([0, 1, 2, 3].map((line) => [line, "text"]));
  const answers = ["a", "b", "c", "d"].map((text) => answer(text));
  const joined = joinLines(answers, questions, (text) => [...text.matchAll(/<\w+>|[^<]/g)].map(([tag]) => ({ token: 1, text: tag })));
  expect(joined.text).toBe("<fcel>a<fcel>b\nc<lcel><nl><ucel><ecel><fcel>d<nl>");
  expect(joined.tokens.map(({ text }) => text).join("")).toBe(joined.text);
  expect(cellQuestions(0, { task: "table" }, [{ row: 0, col: 0, ...place, print: null }], () => [])).toEqual([]);
});
