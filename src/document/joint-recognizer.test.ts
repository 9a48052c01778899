import { expect, test } from "vitest";
import { FakeRecognizer } from "../../test/fake-recognizer.ts";
import type { RecognitionEvent, RecognitionRequest, RecognizeOptions } from "../engine/types.ts";
import { jointRecognizer } from "./joint-recognizer.ts";

/** Remembers how many questions each call held. */
class Counting extends FakeRecognizer {
  readonly calls: number[] = [];
  override recognize(requests: readonly RecognitionRequest[], options?: RecognizeOptions) {
    this.calls.push(requests.length);
    return super.recognize(requests, options);
  }
}

const ask = (prompt: string): RecognitionRequest => ({ task: "text", prompt });
const echo = (recognizer: FakeRecognizer): void => {
  recognizer.answer = ({ prompt }) => ({ text: prompt ?? "" });
};
const texts = (results: readonly { text: string }[]): string[] => results.map(({ text }) => text);

test("questions that come while it is busy are asked together, and everyone gets their own answers and events", async () => {
  const inner = new Counting();
  echo(inner);
  inner.hold();
  const joint = jointRecognizer(inner);
  const heard: RecognitionEvent[] = [];
  const calls = [
    joint.recognize([ask("a")]),
    joint.recognize([ask("b"), ask("c")], { onEvent: (event) => heard.push(event) }),
    joint.recognize([ask("d")]),
  ];
  inner.release();
  expect((await Promise.all(calls)).map(texts)).toEqual([["a"], ["b", "c"], ["d"]]);
  expect(inner.calls).toEqual([1, 3]);
  expect(heard.filter(({ kind }) => kind === "result").map(({ request }) => request)).toEqual([0, 1]);
});

test("a question that fails does not fail its neighbours", async () => {
  const inner = new Counting();
  inner.answer = ({ prompt }) => {
    if (prompt === "bad") throw new Error("no");
    return { text: prompt ?? "" };
  };
  inner.hold();
  const joint = jointRecognizer(inner);
  const settled = Promise.allSettled(["first", "good", "bad", "fine"].map((prompt) => joint.recognize([ask(prompt)])));
  inner.release();
  expect((await settled).map((one) => (one.status === "fulfilled" ? texts(one.value) : "failed"))).toEqual([
    ["first"],
    ["good"],
    "failed",
    ["fine"],
  ]);
});

test("whoever gives up is let go at once; the work stops when nobody waits for it", async () => {
  const inner = new Counting();
  echo(inner);
  inner.hold();
  const joint = jointRecognizer(inner);
  const first = joint.recognize([ask("a")]);
  const [one, other] = [new AbortController(), new AbortController()];
  const given = [joint.recognize([ask("b")], { signal: one.signal }), joint.recognize([ask("c")], { signal: other.signal })];
  one.abort(new Error("enough"));
  await expect(given[0]).rejects.toThrow("enough");
  inner.release();
  expect(texts(await first)).toEqual(["a"]);
  expect(texts(await given[1])).toEqual(["c"]);
  expect(inner.calls).toEqual([1, 1]);
});
