import { expect, test } from "vitest";
import * as g from "./ops.ts";
import { isOp, leaves, topologicalOrder, type Value } from "./value.ts";

test("operands stand before their users, each value once", () => {
  const x = g.input("x", "float32", [2]);
  const twice = g.add(x, x);
  const root = g.mul(twice, g.exp(x));
  const order = topologicalOrder([root, twice]);
  expect(order.filter((value) => value === x)).toHaveLength(1);
  expect(new Set(order).size).toBe(order.length);
  for (const value of order) for (const operand of value.inputs) expect(order.indexOf(operand)).toBeLessThan(order.indexOf(value));
});

test("a graph may be deeper than the call stack", () => {
  const x = g.input("x", "float32", []);
  let value: Value = x;
  for (let i = 0; i < 50_000; i++) value = g.neg(value);
  const order = topologicalOrder([value]);
  expect(order).toHaveLength(50_001);
  expect([order[0], order[50_000]]).toEqual([x, value]);
});

test("a ladder of shared values is walked once, not once per path", () => {
  let value: Value = g.input("x", "float32", []);
  for (let i = 0; i < 200; i++) value = g.add(value, value); // 2^200 paths
  expect(topologicalOrder([value])).toHaveLength(201);
});

test("leaves come in the order in which they are needed", () => {
  const [a, b] = [g.input("a", "float32", [2]), g.input("b", "float32", [2])];
  const weight = g.parameter("weight", [2]);
  const program = { name: "p", outputs: { y: g.add(g.mul(b, weight), a), z: g.neg(b) } };
  expect(leaves(program, "input").map((value) => value.attributes.name)).toEqual(["b", "a"]);
  expect(leaves(program, "parameter")).toEqual([weight]);
});

test("a value is narrowed by its operation", () => {
  const x: Value = g.slice(g.input("x", "float32", [4]), 0, 1, 2);
  expect(isOp(x, "slice") && x.attributes.start).toBe(1);
  expect(isOp(x, "concat")).toBe(false);
});
