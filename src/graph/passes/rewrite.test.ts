import { expect, test } from "vitest";
import * as g from "../ops.ts";
import { printProgram } from "../print.ts";
import { isOp, type Program } from "../value.ts";
import { rewrite } from "./rewrite.ts";

function program(): Program {
  const x = g.input("x", "float32", ["rows", 4]);
  const doubled = g.add(x, x);
  return { name: "test", outputs: { y: g.neg(g.neg(doubled)), z: g.exp(doubled) } };
}

test("operands reach the rule rewritten, and what nothing needs any more is gone", () => {
  const simplified = rewrite(program(), (value, [x]) => (isOp(value, "neg") && isOp(x, "neg") ? x.inputs[0] : null));
  expect(printProgram(simplified)).toBe(
    [
      "program test {",
      "  %0: float32[rows, 4] = input() {name=x}",
      "  %1: float32[rows, 4] = add(%0, %0)",
      "  %2: float32[rows, 4] = exp(%1)",
      "  return y: %1, z: %2",
      "}",
    ].join("\n"),
  );
});

test("shared values stay shared", () => {
  const { outputs } = rewrite(program(), (value, [x]) => (isOp(value, "add") ? g.mul(x, 2) : null));
  expect(outputs.y.inputs[0].inputs[0]).toBe(outputs.z.inputs[0]);
  expect(outputs.z.inputs[0].op).toBe("mul");
});

test("a rule that keeps everything changes nothing", () => {
  const before = program();
  expect(rewrite(before, () => null).outputs).toEqual(before.outputs);
  expect(rewrite(before, () => null).outputs.y).toBe(before.outputs.y);
});

test("a rule may not change type or shape", () => {
  expect(() => rewrite(program(), (value, [x]) => (isOp(value, "exp") ? g.reduceSum(x, [1]) : null))).toThrow(
    "internal: a rewrite of test turned exp from float32[rows, 4] into float32[rows, 1]",
  );
});
