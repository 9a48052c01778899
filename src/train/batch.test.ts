/** What a batch holds where: images, sequences, masks and targets of samples of many sizes. That it trains like its sequences alone is tested beside the model. */
import { describe, expect, test } from "vitest";
import { goldenJson, goldenTensors, tinyConfig } from "../../test/tiny.ts";
import { createRandom } from "../diffusion/random.ts";
import { visionRotary } from "../model/positions.ts";
import type { Tensor } from "../runtime/session.ts";
import { type BatchConfig, drawSequences, fullBatch, type NoisingRecipe, packBatch, towerBatch } from "./batch.ts";
import { IGNORED, type PreparedSample } from "./sample.ts";

const model = await tinyConfig();
const FILL = 512;
const END = 514;
const PATCH_PIXELS = 1176;
const PROMPT_TOKENS = 5;
const config: BatchConfig = {
  model,
  dense: { characterSlots: 2, regionClasses: 4 },
  prompt: (_, imageTokens) => Int32Array.from([513, 521, ...Array(imageTokens).fill(model.imageTokenId), 522, 487, 198]),
  fillToken: FILL,
  characterWeight: 0.5,
  regionWeight: 2,
  edgeWeight: 3,
};
const recipe: NoisingRecipe = { blockLengths: [8], weighting: "masked-mean", copies: 2, complementary: true };

/** Samples whose every patch, answer and target is unlike those of the others. */
function samplesOf(sizes: readonly (readonly [rows: number, columns: number, answer: number])[], dense = false): PreparedSample[] {
  const random = createRandom(3);
  return sizes.map(([rows, columns, length], i) => {
    const tokens = (rows * columns) / 4;
    return {
      task: "text",
      patches: Float32Array.from({ length: rows * columns * PATCH_PIXELS }, () => random.uniform()),
      rows,
      columns,
      answer: Int32Array.from({ length }, (_, j) => (j === length - 1 ? END : 1 + random.integer(500))),
      weight: 1 + i,
      ...(dense
        ? {
            characterTargets: Int32Array.from({ length: tokens * 2 }, (_, j) => (j % 3 === 2 ? IGNORED : 1 + random.integer(500))),
            regionTargets: Int32Array.from({ length: tokens }, () => random.integer(4)),
            edgeTargets: Float32Array.from({ length: tokens * 4 }, () => random.uniform()),
          }
        : {}),
    };
  });
}

const sizes = [
  [2, 4, 13],
  [4, 4, 5],
  [2, 2, 30],
  [4, 6, 9],
  [2, 2, 3],
] as const;
const list = ({ data }: Tensor): number[] => Array.from(data as ArrayLike<number | bigint>, Number);
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe("images", () => {
  const samples = samplesOf(sizes);
  const feeds = fullBatch(samples, recipe, config, [1]);
  const [bins, tokens, width] = feeds.pixels.shape;
  const patches = tokens * 4;

  /** Where each sample's patches lie, as (bin, first patch). */
  const places = samples.map((sample) => {
    const pixels = feeds.pixels.data as Float32Array;
    for (let patch = 0; patch < bins * patches; patch += 4) {
      if (sample.patches.every((value, i) => pixels[patch * PATCH_PIXELS + i] === value))
        return [Math.floor(patch / patches), patch % patches];
    }
    throw new Error("a sample's patches are nowhere");
  });

  test("each lies whole in a bin as long as the largest", () => {
    expect(width).toBe(4 * PATCH_PIXELS);
    expect(tokens).toBe(6);
    expect(bins).toBeLessThan(samples.length);
    expect(places).toHaveLength(samples.length);
  });

  test("each sees itself, all of itself and nothing else; empty rows see themselves", () => {
    const owner = Array.from({ length: bins }, () => Array<number>(patches).fill(-1));
    samples.forEach(({ rows, columns }, i) => {
      owner[places[i][0]].fill(i, places[i][1], places[i][1] + rows * columns);
    });
    const mask = list(feeds.imageMask);
    expect(feeds.imageMask.shape).toEqual([bins, 1, patches, patches]);
    for (let bin = 0; bin < bins; bin++) {
      for (let row = 0; row < patches; row++) {
        for (let column = 0; column < patches; column++) {
          const sees = owner[bin][row] >= 0 ? owner[bin][row] === owner[bin][column] : row === column;
          expect(mask[(bin * patches + row) * patches + column] === 0).toBe(sees);
        }
      }
    }
  });

  test("each is turned by its own grid", () => {
    const half = feeds.imageCos.shape[2];
    samples.forEach(({ rows, columns }, i) => {
      const first = (places[i][0] * patches + places[i][1]) * half;
      const { cos, sin } = visionRotary(rows, columns, 2, half * 2);
      expect((feeds.imageCos.data as Float32Array).subarray(first, first + cos.length)).toEqual(cos);
      expect((feeds.imageSin.data as Float32Array).subarray(first, first + sin.length)).toEqual(sin);
    });
  });

  test("image rows of a prompt take the features of its own image, in order", () => {
    const ids = list(feeds.ids);
    const index = list(feeds.imageIndex);
    drawSequences(samples, recipe, config, [1]).forEach((sequence, i) => {
      const context = Array.from(sequence.ids.subarray(0, sequence.promptLength + sequence.answerLength));
      const first = ids.findIndex((_, row) => context.every((id, j) => ids[row + j] === id));
      expect(first).toBeGreaterThanOrEqual(0);
      let feature = (places[i][0] * patches + places[i][1]) / 4;
      context.forEach((id, j) => {
        expect(index[first + j]).toBe(id === model.imageTokenId ? feature++ : -1);
      });
    });
    expect(index.filter((feature) => feature >= 0)).toHaveLength(ids.filter((id) => id === model.imageTokenId).length);
  });
});

describe("sequences", () => {
  const samples = samplesOf(sizes);
  const sequences = drawSequences(samples, recipe, config, [4, 2]);

  test("hold prompt, clean answer and noisy copies; what is masked is what is asked", () => {
    sequences.forEach(({ promptLength, answerLength, noisyCopies, ids, targets, weights }, i) => {
      const { answer } = samples[i];
      expect(promptLength).toBe(PROMPT_TOKENS + (samples[i].rows * samples[i].columns) / 4);
      expect([noisyCopies, answerLength % 8]).toEqual([2, 0]);
      expect(answerLength - answer.length).toBeLessThan(8);
      const clean = Array.from(ids.subarray(promptLength, promptLength + answerLength));
      expect(clean).toEqual([...answer, ...Array(answerLength - answer.length).fill(FILL)]);
      const asked = Array(answerLength).fill(0);
      ids.forEach((id, row) => {
        const masked = id === model.maskTokenId;
        const place = (row - promptLength) % answerLength;
        expect(targets[row] !== IGNORED).toBe(masked);
        expect(weights[row] > 0).toBe(masked);
        if (row < promptLength) return;
        if (masked) {
          expect(row).toBeGreaterThanOrEqual(promptLength + answerLength);
          expect(targets[row]).toBe(clean[place]);
          asked[place]++;
        } else expect(id).toBe(clean[place]);
      });
      expect(asked, "complementary copies ask for every token once").toEqual(Array(answerLength).fill(1));
    });
  });

  test("count by their weight and length, and add up to one", () => {
    const totals = sequences.map(({ weights }) => sum([...weights]));
    expect(sum(totals)).toBeCloseTo(1, 5);
    const shares = sequences.map(({ answerLength }, i) => samples[i].weight * answerLength);
    totals.forEach((total, i) => {
      expect(total / (shares[i] / sum(shares))).toBeCloseTo(1, 4);
    });
  });

  test("under `likelihood` every token counts its sample's weight, whatever is drawn and whatever else the batch holds", () => {
    const likelihood: NoisingRecipe = { ...recipe, weighting: "likelihood", complementary: false, low: 0.5, tokensPerBatch: 100 };
    const draws = 300;
    const means = (members: readonly PreparedSample[]): number[] => {
      const totals = members.map(() => 0);
      for (let seed = 0; seed < draws; seed++) {
        drawSequences(members, likelihood, config, [8, seed]).forEach(({ weights, answerLength }, i) => {
          totals[i] += sum([...weights]) / answerLength / draws;
        });
      }
      return totals;
    };
    means(samples).forEach((total, i) => {
      expect(total / (samples[i].weight / 100)).toBeCloseTo(1, 1);
    });
    expect(means(samples.slice(1, 2))[0] / (samples[1].weight / 100)).toBeCloseTo(1, 1);
    const [one] = drawSequences(samples.slice(0, 1), likelihood, config, [8, 1]);
    const [same] = drawSequences(samples, likelihood, config, [8, 1]);
    expect(same.ids).toEqual(one.ids);
    expect(same.weights).toEqual(one.weights);
  });

  test("in blocks of one token are masked throughout", () => {
    for (const { promptLength, answerLength, ids } of drawSequences(samples, { ...recipe, blockLengths: [1] }, config, [1])) {
      expect(ids.length).toBe(promptLength + 2 * answerLength);
      expect([...ids.subarray(promptLength + answerLength)].every((id) => id === model.maskTokenId)).toBe(true);
    }
  });

  test("are drawn by the seed alone", () => {
    const again = drawSequences(samples, recipe, config, [4, 2]);
    expect(again).toEqual(sequences);
    expect(drawSequences(samples, recipe, config, [4, 3])).not.toEqual(sequences);
  });

  test("of one step share a block length, of many steps use them all", () => {
    const lengths = new Set<number>();
    for (let step = 0; step < 20; step++) {
      const drawn = drawSequences(samples, { ...recipe, blockLengths: [4, 8, 32] }, config, [1, step]);
      expect(new Set(drawn.map(({ blockLength }) => blockLength)).size).toBe(1);
      lengths.add(drawn[0].blockLength);
    }
    expect([...lengths].sort()).toEqual([32, 4, 8]);
  });
});

describe("masks", async () => {
  interface GoldenCase {
    readonly case: string;
    readonly promptIds: readonly number[];
    readonly answer: readonly number[];
    readonly blockLength: number;
  }
  const { cases } = await goldenJson<{ cases: GoldenCase[] }>("training/training.json");
  const golden = await goldenTensors("training/forward.safetensors");

  test.each(["a.b8", "a.b4", "a.b1"])("of both streams are the reference's: %s", (name) => {
    const { promptIds, answer, blockLength } = cases.find((c) => c.case === name)!;
    const [sample] = samplesOf([[4, 6, 1]]);
    const batch = fullBatch(
      [{ ...sample, answer: Int32Array.from(answer) }],
      { blockLengths: [blockLength], weighting: "masked-mean" },
      { ...config, prompt: () => Int32Array.from(promptIds) },
      [1],
    );
    const expected = golden.readRaw(`${name}.mask`);
    const rows = promptIds.length + answer.length;
    const all = rows + answer.length;
    const seen = (row: number, column: number) => expected[row * all + column] === 1;
    expect([batch.mask.shape, batch.noisyMask.shape]).toEqual([
      [1, 1, rows, rows],
      [1, 1, answer.length / blockLength, 1, rows],
    ]);
    list(batch.mask).forEach((value, at) => {
      expect(value === 0).toBe(seen(Math.floor(at / rows), at % rows));
    });
    list(batch.noisyMask).forEach((value, at) => {
      for (let row = 0; row < blockLength; row++) {
        expect(value === 0).toBe(seen(rows + Math.floor(at / rows) * blockLength + row, at % rows));
      }
    });
  });
});

test("every wanted row is owned by the sample that asks for it", () => {
  const samples = samplesOf(sizes);
  const { feeds, owners } = packBatch(samples, recipe, config, [1]);
  const weights = list(feeds.weights);
  const sequences = drawSequences(samples, recipe, config, [1]);
  expect(owners).toHaveLength(weights.length);
  samples.forEach((_, i) => {
    const own = weights.filter((_, row) => owners[row] === i);
    expect(sum(own)).toBeCloseTo(sum([...sequences[i].weights]), 6);
  });
});

describe("dense targets", () => {
  const samples = samplesOf(sizes, true);
  const feeds = towerBatch(samples, config);

  test("a tower batch has images and targets, no sequences", () => {
    const dense = ["characterTargets", "characterWeights", "regionTargets", "regionWeights", "edgeTargets", "edgeWeights"];
    expect(Object.keys(feeds).sort()).toEqual([...dense, "imageCos", "imageMask", "imageSin", "pixels"].sort());
  });

  test("each part is a mean over what it knows, times its weight", () => {
    expect(sum(list(feeds.characterWeights))).toBeCloseTo(config.characterWeight, 5);
    expect(sum(list(feeds.regionWeights))).toBeCloseTo(config.regionWeight, 5);
    expect(sum(list(feeds.edgeWeights))).toBeCloseTo(config.edgeWeight, 5);
  });

  test("every known target is there once, and nothing else counts", () => {
    const known = samples.flatMap(({ characterTargets }) => [...characterTargets!].filter((target) => target !== IGNORED));
    const weights = list(feeds.characterWeights);
    const counted = list(feeds.characterTargets).filter((_, i) => weights[i] > 0);
    expect(counted.sort()).toEqual(known.sort());
    const regions = list(feeds.regionTargets).filter((_, i) => list(feeds.regionWeights)[i] > 0);
    expect(regions.sort()).toEqual(samples.flatMap(({ regionTargets }) => [...regionTargets!]).sort());
  });

  test("edges count where there is a region", () => {
    const [regions, weights, edges] = [feeds.regionTargets, feeds.edgeWeights, feeds.edgeTargets].map(list);
    weights.forEach((weight, token) => {
      expect(weight > 0).toBe(regions[token] > 0);
    });
    const expected = samples.flatMap(({ regionTargets, edgeTargets }) =>
      [...regionTargets!].flatMap((region, token) => (region > 0 ? [...edgeTargets!.subarray(token * 4, token * 4 + 4)] : [])),
    );
    expect(edges.filter((_, i) => weights[Math.floor(i / 4)] > 0).sort()).toEqual(expected.sort());
  });

  test("samples that know nothing take no part", () => {
    const mixed = towerBatch([samples[0], samplesOf(sizes)[3]], config);
    const counted = list(mixed.regionWeights).filter((weight) => weight > 0);
    expect(counted).toHaveLength(2);
    expect(sum(list(towerBatch(samplesOf(sizes), config).edgeWeights))).toBe(0);
  });
});
