/**
 * The decoder against the reference (test/golden/model/prefill.safetensors): prompts, a first block blank and half filled, its commit to
 * the cache and the block after it, for three block lengths; and the equivalences that batching and caching rest on.
 */
import { describe, expect, test } from "vitest";
import {
  goldenJson,
  goldenTensors,
  loadWith,
  loadWithWeights,
  maxDifference,
  meanDifference,
  tinyConfig,
  tinyWeights,
} from "../../test/tiny.ts";
import { HIDDEN } from "../diffusion/training-mask.ts";
import { float32, int64, type Session, type Tensors } from "../runtime/session.ts";
import { decoderRotary } from "./positions.ts";
import { decodeProgram, pastName, presentName } from "./programs.ts";

interface GoldenPrompts {
  readonly maskTokenId: number;
  readonly prompts: readonly { readonly name: string; readonly ids: readonly number[]; readonly images: readonly string[] }[];
  readonly cases: readonly GoldenCase[];
}

interface GoldenCase {
  readonly prompt: string;
  readonly blockLength: number;
  readonly partial: readonly number[];
  readonly filled: readonly number[];
  readonly second: readonly number[];
}

const config = await tinyConfig();
const { text } = config;
const half = text.headDim / 2;
const golden = await goldenTensors("prefill.safetensors");
const vision = await goldenTensors("vision.safetensors");
const { prompts, cases, maskTokenId } = await goldenJson<GoldenPrompts>("prefill.json");

/** Keys and values per layer: [kvHeads, rows, headDim] each. */
type Cache = readonly { readonly key: Float32Array; readonly value: Float32Array }[];

/** Rows of one sequence: where they stand, what they see (1 or 0, over past and own columns), what is cached. */
interface Pass {
  readonly ids: readonly number[];
  readonly start: number;
  readonly mask: Uint8Array;
  readonly past?: Cache;
  readonly image?: Float32Array;
}

interface Outcome {
  readonly logits: Float32Array; // [rows, vocabSize]
  readonly present: Cache;
  readonly results: Tensors;
}

const emptyCache: Cache = Array.from({ length: text.layers }, () => ({ key: new Float32Array(0), value: new Float32Array(0) }));
const rowsOf = (cache: Cache): number => cache[0].key.length / (text.kvHeads * text.headDim);

/** Appends rows to a cache head by head. */
function grown(past: Cache, present: Cache): Cache {
  const join = (a: Float32Array, b: Float32Array) => {
    const [rowsA, rowsB] = [a, b].map((x) => x.length / text.kvHeads);
    const joined = new Float32Array(a.length + b.length);
    for (let head = 0; head < text.kvHeads; head++) {
      joined.set(a.subarray(head * rowsA, (head + 1) * rowsA), head * (rowsA + rowsB));
      joined.set(b.subarray(head * rowsB, (head + 1) * rowsB), head * (rowsA + rowsB) + rowsA);
    }
    return joined;
  };
  return past.map(({ key, value }, i) => ({ key: join(key, present[i].key), value: join(value, present[i].value) }));
}

async function pass(
  session: Session,
  { ids, start, mask, past = emptyCache, image }: Pass,
  outputs: readonly string[] = [],
): Promise<Outcome> {
  const rows = ids.length;
  const { cos, sin } = decoderRotary(
    ids.map((_, row) => start + row),
    text.headDim,
    text.ropeTheta,
  );
  let feature = 0;
  const feeds: Record<string, Tensors[string]> = {
    ids: int64(ids, [1, rows]),
    imageFeatures: float32(image ?? new Float32Array(text.hiddenSize), [image ? image.length / text.hiddenSize : 1, text.hiddenSize]),
    imageIndex: int64(
      ids.map((id) => (id === config.imageTokenId ? feature++ : -1)),
      [1, rows],
    ),
    cos: float32(cos, [1, rows, half]),
    sin: float32(sin, [1, rows, half]),
    mask: float32(
      Float32Array.from(mask, (seen) => (seen ? 0 : HIDDEN)),
      [1, 1, rows, rowsOf(past) + rows],
    ),
    wanted: int64(ids.map((_, row) => row)),
  };
  const names = ["logits", ...outputs];
  past.forEach(({ key, value }, layer) => {
    feeds[pastName("key", layer)] = float32(key, [1, text.kvHeads, rowsOf(past), text.headDim]);
    feeds[pastName("value", layer)] = float32(value, [1, text.kvHeads, rowsOf(past), text.headDim]);
    names.push(presentName("key", layer), presentName("value", layer));
  });
  const results = await session.run(feeds, names);
  const present = past.map((_, layer) => ({
    key: results[presentName("key", layer)].data as Float32Array,
    value: results[presentName("value", layer)].data as Float32Array,
  }));
  return { logits: results.logits.data as Float32Array, present, results };
}

/** Rows [first, first + rows) of a square mask, over the columns up to the last of them. */
function maskRows(mask: Uint8Array, first: number, rows: number): Uint8Array {
  const size = Math.sqrt(mask.length);
  const out = new Uint8Array(rows * (first + rows));
  for (let row = 0; row < rows; row++)
    out.set(mask.subarray((first + row) * size, (first + row) * size + first + rows), row * (first + rows));
  return out;
}

const promptOf = ({ prompt }: GoldenCase) => {
  const { ids, images } = prompts.find(({ name }) => name === prompt)!;
  return { ids, image: images.length > 0 ? vision.readFloat32(`${images[0]}.features`) : undefined };
};

/** The reference is 7e-5 from float64 at worst and 5e-6 on average. */
function expectLogits(got: Float32Array, expected: Float32Array, what: string): void {
  expect(maxDifference(got, expected), what).toBeLessThan(1e-4);
  expect(meanDifference(got, expected), what).toBeLessThan(1e-5);
}

function expectCache(cache: Cache, prefix: string): void {
  for (const layer of [0, 2]) {
    expectLogits(cache[layer].key, golden.readFloat32(`${prefix}.key.${layer}`), `${prefix}.key.${layer}`);
    expectLogits(cache[layer].value, golden.readFloat32(`${prefix}.value.${layer}`), `${prefix}.value.${layer}`);
  }
}

const lastRows = (logits: Float32Array, rows: number) => logits.subarray(logits.length - rows * text.vocabSize);
const blanks = (count: number) => Array<number>(count).fill(maskTokenId);
const { session } = await loadWithWeights(decodeProgram(config, { hidden: true }));

describe("prefill, denoise, commit, denoise", () => {
  test.each(cases)("$prompt in blocks of $blockLength", async (golden_) => {
    const { prompt, blockLength, partial, filled, second } = golden_;
    const { ids, image } = promptOf(golden_);
    const prefix = `${prompt}.b${blockLength}`;
    const mask = golden.readRaw(`${prefix}.mask`);
    const expected = (name: string) => golden.readFloat32(`${prefix}.${name}`);

    const prefill = await pass(session, { ids, start: 0, mask: maskRows(mask, 0, ids.length), image });
    expectLogits(lastRows(prefill.logits, 4), expected("promptLogits"), "promptLogits");
    expectCache(prefill.present, `${prefix}.prefill`);

    const firstBlock = { start: ids.length, mask: maskRows(mask, ids.length, blockLength), past: prefill.present };
    expectLogits((await pass(session, { ...firstBlock, ids: blanks(blockLength) })).logits, expected("blank.logits"), "blank");
    expectLogits((await pass(session, { ...firstBlock, ids: partial })).logits, expected("partial.logits"), "partial");
    const commit = await pass(session, { ...firstBlock, ids: filled });
    expectCache(commit.present, `${prefix}.commit`);

    const start = ids.length + blockLength;
    const past = grown(prefill.present, commit.present);
    const next = await pass(session, { ids: second, start, mask: maskRows(mask, start, blockLength), past });
    expectLogits(next.logits, expected("second.logits"), "second");

    const whole = await pass(session, { ids: [...ids, ...filled, ...second], start: 0, mask, image });
    expect(maxDifference(lastRows(whole.logits, blockLength), next.logits), "cached = uncached").toBeLessThan(5e-5);
  });
});

describe("inside a prefill", () => {
  const image = cases.find(({ prompt, blockLength }) => prompt === "image" && blockLength === 32)!;

  test("hidden rows after the embedding and after each layer but the last", async () => {
    const { ids, image: features } = promptOf(image);
    const mask = maskRows(golden.readRaw("image.b32.mask"), 0, ids.length);
    const { results } = await pass(session, { ids, start: 0, mask, image: features }, ["hidden.0", "hidden.1", "hidden.2"]);
    expect(maxDifference(results["hidden.0"].data as Float32Array, golden.readFloat32("image.embeds"))).toBeLessThan(1e-4);
    for (const layer of [0, 1, 2]) {
      const name = `hidden.${layer}`;
      expect(maxDifference(results[name].data as Float32Array, golden.readFloat32(`image.b32.${name}`)), name).toBeLessThan(1e-4);
    }
  });

  test("rotary tables", () => {
    const { cos, sin } = decoderRotary(
      Array.from({ length: 37 }, (_, i) => i),
      16,
      text.ropeTheta,
    );
    const doubled = (table: Float32Array) =>
      Array.from({ length: 37 }, (_, row) => [0, 1].flatMap(() => [...table.subarray(row * 8, row * 8 + 8)])).flat();
    expect(maxDifference(doubled(cos), golden.readFloat32("image.rotary.cos"))).toBeLessThan(1e-6);
    expect(maxDifference(doubled(sin), golden.readFloat32("image.rotary.sin"))).toBeLessThan(1e-6);
  });

  test.each(["bf16", "f16"])("weights stored as %s", async (dtype) => {
    const variant = `tiny-${dtype}`;
    const { session: rounded } = await loadWithWeights(decodeProgram(await tinyConfig(variant)), variant);
    const { ids } = promptOf(image);
    const features = vision.readFloat32(`${dtype}.text-84x56.png.features`);
    const mask = golden.readRaw("image.b32.mask");
    const prefill = await pass(rounded, { ids, start: 0, mask: maskRows(mask, 0, ids.length), image: features });
    const block = { ids: blanks(32), start: ids.length, mask: maskRows(mask, ids.length, 32), past: prefill.present };
    expectLogits((await pass(rounded, block)).logits, golden.readFloat32(`${dtype}.image.b32.blank.logits`), dtype);
    await rounded.release();
  });
});

/** Two blank first blocks of 8 against the caches of two prompts, in one call. */
describe("batching", () => {
  const chosen = ["text-only", "image"].map((name) => cases.find((c) => c.prompt === name && c.blockLength === 8)!);
  const columns = 40; // three more than the longer prompt needs

  async function prefilled(golden_: GoldenCase): Promise<Cache> {
    const { ids, image } = promptOf(golden_);
    const mask = maskRows(golden.readRaw(`${golden_.prompt}.b8.mask`), 0, ids.length);
    return (await pass(session, { ids, start: 0, mask, image })).present;
  }

  test("sequences side by side, their caches padded, are what they are alone", async () => {
    const rows = 8;
    const caches = await Promise.all(chosen.map(prefilled));
    const size = text.kvHeads * columns * text.headDim;
    const padded = (kind: "key" | "value", layer: number) => {
      const out = new Float32Array(2 * size).fill(1e3); // what is hidden may hold anything finite
      caches.forEach((cache, i) => {
        const filled = rowsOf(cache) * text.headDim;
        for (let head = 0; head < text.kvHeads; head++) {
          out.set(cache[layer][kind].subarray(head * filled, (head + 1) * filled), i * size + head * columns * text.headDim);
        }
      });
      return float32(out, [2, text.kvHeads, columns, text.headDim]);
    };
    const mask = new Float32Array(2 * rows * (columns + rows)).fill(HIDDEN);
    caches.forEach((cache, i) => {
      for (let row = 0; row < rows; row++) {
        const first = (i * rows + row) * (columns + rows);
        mask.fill(0, first, first + rowsOf(cache));
        mask.fill(0, first + columns, first + columns + rows);
      }
    });
    const positions = caches.flatMap((cache) => Array.from({ length: rows }, (_, row) => rowsOf(cache) + row));
    const { cos, sin } = decoderRotary(positions, text.headDim, text.ropeTheta);
    const wanted = [15, 0, 7, 8]; // any rows, in any order
    const feeds: Record<string, Tensors[string]> = {
      ids: int64(blanks(2 * rows), [2, rows]),
      imageFeatures: float32(new Float32Array(text.hiddenSize), [1, text.hiddenSize]),
      imageIndex: int64(Array(2 * rows).fill(-1), [2, rows]),
      cos: float32(cos, [2, rows, half]),
      sin: float32(sin, [2, rows, half]),
      mask: float32(mask, [2, 1, rows, columns + rows]),
      wanted: int64(wanted),
    };
    for (let layer = 0; layer < text.layers; layer++) {
      feeds[pastName("key", layer)] = padded("key", layer);
      feeds[pastName("value", layer)] = padded("value", layer);
    }
    const { logits } = await session.run(feeds, ["logits"]);
    const alone = chosen.flatMap(({ prompt }) => [...golden.readFloat32(`${prompt}.b8.blank.logits`)]);
    const expected = wanted.flatMap((row) => alone.slice(row * text.vocabSize, (row + 1) * text.vocabSize));
    expectLogits(logits.data as Float32Array, Float32Array.from(expected), "batched");
  });
});

describe("a tied head", () => {
  test("is the embedding table", async () => {
    const weights = new Map(await tinyWeights());
    weights.set("language_model.lm_head.weight", weights.get("language_model.model.embed_tokens.weight")!);
    const { session: untied } = await loadWith(decodeProgram(config), weights);
    weights.delete("language_model.lm_head.weight");
    const { session: tied } = await loadWith(decodeProgram({ ...config, text: { ...text, tied: true } }), weights);
    const { ids } = prompts.find(({ name }) => name === "text-other")!;
    const rows = { ids, start: 0, mask: new Uint8Array(ids.length ** 2).fill(1) };
    const expected = (await pass(untied, rows)).logits;
    expect(maxDifference((await pass(tied, rows)).logits, expected)).toBe(0);
    expect(maxDifference((await pass(session, rows)).logits, expected)).toBeGreaterThan(1);
    await Promise.all([tied.release(), untied.release()]);
  });
});
