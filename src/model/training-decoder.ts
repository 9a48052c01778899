/**
 * The decoder as training runs it (the paper's Figure 3): prompts and clean answers are one stream of rows, noisy copies another, through
 * the same weights. Noisy rows are seen by their own block alone, so one dense mask over both streams would be mostly empty; here
 * context scores context, noisy rows score context, and each noisy block scores itself. The two parts of a noisy row's softmax are joined
 * exactly by their log sums. Equal to `decoder` under the training mask; knows nothing of how sequences are noised or packed.
 */
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Dim, Value } from "../graph/value.ts";
import { attentionTowards, joinHeads, joinParts, type KeyValue, splitHeads } from "./attention.ts";
import type { TextConfig } from "./config.ts";
import type { DecoderLayerWeights, ModelWeights } from "./parameters.ts";

export interface TrainingDecoderInputs {
  /** Prompts and clean answers: bin i of `noisy` belongs to bin i of these rows. */
  readonly context: {
    readonly ids: Value; // int64 [batch, rows]
    readonly image: {
      readonly features: Value; // [imageTokens, hiddenSize]
      readonly index: Value; // int64 [batch, rows], −1 where the row is a token
    };
    readonly cos: Value; // [batch, rows, headDim / 2]
    readonly sin: Value;
    readonly mask: Value; // [batch, 1, rows, rows]
  };
  readonly noisy: {
    readonly ids: Value; // int64 [batch, blocks, blockLength]
    readonly cos: Value; // [batch, blocks, blockLength, headDim / 2]
    readonly sin: Value;
    readonly mask: Value; // [batch, 1, blocks, 1, rows]: what each block sees of the context
  };
  /** Flat noisy rows whose logits are wanted: int64 [wanted]. */
  readonly wanted: Value;
}

interface Stream {
  /** [batch, rows] */
  readonly shape: readonly [Dim, Dim];
  readonly cos: Value; // [batch, rows, headDim / 2]
  readonly sin: Value;
}

/** → logits [wanted, vocabSize] */
export function trainingDecoder(
  { context, noisy, wanted }: TrainingDecoderInputs,
  config: TextConfig,
  weights: ModelWeights["decoder"],
): Value {
  const { heads, kvHeads, headDim, hiddenSize, rmsNormEps } = config;
  const [batch, rows] = context.ids.shape;
  const [, blocks, blockLength] = noisy.ids.shape;
  const noisyRows = multiplyDims([blocks, blockLength]);
  const contextStream: Stream = { shape: [batch, rows], cos: context.cos, sin: context.sin };
  const tableShape = [batch, noisyRows, headDim / 2];
  const noisyStream: Stream = {
    shape: [batch, noisyRows],
    cos: g.reshape(noisy.cos, tableShape),
    sin: g.reshape(noisy.sin, tableShape),
  };
  const flat = (x: Value, { shape }: Stream) => g.reshape(x, [multiplyDims(shape), hiddenSize]);
  const projected = (normed: Value, weight: Value, count: number, { shape }: Stream) =>
    splitHeads(g.linear(normed, weight), shape, count, headDim);
  const keysAndValues = (normed: Value, layer: DecoderLayerWeights, stream: Stream): KeyValue => ({
    key: g.rotary(g.rmsNorm(projected(normed, layer.key, kvHeads, stream), layer.keyNorm, rmsNormEps), stream.cos, stream.sin),
    value: projected(normed, layer.value, kvHeads, stream),
  });
  /** Scaled here, where there are few numbers. */
  const queries = (normed: Value, layer: DecoderLayerWeights, stream: Stream): Value => {
    const query = g.rotary(g.rmsNorm(projected(normed, layer.query, heads, stream), layer.queryNorm, rmsNormEps), stream.cos, stream.sin);
    return g.mul(query, headDim ** -0.5);
  };
  const afterAttention = (x: Value, attended: Value, layer: DecoderLayerWeights): Value => {
    const sum = g.add(x, g.linear(attended, layer.output));
    const normed = g.rmsNorm(sum, layer.postAttentionNorm, rmsNormEps);
    const gated = g.mul(g.silu(g.linear(normed, layer.gate)), g.linear(normed, layer.up));
    return g.add(sum, g.linear(gated, layer.down));
  };

  const zero = g.constant(BigInt64Array.of(0n), []);
  const isToken = g.reshape(g.less(context.image.index, zero), [batch, rows, 1]);
  const pixels = g.gather(context.image.features, g.maximum(context.image.index, zero));
  let x = flat(g.where(isToken, g.gather(weights.embedding, context.ids), pixels), contextStream); // [batch · rows, hiddenSize]
  let y = flat(g.gather(weights.embedding, noisy.ids), noisyStream); // [batch · noisyRows, hiddenSize]

  weights.layers.forEach((layer, i) => {
    const last = i === weights.layers.length - 1;
    const normed = g.rmsNorm(x, layer.inputNorm, rmsNormEps);
    const seen = keysAndValues(normed, layer, contextStream);
    // Nobody reads the context's last hidden rows: its last layer ends with keys and values.
    if (!last) {
      const attended = attentionTowards(queries(normed, layer, contextStream), seen, context.mask);
      x = afterAttention(x, joinHeads(attended), layer);
    }

    const noisyNormed = g.rmsNorm(y, layer.inputNorm, rmsNormEps);
    const query = queries(noisyNormed, layer, noisyStream); // [batch, heads, noisyRows, headDim]
    const own = keysAndValues(noisyNormed, layer, noisyStream);
    const blocked = (rowsOf: Value, groups: readonly Dim[]) => g.reshape(rowsOf, [batch, kvHeads, ...groups, blocks, blockLength, headDim]);
    const group = heads / kvHeads;
    const scores = g.matmul(blocked(query, [group]), blocked(own.key, [1]), { transposeB: true }); // [.., group, blocks, blockLength, blockLength]
    const within = g.reshape(g.attend(scores, blocked(own.value, [1]), { logSum: true }), [batch, heads, noisyRows, headDim + 1]);
    const towards = attentionTowards(query, seen, noisy.mask, { logSum: true, rowsAs: [blocks, blockLength] });
    let attended = joinHeads(joinParts(towards, within));
    if (last) {
      // What follows concerns each row alone, so from here on only the wanted rows are computed.
      attended = g.gather(attended, wanted);
      y = g.gather(y, wanted);
    }
    y = afterAttention(y, attended, layer);
  });
  return g.linear(g.rmsNorm(y, weights.norm, rmsNormEps), weights.head);
}
