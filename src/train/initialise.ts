/**
 * Fresh weights: normal with variance 1/fan-in, residual projections smaller by the depth of their stack, norms one, biases zero.
 */
import { createRandom, type Random } from "../diffusion/random.ts";
import type { ModelConfig } from "../model/config.ts";

const EMBEDDING_DEVIATION = 0.5;
const HEAD_DEVIATION = 0.02;

function normals(count: number, deviation: number, random: Random): Float32Array {
  const values = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - random.uniform()));
    const angle = 2 * Math.PI * random.uniform();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < count) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}

export function initialWeights(
  shapes: ReadonlyMap<string, readonly number[]>,
  config: ModelConfig,
  seed: number,
): Map<string, Float32Array> {
  const weights = new Map<string, Float32Array>();
  [...shapes].forEach(([name, shape], index) => {
    const count = shape.reduce((a, b) => a * b, 1);
    if (name.endsWith(".bias")) weights.set(name, new Float32Array(count));
    else if (shape.length === 1) weights.set(name, new Float32Array(count).fill(1));
    else {
      const fanIn = count / shape[0];
      const residual = /(attn\.proj|fc2|o_proj|down_proj)\.weight$/.test(name);
      const depth = name.startsWith("vision_model") ? config.vision.depth : config.text.layers;
      const deviation = name.endsWith("embed_tokens.weight")
        ? EMBEDDING_DEVIATION
        : name.endsWith("lm_head.weight") || name.startsWith("dense.")
          ? HEAD_DEVIATION
          : fanIn ** -0.5 * (residual ? (2 * depth) ** -0.5 : 1);
      weights.set(name, normals(count, deviation, createRandom(seed, index)));
    }
  });
  return weights;
}
