import { expect, test } from "vitest";
import { backward } from "./backward.ts";
import * as g from "./ops.ts";
import { printProgram } from "./print.ts";

test("a program is one line per value", () => {
  const x = g.input("x", "float32", ["rows", 4]);
  const projected = g.linear(x, g.parameter("proj.weight", [3, 4]), g.parameter("proj.bias", [3]));
  const parts = g.slice(g.transpose(g.silu(projected), [1, 0]), 0, 1, 2);
  const table = g.constant(new Float32Array(6), [6]);
  const program = { name: "example", outputs: { parts, picked: g.gather(table, g.constant(BigInt64Array.of(0n, 5n), [2])) } };
  expect(printProgram(program)).toMatchInlineSnapshot(`
    "program example {
      %0: float32[rows, 4] = input() {name=x}
      %1: float32[3, 4] = parameter() {name=proj.weight}
      %2: float32[rows, 3] = matmul(%0, %1) {transposeA=false, transposeB=true}
      %3: float32[3] = parameter() {name=proj.bias}
      %4: float32[rows, 3] = add(%2, %3)
      %5: float32[rows, 3] = sigmoidGate(%4) {factor=1}
      %6: float32[3, rows] = transpose(%5) {permutation=[1, 0]}
      %7: float32[2, rows] = slice(%6) {axis=0, start=1, length=2}
      %8: float32[6] = constant() {data=6 numbers}
      %9: int64[2] = constant() {0 5}
      %10: float32[2] = gather(%8, %9)
      return parts: %7, picked: %10
    }"
  `);
});

test("a graph of gradients reads like any other", () => {
  const x = g.input("x", "float32", [2, 3]);
  const weight = g.parameter("weight", [3]);
  const loss = g.sumAll(g.mul(x, weight));
  const [gradient] = backward(loss, [weight]);
  expect(printProgram({ name: "backward", outputs: { loss, gradient } })).toMatchInlineSnapshot(`
    "program backward {
      %0: float32[2, 3] = input() {name=x}
      %1: float32[3] = parameter() {name=weight}
      %2: float32[2, 3] = mul(%0, %1)
      %3: float32[1, 1] = reduceSum(%2) {axes=[0, 1]}
      %4: float32[] = reshape(%3) {shape=[]}
      %5: float32[] = constant() {1}
      %6: float32[1, 1] = reshape(%5) {shape=[1, 1]}
      %7: float32[2, 3] = expand(%6) {shape=[2, 3]}
      %8: float32[2, 3] = mul(%7, %0)
      %9: float32[1, 3] = reduceSum(%8) {axes=[0]}
      %10: float32[3] = reshape(%9) {shape=[3]}
      return loss: %4, gradient: %10
    }"
  `);
});
