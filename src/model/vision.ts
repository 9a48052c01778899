/**
 * The vision tower of Qwen2-VL without its merger, and the patch-merger projector (paper section 3.1). Images come as bins: rows of
 * equal length that each hold one image or, with a mask, several. Patches stand in merge order, so four neighbours in memory are the
 * 2×2 square that becomes one image token.
 */
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Value } from "../graph/value.ts";
import { attention, joinHeads, splitHeads } from "./attention.ts";
import type { VisionConfig } from "./config.ts";
import type { LinearWeights, ModelWeights, NormWeights } from "./parameters.ts";

const LAYER_NORM_EPSILON = 1e-6;

export interface VisionInputs {
  readonly pixels: Value; // [bins, tokens, mergeSize² · patchPixels]
  readonly cos: Value; // [bins, tokens · mergeSize², headDim / 2]
  readonly sin: Value;
  readonly mask?: Value; // [bins, 1, patches, patches]
}

const layerNorm = (x: Value, { weight, bias }: NormWeights): Value => g.layerNorm(x, weight, bias, LAYER_NORM_EPSILON);
const affine = (x: Value, { weight, bias }: LinearWeights): Value => g.linear(x, weight, bias);

/** → [bins · patches, embedDim], after the last block */
export function visionTower({ pixels, cos, sin, mask }: VisionInputs, config: VisionConfig, weights: ModelWeights["vision"]): Value {
  const { embedDim, heads, mergeSize } = config;
  const headDim = embedDim / heads;
  const [bins, tokens] = pixels.shape;
  const patches = multiplyDims([tokens, mergeSize ** 2]);
  const rows = multiplyDims([bins, patches]);
  const patchPixels = config.inChannels * config.temporalPatchSize * config.patchSize ** 2;

  const kernel = g.reshape(weights.patchEmbed, [embedDim, patchPixels]);
  let x = g.linear(g.reshape(pixels, [rows, patchPixels]), kernel); // [bins · patches, embedDim]
  for (const block of weights.blocks) {
    const qkv = g.reshape(affine(layerNorm(x, block.norm1), block.qkv), [rows, 3, embedDim]);
    const [query, key, value] = [0, 1, 2].map((i) =>
      splitHeads(g.reshape(g.slice(qkv, 1, i, 1), [rows, embedDim]), [bins, patches], heads, headDim),
    );
    const attended = attention({
      query: g.rotary(query, cos, sin),
      current: { key: g.rotary(key, cos, sin), value },
      mask,
    });
    x = g.add(x, affine(joinHeads(attended), block.proj));
    x = g.add(x, affine(g.quickGelu(affine(layerNorm(x, block.norm2), block.fc1)), block.fc2));
  }
  return x;
}

/** [bins · patches, embedDim] → [bins · tokens, hiddenSize] */
export function projector(x: Value, imageTokens: Value["shape"][number], config: VisionConfig, weights: ModelWeights["projector"]): Value {
  const merged = g.reshape(layerNorm(x, weights.norm), [imageTokens, config.embedDim * config.mergeSize ** 2]);
  return affine(g.gelu(affine(merged, weights.expand)), weights.project);
}
