/**
 * The vision tower and the projector against the reference (test/golden/model/vision.safetensors): images alone, several in one bin, bins
 * side by side, and weights that were stored in sixteen bits.
 */
import { describe, expect, test } from "vitest";
import { goldenPatches, goldenTensors, loadWithWeights, maxDifference, tinyConfig } from "../../test/tiny.ts";
import { HIDDEN } from "../diffusion/training-mask.ts";
import { isOp, topologicalOrder } from "../graph/value.ts";
import { float32, type Tensor } from "../runtime/session.ts";
import { modelWeights } from "./parameters.ts";
import { visionRotary } from "./positions.ts";
import { encodeImageProgram, visionInputs } from "./programs.ts";
import { visionTower } from "./vision.ts";

const golden = await goldenTensors("vision.safetensors");
const config = await tinyConfig();
const { vision } = config;
const headDim = vision.embedDim / vision.heads;
const SQUARES = vision.mergeSize ** 2;
const PATCH_PIXELS = 1176;
/** The reference itself is 1.4e-5 from float64. */
const TOLERANCE = 1e-4;

interface Picture {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly patches: Float32Array;
}

const grids: [string, number, number][] = [
  ["text-84x56.png", 4, 6],
  ["gradient-37x53.png", 6, 4],
  ["text-170x150.png", 10, 12],
];
const pictures: Picture[] = await Promise.all(
  grids.map(async ([name, rows, columns]) => ({ name, rows, columns, patches: await goldenPatches(name) })),
);

/** Pictures in bins of `capacity` patches: each row of `bins` lists the pictures of one bin. Rows of padding see themselves. */
function feedsOf(bins: readonly (readonly Picture[])[], capacity: number): Record<string, Tensor> {
  const half = headDim / 2;
  const pixels = new Float32Array(bins.length * capacity * PATCH_PIXELS);
  const cos = new Float32Array(bins.length * capacity * half);
  const sin = new Float32Array(bins.length * capacity * half);
  const mask = new Float32Array(bins.length * capacity * capacity).fill(HIDDEN);
  bins.forEach((members, bin) => {
    let first = 0;
    for (const { rows, columns, patches } of members) {
      const count = rows * columns;
      const at = bin * capacity + first;
      pixels.set(patches, at * PATCH_PIXELS);
      const rotary = visionRotary(rows, columns, vision.mergeSize, headDim);
      cos.set(rotary.cos, at * half);
      sin.set(rotary.sin, at * half);
      for (let row = 0; row < count; row++) mask.fill(0, (at + row) * capacity + first, (at + row) * capacity + first + count);
      first += count;
    }
    for (let row = first; row < capacity; row++) mask[(bin * capacity + row) * capacity + row] = 0;
  });
  return {
    pixels: float32(pixels, [bins.length, capacity / SQUARES, SQUARES * PATCH_PIXELS]),
    imageCos: float32(cos, [bins.length, capacity, half]),
    imageSin: float32(sin, [bins.length, capacity, half]),
    imageMask: float32(mask, [bins.length, 1, capacity, capacity]),
  };
}

const withoutMask = ({ imageMask: _, ...feeds }: Record<string, Tensor>) => feeds;
const names = ["tower", "features"];

describe("one image", () => {
  test.each(pictures)("$name", async (picture) => {
    const { session } = await loadWithWeights(encodeImageProgram(config));
    const feeds = withoutMask(feedsOf([[picture]], picture.rows * picture.columns));
    const { tower, features } = await session.run(feeds, names);
    expect(maxDifference(tower.data as Float32Array, golden.readFloat32(`${picture.name}.tower`))).toBeLessThan(TOLERANCE);
    expect(maxDifference(features.data as Float32Array, golden.readFloat32(`${picture.name}.features`))).toBeLessThan(TOLERANCE);
    await session.release();
  });

  test("after the patch embedding and after each block", async () => {
    const inputs = visionInputs(config, { masked: false });
    const weights = modelWeights(config).vision;
    const upTo = (blocks: number) => visionTower(inputs, vision, { ...weights, blocks: weights.blocks.slice(0, blocks) });
    const outputs = { embedded: upTo(0), first: upTo(1), second: upTo(2) };
    const { session } = await loadWithWeights({ name: "stages", outputs });
    const results = await session.run(withoutMask(feedsOf([[pictures[0]]], 24)), Object.keys(outputs));
    const expected = { embedded: "debug.patch_embed", first: "debug.block.0", second: "debug.block.1" };
    for (const [name, key] of Object.entries(expected)) {
      expect(maxDifference(results[name].data as Float32Array, golden.readFloat32(key)), key).toBeLessThan(TOLERANCE);
    }
    await session.release();
  });
});

describe("images in bins", async () => {
  const { session } = await loadWithWeights(encodeImageProgram(config, { masked: true }));

  test("all three in one bin are what they are alone", async () => {
    const { tower, features } = await session.run(feedsOf([pictures], 168), names);
    expect(maxDifference(tower.data as Float32Array, golden.readFloat32("all.tower"))).toBeLessThan(TOLERANCE);
    expect(maxDifference(features.data as Float32Array, golden.readFloat32("all.features"))).toBeLessThan(TOLERANCE);
  });

  test("two bins with room to spare: neighbours and padding do not matter", async () => {
    const capacity = 152;
    const { features } = await session.run(feedsOf([[pictures[2], pictures[1]], [pictures[0]]], capacity), names);
    const width = config.text.hiddenSize;
    const at = (token: number, count: number) => (features.data as Float32Array).subarray(token * width, (token + count) * width);
    expect(maxDifference(at(0, 30), golden.readFloat32("text-170x150.png.features"))).toBeLessThan(TOLERANCE);
    expect(maxDifference(at(30, 6), golden.readFloat32("gradient-37x53.png.features"))).toBeLessThan(TOLERANCE);
    expect(maxDifference(at(capacity / SQUARES, 6), golden.readFloat32("text-84x56.png.features"))).toBeLessThan(TOLERANCE);
  });

  test("images of one size need no mask", async () => {
    const { session: plain } = await loadWithWeights(encodeImageProgram(config));
    const { features } = await plain.run(withoutMask(feedsOf([[pictures[0]], [pictures[1]]], 24)), names);
    const expected = ["text-84x56.png", "gradient-37x53.png"].flatMap((name) => [...golden.readFloat32(`${name}.features`)]);
    expect(maxDifference(features.data as Float32Array, expected)).toBeLessThan(TOLERANCE);
    await plain.release();
  });
});

describe("checkpoints", () => {
  test.each([
    ["tiny-bf16", "bf16"],
    ["tiny-f16", "f16"],
  ])("%s is widened", async (variant, prefix) => {
    const { session } = await loadWithWeights(encodeImageProgram(await tinyConfig(variant)), variant);
    const { features } = await session.run(withoutMask(feedsOf([[pictures[0]]], 24)), ["features"]);
    const expected = golden.readFloat32(`${prefix}.text-84x56.png.features`);
    expect(maxDifference(features.data as Float32Array, expected)).toBeLessThan(TOLERANCE);
    // The rounding shows: these are other weights than the tiny checkpoint's.
    expect(maxDifference(expected, golden.readFloat32("text-84x56.png.features"))).toBeGreaterThan(10 * TOLERANCE);
    await session.release();
  });
});

test("every norm has the reference's epsilon, which such small weights would not tell", () => {
  const values = topologicalOrder(Object.values(encodeImageProgram(config).outputs));
  const norms = values.filter((value) => isOp(value, "layerNorm"));
  expect(norms.map(({ attributes }) => attributes.epsilon)).toEqual(Array(2 * vision.depth + 1).fill(1e-6));
});

test("rotary tables turn half of the frequencies with the row and half with the column", () => {
  const { cos, sin } = visionRotary(4, 6, 2, 16);
  const doubled = (table: Float32Array) =>
    Array.from({ length: 24 }, (_, row) => [0, 1].flatMap(() => [...table.subarray(row * 8, row * 8 + 8)])).flat();
  expect(maxDifference(doubled(cos), golden.readFloat32("debug.rotary.cos"))).toBeLessThan(1e-6);
  expect(maxDifference(doubled(sin), golden.readFloat32("debug.rotary.sin"))).toBeLessThan(1e-6);
});
