/**
 * The training loss and its gradients against the float64 reference (test/golden/model/training), and the heads of dense supervision
 * against sums written out here.
 */
import { afterAll, describe, expect, test } from "vitest";
import { loadValues } from "../../test/evaluate.ts";
import { goldenJson, goldenPatches, goldenTensors, maxDifference, tinyConfig, tinyWeights } from "../../test/tiny.ts";
import { createRandom } from "../diffusion/random.ts";
import { HIDDEN } from "../diffusion/training-mask.ts";
import { float32, int64, type Tensor } from "../runtime/session.ts";
import { decoderRotary, visionRotary } from "./positions.ts";
import { denseParameterShapes, gradientName, trainingProgram } from "./training.ts";

interface GoldenCase {
  readonly case: string;
  readonly prompt: string;
  readonly promptIds: readonly number[];
  readonly answer: readonly number[];
  readonly noisy: readonly number[];
  readonly blockLength: number;
  readonly maskRates: readonly number[];
  readonly positions: readonly number[];
  readonly weighting: string;
  readonly lossFloat64: number;
  readonly causalLoss: number | null;
}

const config = await tinyConfig();
const { text } = config;
const weights = await tinyWeights();
const { cases } = await goldenJson<{ cases: GoldenCase[] }>("training/training.json");
const forward = await goldenTensors("training/forward.safetensors");
const { program, parameters } = trainingProgram(config);
const parameterFeeds = Object.fromEntries(
  parameters.map(({ attributes: { name }, shape }) => [name, float32(weights.get(name)!, shape as number[])]),
);

const images: Readonly<Record<string, [string, number, number]>> = {
  image: ["text-84x56.png", 4, 6],
  table: ["gradient-37x53.png", 6, 4],
};

async function imageFeeds(prompt: string): Promise<Record<string, Tensor>> {
  const [name, rows, columns] = images[prompt];
  const { cos, sin } = visionRotary(rows, columns, 2, 16);
  return {
    pixels: float32(await goldenPatches(name), [1, 6, 4 * 1176]),
    imageCos: float32(cos, [1, 24, 8]),
    imageSin: float32(sin, [1, 24, 8]),
    imageMask: float32(new Float32Array(24 * 24), [1, 1, 24, 24]),
  };
}

async function feedsOf(golden: GoldenCase): Promise<Record<string, Tensor>> {
  const ids = [...golden.promptIds, ...golden.answer, ...golden.noisy];
  const rows = ids.length;
  const { cos, sin } = decoderRotary(golden.positions, text.headDim, text.ropeTheta);
  const masked = golden.noisy.flatMap((id, i) => (id === config.maskTokenId ? [i] : []));
  const weightOf = (i: number) =>
    golden.weighting.startsWith("none")
      ? 1 / masked.length
      : 1 / golden.maskRates[Math.floor(i / golden.blockLength)] / golden.answer.length;
  const mask = forward.readRaw(`${golden.case.replace(".weighted", "")}.mask`);
  let feature = 0;
  return {
    ...parameterFeeds,
    ...(await imageFeeds(golden.prompt)),
    ids: int64(ids, [1, rows]),
    imageIndex: int64(
      ids.map((id) => (id === config.imageTokenId ? feature++ : -1)),
      [1, rows],
    ),
    cos: float32(cos, [1, rows, text.headDim / 2]),
    sin: float32(sin, [1, rows, text.headDim / 2]),
    mask: float32(
      Float32Array.from(mask, (seen) => (seen ? 0 : HIDDEN)),
      [1, 1, rows, rows],
    ),
    wanted: int64(masked.map((i) => golden.promptIds.length + golden.answer.length + i)),
    targets: int64(masked.map((i) => golden.answer[i])),
    weights: float32(Float32Array.from(masked, weightOf), [masked.length]),
  };
}

describe("the block-diffusion loss", async () => {
  const { loss, crossEntropy } = program.outputs;
  const run = await loadValues({ loss, crossEntropy });
  afterAll(() => run[Symbol.asyncDispose]());

  test.each(cases)("$case", async (golden) => {
    const results = await run(await feedsOf(golden));
    expect(Math.abs(results.loss.data[0] as number) / golden.lossFloat64).toBeCloseTo(1, 6);
    const expected = forward.readFloat32(`${golden.case}.crossEntropy`);
    const masked = expected.filter((_, i) => golden.noisy[i] === config.maskTokenId);
    expect(maxDifference(results.crossEntropy.data as Float32Array, masked)).toBeLessThan(1e-4);
  });

  test("with blocks of one token is the causal loss, one pass per token", async () => {
    const causal = cases.filter(({ causalLoss }) => causalLoss !== null);
    expect(causal.map((golden) => golden.blockLength)).toEqual([1]);
    const results = await run(await feedsOf(causal[0]));
    expect(Math.abs((results.loss.data[0] as number) - causal[0].causalLoss!)).toBeLessThan(1e-5);
  });
});

describe("gradients of every parameter", async () => {
  const names = parameters.map(({ attributes }) => gradientName(attributes.name));
  const run = await loadValues(Object.fromEntries(names.map((name) => [name, program.outputs[name]])));
  afterAll(() => run[Symbol.asyncDispose]());

  test.each(["a.b8", "b.b32", "a.b8.weighted"])("%s", async (name) => {
    const golden = cases.find((c) => c.case === name)!;
    const results = await run(await feedsOf(golden));
    const expected = await goldenTensors(`training/gradients.${name}.safetensors`);
    expect([...expected.entries.keys()].sort()).toEqual(parameters.map(({ attributes }) => attributes.name).sort());
    for (const {
      attributes: { name: parameter },
    } of parameters) {
      const [a, b] = [results[gradientName(parameter)].data as Float32Array, expected.readFloat32(parameter)];
      const norm = (x: Float32Array) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0));
      // A float32 program is about 1e-5 from the float64 reference.
      expect(norm(a.map((v, i) => v - b[i])) / norm(b), parameter).toBeLessThan(5e-5);
    }
  });
});

describe("dense supervision", () => {
  const dense = { characterSlots: 2, regionClasses: 5 };
  const tokens = 6;
  const random = createRandom(7);
  const drawn = (count: number) => Float32Array.from({ length: count }, () => random.uniform() - 0.5);
  const heads = new Map(
    [...denseParameterShapes(config, dense)].map(([name, shape]) => [name, { shape, data: drawn(shape[0] * shape[1]) }]),
  );
  const integers = (count: number, below: number) => Int32Array.from({ length: count }, () => random.integer(below));
  const slots = tokens * dense.characterSlots;
  const targets = {
    characterTargets: integers(slots, text.vocabSize),
    characterWeights: drawn(slots).map((w, i) => (i % 3 === 0 ? 0 : w + 1)),
    regionTargets: integers(tokens, dense.regionClasses),
    regionWeights: drawn(tokens).map((w, i) => (i === 2 ? 0 : w + 1)),
    edgeTargets: drawn(tokens * 4),
    edgeWeights: drawn(tokens).map((w, i) => (i === 1 ? 0 : w + 1)),
  };
  const denseFeeds = {
    characterTargets: int64(targets.characterTargets),
    characterWeights: float32(targets.characterWeights, [slots]),
    regionTargets: int64(targets.regionTargets),
    regionWeights: float32(targets.regionWeights, [tokens]),
    edgeTargets: float32(targets.edgeTargets, [tokens, 4]),
    edgeWeights: float32(targets.edgeWeights, [tokens, 1]),
    ...Object.fromEntries([...heads].map(([name, { shape, data }]) => [name, float32(data, shape)])),
  };

  /** A head's answers to the golden features, in float64: [tokens, outputs]. */
  function answers(features: Float32Array, name: string): number[][] {
    const { shape, data } = heads.get(`dense.${name}.weight`)!;
    return Array.from({ length: tokens }, (_, token) =>
      Array.from({ length: shape[0] }, (_, out) => {
        let sum = 0;
        for (let i = 0; i < shape[1]; i++) sum += features[token * shape[1] + i] * data[out * shape[1] + i];
        return sum;
      }),
    );
  }

  const crossEntropy = (logits: readonly number[], target: number) =>
    Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0)) - logits[target];

  test("each part is a weighted sum over image tokens", async () => {
    const features = (await goldenTensors("vision.safetensors")).readFloat32("text-84x56.png.features");
    const tower = trainingProgram(config, { scope: "tower", dense });
    expect(tower.losses).toEqual(["loss", "characterLoss", "regionLoss", "edgeLoss"]);
    const trained = tower.parameters.map(({ attributes }) => attributes.name);
    expect(trained.filter((name) => name.startsWith("language_model"))).toEqual([]);
    expect(trained).toEqual(expect.arrayContaining([...heads.keys()]));
    const edgeGradient = gradientName("dense.edges.weight");
    await using run = await loadValues(
      Object.fromEntries([...tower.losses, edgeGradient].map((name) => [name, tower.program.outputs[name]])),
    );
    const results = await run({ ...parameterFeeds, ...denseFeeds, ...(await imageFeeds("image")) });

    const characters = answers(features, "characters").flatMap((row) => [row.slice(0, text.vocabSize), row.slice(text.vocabSize)]);
    const edges = answers(features, "edges");
    const sum = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);
    const expected = {
      characterLoss: sum(characters.map((row, i) => crossEntropy(row, targets.characterTargets[i]) * targets.characterWeights[i])),
      regionLoss: sum(answers(features, "regions").map((row, i) => crossEntropy(row, targets.regionTargets[i]) * targets.regionWeights[i])),
      edgeLoss: sum(
        edges.flatMap((row, token) => row.map((x, i) => Math.abs(x - targets.edgeTargets[token * 4 + i]) * targets.edgeWeights[token])),
      ),
    };
    for (const [name, value] of Object.entries(expected)) expect((results[name].data[0] as number) / value, name).toBeCloseTo(1, 4);
    expect((results.loss.data[0] as number) / sum(Object.values(expected))).toBeCloseTo(1, 4);

    const gradient = results[edgeGradient].data as Float32Array;
    const byHand = Float32Array.from(gradient, (_, at) => {
      const [edge, i] = [Math.floor(at / text.hiddenSize), at % text.hiddenSize];
      return sum(
        edges.map(
          (row, token) =>
            Math.sign(row[edge] - targets.edgeTargets[token * 4 + edge]) *
            targets.edgeWeights[token] *
            features[token * text.hiddenSize + i],
        ),
      );
    });
    expect(maxDifference(gradient, byHand)).toBeLessThan(1e-4);
  });

  test("joins the text loss", async () => {
    const full = trainingProgram(config, { dense });
    expect(full.losses).toEqual(["loss", "textLoss", "characterLoss", "regionLoss", "edgeLoss"]);
    await using run = await loadValues(Object.fromEntries(full.losses.map((name) => [name, full.program.outputs[name]])));
    const golden = cases.find((c) => c.case === "a.b8")!;
    const results = await run({ ...(await feedsOf(golden)), ...denseFeeds });
    expect((results.textLoss.data[0] as number) / golden.lossFloat64).toBeCloseTo(1, 6);
    const parts = full.losses.slice(1).map((name) => results[name].data[0] as number);
    expect((results.loss.data[0] as number) / parts.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
  });

  test("is all there is to train in a tower", () => {
    expect(() => trainingProgram(config, { scope: "tower" })).toThrow(new TypeError("scope tower expected dense supervision, got none"));
  });
});
