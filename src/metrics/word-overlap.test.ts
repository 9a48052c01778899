import { expect, test } from "vitest";
import { wordOverlap } from "./word-overlap.ts";

test("counts words as often as both sides have them, in any order", () => {
  expect(wordOverlap("b a a x", "a b c")).toEqual({ precision: 2 / 4, recall: 2 / 3, f1: 4 / 7 });
  expect(wordOverlap("a b", "b a")).toEqual({ precision: 1, recall: 1, f1: 1 });
});

test("nothing on both sides is equal, on one side it is not", () => {
  expect(wordOverlap(" ", "")).toEqual({ precision: 1, recall: 1, f1: 1 });
  expect(wordOverlap("", "a")).toEqual({ precision: 0, recall: 0, f1: 0 });
  expect(wordOverlap("a", "")).toEqual({ precision: 0, recall: 0, f1: 0 });
});
