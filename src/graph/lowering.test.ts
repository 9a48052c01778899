import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { evaluate, loadValues, numbers } from "../../test/evaluate.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { float32, int64, type Tensor } from "../runtime/session.ts";
import { lower } from "./lowering.ts";
import * as g from "./ops.ts";
import type { DType, Value } from "./value.ts";

const counted = (count: number, from = 0): Float32Array => Float32Array.from({ length: count }, (_, i) => from + i);
const fed = { kind: "input" } as const;

describe("parameters", () => {
  const weight = g.parameter("proj.weight", [2, 3]);
  const y = g.linear(g.input("x", "float32", ["rows", 3]), weight);
  const program = { name: "p", outputs: { y } };
  const x = float32(Float32Array.of(1, 2, 3, -1, 0, 1), [2, 3]);
  const expected = [8, 26, 2, 2];

  test("are fed at every run", async () => {
    const lowered = lower(program, () => fed);
    expect(lowered).toMatchObject({ inputs: ["x", "proj.weight"], outputs: ["y"], parameterInputs: ["proj.weight"] });
    const { y } = await evaluate(program.outputs, { x, "proj.weight": float32(counted(6), [2, 3]) });
    expect(y).toMatchObject({ shape: [2, 2], dtype: "float32" });
    expect(numbers(y)).toEqual(expected);
  });

  test("or kept inside the model", async () => {
    const lowered = lower(program, () => ({ kind: "inline", data: counted(6) }));
    expect(lowered).toMatchObject({ inputs: ["x"], parameterInputs: [] });
    const session = await nodeRuntime.load(lowered);
    expect(numbers((await session.run({ x }, ["y"])).y)).toEqual(expected);
    await session.release();
  });

  const halves = Uint16Array.of(0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500); // 0 1 2 3 4 5 in float16
  const brains = Uint16Array.of(0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0); // and in bfloat16
  const files: [DType, Float32Array | Uint16Array][] = [
    ["float32", counted(6)],
    ["float16", halves],
    ["bfloat16", brains],
  ];
  test.each(files)("or read as %s from the middle of a file", async (dtype, data) => {
    const folder = await mkdtemp(join(tmpdir(), "lowering-"));
    try {
      const offset = 8 + 100; // as behind a safetensors header, at no page's start
      const bytes = new Uint8Array(offset + data.byteLength + 20).fill(0xff);
      bytes.set(new Uint8Array(data.buffer), offset);
      await writeFile(join(folder, "weights.bin"), bytes);
      const lowered = lower(program, () => ({
        kind: "external",
        weight: { location: "weights.bin", offset, byteLength: data.byteLength, dtype },
      }));
      const session = await nodeRuntime.load(lowered, { weightsFolder: folder });
      expect(numbers((await session.run({ x }, ["y"])).y)).toEqual(expected);
      await session.release();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("a missing file is told at load", async () => {
    const weight = { location: "nowhere.bin", offset: 0, byteLength: 24, dtype: "float32" } as const;
    const lowered = lower(program, () => ({ kind: "external", weight }));
    await expect(nodeRuntime.load(lowered, { weightsFolder: tmpdir() })).rejects.toMatchObject({ code: "runtime-unavailable" });
  });
});

describe("names", () => {
  const x = g.input("x", "float32", [2]);

  test("two leaves of one name are refused", () => {
    const other = g.input("x", "float32", [2]);
    expect(() => lower({ name: "p", outputs: { y: g.add(x, other) } }, () => fed)).toThrow("internal: two inputs are named x");
    const parameter = g.parameter("x", [2]);
    expect(() => lower({ name: "p", outputs: { y: g.add(x, parameter) } }, () => fed)).toThrow("internal: two leaves are named x");
  });

  test("an output may not be called like an input", () => {
    expect(() => lower({ name: "p", outputs: { x } }, () => fed)).toThrow("internal: output x of p has the name of something else ([2])");
  });

  test("an input, or one value twice, may be an output under its own name", async () => {
    const y = g.neg(x);
    const results = await evaluate({ same: x, y, again: y }, { x: float32(Float32Array.of(1, 2), [2]) });
    expect([numbers(results.same), numbers(results.y), numbers(results.again)]).toEqual([
      [1, 2],
      [-1, -2],
      [-1, -2],
    ]);
  });
});

describe("dimensions known at run time", () => {
  test("are read from the inputs that carry them", async () => {
    const x = g.input("x", "float32", ["batch", "rows", 4]);
    const split = g.transpose(g.reshape(x, ["batch", "rows", 2, 2]), [0, 2, 1, 3]);
    const joined = g.reshape(split, ["batch*rows", 4]);
    const spread = g.expand(g.input("one", "float32", [1, 1]), ["rows", "batch"]);
    const sums = g.scatterAdd(g.input("ids", "int64", ["n"]), g.input("updates", "float32", ["n"]), "batch*rows*2");
    const results = await evaluate(
      { split, joined, spread, sums },
      {
        x: float32(counted(24), [2, 3, 4]),
        one: float32(Float32Array.of(7), [1, 1]),
        ids: int64([11, 0, 11]),
        updates: float32(Float32Array.of(1, 2, 3), [3]),
      },
    );
    expect(results.split.shape).toEqual([2, 2, 3, 2]);
    expect(results.joined.shape).toEqual([6, 4]);
    expect(results.spread).toMatchObject({ shape: [3, 2] });
    expect(numbers(results.spread)).toEqual(Array(6).fill(7));
    expect(numbers(results.sums)).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
  });

  test("one graph serves many sizes, zero included", async () => {
    const past = g.input("past", "float32", [1, "past", 2]);
    const x = g.input("x", "float32", [1, "rows", 2]);
    const query = g.reshape(x, [1, "rows", 2]);
    const scores = g.concat([g.matmul(query, past, { transposeB: true }), g.matmul(query, x, { transposeB: true })], 2);
    const mask = g.input("mask", "float32", [1, "rows", "past+rows"]);
    const probabilities = g.softmax(g.add(scores, mask));
    const attended = g.add(g.matmul(g.slice(probabilities, 2, 0, "past"), past), g.matmul(g.slice(probabilities, 2, "past", "rows"), x));
    await using run = await loadValues({ attended, sum: g.reduceSum(past, [1]) });
    const tensor = (rows: number, columns = 2, from = 0): Tensor => float32(counted(rows * columns, from), [1, rows, columns]);
    const whole = await run({ past: tensor(0), x: tensor(3), mask: float32(new Float32Array(9), [1, 3, 3]) });
    expect(numbers(whole.sum)).toEqual([0, 0]);
    const later = await run({ past: tensor(2), x: tensor(1, 2, 4), mask: float32(new Float32Array(3), [1, 1, 3]) });
    expect(later.attended.shape).toEqual([1, 1, 2]);
    numbers(later.attended).forEach((y, i) => {
      expect(y).toBeCloseTo(numbers(whole.attended)[4 + i], 5);
    });
    const nobody = await run({ past: tensor(2), x: tensor(0), mask: float32(new Float32Array(0), [1, 0, 2]) });
    expect(nobody.attended.shape).toEqual([1, 0, 2]);
  });

  test("a symbol that no input carries is a broken program", () => {
    const x = g.input("x", "float32", ["rows", 4]);
    const program = { name: "p", outputs: { y: g.expand(x, ["batch", "rows", 4]) } };
    expect(() => lower(program, () => fed)).toThrow('internal: no input of p carries the dimension "batch"');
  });
});

describe("single operations", () => {
  const run = async (value: Value, feeds: Record<string, Tensor> = {}): Promise<number[]> =>
    numbers((await evaluate({ value }, feeds)).value);
  const x = g.input("x", "float32", [2, 3]);
  const feeds = { x: float32(Float32Array.of(-1.5, 0.5, 2.5, -0.4, 3, 1.5), [2, 3]) };

  test("halves round to even", async () => {
    expect(await run(g.round(x), feeds)).toEqual([-2, 0, 2, -0, 3, 2]);
  });

  test("the largest of a row", async () => {
    expect(await run(g.reduceMax(x, [-1]), feeds)).toEqual([2.5, 3]);
  });

  test("casts", async () => {
    expect(await run(g.cast(x, "int64"), feeds)).toEqual([-1, 0, 2, 0, 3, 1]);
    expect(await run(g.cast(g.less(x, g.scalar(1)), "float32"), feeds)).toEqual([1, 1, 0, 1, 0, 0]);
  });

  test("a slice, and padding that undoes it", async () => {
    expect(await run(g.slice(x, 1, 1, 2), feeds)).toEqual([0.5, 2.5, 3, 1.5]);
    expect(await run(g.padAxis(x, 0, 1, 2), feeds)).toEqual([0, 0, 0, ...Array.from(feeds.x.data as Float32Array), 0, 0, 0, 0, 0, 0]);
  });

  test("one-hot rows and picked entries", async () => {
    const targets = g.constant(BigInt64Array.of(2n, 0n), [2]);
    expect(await run(g.oneHot(targets, 3))).toEqual([0, 0, 1, 1, 0, 0]);
    expect(await run(g.pick(x, targets), feeds)).toEqual([2.5, Math.fround(-0.4)]);
  });

  test("constants of every type stay what they are", async () => {
    const bytes = g.constant(Uint8Array.of(255, 1, 2, 3), [2, 2]);
    const signed = g.constant(Int8Array.of(-128, 1, 1, 0), [2, 2]);
    expect(await run(g.apply("integerMatmul", [bytes, signed], {}))).toEqual([255 * -128 + 1, 255, -256 + 3, 2]);
    expect(await run(g.add(g.constant(Int32Array.of(1, -2), [2]), g.constant(Int32Array.of(10), [1])))).toEqual([11, 8]);
    expect(await run(g.add(g.constant(BigInt64Array.of(2n ** 40n), []), g.constant(BigInt64Array.of(1n), [])))).toEqual([2 ** 40 + 1]);
  });

  test("equal scalars of unlike value are not confused", async () => {
    expect(await run(g.add(g.add(x, 1), g.mul(x, -1)), feeds)).toEqual(Array(6).fill(1));
    expect(await run(g.sub(g.mul(x, 0.1), g.mul(x, 0.1 + 1e-9)), feeds)).toEqual(Array(6).fill(0)); // one number in float32
  });
});

describe("sums of rows with repeated indices", () => {
  test("lose nothing on several threads", async () => {
    const [count, width] = [4000, 64];
    const ids = g.input("ids", "int64", ["n"]);
    await using run = await loadValues({ sums: g.scatterAdd(ids, g.input("updates", "float32", ["n", width]), 2) }, { threads: 2 });
    const feeds = { ids: int64(Array(count).fill(1)), updates: float32(new Float32Array(count * width).fill(1), [count, width]) };
    for (let i = 0; i < 8; i++) {
      const { sums } = await run(feeds);
      expect(new Set(numbers(sums))).toEqual(new Set([0, count]));
    }
  });

  test("of any rank", async () => {
    const rows = g.constant(BigInt64Array.of(2n, 0n, 2n, 2n), [2, 2]);
    const sums = g.scatterAdd(rows, g.constant(counted(16), [2, 2, 2, 2]), 3);
    const flat = g.scatterAdd(rows, g.constant(counted(4), [2, 2]), 3);
    const none = g.scatterAdd(g.input("nothing", "int64", ["n"]), g.input("updates", "float32", ["n", 2]), 2);
    const results = await evaluate({ sums, flat, none }, { nothing: int64([]), updates: float32(new Float32Array(0), [0, 2]) });
    expect(results.sums.shape).toEqual([3, 2, 2]);
    expect(numbers(results.sums)).toEqual([4, 5, 6, 7, 0, 0, 0, 0, 20, 23, 26, 29]);
    expect(numbers(results.flat)).toEqual([1, 0, 5]);
    expect(numbers(results.none)).toEqual([0, 0, 0, 0]);
  });
});
