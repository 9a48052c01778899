/**
 * Attention over graph values: grouped key/value heads, additive mask, optional cache. Query heads that share a key/value head are
 * folded into its rows, so keys and values are never repeated; cached and new keys are scored apart, so the cache is never copied.
 */
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Dim, Value } from "../graph/value.ts";

export interface KeyValue {
  readonly key: Value; // [batch, kvHeads, columns, headDim]
  readonly value: Value; // [batch, kvHeads, columns, headDim]
}

export interface AttentionInputs {
  readonly query: Value; // [batch, heads, rows, headDim]
  readonly current: KeyValue;
  readonly past?: KeyValue;
  /** Added to the scores: [batch, 1, rows, pastColumns + columns]; absent means that every row sees every column. */
  readonly mask?: Value;
}

/** → [batch, heads, rows, headDim] */
export function attention({ query, current, past, mask }: AttentionInputs): Value {
  const [batch, heads, rows, headDim] = query.shape;
  const kvHeads = current.key.shape[1];
  const folded = multiplyDims([rows, (heads as number) / (kvHeads as number)]);
  const scaled = g.mul(query, (headDim as number) ** -0.5);
  const grouped = g.reshape(scaled, [batch, kvHeads, folded, headDim]);

  const parts = past ? [past, current] : [current];
  const scored = parts.map(({ key }) => g.matmul(grouped, key, { transposeB: true })); // [batch, kvHeads, folded, columns]
  const scores = scored.length === 1 ? scored[0] : g.concat(scored, 3);
  const columns = scores.shape[3];
  const masked = mask ? g.add(g.reshape(scores, [batch, heads, rows, columns]), mask) : scores;
  if (!past) {
    const attended = g.attend(g.reshape(masked, [batch, kvHeads, folded, columns]), current.value);
    return g.reshape(attended, [batch, heads, rows, headDim]);
  }
  const probabilities = g.reshape(g.softmax(masked), [batch, kvHeads, folded, columns]);
  const [pastColumns, currentColumns] = [past.key.shape[2], current.key.shape[2]];
  const weighted = g.add(
    g.matmul(g.slice(probabilities, 3, 0, pastColumns), past.value),
    g.matmul(g.slice(probabilities, 3, pastColumns, currentColumns), current.value),
  );
  return g.reshape(weighted, [batch, heads, rows, headDim]);
}

/** [batch · rows, heads · headDim] → [batch, heads, rows, headDim] */
export function splitHeads(
  x: Value,
  [batch, rows]: readonly [Value["shape"][number], Value["shape"][number]],
  heads: number,
  headDim: number,
): Value {
  return g.transpose(g.reshape(x, [batch, rows, heads, headDim]), [0, 2, 1, 3]);
}

/** [batch, heads, rows, headDim] → [batch · rows, heads · headDim] */
export function joinHeads(x: Value): Value {
  const [batch, heads, rows, headDim] = x.shape;
  return g.reshape(g.transpose(x, [0, 2, 1, 3]), [multiplyDims([batch, rows]), (heads as number) * (headDim as number)]);
}

/**
 * Attention of scaled queries [batch, heads, rows, headDim] → the like, or with `logSum` [batch, heads, rows, headDim + 1], the last
 * column being log Σ exp of the row's scores. The mask is [batch, 1, rows, columns], or [batch, 1, blocks, 1, columns] if `rowsAs` says
 * that rows are [blocks, blockLength].
 */
export function attentionTowards(
  query: Value,
  { key, value }: KeyValue,
  mask: Value,
  { logSum = false, rowsAs }: { readonly logSum?: boolean; readonly rowsAs?: readonly Dim[] } = {},
): Value {
  const [batch, heads, rows, headDim] = query.shape;
  const [, kvHeads, columns] = key.shape;
  const folded = [batch, kvHeads, multiplyDims([rows, (heads as number) / (kvHeads as number)])];
  const scores = g.matmul(g.reshape(query, [...folded, headDim]), key, { transposeB: true }); // [batch, kvHeads, folded, columns]
  const masked = g.add(g.reshape(scores, [batch, heads, ...(rowsAs ?? [rows]), columns]), mask);
  const attended = g.attend(g.reshape(masked, [...folded, columns]), value, { logSum });
  return g.reshape(attended, [batch, heads, rows, logSum ? (headDim as number) + 1 : headDim]);
}

/** Two `logSum` attentions of the same rows to different columns → their attention to both, [batch, heads, rows, headDim]. */
export function joinParts(a: Value, b: Value): Value {
  const headDim = (a.shape[3] as number) - 1;
  const output = (x: Value) => g.slice(x, 3, 0, headDim);
  const logSum = (x: Value) => g.slice(x, 3, headDim, 1);
  const share = g.sigmoid(g.sub(logSum(a), logSum(b))); // [batch, heads, rows, 1]
  return g.add(output(b), g.mul(share, g.sub(output(a), output(b))));
}
