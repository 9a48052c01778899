/**
 * What every runtime must do, wherever ONNX Runtime lives: one suite, called with the runtime at hand. The engine relies on each of
 * these and on nothing else.
 */
import { describe, expect, test } from "vitest";
import { lower, type ParameterBinding } from "../src/graph/lowering.ts";
import * as g from "../src/graph/ops.ts";
import type { Program, Value } from "../src/graph/value.ts";
import { float32, int64, type Runtime, type SessionOptions, type Tensor } from "../src/runtime/session.ts";

const inMemory = (data: Float32Array): { bind: () => ParameterBinding; options: SessionOptions } => ({
  bind: () => ({ kind: "external", weight: { location: "weight", offset: 0, byteLength: data.byteLength, dtype: "float32" } }),
  options: { weightsInMemory: new Map([["weight", new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]]) },
});

const inline = (data: Float32Array) => (): ParameterBinding => ({ kind: "inline", data });
const none = (): ParameterBinding => {
  throw new Error("no parameters");
};

/** y = x · weightᵀ and, apart from it, z = −x. */
function twoOutputs(): Program {
  const x = g.input("x", "float32", ["rows", 2]);
  return { name: "two-outputs", outputs: { y: g.linear(x, g.parameter("weight", [3, 2])), z: g.neg(x) } };
}

const weight = Float32Array.of(1, 2, 3, 4, 5, 6);
const x = float32(Float32Array.of(1, 10, 2, 20), [2, 2]);
const y = [21, 43, 65, 42, 86, 130];

export function describeRuntime(name: string, runtime: Runtime): void {
  const load = (program: Program, bind: (parameter: Value<"parameter">) => ParameterBinding = none, options: SessionOptions = {}) =>
    runtime.load(lower(program, bind), { threads: 1, ...options });

  describe(`${name} as a runtime`, () => {
    test("computes the outputs asked for, and no others", async () => {
      const session = await load(twoOutputs(), inline(weight));
      const both = await session.run({ x }, ["y", "z"]);
      expect(both.y).toEqual({ dtype: "float32", shape: [2, 3], data: Float32Array.from(y) });
      expect(both.z.data).toEqual(Float32Array.of(-1, -10, -2, -20));
      expect(Object.keys(await session.run({ x }, ["z"]))).toEqual(["z"]);
      await session.release();
    });

    test("binds weights that lie in memory", async () => {
      const { bind, options } = inMemory(weight);
      const session = await load(twoOutputs(), bind, options);
      expect((await session.run({ x }, ["y"])).y.data).toEqual(Float32Array.from(y));
      await session.release();
    });

    test("takes rows in any number, none included", async () => {
      const session = await load(twoOutputs(), inline(weight));
      for (const rows of [1, 5, 0]) {
        const { y: found } = await session.run({ x: float32(new Float32Array(rows * 2).fill(1), [rows, 2]) }, ["y"]);
        expect(found.shape).toEqual([rows, 3]);
        expect(Array.from(found.data as Float32Array)).toEqual(Array.from({ length: rows }, () => [3, 7, 11]).flat());
      }
      await session.release();
    });

    test("reads views into larger buffers", async () => {
      const session = await load(twoOutputs(), inline(weight));
      const data = Float32Array.of(9, 9, 1, 10, 2, 20, 9).subarray(2, 6);
      expect((await session.run({ x: float32(data, [2, 2]) }, ["y"])).y.data).toEqual(Float32Array.from(y));
      await session.release();
    });

    test("carries every type of number", async () => {
      const tensors: Record<string, Tensor> = {
        float32: float32(Float32Array.of(1.5, -2), [2]),
        int64: int64([2 ** 40, -1]),
        int32: { dtype: "int32", shape: [2], data: Int32Array.of(-(2 ** 31), 7) },
        int8: { dtype: "int8", shape: [2], data: Int8Array.of(-128, 127) },
        uint8: { dtype: "uint8", shape: [2], data: Uint8Array.of(0, 255) },
      };
      const inputs = Object.entries(tensors).map(
        ([key, { dtype }]) => [`${key}.out`, g.reshape(g.input(key, dtype, [2]), [1, 2])] as const,
      );
      const session = await load({ name: "types", outputs: Object.fromEntries(inputs) });
      const found = await session.run(
        tensors,
        inputs.map(([key]) => key),
      );
      for (const [key, { dtype, data }] of Object.entries(tensors)) expect(found[`${key}.out`]).toEqual({ dtype, shape: [1, 2], data });
      await session.release();
    });

    test("writes into outputs that were allocated before", async () => {
      const session = await load(twoOutputs(), inline(weight));
      const target = new Float32Array(6);
      const found = await session.run({ x }, ["y"], { y: float32(target, [2, 3]) });
      expect(Array.from(target)).toEqual(y);
      expect(Array.from(found.y.data as Float32Array)).toEqual(y);
      await session.release();
    });

    test("leaves earlier results alone", async () => {
      const session = await load(twoOutputs(), inline(weight));
      const first = await session.run({ x }, ["y"]);
      await session.run({ x: float32(new Float32Array(4), [2, 2]) }, ["y"]);
      expect(Array.from(first.y.data as Float32Array)).toEqual(y);
      await session.release();
    });

    test("answers runs that overlap, each with its own result", async () => {
      const session = await load(twoOutputs(), inline(weight));
      const runs = [1, 2, 3, 4].map((factor) => session.run({ x: float32(Float32Array.of(factor, 0), [1, 2]) }, ["y"]));
      expect((await Promise.all(runs)).map((found) => (found.y.data as Float32Array)[0])).toEqual([1, 2, 3, 4]);
      await session.release();
    });

    test("a model that cannot be read is `runtime-unavailable`", async () => {
      const broken = { ...lower(twoOutputs(), inline(weight)), model: Uint8Array.of(1, 2, 3) };
      await expect(runtime.load(broken)).rejects.toMatchObject({ name: "MineruError", code: "runtime-unavailable" });
    });

    test("feeds that do not fit are `runtime-failed`, and the session goes on", async () => {
      const session = await load(twoOutputs(), inline(weight));
      await expect(session.run({ x: float32(new Float32Array(3), [1, 3]) }, ["y"])).rejects.toMatchObject({ code: "runtime-failed" });
      expect((await session.run({ x }, ["y"])).y.shape).toEqual([2, 3]);
      await session.release();
    });

    test("a released session refuses to run, and may be released again", async () => {
      const session = await load(twoOutputs(), inline(weight));
      await session.release();
      await session.release();
      await expect(session.run({ x }, ["y"])).rejects.toThrow("session expected to be loaded, got a released one");
    });
  });
}
