import { describe, expect, test } from "vitest";
import { evaluate, numbers } from "../../test/evaluate.ts";
import { float32 } from "../runtime/session.ts";
import { backward } from "./backward.ts";
import * as g from "./ops.ts";
import { topologicalOrder } from "./value.ts";

const x = g.input("x", "float32", [3]);
const feeds = { x: float32(Float32Array.of(1, 2, 3), [3]) };

describe("backward", () => {
  test("gradients of a value used more than once are added", async () => {
    const [gradient] = backward(g.sumAll(g.add(g.mul(x, x), g.mul(x, 5))), [x]);
    expect(numbers((await evaluate({ gradient }, feeds)).gradient)).toEqual([7, 9, 11]);
  });

  test("targets may lie inside the graph, one behind the other, and come in the order asked for", async () => {
    const squared = g.mul(x, x);
    const [ofX, ofSquared] = backward(g.sumAll(g.mul(squared, squared)), [x, squared]);
    const results = await evaluate({ ofX, ofSquared }, feeds);
    expect(numbers(results.ofSquared)).toEqual([2, 8, 18]);
    expect(numbers(results.ofX)).toEqual([4, 32, 108]);
  });

  test("the gradient of the loss itself is one", async () => {
    const loss = g.sumAll(x);
    const [gradient] = backward(loss, [loss]);
    expect(numbers((await evaluate({ gradient }, feeds)).gradient)).toEqual([1]);
  });

  test("second derivatives: a gradient is a graph that can be differentiated", async () => {
    const [first] = backward(g.sumAll(g.mul(g.mul(x, x), x)), [x]);
    const [second] = backward(g.sumAll(first), [x]);
    expect(numbers((await evaluate({ second }, feeds)).second)).toEqual([6, 12, 18]);
  });

  test("nothing is computed for values that no target depends on", () => {
    const frozen = g.parameter("frozen", [3, 3]);
    const trained = g.parameter("trained", [3, 3]);
    const loss = g.sumAll(g.matmul(g.exp(frozen), trained));
    const forward = new Set(topologicalOrder([loss]));
    const added = topologicalOrder(backward(loss, [trained])).filter((value) => !forward.has(value));
    expect(added.filter(({ op }) => op === "matmul")).toHaveLength(1);
    expect(added.some((value) => value.inputs.includes(frozen))).toBe(false);
  });

  test("what no target depends on need not be differentiable", async () => {
    const rows = g.input("rows", "float32", ["rows", 3]);
    const frozen = g.exp(g.slice(rows, 0, 0, 2)); // the gradient of this slice is refused
    const [gradient] = backward(g.sumAll(g.mul(frozen, x)), [x]);
    const results = await evaluate({ gradient }, { ...feeds, rows: float32(new Float32Array(6), [2, 3]) });
    expect(numbers(results.gradient)).toEqual([2, 2, 2]);
  });

  test("entries that tie for the largest share its gradient", async () => {
    const largest = g.reduceMax(x, [0]);
    const [gradient] = backward(g.sumAll(g.mul(largest, 6)), [x]);
    const tied = { x: float32(Float32Array.of(3, 1, 3), [3]) };
    expect(numbers((await evaluate({ gradient }, tied)).gradient)).toEqual([3, 0, 3]);
  });

  test("integers and conditions let nothing through", async () => {
    const ids = g.input("ids", "int64", [2]);
    const gate = g.where(g.less(x, g.scalar(2.5)), g.mul(x, 10), g.scalar(0));
    const [gradient] = backward(g.sumAll(gate), [x]);
    expect(numbers((await evaluate({ gradient }, feeds)).gradient)).toEqual([10, 10, 0]);
    expect(() => backward(g.sumAll(g.oneHot(ids, 4)), [ids])).toThrow("internal: input does not reach the loss");
  });

  test("what cannot be differentiated is refused", () => {
    expect(() => backward(x, [x])).toThrow(new TypeError("loss expected no axes, got [3]"));
    const stranger = g.parameter("stranger", [3]);
    expect(() => backward(g.sumAll(x), [stranger])).toThrow("internal: stranger does not reach the loss");
    const rows = g.input("rows", "float32", ["rows", 2]);
    expect(() => backward(g.sumAll(g.concat([rows, rows], 0)), [rows])).toThrow(
      new TypeError("the gradient of concat expected known lengths along axis 0, got rows"),
    );
    expect(() => backward(g.sumAll(g.slice(rows, 0, 0, 2)), [rows])).toThrow(/^the gradient of slice expected known lengths along axis 0/);
    expect(() => backward(g.sumAll(g.padAxis(rows, 0, 1, 0)), [rows])).toThrow(/^the gradient of padAxis expected a known length/);
  });
});
