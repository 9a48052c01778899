import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goldenJson, tinyFolder } from "../../test/tiny.ts";
import type { CommitRuleOptions, CommitStrategy } from "../diffusion/commit-rules.ts";
import { decodeImage } from "../image/decode-image.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { loadRecognizer, type Recognizer } from "./recognizer.ts";
import type { RecognitionRequest, RecognitionResult } from "./types.ts";

interface GoldenDecode {
  readonly prompt: string;
  readonly promptIds?: readonly number[];
  readonly blockLength: number;
  readonly stepsPerBlock: number;
  readonly threshold?: number;
  readonly strategy?: CommitStrategy;
  readonly gamma?: number;
  readonly factor?: number;
  readonly genLength: number;
  readonly stopTokens?: readonly number[];
  readonly ended: string;
  readonly tokens: readonly number[];
  readonly stepMap: readonly number[];
  readonly steps: number;
  readonly stepsOfBlock: readonly number[];
}

interface Prompt {
  readonly name: string;
  readonly ids: readonly number[];
  readonly images: readonly string[];
}

const golden = (name: string) => new URL(`../../test/golden/${name}`, import.meta.url);
const readJson = async <T>(name: string) => JSON.parse(await readFile(golden(name), "utf8")) as T;

let recognizer: Recognizer;
let prompts: Map<string, Prompt>;
const images = new Map<string, RgbImage>();

beforeAll(async () => {
  recognizer = await loadRecognizer(tinyFolder(), nodeRuntime);
  prompts = new Map((await goldenJson<{ prompts: Prompt[] }>("prefill.json")).prompts.map((prompt) => [prompt.name, prompt]));
  for (const name of new Set([...prompts.values()].flatMap((prompt) => prompt.images))) {
    images.set(name, await decodeImage(await readFile(golden(`image/files/${name}`))));
  }
});
afterAll(() => recognizer.close());

function requestOf(decode: GoldenDecode, extra: object = {}): RecognitionRequest {
  const prompt = prompts.get(decode.prompt);
  const rule: CommitRuleOptions = { strategy: decode.strategy, threshold: decode.threshold, gamma: decode.gamma, factor: decode.factor };
  const defined = Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
  return {
    task: "text",
    image: prompt?.images[0] ? images.get(prompt.images[0]) : undefined,
    promptIds: Int32Array.from(decode.promptIds ?? prompt!.ids),
    decoding: {
      blockLength: decode.blockLength,
      stepsPerBlock: decode.stepsPerBlock,
      maxTokens: decode.genLength,
      rule: defined,
      stopTokens: decode.stopTokens ?? [512, 514],
      fillLastBlock: true,
      ...extra,
    },
  };
}

function expectDecode(result: RecognitionResult, decode: GoldenDecode): void {
  const label = `${decode.prompt} b${decode.blockLength} ${decode.strategy ?? "dynamic"} ${decode.threshold ?? ""}`;
  expect(
    result.tokens.map(({ token }) => token),
    label,
  ).toEqual(decode.tokens);
  expect(
    result.tokens.map(({ step }) => step),
    label,
  ).toEqual(decode.stepMap.slice(0, decode.tokens.length));
  expect(result.steps, label).toBe(decode.steps);
  expect(result.stepsOfBlock, label).toEqual(decode.stepsOfBlock);
  expect(result.ended, label).toBe(decode.ended);
}

describe("greedy decodes of the reference", { timeout: 600_000 }, () => {
  test("alone, every threshold and block length, token by token and step by step", async () => {
    const { decodes } = await readJson<{ decodes: GoldenDecode[] }>("diffusion/decode.json");
    expect(decodes.length).toBeGreaterThan(150);
    for (const decode of decodes) {
      const [result] = await recognizer.recognize([requestOf(decode)]);
      expectDecode(result, decode);
      expect(result.forwards).toBe(decode.steps);
    }
  });

  test("in batches of eight, each region at its own step", async () => {
    const { decodes } = await readJson<{ decodes: GoldenDecode[] }>("diffusion/decode.json");
    const results = await recognizer.recognize(
      decodes.map((decode) => requestOf(decode)),
      { batchSize: 8 },
    );
    for (const [i, result] of results.entries()) expectDecode(result, decodes[i]);
  });

  test("the other strategies", async () => {
    const { decodes } = await readJson<{ decodes: GoldenDecode[] }>("diffusion/decode-other-strategies.json");
    for (const decode of decodes) {
      const [result] = await recognizer.recognize([requestOf(decode)]);
      expectDecode(result, decode);
    }
  });

  test("stopping early gives the same tokens in fewer steps", async () => {
    const { decodes } = await readJson<{ decodes: GoldenDecode[] }>("diffusion/decode.json");
    let saved = 0;
    for (const decode of decodes.filter(({ ended }) => ended === "stop")) {
      const [result] = await recognizer.recognize([requestOf(decode, { fillLastBlock: false })]);
      expect(result.tokens.map(({ token }) => token)).toEqual(decode.tokens);
      saved += decode.steps - result.steps;
    }
    expect(saved).toBeGreaterThan(0);
  });
});
