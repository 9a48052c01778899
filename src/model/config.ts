/**
 * The sizes and token ids that determine one model, in our own words: decoder (SDAR, a Qwen3 with block attention), vision tower
 * (Qwen2-VL without its merger) and the projector between them (paper section 3.1). How a config.json spells them, and which
 * spellings are refused, is the business of `checkpoint/config.ts`.
 */

/** The decoder. Attention has QK-norm, no biases and plain one-dimensional rotary positions; the MLP is SwiGLU. */
export interface TextConfig {
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Key/value heads; `heads` is a multiple of it. */
  readonly kvHeads: number;
  /** Width of one head; need not be hiddenSize / heads. */
  readonly headDim: number;
  readonly vocabSize: number;
  readonly ropeTheta: number;
  readonly rmsNormEps: number;
  /** Whether the output head is the embedding table itself. */
  readonly tied: boolean;
}

/** The vision tower and the grid it works on. */
export interface VisionConfig {
  readonly depth: number;
  readonly embedDim: number;
  readonly heads: number;
  readonly mlpRatio: number;
  /** Edge of a patch in pixels. */
  readonly patchSize: number;
  /** Frames per patch; a still image is repeated this often. */
  readonly temporalPatchSize: number;
  /** Edge in patches of the square that becomes one image token. */
  readonly mergeSize: number;
  readonly inChannels: number;
}

export interface ModelConfig {
  readonly text: TextConfig;
  readonly vision: VisionConfig;
  /** `<|image_pad|>`: its rows are replaced by image features. */
  readonly imageTokenId: number;
  readonly visionStartTokenId: number;
  readonly visionEndTokenId: number;
  /** `<|MASK|>`: a position not settled yet. */
  readonly maskTokenId: number;
  /** Positions per diffusion block the weights were trained for, where the checkpoint says so; 32 as published. */
  readonly blockLength?: number;
}
