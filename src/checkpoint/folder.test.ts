import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCheckpoint } from "./folder.ts";
import { tinyRandomTensors, writeRandomCheckpoint } from "./random.ts";
import { saveCheckpoint } from "./save.ts";

const golden = new URL("../../test/golden/model/", import.meta.url).pathname;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "checkpoint-"));
});
afterAll(() => rm(folder, { recursive: true }));

const place = (name: string) => join(folder, name);
const copyOfTiny = async (name: string) => {
  await cp(join(golden, "tiny"), place(name), { recursive: true });
  return place(name);
};

describe("opening", () => {
  it("reads the sharded golden folder whole", async () => {
    await using checkpoint = await openCheckpoint(join(golden, "tiny"));
    expect(checkpoint.config.text.layers).toBe(3);
    expect(checkpoint.generation.stopTokenIds).toEqual([514, 512]);
    expect(checkpoint.preprocessor).toMatchObject({ patch_size: 14, max_pixels: 1605632 });
    expect(checkpoint.tokenizerFiles.tokenizerJson).toHaveProperty("model.type", "BPE");
    expect(checkpoint.tokenizerFiles.tokenizerConfig).toHaveProperty("eos_token", "<|im_end|>");
    expect(checkpoint.tokenizerFiles.vocab).toBeUndefined();
    expect(checkpoint.tokenizerFiles.chatTemplate).toContain("<|im_start|>");
    expect(checkpoint.tensors.size).toBe(67);
    const tensor = checkpoint.tensors.get("vision_model.patch_embed.proj.weight")!;
    expect(tensor.file).toBe(join(golden, "tiny/model-00002-of-00002.safetensors"));
    const bytes = (await readFile(tensor.file)).subarray(tensor.offset, tensor.offset + tensor.byteLength);
    expect(Buffer.from(await checkpoint.readRaw("vision_model.patch_embed.proj.weight")).equals(bytes)).toBe(true);
    expect((await checkpoint.readFloat32("vision_model.patch_embed.proj.weight")).length).toBe(32 * 3 * 2 * 14 * 14);
    await expect(checkpoint.readFloat32("nothing")).rejects.toMatchObject({ code: "checkpoint-invalid" });
  });

  it("reads single files of 16-bit weights", async () => {
    for (const [variant, dtype] of [
      ["tiny-bf16", "BF16"],
      ["tiny-f16", "F16"],
    ]) {
      await using checkpoint = await openCheckpoint(join(golden, variant));
      expect(checkpoint.tensors.size).toBe(67);
      expect(checkpoint.tensors.get("language_model.model.norm.weight")?.dtype).toBe(dtype);
      expect(checkpoint.generation.stopTokenIds).toEqual([514]);
    }
  });

  it("offers vocab.json and merges.txt where there is no tokenizer.json", async () => {
    const dir = await copyOfTiny("old-tokenizer");
    await rm(join(dir, "tokenizer.json"));
    await using checkpoint = await openCheckpoint(dir);
    expect(checkpoint.tokenizerFiles.tokenizerJson).toBeUndefined();
    expect(checkpoint.tokenizerFiles.vocab).toHaveProperty("!", 0);
    expect(checkpoint.tokenizerFiles.merges).toContain("h e");
  });

  it("says what was expected of a folder that is none", async () => {
    const refused = { code: "checkpoint-missing", message: expect.stringContaining("a folder with config.json and model.safetensors") };
    await expect(openCheckpoint(place("nowhere"))).rejects.toMatchObject(refused);
    await expect(openCheckpoint(golden)).rejects.toMatchObject(refused);
    await expect(openCheckpoint(join(golden, "tiny-other-spelling"))).rejects.toMatchObject(refused);
    const dir = await copyOfTiny("pickled");
    for (const name of await readdir(dir)) if (name.startsWith("model")) await rm(join(dir, name));
    await writeFile(join(dir, "pytorch_model.bin"), "");
    await expect(openCheckpoint(dir)).rejects.toThrow(/got no weights; PyTorch files are not read/);
  });

  it("refuses an index that does not fit its shards", async () => {
    const dir = await copyOfTiny("bad-index");
    const path = join(dir, "model.safetensors.index.json");
    const index = JSON.parse(await readFile(path, "utf8"));
    const withMap = (map: unknown) => writeFile(path, JSON.stringify({ ...index, weight_map: map }));
    await withMap({ ...index.weight_map, extra: "model-00001-of-00002.safetensors" });
    await expect(openCheckpoint(dir)).rejects.toThrow(/model-00001-of-00002\.safetensors: expected the tensors .* got none of extra/);
    await withMap({ ...index.weight_map, extra: "model-00003-of-00002.safetensors" });
    await expect(openCheckpoint(dir)).rejects.toMatchObject({
      code: "checkpoint-missing",
      message: expect.stringContaining("finish the download"),
    });
    await withMap({ a: "../bad-index/model-00001-of-00002.safetensors" });
    await expect(openCheckpoint(dir)).rejects.toThrow("expected file names of this folder");
    await withMap(["a"].length);
    await expect(openCheckpoint(dir)).rejects.toThrow("expected `weight_map`");
    await writeFile(path, "version https://git-lfs.github.com/spec/v1");
    await expect(openCheckpoint(dir)).rejects.toThrow("git lfs pull");
  });

  it("names missing, surplus and misshapen tensors in one error, a dozen each", async () => {
    await using checkpoint = await openCheckpoint(join(golden, "tiny"));
    const expected = new Map([...checkpoint.tensors].map(([name, { shape }]) => [name, shape]));
    checkpoint.verifyTensors(expected);
    expected.delete("language_model.lm_head.weight");
    expected.set("language_model.model.norm.weight", [65]);
    for (let i = 0; i < 14; i++) expected.set(`absent.${i}`, [1]);
    let message = "";
    try {
      checkpoint.verifyTensors(expected);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("14 missing: absent.0, ");
    expect(message).toContain("absent.11 and 2 more");
    expect(message).toContain("1 surplus: language_model.lm_head.weight");
    expect(message).toContain("1 misshapen: language_model.model.norm.weight (expected [65], got [64])");
  });
});

describe("saving", () => {
  const tensorsOf = async (dir: string) => {
    await using checkpoint = await openCheckpoint(dir);
    const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
    for (const [name, { shape }] of checkpoint.tensors) tensors.set(name, { shape, data: await checkpoint.readFloat32(name) });
    return { config: checkpoint.config, tensors };
  };

  /** Typed arrays by hash: comparing them element by element is what the matcher is slowest at. */
  const digest = ({ config, tensors }: Awaited<ReturnType<typeof tensorsOf>>) => {
    const hashes = [...tensors].map(([name, { shape, data }]) => [name, shape, createHash("sha1").update(data).digest("hex")]);
    return { config, hashes: hashes.sort(([a], [b]) => (a < b ? -1 : 1)) };
  };

  it("rounds as the golden 16-bit folders were rounded, bit for bit", async () => {
    const full = await tensorsOf(join(golden, "tiny"));
    for (const [variant, dtype] of [
      ["tiny-bf16", "bfloat16"],
      ["tiny-f16", "float16"],
    ] as const) {
      await saveCheckpoint(place(variant), { ...full, dtype });
      await using saved = await openCheckpoint(place(variant));
      await using theirs = await openCheckpoint(join(golden, variant));
      expect(saved.config).toEqual(theirs.config);
      for (const name of theirs.tensors.keys()) expect(Buffer.compare(await saved.readRaw(name), await theirs.readRaw(name))).toBe(0);
    }
  });

  it("shards, replaces an earlier save of another layout, and leaves other files alone", async () => {
    const dir = place("layouts");
    const full = await tensorsOf(join(golden, "tiny"));
    await saveCheckpoint(dir, {
      ...full,
      maxShardBytes: 300_000,
      files: { "generation_config.json": { eos_token_id: 3 }, "notes.txt": "a" },
    });
    await writeFile(join(dir, "trainer-state.json"), "{}");
    expect(digest(await tensorsOf(dir))).toEqual(digest(full));
    const sharded = (await readdir(dir)).filter((name) => name.startsWith("model-"));
    expect(sharded.length).toBeGreaterThan(3);
    await saveCheckpoint(dir, { ...full, files: { "notes.txt": Uint8Array.of(98) } });
    expect((await readdir(dir)).sort()).toEqual([
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "notes.txt",
      "trainer-state.json",
    ]);
    expect(await readFile(join(dir, "notes.txt"), "utf8")).toBe("b");
    expect(digest(await tensorsOf(dir))).toEqual(digest(full));
    await saveCheckpoint(dir, { ...full, maxShardBytes: 600_000 });
    expect((await readdir(dir)).filter((name) => name.startsWith("model"))).toHaveLength(3);
    expect(digest(await tensorsOf(dir))).toEqual(digest(full));
  });

  it("keeps the old checkpoint when a save fails", async () => {
    const dir = place("failing");
    const full = await tensorsOf(join(golden, "tiny"));
    await saveCheckpoint(dir, full);
    const tensors = new Map([...full.tensors, ["bad", { shape: [3], data: new Float32Array(2) }]] as const);
    await expect(saveCheckpoint(dir, { config: { ...full.config, blockLength: 8 }, tensors })).rejects.toThrow(RangeError);
    expect((await readdir(dir)).sort()).toEqual(["config.json", "model.safetensors"]);
    expect(digest(await tensorsOf(dir))).toEqual(digest(full));
    await expect(saveCheckpoint(dir, { ...full, files: { "model.safetensors": "" } })).rejects.toThrow(RangeError);
    await writeFile(place("a-file"), "");
    await expect(saveCheckpoint(place("a-file"), full)).rejects.toMatchObject({ code: "output-unwritable" });
  });
});

describe("random weights", () => {
  const shapes = new Map<string, number[]>([
    ["a.weight", [64, 256]],
    ["a.bias", [4096]],
    ["norm.weight", [4096]],
    ["b.weight", [64, 256]],
  ]);
  const moments = (data: Float32Array) => {
    const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
    return { mean, deviation: Math.sqrt(data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length) };
  };

  it("depend on seed and name only, and have the stated spread", () => {
    const tensors = tinyRandomTensors(shapes, 1);
    const reversed = tinyRandomTensors(new Map([...shapes].reverse()), 1);
    for (const name of shapes.keys()) expect(reversed.get(name)).toEqual(tensors.get(name));
    const data = (name: string) => tensors.get(name)!.data;
    expect(data("a.weight")).not.toEqual(data("b.weight"));
    expect(tinyRandomTensors(shapes, 2).get("a.weight")).not.toEqual(tensors.get("a.weight"));
    for (const [name, mean, deviation] of [
      ["a.weight", 0, 1 / 16],
      ["a.bias", 0, 0.1],
      ["norm.weight", 1, 0.1],
    ] as const) {
      const found = moments(data(name));
      expect(Math.abs(found.mean - mean)).toBeLessThan(0.1 * deviation);
      expect(Math.abs(found.deviation / deviation - 1)).toBeLessThan(0.03);
    }
    const correlation = data("a.weight").reduce((sum, value, i) => sum + value * data("b.weight")[i], 0) / data("a.weight").length;
    expect(Math.abs(correlation) * 256).toBeLessThan(0.05);
  });

  it("are written piece by piece with the same values, in shards", async () => {
    const { config } = await openCheckpoint(join(golden, "tiny-f16"));
    const large = new Map<string, number[]>([...shapes, ["large.weight", [1500, 1024]]]);
    const dir = place("random");
    await writeRandomCheckpoint(dir, { config, shapes: large, seed: 5, dtype: "bfloat16", maxShardBytes: 1_000_000 });
    await using checkpoint = await openCheckpoint(dir);
    checkpoint.verifyTensors(large);
    expect(new Set([...checkpoint.tensors.values()].map(({ file }) => file)).size).toBe(2);
    const rounded = place("rounded");
    await saveCheckpoint(rounded, { config, tensors: tinyRandomTensors(large, 5), dtype: "bfloat16" });
    await using whole = await openCheckpoint(rounded);
    for (const name of large.keys()) expect(Buffer.compare(await checkpoint.readRaw(name), await whole.readRaw(name))).toBe(0);
  });
});
