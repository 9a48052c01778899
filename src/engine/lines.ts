/**
 * One answer out of several: a picture of text whose weights read a line at a time is asked line by line, a table cell by cell, and its
 * caller sees one request. Knows how answers add up; where lines and cells are is the image room's business.
 */

import type { RgbImage } from "../image/rgb-image.ts";
import type { TableCellBox } from "../image/white-space/table-cells.ts";
import type { RecognitionRequest, RecognitionResult, TokenRecord } from "./types.ts";

/** What is asked of the weights: a whole request, or one printed line of it. */
export interface Question {
  readonly request: number;
  /** Of several lines; absent for a request asked whole. */
  readonly line?: number;
  /** Written before this line: what begins a table. */
  readonly opening?: string;
  /** Written between this line and the next, or after the last. */
  readonly joint: string;
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

/** Tags of OTSL for the places of a table's rows, in order; `<fcel>` where something is printed. */
function placesOf(cells: readonly TableCellBox[]): { readonly tag: string; readonly cell?: TableCellBox }[] {
  const rows = Math.max(...cells.map(({ row, rowspan }) => row + rowspan));
  const columns = Math.max(...cells.map(({ col, colspan }) => col + colspan));
  return Array.from({ length: rows }, (_, row) => [
    ...Array.from({ length: columns }, (_, col) => {
      const cell = cells.find((one) => row >= one.row && row < one.row + one.rowspan && col >= one.col && col < one.col + one.colspan)!;
      if (cell.row === row && cell.col === col) return cell.print ? { tag: "<fcel>", cell } : { tag: "<ecel>" };
      return { tag: cell.row === row ? "<lcel>" : cell.col === col ? "<ucel>" : "<xcel>" };
    }),
    { tag: "<nl>" },
  ]).flat();
}

/**
 * The questions of request number `request` about a table whose cells are found: the lines of every printed one, as text, tags of OTSL between
 * them. `picturesOf` gives the lines of a cell. None for a table in which nothing is printed.
 */
export function cellQuestions(
  request: number,
  asked: RecognitionRequest,
  cells: readonly TableCellBox[],
  picturesOf: (print: NonNullable<TableCellBox["print"]>) => readonly FittedPicture[],
): Question[] {
  const questions: Question[] = [];
  let waiting = "";
  for (const { tag, cell } of placesOf(cells)) {
    waiting += tag;
    if (!cell) continue;
    const last = questions.pop();
    if (last) questions.push({ ...last, joint: waiting });
    const lines = lineQuestions(request, { ...asked, task: "text" }, picturesOf(cell.print!));
    questions.push(...(last ? lines : [{ ...lines[0], opening: waiting }, ...lines.slice(1)]));
    waiting = "";
  }
  const last = questions.pop();
  return last ? [...questions, { ...last, joint: waiting }].map((question, line) => ({ ...question, line })) : [];
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The answer of a request from those of its lines, in order; what stands between them is sure and without a step. */
export function joinLines(
  lines: readonly RecognitionResult[],
  questions: readonly Pick<Question, "opening" | "joint">[],
  tokensOf: (text: string) => readonly Pick<TokenRecord, "token" | "text">[],
): RecognitionResult {
  const [{ opening = "" }] = questions;
  if (lines.length === 1 && opening === "" && questions[0].joint === "") return lines[0];
  const given = (text: string): TokenRecord[] => (text === "" ? [] : tokensOf(text).map((token) => ({ ...token, confidence: 1, step: 0 })));
  const tokens = [...given(opening), ...lines.flatMap((line, i) => [...line.tokens, ...given(questions[i].joint)])];
  const forwards = sum(lines.map((line) => line.forwards));
  return {
    text: opening + lines.map(({ text }, i) => text + questions[i].joint).join(""),
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
