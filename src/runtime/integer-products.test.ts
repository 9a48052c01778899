import { expect, test } from "vitest";
import { integerProductsSaturate } from "./integer-products.ts";
import { nodeRuntime } from "./onnxruntime.node.ts";
import type { Runtime, Tensors } from "./session.ts";

/** Loses in one output what a processor loses whose pairs of products stop at 2¹⁵ − 1. */
const losing = (output: string): Runtime => ({
  async load(program, options) {
    const session = await nodeRuntime.load(program, options);
    return {
      ...session,
      async run(feeds, outputs): Promise<Tensors> {
        const found = await session.run(feeds, outputs);
        const { data, ...rest } = found[output];
        return { ...found, [output]: { ...rest, data: (data as Float32Array).map((value) => (value * (2 ** 15 - 1)) / (2 * 255 * 127)) } };
      },
    };
  },
});

test("either kind of integer product may give it away", async () => {
  expect(await integerProductsSaturate(losing("dynamic"))).toBe(true);
  expect(await integerProductsSaturate(losing("integer"))).toBe(true);
});

test("a processor with VNNI or AMX is not suspected", async (context) => {
  const { readFile } = await import("node:fs/promises");
  const flags = await readFile("/proc/cpuinfo", "utf8").catch(() => "");
  if (!/avx512_vnni|avx_vnni/.test(flags)) context.skip("this processor has no VNNI");
  expect(await integerProductsSaturate(nodeRuntime)).toBe(false);
});
