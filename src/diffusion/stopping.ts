/**
 * Where an answer ends. Stop tokens count in the answer only, never in the prompt, and the earliest one wins whatever its name; failing
 * that, the token limit. An end is final as soon as every position before it is settled, even while later ones are still masked: nothing
 * before it can change any more, so decoding may stop there and the text stays the same. Knows tokens and which of them are settled.
 */

/** The end of an answer: `tokens` of it remain, and the stop token found behind them, or null at the token limit. */
export interface AnswerEnd {
  readonly tokens: number;
  readonly stopToken: number | null;
}

/** The index of the first stop token among the first `length` tokens, or null. */
export function firstStop(tokens: ArrayLike<number>, stopTokens: readonly number[], length = tokens.length): number | null {
  for (let index = 0; index < length; index++) if (stopTokens.includes(tokens[index])) return index;
  return null;
}

/**
 * The end of the answer, if it is final: `canvas` holds the answer so far, `settled` how many of its first positions are settled without
 * a gap, `maxTokens` the limit. Null while the end is still open.
 */
export function answerEnd(canvas: Int32Array, settled: number, stopTokens: readonly number[], maxTokens: number): AnswerEnd | null {
  const stop = firstStop(canvas, stopTokens, Math.min(settled, maxTokens));
  if (stop !== null) return { tokens: stop, stopToken: canvas[stop] };
  return settled >= maxTokens ? { tokens: maxTokens, stopToken: null } : null;
}
