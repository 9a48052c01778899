import { expect, test } from "vitest";
import { createRandom } from "../../diffusion/random.ts";
import { nodeRuntime } from "../../runtime/onnxruntime.node.ts";
import { float32, int64, type Tensors } from "../../runtime/session.ts";
import { lower, type ParameterBinding } from "../lowering.ts";
import * as g from "../ops.ts";
import { leaves, type OpName, type Program, topologicalOrder, type Value } from "../value.ts";
import { emptyPackedData, packRows } from "./packed-weights.ts";
import { type LinearFormat, quantise } from "./quantise.ts";
import { keepTablesAsStored } from "./stored-tables.ts";

const [VOCABULARY, WIDTH, INNER] = [50, 64, 96];

/** Two layers that share an operand, one that follows, a table, a kernel and a norm: everything the rewrite tells apart. */
function program(): Program {
  const table = g.parameter("table", [VOCABULARY, WIDTH]);
  const tokens = g.gather(table, g.input("ids", "int64", ["rows"])); // [rows, WIDTH]
  const pixels = g.linear(g.input("pixels", "float32", ["rows", 12]), g.reshape(g.parameter("kernel", [WIDTH, 3, 4]), [WIDTH, 12]));
  const normed = g.rmsNorm(g.add(tokens, pixels), g.parameter("norm", [WIDTH]), 1e-6);
  const gated = g.mul(g.silu(g.linear(normed, g.parameter("gate", [INNER, WIDTH]))), g.linear(normed, g.parameter("up", [INNER, WIDTH])));
  const hidden = g.linear(gated, g.parameter("down", [WIDTH, INNER]), g.parameter("bias", [WIDTH]));
  return { name: "test", outputs: { hidden, logits: g.linear(hidden, table) } };
}

const random = createRandom(5);
const draw = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.uniform() * 2 - 1);
const weights = new Map(
  leaves(program(), "parameter").map(({ attributes: { name }, shape }) => {
    const [rows, ...rest] = shape as number[];
    const scale = rest.length === 0 ? 1 : Math.sqrt(3 / rest.reduce((a, b) => a * b, 1));
    return [name, draw(rows * rest.reduce((a, b) => a * b, 1)).map((value) => value * scale)] as const;
  }),
);

const bytes = (data: Float32Array | Int8Array | Uint8Array) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** Runs the program with its weights packed as the rewrite asks. */
async function run(original: Program, format: LinearFormat | null, feeds: Tensors): Promise<Tensors> {
  const { program: rewritten, weights: packed } = format ? quantise(original, format) : { program: original, weights: [] };
  const inMemory = new Map([...weights].map(([name, data]) => [name, bytes(data)]));
  for (const weight of packed) {
    const data = emptyPackedData(weight);
    packRows(weight, data, 0, weights.get(weight.source)!);
    inMemory.set(weight.values.attributes.name, bytes(data.values));
    inMemory.set(weight.scales.attributes.name, bytes(data.scales));
  }
  const bind = ({ attributes: { name }, dtype }: Value<"parameter">): ParameterBinding => ({
    kind: "external",
    weight: { location: name, offset: 0, byteLength: inMemory.get(name)!.length, dtype },
  });
  const session = await nodeRuntime.load(lower(rewritten, bind), { threads: 1, weightsInMemory: inMemory });
  try {
    return await session.run(feeds, Object.keys(rewritten.outputs));
  } finally {
    await session.release();
  }
}

const ROWS = 6;
const feeds: Tensors = { ids: int64([3, 1, 4, 1, 5, 49]), pixels: float32(draw(ROWS * 12), [ROWS, 12]) };

/** Norm of the difference over norm of the truth. */
function relativeError(found: Tensors, truth: Tensors, name: string): number {
  const [a, b] = [found[name].data as Float32Array, truth[name].data as Float32Array];
  const norm = (x: Float32Array) => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
  return norm(a.map((value, i) => value - b[i])) / norm(b);
}

const count = (rewritten: Program, op: OpName): number =>
  topologicalOrder(Object.values(rewritten.outputs)).filter((value) => value.op === op).length;

const rowwise: LinearFormat = { kind: "int8", activations: "row", weightLimit: 127 };
const cases: readonly [string, LinearFormat, number][] = [
  ["int8, a scale per row", rowwise, 0.015],
  ["int8, a scale per tensor", { kind: "int8", activations: "tensor", weightLimit: 127 }, 0.02],
  ["7 bits", { kind: "int8", activations: "row", weightLimit: 63 }, 0.025],
  ["8 bits in blocks", { kind: "blocks", bits: 8, blockSize: 32, accuracyLevel: 4 }, 0.015],
  ["4 bits in blocks", { kind: "blocks", bits: 4, blockSize: 32, accuracyLevel: 4 }, 0.16],
];

test.each(cases)("%s: close to float32", async (_, format, bound) => {
  const truth = await run(program(), null, feeds);
  const found = await run(program(), format, feeds);
  for (const name of ["hidden", "logits"]) {
    const error = relativeError(found, truth, name);
    expect(error, name).toBeLessThan(bound);
    expect(error, name).toBeGreaterThan(0);
  }
});

test("int8 quantises an operand once for all layers that share it", () => {
  const { program: rewritten, weights: packed } = quantise(program(), rowwise);
  expect(packed.map(({ values }) => values.attributes.name)).toEqual([
    "table:int8-table",
    "gate:int8",
    "up:int8",
    "down:int8",
    "table:int8",
  ]);
  expect(count(rewritten, "integerMatmul")).toBe(4);
  expect(count(rewritten, "round")).toBe(3);
  expect(count(rewritten, "matmul")).toBe(1);
});

test("norms, biases and kernels stay as they are", () => {
  const { program: rewritten } = quantise(program(), rowwise);
  const plain = leaves(rewritten, "parameter").filter(({ dtype, attributes: { name } }) => dtype === "float32" && !name.includes(":"));
  expect(plain.map(({ attributes: { name } }) => name).sort()).toEqual(["bias", "kernel", "norm"]);
});

test("with a scale per row, a row's answer does not depend on its company; with one per tensor it does", async () => {
  const x = g.input("x", "float32", ["rows", WIDTH]);
  const layer: Program = { name: "test", outputs: { y: g.linear(x, g.parameter("gate", [INNER, WIDTH])) } };
  const row = draw(WIDTH);
  const company = Float32Array.of(...row, ...draw(WIDTH).map((value) => value * 1000));
  const answer = async (format: LinearFormat, data: Float32Array) =>
    ((await run(layer, format, { x: float32(data, [data.length / WIDTH, WIDTH]) })).y.data as Float32Array).subarray(0, INNER);
  expect(await answer(rowwise, company)).toEqual(await answer(rowwise, row));
  const tensorwise: LinearFormat = { kind: "int8", activations: "tensor", weightLimit: 127 };
  expect(await answer(tensorwise, company)).not.toEqual(await answer(tensorwise, row));
});

test("a row of zeros gives zeros", async () => {
  const x = g.input("x", "float32", ["rows", WIDTH]);
  const layer: Program = { name: "test", outputs: { y: g.linear(x, g.parameter("gate", [INNER, WIDTH])) } };
  const { y } = await run(layer, rowwise, { x: float32(new Float32Array(WIDTH), [1, WIDTH]) });
  expect((y.data as Float32Array).every((value) => value === 0)).toBe(true);
});

test("a table that is only looked up stays as stored; one that is multiplied by as well does not", () => {
  const lookUp = (multiplied: boolean): Program => {
    const table = g.parameter("table", [VOCABULARY, WIDTH]);
    const rows = g.gather(table, g.input("ids", "int64", ["rows"]));
    return { name: "test", outputs: { y: multiplied ? g.linear(rows, table) : rows } };
  };
  const dtypes = (kept: Program) => leaves(kept, "parameter").map(({ dtype }) => dtype);
  expect(dtypes(keepTablesAsStored(lookUp(false), () => "bfloat16"))).toEqual(["bfloat16"]);
  expect(dtypes(keepTablesAsStored(lookUp(true), () => "bfloat16"))).toEqual(["float32"]);
  const float = lookUp(false);
  expect(keepTablesAsStored(float, () => "float32").outputs.y).toBe(float.outputs.y);
});
