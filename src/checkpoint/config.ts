/**
 * config.json of the published checkpoint, to and from `ModelConfig` (paper section 3.1). Both spellings of the sub-configs are read
 * (`text_config`/`vision_config` and `language_model_config`/`vision_model_config`), token ids at the top or in the text config.
 * Only what the one model definition computes is accepted: everything else is refused, all problems in one error, instead of being
 * computed wrongly. Keys that the reference code reads nowhere (`vision_select_layer`, `image_size`, `downsample_ratio`, the vision
 * `hidden_size`) are ignored here too. Reads no files.
 */

import { MineruError } from "../error.ts";
import type { ModelConfig, TextConfig, VisionConfig } from "../model/config.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a parsed config.json. `label` names the file in errors.
 * Throws `checkpoint-invalid` listing every missing, malformed or unsupported value.
 */
export function parseConfig(json: unknown, label = "config.json"): ModelConfig {
  const problems: string[] = [];
  if (!isRecord(json)) throw refusal(label, ["expected a JSON object"]);
  const text = subConfig(json, ["text_config", "language_model_config"], problems);
  const vision = subConfig(json, ["vision_config", "vision_model_config"], problems);
  if (text === undefined || vision === undefined) {
    problems.push(`\`model_type\` is ${JSON.stringify(json.model_type)}; expected a checkpoint of the mineru_diffusion kind`);
    throw refusal(label, problems);
  }

  refuseUnsupported(json, text, vision, problems);
  const config: ModelConfig = {
    text: textConfig(json, text, problems),
    vision: visionConfig(vision, problems),
    imageTokenId: tokenId("image_token_id", json, text, problems),
    visionStartTokenId: tokenId("vision_start_token_id", json, text, problems),
    visionEndTokenId: tokenId("vision_end_token_id", json, text, problems),
    maskTokenId: tokenId("mask_token_id", json, text, problems),
    ...blockLength(json, text, problems),
  };
  if (problems.length === 0) problems.push(...inconsistencies(config));
  if (problems.length > 0) throw refusal(label, problems);
  return config;
}

function subConfig(json: Json, spellings: readonly string[], problems: string[]): Json | undefined {
  const found = spellings.map((spelling) => json[spelling]).find((value) => value !== undefined);
  if (isRecord(found)) return found;
  problems.push(`expected an object \`${spellings[0]}\` (or \`${spellings[1]}\`), got ${JSON.stringify(found)}`);
  return undefined;
}

function textConfig(json: Json, text: Json, problems: string[]): TextConfig {
  const size = (key: string) => positiveInteger(`text_config.${key}`, text[key], problems);
  const rope = isRecord(text.rope_parameters) ? text.rope_parameters : {};
  const heads = size("num_attention_heads");
  return {
    hiddenSize: size("hidden_size"),
    intermediateSize: size("intermediate_size"),
    layers: size("num_hidden_layers"),
    heads,
    kvHeads: size("num_key_value_heads"),
    headDim: size("head_dim"),
    vocabSize: size("vocab_size"),
    ropeTheta: positive("text_config.rope_theta", text.rope_theta ?? rope.rope_theta, problems),
    rmsNormEps: positive("text_config.rms_norm_eps", text.rms_norm_eps, problems),
    tied: (text.tie_word_embeddings ?? json.tie_word_embeddings ?? false) === true,
  };
}

/** Values equal to the class defaults of the Qwen2-VL vision tower are left out by some writers; these are those defaults. */
function visionConfig(vision: Json, problems: string[]): VisionConfig {
  const size = (key: string, fallback: number) => positiveInteger(`vision_config.${key}`, vision[key] ?? fallback, problems);
  return {
    depth: size("depth", 32),
    embedDim: size("embed_dim", 1280),
    heads: size("num_heads", 16),
    mlpRatio: positive("vision_config.mlp_ratio", vision.mlp_ratio ?? 4, problems),
    patchSize: size("patch_size", 14),
    temporalPatchSize: size("temporal_patch_size", 2),
    mergeSize: size("spatial_merge_size", 2),
    inChannels: positiveInteger("vision_config.in_channels", vision.in_channels ?? vision.in_chans ?? 3, problems),
  };
}

function refuseUnsupported(json: Json, text: Json, vision: Json, problems: string[]): void {
  const expect = (key: string, value: unknown, ...accepted: unknown[]) => {
    if (value === undefined || accepted.includes(value)) return;
    problems.push(`\`${key}\` expected ${accepted.map((one) => JSON.stringify(one)).join(" or ")}, got ${JSON.stringify(value)}`);
  };
  expect("text_config.hidden_act", text.hidden_act, "silu");
  expect("text_config.attention_bias", text.attention_bias, false, null);
  expect("text_config.mlp_bias", text.mlp_bias, false, null);
  expect("text_config.use_sliding_window", text.use_sliding_window, false, null);
  expect("vision_config.hidden_act", vision.hidden_act, "quick_gelu");
  expect("vision_config.spatial_merge_size", vision.spatial_merge_size, 2);
  expect("vision_projector_type", json.vision_projector_type, "patch_merger2x");
  expect("quantization_config", json.quantization_config ?? text.quantization_config, null);
  for (const key of ["rope_scaling", "rope_parameters"]) {
    const scaling = text[key];
    const kind = isRecord(scaling) ? (scaling.rope_type ?? scaling.type) : scaling;
    if (kind === undefined || kind === null || kind === "default") continue;
    problems.push(`\`text_config.${key}\` expected none (plain rotary positions), got ${JSON.stringify(scaling)}`);
  }
}

function inconsistencies({ text, vision, ...ids }: ModelConfig): string[] {
  const problems: string[] = [];
  if (text.heads % text.kvHeads !== 0) problems.push(`\`num_attention_heads\` expected a multiple of ${text.kvHeads}, got ${text.heads}`);
  if (text.headDim % 2 !== 0) problems.push(`\`head_dim\` expected an even number, got ${text.headDim}`);
  if (vision.embedDim % (4 * vision.heads) !== 0) {
    problems.push(`\`embed_dim\` expected a multiple of 4 times ${vision.heads} heads, got ${vision.embedDim}`);
  }
  if (!Number.isInteger(vision.embedDim * vision.mlpRatio)) {
    problems.push(`\`mlp_ratio\` expected a whole number of units for \`embed_dim\` ${vision.embedDim}, got ${vision.mlpRatio}`);
  }
  for (const [name, id] of Object.entries(ids)) {
    if (name !== "blockLength" && id >= text.vocabSize)
      problems.push(`${name} expected an id below \`vocab_size\` ${text.vocabSize}, got ${id}`);
  }
  return problems;
}

function tokenId(key: string, json: Json, text: Json, problems: string[]): number {
  const id = json[key] ?? text[key];
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return id;
  problems.push(`\`${key}\` expected a token id at the top or in \`text_config\`, got ${JSON.stringify(id)}`);
  return 0;
}

function blockLength(json: Json, text: Json, problems: string[]): { blockLength?: number } {
  const length = json.block_length ?? text.block_length;
  return length === undefined || length === null ? {} : { blockLength: positiveInteger("block_length", length, problems) };
}

function positive(key: string, value: unknown, problems: string[]): number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
  problems.push(`\`${key}\` expected a positive number, got ${JSON.stringify(value)}`);
  return 1;
}

function positiveInteger(key: string, value: unknown, problems: string[]): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  problems.push(`\`${key}\` expected a positive whole number, got ${JSON.stringify(value)}`);
  return 1;
}

function refusal(label: string, problems: readonly string[]): MineruError {
  return new MineruError("checkpoint-invalid", `${label}: this model cannot be computed here:\n- ${problems.join("\n- ")}`);
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Spellings of the element types in config.json. */
export type TorchDtype = "float32" | "float16" | "bfloat16";

/** What a published config.json says of such a model; the official classes load it too. */
export function configToJson(config: ModelConfig, dtype: TorchDtype = "float32"): Record<string, unknown> {
  const { text, vision } = config;
  return {
    architectures: ["MinerUDiffusionForConditionalGeneration"],
    model_type: "mineru_diffusion",
    ...(config.blockLength === undefined ? {} : { block_length: config.blockLength }),
    image_token_id: config.imageTokenId,
    mask_token_id: config.maskTokenId,
    vision_start_token_id: config.visionStartTokenId,
    vision_end_token_id: config.visionEndTokenId,
    text_config: {
      architectures: ["SDARForCausalLM"],
      model_type: "sdar",
      attention_bias: false,
      head_dim: text.headDim,
      hidden_act: "silu",
      hidden_size: text.hiddenSize,
      intermediate_size: text.intermediateSize,
      num_attention_heads: text.heads,
      num_hidden_layers: text.layers,
      num_key_value_heads: text.kvHeads,
      rms_norm_eps: text.rmsNormEps,
      rope_scaling: null,
      rope_theta: text.ropeTheta,
      tie_word_embeddings: text.tied,
      torch_dtype: dtype,
      use_sliding_window: false,
      vocab_size: text.vocabSize,
    },
    tie_word_embeddings: text.tied,
    torch_dtype: dtype,
    vision_config: {
      depth: vision.depth,
      embed_dim: vision.embedDim,
      hidden_act: "quick_gelu",
      hidden_size: text.hiddenSize,
      in_channels: vision.inChannels,
      mlp_ratio: vision.mlpRatio,
      model_type: "qwen2_vl",
      num_heads: vision.heads,
      patch_size: vision.patchSize,
      spatial_merge_size: vision.mergeSize,
      temporal_patch_size: vision.temporalPatchSize,
    },
    vision_projector_type: "patch_merger2x",
  };
}
