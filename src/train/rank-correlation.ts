/** Spearman's rank correlation: whether two measures of the same things put them in the same order, -1 to 1. Ties share their mean rank. */

function ranksOf(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Array<number>(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let at = from; at < to; at++) ranks[order[at]] = (from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

/**
 * Null where there is no order to compare: fewer than two pairs, or all values of a side equal.
 * @throws RangeError if the sides differ in length
 */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | null {
  if (a.length !== b.length) throw new RangeError(`\`b\` expected ${a.length} numbers, got ${b.length}`);
  const [ranksA, ranksB] = [ranksOf(a), ranksOf(b)];
  const middle = (a.length - 1) / 2;
  let [product, squaresA, squaresB] = [0, 0, 0];
  ranksA.forEach((rank, i) => {
    product += (rank - middle) * (ranksB[i] - middle);
    squaresA += (rank - middle) ** 2;
    squaresB += (ranksB[i] - middle) ** 2;
  });
  return squaresA === 0 || squaresB === 0 ? null : product / Math.sqrt(squaresA * squaresB);
}
