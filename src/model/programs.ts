/**
 * The few graphs that inference runs: an image becomes features, and rows of tokens become logits and cache entries. Prefill,
 * denoising, commit and any fusion of them are one program: they differ only in rows, mask and past.
 */
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Program, Value } from "../graph/value.ts";
import type { ModelConfig } from "./config.ts";
import { decoder } from "./decoder.ts";
import { modelWeights } from "./parameters.ts";
import { projector, type VisionInputs, visionTower } from "./vision.ts";

/** The inputs every program that sees images shares. */
export function visionInputs(config: ModelConfig, { masked }: { masked: boolean }): VisionInputs {
  const { vision } = config;
  const squares = vision.mergeSize ** 2;
  const patchPixels = vision.inChannels * vision.temporalPatchSize * vision.patchSize ** 2;
  const patches = multiplyDims(["tokens", squares]);
  const half = vision.embedDim / vision.heads / 2;
  return {
    pixels: g.input("pixels", "float32", ["bins", "tokens", squares * patchPixels]),
    cos: g.input("imageCos", "float32", ["bins", patches, half]),
    sin: g.input("imageSin", "float32", ["bins", patches, half]),
    mask: masked ? g.input("imageMask", "float32", ["bins", 1, patches, patches]) : undefined,
  };
}

/** Images → `tower` [bins · patches, embedDim] and `features` [bins · tokens, hiddenSize]. */
export function encodeImageProgram(config: ModelConfig, { masked = false } = {}): Program {
  const weights = modelWeights(config);
  const inputs = visionInputs(config, { masked });
  const tower = visionTower(inputs, config.vision, weights.vision);
  const features = projector(tower, multiplyDims(["bins", "tokens"]), config.vision, weights.projector);
  return { name: "encode-image", outputs: { tower, features } };
}

export const presentName = (kind: "key" | "value", layer: number): string => `present.${kind}.${layer}`;
export const pastName = (kind: "key" | "value", layer: number): string => `past.${kind}.${layer}`;

/** Rows of tokens against a cache → `logits` [wanted, vocabSize] and `present.*` [batch, kvHeads, rows, headDim]. */
export function decodeProgram(config: ModelConfig, { hidden = false } = {}): Program {
  const { text } = config;
  const weights = modelWeights(config);
  const half = text.headDim / 2;
  const cached = (kind: "key" | "value", layer: number): Value =>
    g.input(pastName(kind, layer), "float32", ["batch", text.kvHeads, "past", text.headDim]);
  const result = decoder(
    {
      ids: g.input("ids", "int64", ["batch", "rows"]),
      image: {
        features: g.input("imageFeatures", "float32", ["imageTokens", text.hiddenSize]),
        index: g.input("imageIndex", "int64", ["batch", "rows"]),
      },
      cos: g.input("cos", "float32", ["batch", "rows", half]),
      sin: g.input("sin", "float32", ["batch", "rows", half]),
      mask: g.input("mask", "float32", ["batch", 1, "rows", "past+rows"]),
      past: weights.decoder.layers.map((_, i) => ({ key: cached("key", i), value: cached("value", i) })),
      wanted: g.input("wanted", "int64", ["wanted"]),
    },
    text,
    weights.decoder,
  );
  const outputs: Record<string, Value> = { logits: result.logits };
  result.present.forEach(({ key, value }, i) => {
    outputs[presentName("key", i)] = key;
    outputs[presentName("value", i)] = value;
  });
  if (hidden) Object.assign(outputs, Object.fromEntries(result.hidden.map((value, i) => [`hidden.${i}`, value])));
  return { name: "decode", outputs };
}
