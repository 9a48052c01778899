/**
 * The published spelling of every tensor and its shape: the one file that knows names such as `q_proj`. Linear weights are
 * [out, in]; the patch embedding is a convolution kernel [embed, channels, frames, patch, patch] whose stride is its size.
 */
import { parameter } from "../graph/ops.ts";
import type { Value } from "../graph/value.ts";
import type { ModelConfig } from "./config.ts";

const TEXT = "language_model.model";
const PROJECTION = "vision_abstractor.projection";

export interface NormWeights {
  readonly weight: Value;
  readonly bias: Value;
}

export interface LinearWeights {
  readonly weight: Value;
  readonly bias: Value;
}

export interface VisionBlockWeights {
  readonly norm1: NormWeights;
  readonly qkv: LinearWeights;
  readonly proj: LinearWeights;
  readonly norm2: NormWeights;
  readonly fc1: LinearWeights;
  readonly fc2: LinearWeights;
}

export interface DecoderLayerWeights {
  readonly inputNorm: Value;
  readonly query: Value;
  readonly key: Value;
  readonly value: Value;
  readonly queryNorm: Value;
  readonly keyNorm: Value;
  readonly output: Value;
  readonly postAttentionNorm: Value;
  readonly gate: Value;
  readonly up: Value;
  readonly down: Value;
}

/** Every parameter of one model, as values of one graph. */
export interface ModelWeights {
  readonly vision: { readonly patchEmbed: Value; readonly blocks: readonly VisionBlockWeights[] };
  readonly projector: { readonly norm: NormWeights; readonly expand: LinearWeights; readonly project: LinearWeights };
  readonly decoder: {
    readonly embedding: Value;
    readonly layers: readonly DecoderLayerWeights[];
    readonly norm: Value;
    readonly head: Value;
  };
}

/** Fresh parameter values under their published names. A graph that shares weights must share this object. */
export function modelWeights({ text, vision }: ModelConfig): ModelWeights {
  const { hiddenSize, headDim, intermediateSize } = text;
  const { embedDim, patchSize } = vision;
  const merged = embedDim * vision.mergeSize ** 2;
  const affine = (name: string, shape: readonly number[]) => ({
    weight: parameter(`${name}.weight`, shape),
    bias: parameter(`${name}.bias`, [shape[0]]),
  });
  const weight = (name: string, ...shape: number[]) => parameter(`${name}.weight`, shape);

  const visionBlocks = Array.from({ length: vision.depth }, (_, i): VisionBlockWeights => {
    const prefix = `vision_model.blocks.${i}`;
    return {
      norm1: affine(`${prefix}.norm1`, [embedDim]),
      qkv: affine(`${prefix}.attn.qkv`, [3 * embedDim, embedDim]),
      proj: affine(`${prefix}.attn.proj`, [embedDim, embedDim]),
      norm2: affine(`${prefix}.norm2`, [embedDim]),
      fc1: affine(`${prefix}.mlp.fc1`, [embedDim * vision.mlpRatio, embedDim]),
      fc2: affine(`${prefix}.mlp.fc2`, [embedDim, embedDim * vision.mlpRatio]),
    };
  });
  const layers = Array.from({ length: text.layers }, (_, i): DecoderLayerWeights => {
    const prefix = `${TEXT}.layers.${i}`;
    const attention = `${prefix}.self_attn`;
    return {
      inputNorm: weight(`${prefix}.input_layernorm`, hiddenSize),
      query: weight(`${attention}.q_proj`, text.heads * headDim, hiddenSize),
      key: weight(`${attention}.k_proj`, text.kvHeads * headDim, hiddenSize),
      value: weight(`${attention}.v_proj`, text.kvHeads * headDim, hiddenSize),
      queryNorm: weight(`${attention}.q_norm`, headDim),
      keyNorm: weight(`${attention}.k_norm`, headDim),
      output: weight(`${attention}.o_proj`, hiddenSize, text.heads * headDim),
      postAttentionNorm: weight(`${prefix}.post_attention_layernorm`, hiddenSize),
      gate: weight(`${prefix}.mlp.gate_proj`, intermediateSize, hiddenSize),
      up: weight(`${prefix}.mlp.up_proj`, intermediateSize, hiddenSize),
      down: weight(`${prefix}.mlp.down_proj`, hiddenSize, intermediateSize),
    };
  });
  const embedding = weight(`${TEXT}.embed_tokens`, text.vocabSize, hiddenSize);
  return {
    vision: {
      patchEmbed: weight("vision_model.patch_embed.proj", embedDim, vision.inChannels, vision.temporalPatchSize, patchSize, patchSize),
      blocks: visionBlocks,
    },
    projector: {
      norm: affine(`${PROJECTION}.ln_q`, [embedDim]),
      expand: affine(`${PROJECTION}.mlp.0`, [merged, merged]),
      project: affine(`${PROJECTION}.mlp.2`, [hiddenSize, merged]),
    },
    decoder: {
      embedding,
      layers,
      norm: weight(`${TEXT}.norm`, hiddenSize),
      head: text.tied ? embedding : weight("language_model.lm_head", text.vocabSize, hiddenSize),
    },
  };
}

/** All parameters of a weights object, each once. */
export function listParameters(weights: ModelWeights): Value<"parameter">[] {
  const found = new Set<Value<"parameter">>();
  const visit = (item: unknown): void => {
    if (typeof item !== "object" || item === null) return;
    if ("op" in item) found.add(item as Value<"parameter">);
    else for (const child of Object.values(item)) visit(child);
  };
  visit(weights);
  return [...found];
}

/** Name → shape of every tensor a checkpoint of this configuration holds. */
export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  return new Map(listParameters(modelWeights(config)).map((p) => [p.attributes.name, p.shape as readonly number[]]));
}
