import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeTextOfTokens } from "../../test/fake-recognizer.ts";
import { SettledText } from "./settled-text.ts";

/** Says a text block by block, positions of a block from the last to the first. */
function say(text: string, blockLength: number, stop: readonly string[] = [], end = text): string[] {
  const writer = new SettledText(fakeTextOfTokens, stop);
  const bytes = [...new TextEncoder().encode(text)];
  const said: string[] = [];
  for (let i = 0, step = 1; i < bytes.length; i += blockLength)
    for (let position = Math.min(i + blockLength, bytes.length) - 1; position >= i; position--)
      said.push(
        writer.step({
          step: step++,
          block: i / blockLength,
          masked: 1,
          positions: Int32Array.of(position),
          tokens: Int32Array.of(bytes[position]),
          confidences: Float32Array.of(1),
        }),
      );
  return [...said, writer.end(end)].filter((part) => part !== "");
}

describe("settled text", () => {
  test("is said when the next block has begun, and the rest at the end", () => {
    expect(say("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  });

  test("a character cut in two by a block waits for its other half", () => {
    expect(say("abcädef", 4)).toEqual(["abc", "ädef"]);
  });

  test("joined, it is the answer, whatever the blocks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 9 }), (text, blockLength) => {
        expect(say(text, blockLength).join("")).toBe(text);
      }),
    );
  });

  test("ends before a stop string, and never says the start of one", () => {
    expect(say("one two STOP three", 6, ["STOP"])).toEqual(["one tw", "o "]);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "b", "c") }), fc.integer({ min: 1, max: 5 }), (text, blockLength) => {
        const expected = text.includes("abc") ? text.slice(0, text.indexOf("abc")) : text;
        expect(say(text, blockLength, ["abc"]).join("")).toBe(expected);
      }),
    );
  });

  test("an answer that was cut shorter than what was said is not said again", () => {
    expect(say("abababababab", 4, [], "ab")).toEqual(["abab", "abab"]);
  });
});

test("printed lines are said in their order, whichever is read first", () => {
  const text = new SettledText(() => "");
  expect(text.line(1, "second\n")).toBe("");
  expect(text.line(0, "first\n")).toBe("first\nsecond\n");
  expect(text.end("first\nsecond\nthird")).toBe("third");
});
