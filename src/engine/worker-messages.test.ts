import { expect, test } from "vitest";
import { MineruError } from "../error.ts";
import { packError, unpackError } from "./worker-messages.ts";

/** Across a thread's border and back. */
const travelled = (error: unknown): Error => unpackError(structuredClone(packError(error)));

test("operational failures keep class, code, message, stack and cause", () => {
  const cause = new TypeError("inner");
  const error = new MineruError("checkpoint-invalid", "outer", { cause });
  const found = travelled(error);
  expect(found).toBeInstanceOf(MineruError);
  expect(found).toMatchObject({ name: "MineruError", code: "checkpoint-invalid", message: "outer", stack: error.stack });
  expect(found.cause).toBeInstanceOf(TypeError);
  expect(found.cause).toMatchObject({ message: "inner", stack: cause.stack });
});

test.each([TypeError, RangeError])("wrong arguments stay %o", (Class) => {
  const found = travelled(new Class("`x` expected 1, got 2"));
  expect(found).toBeInstanceOf(Class);
  expect(found.message).toBe("`x` expected 1, got 2");
});

test("other errors keep their name", () => {
  expect(travelled(new DOMException("stopped", "AbortError"))).toMatchObject({ name: "AbortError", message: "stopped" });
  expect(travelled(new Error("internal: x"))).toMatchObject({ name: "Error", message: "internal: x" });
  expect(travelled("a string")).toMatchObject({ name: "Error", message: "a string" });
});

test("circular causes end", () => {
  const error = new Error("round");
  error.cause = error;
  let depth = 0;
  for (let at: unknown = travelled(error); at instanceof Error; at = at.cause) depth++;
  expect(depth).toBeLessThan(20);
});
