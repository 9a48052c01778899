import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { MineruError } from "../error.ts";
import { configToJson, parseConfig } from "./config.ts";
import { parseGeneration } from "./generation.ts";

const golden = new URL("../../test/golden/model/", import.meta.url);
type Json = { [key: string]: unknown; text_config: Record<string, unknown>; vision_config: Record<string, unknown> };
const read = async (name: string): Promise<Json> => JSON.parse(await readFile(new URL(name, golden), "utf8"));

const tiny = {
  text: {
    hiddenSize: 64,
    intermediateSize: 128,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    headDim: 16,
    vocabSize: 576,
    ropeTheta: 1e6,
    rmsNormEps: 1e-6,
    tied: false,
  },
  vision: { depth: 2, embedDim: 32, heads: 2, mlpRatio: 4, patchSize: 14, temporalPatchSize: 2, mergeSize: 2, inChannels: 3 },
  imageTokenId: 524,
  visionStartTokenId: 521,
  visionEndTokenId: 522,
  maskTokenId: 538,
};

const problemsOf = (json: unknown): string => {
  try {
    parseConfig(json, "a/config.json");
  } catch (error) {
    expect(error).toBeInstanceOf(MineruError);
    expect(error).toMatchObject({ code: "checkpoint-invalid" });
    return (error as Error).message;
  }
  throw new Error("expected a refusal");
};

it("reads both spellings as the same model", async () => {
  expect(parseConfig(await read("tiny/config.json"))).toEqual(tiny);
  expect(parseConfig(await read("tiny-other-spelling/config.json"))).toEqual(tiny);
});

it("finds ids in the text config, ids of other tokens at the top, and newer rotary spelling", async () => {
  const json = await read("tiny/config.json");
  for (const key of ["image_token_id", "mask_token_id", "vision_start_token_id", "vision_end_token_id"]) {
    json.text_config[key] = json[key];
    delete json[key];
  }
  json.bos_token_id = 513;
  json.eos_token_id = 514;
  json.pad_token_id = 512;
  json.text_config.rope_parameters = { rope_type: "default", rope_theta: 1e6 };
  delete json.text_config.rope_theta;
  expect(parseConfig(json)).toEqual(tiny);
});

it("takes the tower's own defaults for vision values that were left out", async () => {
  const json = await read("tiny/config.json");
  json.vision_config = { model_type: "qwen2_vl" };
  expect(parseConfig(json).vision).toEqual({
    depth: 32,
    embedDim: 1280,
    heads: 16,
    mlpRatio: 4,
    patchSize: 14,
    temporalPatchSize: 2,
    mergeSize: 2,
    inChannels: 3,
  });
});

it("lists everything it cannot compute at once, naming the file", async () => {
  const json = await read("tiny/config.json");
  Object.assign(json.text_config, {
    rope_scaling: { type: "mrope", mrope_section: [16, 24, 24] },
    hidden_act: "gelu",
    attention_bias: true,
    use_sliding_window: true,
    hidden_size: "64",
  });
  json.vision_config.hidden_act = "gelu";
  json.vision_config.spatial_merge_size = 4;
  json.vision_projector_type = "mlp";
  json.quantization_config = { quant_method: "fp8" };
  delete json.text_config.num_key_value_heads;
  delete json.mask_token_id;
  const message = problemsOf(json);
  expect(message).toMatch(/^a\/config\.json: /);
  for (const part of [
    '`text_config.rope_scaling` expected none (plain rotary positions), got {"type":"mrope"',
    '`text_config.hidden_act` expected "silu", got "gelu"',
    "`text_config.attention_bias` expected false or null, got true",
    "`text_config.use_sliding_window`",
    '`text_config.hidden_size` expected a positive whole number, got "64"',
    '`vision_config.hidden_act` expected "quick_gelu"',
    "`vision_config.spatial_merge_size` expected 2, got 4",
    '`vision_projector_type` expected "patch_merger2x", got "mlp"',
    "`quantization_config`",
    "`text_config.num_key_value_heads` expected a positive whole number, got undefined",
    "`mask_token_id` expected a token id",
  ]) {
    expect(message).toContain(part);
  }
});

it("refuses sizes that contradict one another", async () => {
  const json = await read("tiny/config.json");
  json.text_config.num_attention_heads = 3;
  json.text_config.head_dim = 15;
  json.vision_config.embed_dim = 30;
  json.image_token_id = 576;
  const message = problemsOf(json);
  expect(message).toContain("`num_attention_heads` expected a multiple of 2, got 3");
  expect(message).toContain("`head_dim` expected an even number");
  expect(message).toContain("`embed_dim` expected a multiple of 4 times 2 heads, got 30");
  expect(message).toContain("imageTokenId expected an id below `vocab_size` 576, got 576");
});

it("says what kind of model a foreign folder holds", () => {
  expect(problemsOf({ model_type: "qwen2_vl" })).toContain('`model_type` is "qwen2_vl"');
  expect(problemsOf([])).toContain("expected a JSON object");
});

it("writes what it reads", async () => {
  for (const config of [tiny, { ...tiny, blockLength: 16, text: { ...tiny.text, tied: true } }]) {
    expect(parseConfig(JSON.parse(JSON.stringify(configToJson(config, "bfloat16"))))).toEqual(config);
  }
  const written = configToJson(tiny) as Json;
  const published = await read("tiny/config.json");
  for (const part of ["text_config", "vision_config"] as const) {
    for (const [key, value] of Object.entries(written[part])) expect([key, value]).toEqual([key, published[part][key]]);
  }
});

it("reads stop tokens and decoding settings", async () => {
  expect(parseGeneration(await read("tiny/generation_config.json"))).toEqual({ stopTokenIds: [514, 512], padTokenId: 512 });
  expect(parseGeneration(undefined, 7)).toEqual({ stopTokenIds: [7] });
  expect(parseGeneration({}, undefined)).toEqual({ stopTokenIds: [] });
  expect(
    parseGeneration({
      eos_token_id: 3,
      temperature: 1,
      top_k: 0,
      top_p: 0.9,
      block_length: 32,
      denoising_steps: 16,
      dynamic_threshold: 0.95,
      max_new_tokens: 1024,
    }),
  ).toEqual({
    stopTokenIds: [3],
    temperature: 1,
    topK: 0,
    topP: 0.9,
    blockLength: 32,
    stepsPerBlock: 16,
    threshold: 0.95,
    maxAnswerTokens: 1024,
  });
  expect(() => parseGeneration({ top_p: 2, block_length: 1.5, eos_token_id: "x" })).toThrow(
    /`top_p` expected a number from 0 to 1, got 2; .*`block_length`|`block_length`.*`top_p`/s,
  );
  expect(() => parseGeneration([])).toThrow("expected a JSON object");
});
