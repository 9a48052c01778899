/**
 * The SDAR decoder: a Qwen3 layer stack (RMS norms, QK-norm, grouped heads, one-dimensional rotary positions, SwiGLU) whose
 * attention obeys whatever mask it is given; causality between blocks is the mask's affair. Row i predicts token i: no shift.
 */
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Value } from "../graph/value.ts";
import { attention, joinHeads, type KeyValue, splitHeads } from "./attention.ts";
import type { TextConfig } from "./config.ts";
import type { ModelWeights } from "./parameters.ts";

export interface DecoderInputs {
  readonly ids: Value; // int64 [batch, rows]
  /** Rows to take from the image instead of the embedding table. */
  readonly image?: {
    readonly features: Value; // [imageTokens, hiddenSize]
    readonly index: Value; // int64 [batch, rows], −1 where the row is a token
  };
  readonly cos: Value; // [batch, rows, headDim / 2]
  readonly sin: Value;
  readonly mask: Value; // [batch, 1, rows, past + rows]
  readonly past?: readonly KeyValue[]; // per layer [batch, kvHeads, past, headDim]
  /** Flat indices (batch · rows + row) of the rows whose logits are wanted: int64 [wanted]. */
  readonly wanted: Value;
}

export interface DecoderOutputs {
  readonly logits: Value; // [wanted, vocabSize]
  /** Per layer, the keys (after norm and rotation) and values of this call's rows: [batch, kvHeads, rows, headDim] */
  readonly present: readonly KeyValue[];
  /** Hidden rows after the embedding and after each layer but the last: [batch · rows, hiddenSize] */
  readonly hidden: readonly Value[];
}

function embed({ ids, image }: DecoderInputs, config: TextConfig, table: Value): Value {
  const [batch, rows] = ids.shape;
  const tokens = g.gather(table, ids); // [batch, rows, hiddenSize]
  if (!image) return g.reshape(tokens, [multiplyDims([batch, rows]), config.hiddenSize]);
  const zero = g.constant(BigInt64Array.of(0n), []);
  const isToken = g.reshape(g.less(image.index, zero), [batch, rows, 1]);
  const pixels = g.gather(image.features, g.maximum(image.index, zero));
  return g.reshape(g.where(isToken, tokens, pixels), [multiplyDims([batch, rows]), config.hiddenSize]);
}

export function decoder(inputs: DecoderInputs, config: TextConfig, weights: ModelWeights["decoder"]): DecoderOutputs {
  const { heads, kvHeads, headDim, rmsNormEps } = config;
  const { cos, sin, mask, past, wanted } = inputs;
  const shape = [inputs.ids.shape[0], inputs.ids.shape[1]] as const;
  let x = embed(inputs, config, weights.embedding); // [batch · rows, hiddenSize]
  const hidden = [x];
  const present: KeyValue[] = [];

  weights.layers.forEach((layer, i) => {
    const normed = g.rmsNorm(x, layer.inputNorm, rmsNormEps);
    const project = (weight: Value, count: number) => splitHeads(g.linear(normed, weight), shape, count, headDim);
    const query = g.rotary(g.rmsNorm(project(layer.query, heads), layer.queryNorm, rmsNormEps), cos, sin);
    const key = g.rotary(g.rmsNorm(project(layer.key, kvHeads), layer.keyNorm, rmsNormEps), cos, sin);
    const value = project(layer.value, kvHeads);
    present.push({ key, value });
    let attended = joinHeads(attention({ query, current: { key, value }, past: past?.[i], mask }));
    if (i === weights.layers.length - 1) {
      // What follows concerns each row alone, so from here on only the wanted rows are computed.
      attended = g.gather(attended, wanted);
      x = g.gather(x, wanted);
    }
    x = g.add(x, g.linear(attended, layer.output));
    const normedAgain = g.rmsNorm(x, layer.postAttentionNorm, rmsNormEps);
    const gated = g.mul(g.silu(g.linear(normedAgain, layer.gate)), g.linear(normedAgain, layer.up));
    x = g.add(x, g.linear(gated, layer.down));
    if (i < weights.layers.length - 1) hidden.push(x);
  });
  const logits = g.linear(g.rmsNorm(x, weights.norm, rmsNormEps), weights.head);
  return { logits, present, hidden };
}
