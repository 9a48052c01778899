import { expect, test } from "vitest";
import { FakeRecognizer, fakeAnswers } from "../../test/fake-recognizer.ts";
import { samplePicture } from "../../test/fake-server.ts";
import type { RecognitionEvent, RecognitionResult } from "../engine/types.ts";
import { type Parser, parserOf } from "./document-parser.ts";
import { documentEvents, recognitionEvents, settledText } from "./event-stream.ts";

/** A parser that tells these events, one per turn of the event loop, and then the text. */
function telling(events: readonly RecognitionEvent[], text: string) {
  let aborted = false;
  const parser: Pick<Parser, "recognize"> = {
    async recognize(_requests, { signal, onEvent } = {}) {
      signal?.addEventListener("abort", () => {
        aborted = true;
      });
      const result = { text } as RecognitionResult;
      for (const event of events) {
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
        onEvent?.(event);
      }
      onEvent?.({ kind: "result", request: 0, result });
      return [result];
    },
  };
  return { parser, aborted: () => aborted };
}

const step = (block: number, positions: number[], texts: string[]): Extract<RecognitionEvent, { kind: "step" }> => ({
  kind: "step",
  request: 0,
  texts,
  record: {
    step: 1,
    block,
    masked: 4,
    positions: Int32Array.from(positions),
    tokens: Int32Array.from(positions),
    confidences: new Float32Array(positions.length),
  },
});
const line = (index: number, text: string): RecognitionEvent => ({ kind: "line", request: 0, line: index, text });

async function collected<Event, Result>(events: AsyncGenerator<Event, Result, undefined>): Promise<{ pieces: Event[]; result: Result }> {
  const pieces: Event[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done) return { pieces, result: value };
    pieces.push(value);
  }
}

const request = { task: "text" } as const;

test("a block is told when the next has begun, whatever the order within it", async () => {
  const { parser } = telling([step(0, [1], ["b"]), step(0, [0], ["a"]), step(1, [3], ["d"]), step(1, [2], ["c"])], "abcd");
  expect(await collected(settledText(parser, request))).toEqual({ pieces: ["ab", "cd"], result: { text: "abcd" } });
});

test("lines are told in their order, whenever they are read", async () => {
  const { parser } = telling([line(1, "two\n"), line(0, "one\n"), line(2, "three")], "one\ntwo\nthree");
  expect((await collected(settledText(parser, request))).pieces).toEqual(["one\ntwo\n", "three"]);
});

test("a character of several tokens waits for the whole answer", async () => {
  const { parser } = telling([step(0, [0, 1, 2], ["a", "\ufffd", "\ufffd"]), step(1, [3], ["b"])], "aäb");
  expect((await collected(settledText(parser, request))).pieces).toEqual(["a", "äb"]);
});

test("whoever stops looking stops the work, and failures are thrown", async () => {
  const endless = telling(
    Array.from({ length: 1000 }, (_, i) => step(i, [i], ["x"])),
    "x",
  );
  for await (const _ of settledText(endless.parser, request)) break;
  expect(endless.aborted()).toBe(true);
  const stop = new AbortController();
  const events = recognitionEvents(telling([step(0, [0], ["a"]), step(1, [1], ["b"])], "ab").parser, [request], { signal: stop.signal });
  await events.next();
  stop.abort(new Error("enough"));
  await expect(collected(events)).rejects.toThrow("enough");
});

test("a document: layout, texts in pieces that make the whole, pages", async () => {
  const recognizer = new FakeRecognizer();
  const { pieces } = await collected(documentEvents(parserOf(recognizer), await samplePicture()));
  expect(pieces[0]).toMatchObject({ kind: "layout", regions: expect.any(Array) });
  const page = pieces.at(-1)!;
  if (page.kind !== "page") throw new Error("expected a page at the end");
  const told = pieces.flatMap((piece) => (piece.kind === "text" && piece.region === 0 ? [piece.text] : []));
  expect(told.length).toBeGreaterThan(1);
  expect(told.join("")).toBe(fakeAnswers.text);
  expect(page.page.page.regions[0].content).toEqual({ kind: "text", text: fakeAnswers.text });
});
