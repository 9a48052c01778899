import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeRuntime } from "../../test/runtime-conformance.ts";
import { lower } from "../graph/lowering.ts";
import * as g from "../graph/ops.ts";
import { nodeRuntime } from "./onnxruntime.node.ts";
import { float32 } from "./session.ts";

describeRuntime("ONNX Runtime in this process", nodeRuntime);

test("external weights are found by folder, file and offset", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weights-"));
  try {
    await writeFile(join(folder, "numbers.bin"), new Uint8Array(Float32Array.of(7, 7, 1, 2, 3, 4).buffer));
    const y = g.linear(g.input("x", "float32", ["rows", 2]), g.parameter("weight", [2, 2]));
    const program = lower({ name: "external", outputs: { y } }, () => ({
      kind: "external",
      weight: { location: "numbers.bin", offset: 8, byteLength: 16, dtype: "float32" },
    }));
    const session = await nodeRuntime.load(program, { weightsFolder: folder, quietThreads: true });
    expect((await session.run({ x: float32(Float32Array.of(1, 10), [1, 2]) }, ["y"])).y.data).toEqual(Float32Array.of(21, 43));
    await session.release();
    await expect(nodeRuntime.load(program, { weightsFolder: join(folder, "elsewhere") })).rejects.toMatchObject({
      code: "runtime-unavailable",
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
