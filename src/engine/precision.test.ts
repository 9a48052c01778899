import { describe, expect, test } from "vitest";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import type { Runtime, Tensor, Tensors } from "../runtime/session.ts";
import { choosePrecision, type PrecisionChoice, type PrecisionQuestion } from "./precision.ts";

/** Answers every run with one number, which is right (256) or what saturated products come to. */
const answering = (value: number): Runtime => ({
  load: async () => ({
    run: async (_feeds, outputs): Promise<Tensors> => {
      const tensor: Tensor = { dtype: "float32", shape: [1], data: Float32Array.of(value) };
      return Object.fromEntries(outputs.map((name) => [name, tensor]));
    },
    release: async () => undefined,
  }),
});

const ask = (wanted: PrecisionChoice, question: Partial<PrecisionQuestion> = {}) =>
  choosePrecision({ wanted, device: "cpu", runtime: answering(256), parameterCount: 2.5e9, ...question });

describe("auto", () => {
  test("leaves a small model as trained", async () => {
    const chosen = await ask("auto", { parameterCount: 3.2e6 });
    expect(chosen).toEqual({ precision: "float32", why: "3.2 million parameters are few enough to stay as trained", linear: null });
  });

  test("takes int8 for a large one on the processor, with a scale per row", async () => {
    const { precision, why, linear } = await ask("auto");
    expect(precision).toBe("int8");
    expect(why).toBe("2500 million parameters: a quarter of the memory of float32, and the fastest for whole blocks");
    expect(linear).toEqual({ kind: "int8", activations: "row", weightLimit: 127 });
  });

  test("gives up a bit of the weights where products saturate", async () => {
    const { precision, why, linear } = await ask("auto", { runtime: answering(129) });
    expect(precision).toBe("int8");
    expect(why).toContain("weights in 7 bits, since integer products of this processor saturate");
    expect(linear).toMatchObject({ weightLimit: 63 });
  });

  test("takes int4 where int8 has no kernels", async () => {
    expect(await ask("auto", { device: "webgpu" })).toMatchObject({ precision: "int4", linear: { kind: "blocks", bits: 4 } });
  });
});

test("what is asked for is done, whatever the size", async () => {
  expect(await ask("float32")).toEqual({ precision: "float32", why: "asked for", linear: null });
  expect(await ask("int8", { parameterCount: 10 })).toMatchObject({ precision: "int8", why: "asked for" });
  expect(await ask("int8-tensor")).toMatchObject({ linear: { kind: "int8", activations: "tensor" } });
  expect(await ask("int4")).toMatchObject({ linear: { kind: "blocks", bits: 4, blockSize: 32 } });
});

test("refuses what the device cannot do and what is no precision", async () => {
  await expect(ask("int8", { device: "cuda" })).rejects.toThrow("`precision` expected auto, float32 or int4 on cuda, got int8");
  await expect(ask("half" as PrecisionChoice)).rejects.toThrow('`precision` expected auto, float32, int8, int8-tensor, int4, got "half"');
});

test("asks the runtime it will run on", async () => {
  const { linear } = await ask("int8", { runtime: nodeRuntime });
  expect(linear).toMatchObject({ kind: "int8" });
});
