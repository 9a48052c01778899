import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tinyFolder } from "../../test/tiny.ts";
import { type Checkpoint, openCheckpoint } from "../checkpoint/folder.ts";
import { quantise } from "../graph/passes/quantise.ts";
import { leaves, type Value } from "../graph/value.ts";
import { decodeProgram, encodeImageProgram } from "../model/programs.ts";
import { tensorGroups } from "./packed-tensors.ts";
import { cachedWeights, defaultCacheDir, type PackedWeights } from "./weight-cache.ts";

let folder: string;
let cacheDir: string;
let checkpoint: Checkpoint;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weight-cache-"));
  cacheDir = join(folder, "cache");
  await cp(tinyFolder(), join(folder, "checkpoint"), { recursive: true });
  checkpoint = await openCheckpoint(join(folder, "checkpoint"));
});
afterEach(async () => {
  await checkpoint.close();
  await rm(folder, { recursive: true });
});

const quantised = (weightLimit: 127 | 63 = 127) =>
  [encodeImageProgram(checkpoint.config), decodeProgram(checkpoint.config)].map((program) =>
    quantise(program, { kind: "int8", activations: "row", weightLimit }),
  );

/** Packs, and counts how many tensors had to be made for it. */
async function pack(options: { weightLimit?: 127 | 63; cacheDir?: string; onWarning?: (message: string) => void } = {}) {
  let made = 0;
  const groups = tensorGroups(checkpoint, quantised(options.weightLimit)).map((group) => ({
    ...group,
    make: () => {
      made++;
      return group.make();
    },
  }));
  const weights = await cachedWeights(checkpoint, groups, { cacheDir, ...options });
  return { weights, made, groups: groups.length };
}

const parameters = (): Value<"parameter">[] => quantised().flatMap(({ program }) => leaves(program, "parameter"));

async function bytesOf({ bind, location }: PackedWeights, parameter: Value<"parameter">): Promise<Uint8Array> {
  const binding = bind(parameter);
  if (binding.kind !== "external") throw new Error("expected an external weight");
  const { location: file, offset, byteLength } = binding.weight;
  const all = "weightsFolder" in location ? await readFile(join(location.weightsFolder, file)) : location.weightsInMemory.get(file)!;
  return new Uint8Array(all.subarray(offset, offset + byteLength));
}

const files = async () => readdir(join(cacheDir, "mineru-diffusion"));

describe("the file", () => {
  test("is made once and found again", async () => {
    const first = await pack();
    expect(first.made).toBe(first.groups);
    const second = await pack();
    expect(second.made).toBe(0);
    expect(second.weights.location).toEqual({ weightsFolder: join(cacheDir, "mineru-diffusion") });
    expect(await files()).toHaveLength(1);
    for (const parameter of parameters()) expect(second.weights.bind(parameter)).toEqual(first.weights.bind(parameter));
  });

  test("holds every parameter: kept ones as they are, others packed", async () => {
    const { weights } = await pack();
    const norm = parameters().find(({ attributes: { name } }) => name === "language_model.model.norm.weight")!;
    const expected = await checkpoint.readFloat32("language_model.model.norm.weight");
    expect(new Float32Array((await bytesOf(weights, norm)).buffer)).toEqual(expected);

    const name = "language_model.model.layers.0.mlp.down_proj.weight";
    const find = (wanted: string) => parameters().find((parameter) => parameter.attributes.name === wanted)!;
    const values = new Int8Array((await bytesOf(weights, find(`${name}:int8`))).buffer);
    const scales = new Float32Array((await bytesOf(weights, find(`${name}:int8:scale`))).buffer);
    const source = await checkpoint.readFloat32(name); // [64, 128]
    const worst = Math.max(
      ...source.map((value, i) => Math.abs(value - values[(i % 128) * 64 + Math.floor(i / 128)] * scales[i >> 7]) / scales[i >> 7]),
    );
    expect(worst).toBeLessThan(0.501);
    expect(worst).toBeGreaterThan(0.4);
  });

  test("places do not overlap, and large ones begin on a page", async () => {
    const { weights } = await pack();
    const places = [...new Set(parameters())].map((parameter) => {
      const binding = weights.bind(parameter);
      return binding.kind === "external" ? binding.weight : expect.fail();
    });
    places.sort((a, b) => a.offset - b.offset);
    for (const [i, { offset, byteLength }] of places.entries()) {
      expect(offset % (byteLength >= 4096 ? 4096 : 64)).toBe(0);
      if (i > 0) expect(offset).toBeGreaterThanOrEqual(places[i - 1].offset + places[i - 1].byteLength);
    }
    const { size } = await stat(join(cacheDir, "mineru-diffusion", (await files())[0]));
    expect(size).toBe(places.at(-1)!.offset + places.at(-1)!.byteLength);
  });

  test("is made anew when the packing differs, and the other is kept", async () => {
    await pack();
    expect((await pack({ weightLimit: 63 })).made).toBeGreaterThan(0);
    expect(await files()).toHaveLength(2);
    expect((await pack()).made).toBe(0);
  });

  test("is made anew when a weight file has another time or other contents", async () => {
    await pack();
    const shard = [...checkpoint.tensors.values()][0].file;
    const { atime, mtime } = await stat(shard);
    await utimes(shard, atime, new Date(mtime.getTime() + 5000));
    expect((await pack()).made).toBeGreaterThan(0);
    const contents = await readFile(shard);
    contents[contents.length - 1] ^= 1;
    for (let i = 8; i < contents.length; i += 64) contents[i] ^= 1;
    const { atime: atimeNow, mtime: mtimeNow } = await stat(shard);
    await writeFile(shard, contents);
    await utimes(shard, atimeNow, mtimeNow);
    expect((await pack()).made).toBeGreaterThan(0);
  });

  test("is made anew when it was cut or its header spoilt", async () => {
    await pack();
    const path = join(cacheDir, "mineru-diffusion", (await files())[0]);
    const whole = await readFile(path);
    await truncate(path, whole.length - 1);
    expect((await pack()).made).toBeGreaterThan(0);
    expect(await readFile(path)).toEqual(whole);
    const spoilt = new Uint8Array(whole);
    spoilt[0] ^= 1;
    await writeFile(path, spoilt);
    expect((await pack()).made).toBeGreaterThan(0);
    expect(await readFile(path)).toEqual(whole);
  });

  test("is made in a folder swept of what killed processes left, and of nothing else", async () => {
    await pack();
    const [file] = await files();
    const [old, young] = ["old", "young"].map((name) => join(cacheDir, "mineru-diffusion", `${file}.${name}.part`));
    await writeFile(old, "");
    await writeFile(young, "");
    const longAgo = new Date(Date.now() - 25 * 3600 * 1000);
    await utimes(old, longAgo, longAgo);
    await utimes(join(cacheDir, "mineru-diffusion", file), longAgo, longAgo);
    await pack({ weightLimit: 63 });
    const left = await files();
    expect(left).toContain(`${file}.young.part`);
    expect(left).toContain(file);
    expect(left).toHaveLength(3);
  });

  test("is never left half made", async () => {
    const groups = tensorGroups(checkpoint, quantised()).map((group, i) => ({
      ...group,
      make: () => (i === 3 ? Promise.reject(new Error("interrupted")) : group.make()),
    }));
    await expect(cachedWeights(checkpoint, groups, { cacheDir })).rejects.toThrow("interrupted");
    expect(await files()).toEqual([]);
  });
});

test("where nothing can be written the weights stay in memory, and the caller is told", async () => {
  const { weights: onDisk } = await pack();
  const blocked = join(folder, "a-file");
  await writeFile(blocked, "");
  const warnings: string[] = [];
  const { weights } = await pack({ cacheDir: blocked, onWarning: (message) => warnings.push(message) });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^packed weights are kept in memory and made again at every start: .*choose another cache folder$/);
  for (const parameter of parameters()) expect(await bytesOf(weights, parameter)).toEqual(await bytesOf(onDisk, parameter));
});

test("the cache folder is the platform's", () => {
  expect(defaultCacheDir({ XDG_CACHE_HOME: "/x" }, "linux")).toBe("/x");
  expect(defaultCacheDir({}, "linux")).toBe(join(homedir(), ".cache"));
  expect(defaultCacheDir({ LOCALAPPDATA: "C:\\local" }, "win32")).toBe("C:\\local");
  expect(defaultCacheDir({ LOCALAPPDATA: "C:\\local" }, "linux")).toBe(join(homedir(), ".cache"));
});
