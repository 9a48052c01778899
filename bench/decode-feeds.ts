/** What a decoding pass is fed, for measuring sessions alone: made-up tokens and cached numbers of the right shapes. */
import type { ModelConfig } from "../src/model/config.ts";
import { decoderRotary } from "../src/model/positions.ts";
import { pastName } from "../src/model/programs.ts";
import { float32, int64, type Tensors } from "../src/runtime/session.ts";

/** Rows of tokens after `past` cached ones; every row's logits are wanted up to a block of them. */
export function decodeFeeds({ text }: ModelConfig, rows: number, past: number): Tensors {
  const half = text.headDim / 2;
  const { cos, sin } = decoderRotary(
    Int32Array.from({ length: rows }, (_, i) => past + i),
    text.headDim,
    text.ropeTheta,
  );
  const cached = float32(
    Float32Array.from({ length: text.kvHeads * past * text.headDim }, (_, i) => Math.sin(i)),
    [1, text.kvHeads, past, text.headDim],
  );
  const names = Array.from({ length: text.layers }, (_, layer) => [pastName("key", layer), pastName("value", layer)]).flat();
  return {
    ...Object.fromEntries(names.map((name) => [name, cached])),
    ids: int64(
      Array.from({ length: rows }, (_, i) => (i * 7919) % text.vocabSize),
      [1, rows],
    ),
    imageFeatures: float32(new Float32Array(text.hiddenSize), [1, text.hiddenSize]),
    imageIndex: int64(Array<number>(rows).fill(-1), [1, rows]),
    cos: float32(cos, [1, rows, half]),
    sin: float32(sin, [1, rows, half]),
    mask: float32(new Float32Array(rows * (past + rows)), [1, 1, rows, past + rows]),
    wanted: int64(Array.from({ length: Math.min(rows, 32) }, (_, i) => i)),
  };
}

/** Floating-point operations of such a pass: two for each weight and row, and attention. */
export function decodeOperations({ text }: ModelConfig, rows: number, past: number): number {
  const { layers, hiddenSize, heads, kvHeads, headDim, intermediateSize, vocabSize } = text;
  const layerWeights = hiddenSize * headDim * (2 * heads + 2 * kvHeads) + 3 * hiddenSize * intermediateSize;
  const attention = 4 * heads * headDim * rows * (past + rows);
  return 2 * rows * layers * layerWeights + layers * attention + 2 * Math.min(rows, 32) * hiddenSize * vocabSize;
}

/** Bytes of float32 weights that such a pass reads. */
export function decodeWeightBytes({ text }: ModelConfig): number {
  const { layers, hiddenSize, heads, kvHeads, headDim, intermediateSize, vocabSize } = text;
  return 4 * (layers * (hiddenSize * headDim * (2 * heads + 2 * kvHeads) + 3 * hiddenSize * intermediateSize) + hiddenSize * vocabSize);
}
