import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as g from "./ops.ts";
import { addDims, broadcastShapes, multiplyDims, normaliseAxis } from "./shapes.ts";
import type { DType, Shape, Value } from "./value.ts";

const value = (shape: Shape, dtype: DType = "float32"): Value => g.input("x", dtype, shape);
const ids = (...shape: Shape): Value => value(shape, "int64");

describe("dimensions", () => {
  test("known dimensions multiply, symbols are joined", () => {
    expect(multiplyDims([])).toBe(1);
    expect(multiplyDims([2, 3])).toBe(6);
    expect(multiplyDims(["rows", 2])).toBe("rows*2");
    expect(multiplyDims([2, "rows", 3])).toBe("rows*6");
    expect(multiplyDims(["tokens*4", "bins", 2])).toBe("tokens*bins*8");
    expect(multiplyDims(["rows", 1])).toBe("rows");
  });

  test("known dimensions add, symbols are joined", () => {
    expect(addDims([2, 3])).toBe(5);
    expect(addDims(["past", "rows"])).toBe("past+rows");
    expect(addDims([1, "rows", 2])).toBe("rows+3");
    expect(addDims(["rows", 0])).toBe("rows");
  });

  test("shapes broadcast as in NumPy", () => {
    expect(broadcastShapes([2, 1, 3], [4, 1])).toEqual([2, 4, 3]);
    expect(broadcastShapes([], ["rows", 2])).toEqual(["rows", 2]);
    expect(broadcastShapes(["rows", 1], ["rows", 5])).toEqual(["rows", 5]);
    expect(broadcastShapes([1, "rows"], ["batch", 1])).toEqual(["batch", "rows"]);
    expect(broadcastShapes(["rows"], ["columns"])).toBeNull();
    expect(broadcastShapes(["rows"], [3])).toBeNull();
    expect(broadcastShapes([2], [3])).toBeNull();
  });

  test("broadcasting is symmetric, and a shape broadcasts with itself", () => {
    const shape = fc.array(fc.constantFrom<number | string>(1, 2, 3, "rows"), { maxLength: 4 });
    fc.assert(
      fc.property(shape, shape, (a, b) => {
        expect(broadcastShapes(a, b)).toEqual(broadcastShapes(b, a));
        expect(broadcastShapes(a, a)).toEqual(a);
      }),
    );
  });

  test("negative axes count from the end", () => {
    expect(normaliseAxis(-1, 3)).toBe(2);
    expect(() => normaliseAxis(3, 3)).toThrow(new RangeError("axis expected within rank 3, got 3"));
    expect(() => normaliseAxis(-4, 3)).toThrow(RangeError);
    expect(() => normaliseAxis(0.5, 3)).toThrow(RangeError);
  });
});

describe("shapes of results", () => {
  const x = value(["batch", "rows", 8]);
  const cases: [string, Value, Shape, DType?][] = [
    ["a broadcast sum", g.add(value(["rows", 1]), value([4])), ["rows", 4]],
    ["a comparison", g.less(value(["rows"]), value([])), ["rows"], "bool"],
    ["a choice", g.where(value(["rows", 1], "bool"), value([1, 4]), value([])), ["rows", 4]],
    ["a cast", g.cast(ids("rows"), "float32"), ["rows"], "float32"],
    ["a reduction", g.reduceSum(x, [-1, 0]), [1, "rows", 1]],
    ["a mean", g.reduceMean(x, [2]), ["batch", "rows", 1]],
    ["a sum of all", g.sumAll(x), []],
    ["a product", g.matmul(value(["rows", 3]), value([3, 4])), ["rows", 4]],
    ["a product with both transposed", g.matmul(value([3, "rows"]), value([4, 3]), { transposeA: true, transposeB: true }), ["rows", 4]],
    ["a batched product", g.matmul(value(["batch", 1, 2, 3]), value([5, 3, 4])), ["batch", 5, 2, 4]],
    ["a transposition", g.transpose(x, [2, 0, 1]), [8, "batch", "rows"]],
    ["a reshape", g.reshape(x, ["batch*rows", 8]), ["batch*rows", 8]],
    ["an expansion", g.expand(value(["rows", 1]), [2, "rows", 4]), [2, "rows", 4]],
    ["a concatenation", g.concat([value([2, "past"]), value([2, "rows"])], -1), [2, "past+rows"]],
    ["a slice", g.slice(value([2, "past+rows"]), 1, "past", "rows"), [2, "rows"]],
    ["padding", g.padAxis(value([2, 3]), 1, 2, 1), [2, 6]],
    ["a gather", g.gather(value(["vocab", 8]), ids("batch", "rows")), ["batch", "rows", 8]],
    ["a scatter", g.scatterAdd(ids("batch", "rows"), x, "vocab"), ["vocab", 8]],
    ["a pick", g.pick(value(["rows", 5]), ids("rows")), ["rows"]],
    ["one-hot rows", g.oneHot(ids("rows"), 5), ["rows", 5]],
    ["a norm", g.layerNorm(x, value([8]), value([8]), 1e-6), ["batch", "rows", 8]],
    [
      "a rotation",
      g.rotary(value(["batch", 2, "rows", 8]), value(["batch", "rows", 4]), value(["batch", "rows", 4])),
      ["batch", 2, "rows", 8],
    ],
    ["a quantised product", g.apply("dynamicQuantizeMatmul", [value(["rows", 3]), value([3, 4], "int8"), value([4])], {}), ["rows", 4]],
    ["an integer product", g.apply("integerMatmul", [value(["rows", 3], "uint8"), value([3, 4], "int8")], {}), ["rows", 4], "int32"],
  ];
  test.each(cases)("%s", (_, result, shape, dtype = "float32") => {
    expect(result.shape).toEqual(shape);
    expect(result.dtype).toBe(dtype);
  });

  test("a constant knows its type", () => {
    const arrays = [new Float32Array(2), new BigInt64Array(2), new Int32Array(2), new Int8Array(2), new Uint8Array(2)];
    expect(arrays.map((data) => g.constant(data, [2]).dtype)).toEqual(["float32", "int64", "int32", "int8", "uint8"]);
  });
});

describe("what is refused, and how it is said", () => {
  const cases: [() => unknown, string | RegExp][] = [
    [() => g.add(value([2]), value([3])), "add expected operands of one type whose shapes broadcast, got float32[2] and float32[3]"],
    [() => g.mul(value([2]), ids(2)), "mul expected operands of one type whose shapes broadcast, got float32[2] and int64[2]"],
    [() => g.where(value([2]), value([2]), value([2])), /^where expected a bool condition and two like branches, got float32\[2\] and/],
    [
      () => g.matmul(value(["rows", 3]), value([4, 5])),
      "matmul expected matching inner dimensions and batches, got float32[rows, 3] and float32[4, 5]",
    ],
    [() => g.matmul(value([3]), value([3, 5])), "matmul expected two matrices of one type, got float32[3] and float32[3, 5]"],
    [() => g.matmul(value([2, 3, 4]), value([3, 4, 5])), /^matmul expected matching inner dimensions and batches/],
    [() => g.transpose(value([2, 3]), [0]), "transpose expected an operand of rank 1, got float32[2, 3]"],
    [() => g.transpose(value([2, 3]), [0, 0]), "transpose expected a permutation of 2 axes, got [0, 0] for float32[2, 3]"],
    [() => g.reshape(value([2, 3]), [7]), "reshape expected as many elements as [7], got float32[2, 3]"],
    [() => g.expand(value([2, 3]), [2, 4]), "expand expected an operand that broadcasts to [2, 4], got float32[2, 3]"],
    [() => g.expand(value([2, 3]), [1, 3]), "expand expected an operand that broadcasts to [1, 3], got float32[2, 3]"],
    [
      () => g.concat([value([2, 3]), value([3, 3])], 1),
      "concat expected operands that differ only along axis 1, got float32[2, 3] and float32[3, 3]",
    ],
    [() => g.concat([value([2]), ids(2)], 0), /^concat expected operands that differ only along axis 0/],
    [() => g.slice(value([2, 5]), 1, 3, 3), "slice expected 3 from 3 within axis 1, got float32[2, 5]"],
    [() => g.slice(value([2, 5]), 2, 0, 1), "slice expected an axis from 0 to 1, got 2 for float32[2, 5]"],
    [() => g.padAxis(value([2, 5]), -1, 0, 1), "padAxis expected an axis from 0 to 1, got -1 for float32[2, 5]"],
    [() => g.gather(value([2, 5]), value([3])), "gather expected a table and int64 indices, got float32[2, 5] and float32[3]"],
    [
      () => g.scatterAdd(ids(3), value([2, 5]), 4),
      "scatterAdd expected int64 indices and one update for each, got int64[3] and float32[2, 5]",
    ],
    [() => g.pick(value([2, 5]), ids(2, 1)), "pick expected [rows, classes] and int64 [rows], got float32[2, 5] and int64[2, 1]"],
    [() => g.pick(value([2, 5]), ids(3)), "pick expected [rows, classes] and int64 [rows], got float32[2, 5] and int64[3]"],
    [
      () => g.rmsNorm(value([2, 5]), value([4]), 1e-6),
      "rmsNorm expected a weight as long as the last axis, got float32[2, 5] and float32[4]",
    ],
    [() => g.layerNorm(value([2, 5]), value([5]), value([4]), 1e-6), /^layerNorm expected weight and bias as long as the last axis/],
    [() => g.rotary(value([1, 2, 3, 8]), value([1, 3, 4]), value([1, 4, 4])), /^rotary expected \[batch, heads, rows, headDim\] and two/],
    [() => g.rotary(value([1, 2, 3, 8]), value([1, 3, 8]), value([1, 3, 8])), /^rotary expected \[batch, heads, rows, headDim\] and two/],
    [() => g.apply("neg", [value([2]), value([2])], {}), "neg expected one operand, got float32[2] and float32[2]"],
    [() => g.apply("dynamicQuantizeMatmul", [value([2, 3]), value([3, 4]), value([4])], {}), /^dynamicQuantizeMatmul expected/],
    [
      () => g.apply("integerMatmul", [value([2, 3], "uint8"), value([4, 4], "int8")], {}),
      /^integerMatmul expected \[rows, in\] and \[in, out\]/,
    ],
    [() => g.constant(new Float32Array(3), [2, 2]), "constant expected 2×2 elements, got 3"],
    [() => g.reduceMean(value(["rows", 2]), [0]), "reduceMean expected axes of known length, got [rows, 2] along 0"],
  ];
  test.each(cases)("case %#", (make, message) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test("an axis beyond the rank", () => {
    expect(() => g.reduceSum(value([2, 3]), [2])).toThrow(new RangeError("axis expected within rank 2, got 2"));
    expect(() => g.concat([value([2, 3])], 2)).toThrow(RangeError);
  });
});
