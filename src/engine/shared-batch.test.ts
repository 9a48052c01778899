import { afterAll, beforeAll, expect, test } from "vitest";
import { goldenRequests } from "../../test/recognizer-conformance.ts";
import { tinyFolder } from "../../test/tiny.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { Engine } from "./engine.ts";
import { loadRecognizer, type Recognizer } from "./recognizer.ts";
import type { RecognitionRequest } from "./types.ts";

let recognizer: Recognizer;
let cases: Awaited<ReturnType<typeof goldenRequests>>;
/** Rows, by sequences, of every pass since the last look. */
const widths: number[] = [];
const step = Engine.prototype.step;

beforeAll(async () => {
  [recognizer, cases] = [await loadRecognizer(tinyFolder(), nodeRuntime, { threads: 1 }), await goldenRequests()];
  Engine.prototype.step = function (this: Engine) {
    widths.push(this.active.length);
    expect(this.places).toBeLessThan(Math.max(2, 2 * this.active.length) + 1);
    return step.call(this);
  };
});
afterAll(async () => {
  Engine.prototype.step = step;
  await recognizer.close();
});

const tokensOf = async (call: Promise<Awaited<ReturnType<Recognizer["recognize"]>>>) =>
  (await call).map(({ tokens }) => tokens.map(({ token }) => token));
const endless = (maxTokens: number): RecognitionRequest => ({
  task: "text",
  promptIds: Int32Array.of(369, 298, 309, 274, 258),
  decoding: { blockLength: 1, maxTokens, stopTokens: [] },
});

test("calls at the same time share passes and get what each would get alone", async () => {
  widths.length = 0;
  const some = cases.filter((_, i) => i % 3 === 0);
  const answers = await Promise.all(some.map(({ request }) => tokensOf(recognizer.recognize([request]))));
  expect(answers.flat()).toEqual(some.map(({ tokens }) => tokens));
  expect(Math.max(...widths)).toBeGreaterThan(2);
});

test("a call takes no more places than it may, and another gets in before it is done", async () => {
  widths.length = 0;
  const ends: string[] = [];
  const long = recognizer.recognize(
    Array.from({ length: 6 }, () => endless(40)),
    { batchSize: 2 },
  );
  const short = recognizer.recognize([endless(5)]);
  await Promise.all([long.then(() => ends.push("long")), short.then(() => ends.push("short"))]);
  expect(ends).toEqual(["short", "long"]);
  expect(Math.max(...widths)).toBe(3);
});

test("more than there are places for wait their turn", async () => {
  widths.length = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => tokensOf(recognizer.recognize([endless(6)]))));
  expect(new Set(answers.map(String)).size).toBe(1);
  expect(Math.max(...widths)).toBe(16);
});

test("one that gives up, or asks what cannot be asked, leaves the others alone", async () => {
  const [alone] = await tokensOf(recognizer.recognize([endless(30)]));
  const stop = new AbortController();
  const aborted = recognizer.recognize([endless(200), endless(200)], { signal: stop.signal });
  const wrong = recognizer.recognize([{ ...endless(30), decoding: { ...endless(30).decoding, stepsPerBlock: 9 } }]);
  const failing = recognizer.recognize([endless(30)], {
    onEvent: () => {
      throw new Error("the listener failed");
    },
  });
  const good = tokensOf(recognizer.recognize([endless(30)], { onEvent: ({ kind }) => kind === "step" && stop.abort(new Error("enough")) }));
  const [first, second, third, fourth] = await Promise.allSettled([aborted, wrong, failing, good]);
  expect(first).toMatchObject({ status: "rejected", reason: { message: "enough" } });
  expect(second).toMatchObject({ status: "rejected", reason: expect.any(RangeError) });
  expect(third).toMatchObject({ status: "rejected", reason: { message: "the listener failed" } });
  expect(fourth).toEqual({ status: "fulfilled", value: [alone] });
});
