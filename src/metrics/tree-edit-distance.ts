/**
 * Edit distance of ordered labelled trees by Zhang and Shasha (1989): the least cost of inserting, deleting (cost 1 each) and renaming
 * nodes (cost by the caller) that turns one tree into the other. Exact, as APTED is; for tables, which are flat, its cost is about
 * (2 x cells)^2 steps. It refuses to know what a label means.
 */

export interface Tree<Label> {
  readonly label: Label;
  readonly children: readonly Tree<Label>[];
}

/** A tree in post-order: labels, and for every node the first node of its subtree. */
interface PostOrder<Label> {
  readonly labels: Label[];
  readonly firstOf: Int32Array;
  /** Nodes whose subtree begins where no later node's does, ascending. */
  readonly keyRoots: number[];
}

/**
 * @param rename cost of renaming one label to another, 0 for equal ones; a metric for the result to be one
 * @returns the distance; 0 for equal trees, at most the number of nodes of both
 */
export function treeEditDistance<Label>(a: Tree<Label>, b: Tree<Label>, rename: (from: Label, to: Label) => number): number {
  const x = postOrder(a);
  const y = postOrder(b);
  const columns = y.labels.length;
  const renameCost = new Float64Array(x.labels.length * columns); // [nodes of a, nodes of b]
  x.labels.forEach((from, i) => {
    for (let j = 0; j < columns; j++) renameCost[i * columns + j] = rename(from, y.labels[j]);
  });
  const treeCost = new Float64Array(x.labels.length * columns); // [nodes of a, nodes of b]: distance of their subtrees
  const forestCost = new Float64Array((x.labels.length + 1) * (columns + 1));
  for (const i of x.keyRoots) {
    for (const j of y.keyRoots) fillSubtrees(i, j, x.firstOf, y.firstOf, columns, renameCost, treeCost, forestCost);
  }
  return treeCost[treeCost.length - 1];
}

/** Distances of all pairs of subtrees that begin where those of key roots `i` and `j` do. */
function fillSubtrees(
  i: number,
  j: number,
  firstOfA: Int32Array,
  firstOfB: Int32Array,
  columns: number,
  renameCost: Float64Array,
  treeCost: Float64Array,
  forestCost: Float64Array,
): void {
  const firstA = firstOfA[i];
  const firstB = firstOfB[j];
  const width = j - firstB + 2;
  for (let column = 0; column < width; column++) forestCost[column] = column;
  for (let p = firstA; p <= i; p++) {
    const row = (p - firstA + 1) * width;
    const isWholeA = firstOfA[p] === firstA;
    const rowBeforeSubtree = (firstOfA[p] - firstA) * width;
    forestCost[row] = p - firstA + 1;
    for (let q = firstB; q <= j; q++) {
      const cell = row + q - firstB + 1;
      let best = Math.min(forestCost[cell - width], forestCost[cell - 1]) + 1;
      if (isWholeA && firstOfB[q] === firstB) {
        best = Math.min(best, forestCost[cell - width - 1] + renameCost[p * columns + q]);
        treeCost[p * columns + q] = best;
      } else {
        best = Math.min(best, forestCost[rowBeforeSubtree + firstOfB[q] - firstB] + treeCost[p * columns + q]);
      }
      forestCost[cell] = best;
    }
  }
}

function postOrder<Label>(root: Tree<Label>): PostOrder<Label> {
  const labels: Label[] = [];
  const first: number[] = [];
  const pending: { node: Tree<Label>; nextChild: number; first: number }[] = [{ node: root, nextChild: 0, first: 0 }];
  while (pending.length > 0) {
    const top = pending[pending.length - 1];
    if (top.nextChild < top.node.children.length) {
      pending.push({ node: top.node.children[top.nextChild++], nextChild: 0, first: labels.length });
    } else {
      labels.push(top.node.label);
      first.push(top.first);
      pending.pop();
    }
  }
  const lastWithFirst = new Map(first.map((start, node) => [start, node]));
  return { labels, firstOf: Int32Array.from(first), keyRoots: [...lastWithFirst.values()].sort((p, q) => p - q) };
}
