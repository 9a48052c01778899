import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goldenJson, loadWithWeights, maxDifference, tinyFolder } from "../../test/tiny.ts";
import { openCheckpoint } from "../checkpoint/folder.ts";
import { blockMask } from "../diffusion/block-mask.ts";
import { HIDDEN } from "../diffusion/training-mask.ts";
import { MineruError } from "../error.ts";
import { decoderRotary, visionRotary } from "../model/positions.ts";
import { decodeProgram } from "../model/programs.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { float32, int64, type Runtime, type Tensors } from "../runtime/session.ts";
import { KeyValueCache } from "./key-value-cache.ts";
import type { PrecisionChoice } from "./precision.ts";
import { loadSessions, type ModelSessions, type SessionsOptions } from "./sessions.ts";
import { cachedWeights } from "./weight-cache.ts";

let cacheDir: string;
beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "sessions-"));
});
afterAll(() => rm(cacheDir, { recursive: true }));

const load = async (options: SessionsOptions, { folder = tinyFolder(), runtime = nodeRuntime as Runtime } = {}) => {
  await using checkpoint = await openCheckpoint(folder);
  return {
    config: checkpoint.config,
    sessions: await loadSessions(checkpoint, runtime, cachedWeights, { cacheDir, threads: 1, ...options }),
  };
};

/** A prompt and a masked block in one pass: the logits of every row. */
async function decodeLogits(
  { decode }: ModelSessions,
  { text, maskTokenId }: Awaited<ReturnType<typeof load>>["config"],
): Promise<Float32Array> {
  const { prompts } = await goldenJson<{ prompts: { name: string; ids: number[] }[] }>("prefill.json");
  const prompt = prompts.find(({ name }) => name === "text-other")!.ids;
  const ids = [...prompt, ...Array<number>(32).fill(maskTokenId)];
  const rows = ids.length;
  const { cos, sin } = decoderRotary(
    Int32Array.from(ids, (_, i) => i),
    text.headDim,
    text.ropeTheta,
  );
  const visible = blockMask(prompt.length, 32, 32);
  const { logits } = await decode.run(
    {
      ...KeyValueCache.empty(text),
      ids: int64(ids, [1, rows]),
      imageFeatures: float32(new Float32Array(text.hiddenSize), [1, text.hiddenSize]),
      imageIndex: int64(Array<number>(rows).fill(-1), [1, rows]),
      cos: float32(cos, [1, rows, text.headDim / 2]),
      sin: float32(sin, [1, rows, text.headDim / 2]),
      mask: float32(
        Float32Array.from(visible, (seen) => (seen ? 0 : HIDDEN)),
        [1, 1, rows, rows],
      ),
      wanted: int64(ids.map((_, i) => i)),
    },
    ["logits"],
  );
  return logits.data as Float32Array;
}

async function imageFeatures(
  { encodeImage }: ModelSessions,
  { vision }: Awaited<ReturnType<typeof load>>["config"],
): Promise<Float32Array> {
  const { cos, sin } = visionRotary(4, 6, vision.mergeSize, vision.embedDim / vision.heads);
  const width = vision.inChannels * vision.temporalPatchSize * vision.patchSize ** 2;
  const pixels = Float32Array.from({ length: 24 * width }, (_, i) => Math.sin(i * 0.37) * 2);
  const { features } = await encodeImage.run(
    { pixels: float32(pixels, [1, 6, 4 * width]), imageCos: float32(cos, [1, 24, 8 / 2 + 4]), imageSin: float32(sin, [1, 24, 8 / 2 + 4]) },
    ["features"],
  );
  return features.data as Float32Array;
}

const norm = (x: Float32Array): number => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
const relative = (found: Float32Array, truth: Float32Array): number => norm(found.map((value, i) => value - truth[i])) / norm(truth);

describe("what a precision costs on the tiny checkpoint (relative error of all logits, of all image features)", () => {
  let truth: { logits: Float32Array; features: Float32Array };
  beforeAll(async () => {
    const { sessions, config } = await load({ precision: "float32" });
    truth = { logits: await decodeLogits(sessions, config), features: await imageFeatures(sessions, config) };
    await sessions[Symbol.asyncDispose]();
  });

  // Random weights of width 64 are the worst case: nothing averages out. Measured: see docs/log.md.
  test.each<[PrecisionChoice, number, number]>([
    ["int8", 0.05, 0.03],
    ["int8-tensor", 0.05, 0.03],
    ["int4", 0.45, 0.3],
  ])("%s", async (precision, ofLogits, ofFeatures) => {
    const { sessions, config } = await load({ precision });
    const errors = [
      relative(await decodeLogits(sessions, config), truth.logits),
      relative(await imageFeatures(sessions, config), truth.features),
    ];
    await sessions[Symbol.asyncDispose]();
    expect(errors[0]).toBeLessThan(ofLogits);
    expect(errors[1]).toBeLessThan(ofFeatures);
    for (const error of errors) expect(error).toBeGreaterThan(1e-4);
  });

  test("packed weights in memory compute what those on disk do", async () => {
    const onDisk = await load({ precision: "int4" });
    const warnings: string[] = [];
    const inMemory = await load({ precision: "int4", cacheDir: "/dev/null", onWarning: (message) => warnings.push(message) });
    expect(warnings).toHaveLength(1);
    expect(await decodeLogits(inMemory.sessions, inMemory.config)).toEqual(await decodeLogits(onDisk.sessions, onDisk.config));
    await inMemory.sessions[Symbol.asyncDispose]();
    await onDisk.sessions[Symbol.asyncDispose]();
  });
});

test("float32 packs nothing", async () => {
  const own = join(cacheDir, "float32");
  const { sessions } = await load({ cacheDir: own });
  await sessions[Symbol.asyncDispose]();
  expect(sessions.precision.precision).toBe("float32");
  await expect(readdir(own)).rejects.toThrow("ENOENT");
});

test("a 16-bit table that stays as stored gives what its widened copy gives", async () => {
  const { sessions, config } = await load({}, { folder: tinyFolder("tiny-bf16") });
  const found = await decodeLogits(sessions, config);
  await sessions[Symbol.asyncDispose]();
  const { session } = await loadWithWeights(decodeProgram(config), "tiny-bf16");
  expect(maxDifference(found, await decodeLogits({ ...sessions, decode: session }, config))).toBeLessThan(1e-4);
  await session.release();
});

/** A graphics device that answers its probe from memory, which is quick, but cannot hold a model. */
const forgetful: Runtime = {
  async load(program, options = {}) {
    if (options.device === "cpu") return nodeRuntime.load(program, options);
    if (options.device === "cuda") throw new MineruError("runtime-unavailable", "no cuda");
    if (program.outputs[0] !== "y") throw new MineruError("runtime-unavailable", "out of memory");
    const session = await nodeRuntime.load(program, { ...options, device: "cpu" });
    let known: Promise<Tensors> | undefined;
    return { ...session, run: (...run) => (known ??= session.run(...run)) };
  },
};

describe("a device that cannot load the model", () => {
  test("is left for the processor, with a warning, if it was chosen by itself", async () => {
    const warnings: string[] = [];
    const { sessions } = await load({ device: "auto", onWarning: (message) => warnings.push(message) }, { runtime: forgetful });
    expect(sessions.device).toMatchObject({ device: "cpu", why: "the model could not be loaded on webgpu" });
    expect(warnings).toEqual(["computing on the processor (cuda: no cuda; webgpu: out of memory)"]);
    await sessions[Symbol.asyncDispose]();
  });

  test("is an error if it was asked for by name", async () => {
    await expect(load({ device: "webgpu" }, { runtime: forgetful })).rejects.toMatchObject({
      code: "runtime-unavailable",
      message: "out of memory",
    });
  });
});

test("auto on a machine without graphics warns and computes", async () => {
  const warnings: string[] = [];
  const { sessions } = await load({ device: "auto", onWarning: (message) => warnings.push(message) });
  if (sessions.device.device === "cpu") expect(warnings[0]).toMatch(/^computing on the processor \(cuda: .+; webgpu: .+\)$/s);
  else expect(warnings).toEqual([]);
  await sessions[Symbol.asyncDispose]();
});

test("small models compute on one thread unless told otherwise", async () => {
  const asked: (number | undefined)[] = [];
  const runtime: Runtime = {
    ...nodeRuntime,
    load: (program, options) => {
      asked.push(options?.threads);
      return nodeRuntime.load(program, options);
    },
  };
  for (const threads of [undefined, 2]) await (await load({ threads }, { runtime })).sessions[Symbol.asyncDispose]();
  expect(asked).toEqual([1, 1, 2, 2]);
});
