/** Mining: consistency of answers, what is hard and how it weighs, the file of hard samples, and estimators of hardness. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drawings, tinyRecipe, tinyStage } from "../../test/drawn-pictures.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import { startCdm } from "../metrics/cdm.ts";
import { agreementOf } from "./answer-scores.ts";
import { consistencyOf, hardWeight } from "./consistency.ts";
import { openSources } from "./drawing.ts";
import { drawHardSamples, fingerprintOf, readHardSamples, writeHardSamples } from "./hard-samples.ts";
import { hardnessEstimators } from "./hardness.ts";
import { estimateHardness, hardSamplesOf, type IdentifiedSample, identifiedSamples, judgeConsistency } from "./mining.ts";
import { rankCorrelation } from "./rank-correlation.ts";
import type { DrawingRecipe } from "./recipe.ts";
import { openSamplePools } from "./sample-pools.ts";

const cdm = await startCdm();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mining-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A recogniser that answers a drawing by `answerOf(its number, seed)`, each letter as sure as the drawing's number says. */
function answering(answerOf: (drawing: number, seed: number) => string) {
  const asked: RecognitionRequest[] = [];
  const recognizer: Recognizer<RecognizerIdentity> = {
    info: { name: "fake" } as RecognizerIdentity,
    async recognize(requests) {
      asked.push(...requests);
      return requests.map(({ image, decoding }) => {
        const drawing = drawings.findIndex((one) => one.image === image);
        const text = answerOf(drawing, decoding?.seed ?? -1);
        const tokens = [...text].map((char, token) => ({ token, text: char, confidence: 1 - drawing / 10, step: 1 }));
        return { text, tokens, stepsOfBlock: [drawing + 1] } as unknown as RecognitionResult;
      });
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return { recognizer, asked };
}

const identified: IdentifiedSample[] = drawings.map((sample, index) => ({ identity: { task: "text", seed: 1, page: 0, index }, sample }));

describe("consistency", () => {
  test("is the mean agreement of all pairs (equation 10)", async () => {
    const agreement = agreementOf("text", cdm);
    // abcd against abcx: 3/4; each against wxyz: 0.
    expect(await consistencyOf(["abcd", "abcx", "mnop"], agreement)).toBeCloseTo((2 / (3 * 2)) * 0.75, 10);
    expect(await consistencyOf(["same", "same", "same"], agreement)).toBe(1);
    await expect(consistencyOf(["one"], agreement)).rejects.toThrow(RangeError);
  });

  test("weighs what is hard (equation 15)", () => {
    expect([hardWeight(1, 2), hardWeight(0.25, 2), hardWeight(0, 0.5)]).toEqual([1, 2.5, 1.5]);
  });

  test("is judged by sampled decodes, each with a seed of its own", async () => {
    // Drawings 0 to 2 are read alike every time, the others as another word by every seed.
    const { recognizer, asked } = answering((drawing, seed) => (drawing < 3 ? "always" : `${seed}`.repeat(6)));
    const judged = await judgeConsistency(identified, {
      recognizer,
      agreementOf: (task) => agreementOf(task, cdm),
      passes: 4,
      temperature: 0.7,
    });
    expect(judged.map(({ consistency }) => consistency > 0.8)).toEqual([true, true, true, false, false, false]);
    expect(new Set(asked.map(({ decoding }) => decoding?.seed)).size).toBe(drawings.length * 4);
    expect(new Set(asked.map(({ decoding }) => decoding?.temperature))).toEqual(new Set([0.7]));

    const hard = hardSamplesOf(judged, { beta: 2 });
    expect(hard.map(({ index }) => index)).toEqual([3, 4, 5]);
    for (const { consistency, weight } of hard) expect(weight).toBeCloseTo(1 + 2 * (1 - consistency), 10);
    await expect(judgeConsistency(identified, { recognizer, agreementOf: (task) => agreementOf(task, cdm), passes: 1 })).rejects.toThrow(
      RangeError,
    );
  });
});

describe("hardness from one decode", () => {
  test("grows with doubt, by every estimator", async () => {
    const estimates = await estimateHardness(
      identified,
      answering(() => "abc"),
    );
    for (const name of Object.keys(hardnessEstimators) as (keyof typeof hardnessEstimators)[]) {
      const values = estimates.map((estimate) => estimate[name]);
      expect(values, name).toEqual([...values].sort((a, b) => a - b));
      expect(values[5], name).toBeGreaterThan(values[0]);
    }
    expect(estimates[5].surprise).toBeCloseTo(-Math.log(0.5), 6);
  });

  test("rank correlation: order alone counts, ties share their rank", () => {
    expect(rankCorrelation([1, 2, 3, 4], [10, 100, 1000, 1001])).toBeCloseTo(1, 10);
    expect(rankCorrelation([1, 2, 3, 4], [4, 3, 2, 1])).toBeCloseTo(-1, 10);
    // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
    expect(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 10);
    expect(rankCorrelation([1, 1], [1, 2])).toBeNull();
    expect(rankCorrelation([], [])).toBeNull();
    expect(() => rankCorrelation([1], [])).toThrow(RangeError);
  });
});

describe("the file of hard samples", () => {
  const drawing: DrawingRecipe = { lines: [1, 1], widthPx: [100, 300], sizePx: [18, 24], augmentation: 0.2 };
  const file = (samples: readonly IdentifiedSample[]) => ({
    kind: "hard-samples" as const,
    drawing,
    crops: 4,
    mining: { passes: 3 },
    samples: samples.map(({ identity, sample }, i) => ({
      ...identity,
      consistency: 0.5,
      weight: 1.5 + i,
      fingerprint: fingerprintOf(sample.answer),
    })),
  });

  test("draws again what was mined, weighted, over and over; other texts are noticed", async () => {
    const sources = await openSources("train");
    const mined = identifiedSamples(sources, { task: "text", seed: 3, count: 6, crops: 4 }, drawing);
    expect(mined.map(({ identity: { page, index } }) => [page, index])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 0],
      [1, 1],
    ]);
    const path = join(folder, "hard.jsonl");
    await writeHardSamples(path, file([mined[1], mined[3], mined[4]]));
    const read = await readHardSamples(path);
    expect(read).toEqual(file([mined[1], mined[3], mined[4]]));

    const drawn = [...drawHardSamples(sources, read, 2, 0), ...drawHardSamples(sources, read, 2, 1)];
    expect(drawn.map(({ answer, weight }) => [answer, weight])).toEqual(
      [mined[1], mined[3], mined[4], mined[1]].map(({ sample }, i) => [sample.answer, [1.5, 2.5, 3.5, 1.5][i]]),
    );
    expect(drawn[0].image).toEqual(mined[1].sample.image);

    const stage = { ...tinyStage, ...drawing, pool: { text: 2 }, hardSamples: { file: path, perPool: 3 } };
    const recipe = { ...tinyRecipe, maxRegionTokens: 1000, stages: [stage] };
    const pool = (await openSamplePools({ recipe })).pool({ stage: 0, pool: 1 });
    expect(
      pool.map(({ weight }) => weight),
      "the replay, then the hard ones",
    ).toEqual([1, 1, 1.5, 2.5, 3.5]);

    const other = { ...read, samples: read.samples.map((sample) => ({ ...sample, fingerprint: 7 })) };
    expect(() => drawHardSamples(sources, other, 1, 0)).toThrow(/hard sample text 3\/0\/1: expected the answer that was mined/);
  });

  test.each([
    ["hello", 1, /:1: expected a line of a hard-samples file/],
    ['{"task":"text","seed":1,"page":0,"index":0,"consistency":2,"weight":1,"fingerprint":1}', 2, /:2: .*`consistency`/],
  ])("with the line %s is refused", async (line, number, message) => {
    const path = join(folder, "wrong.jsonl");
    await writeHardSamples(path, file(identified));
    const lines = (await readFile(path, "utf8")).split("\n");
    lines[number - 1] = line;
    await writeFile(path, lines.join("\n"));
    await expect(readHardSamples(path)).rejects.toThrow(message);
    await expect(readHardSamples(join(folder, "none.jsonl"))).rejects.toMatchObject({ code: "file-unreadable" });
  });
});
