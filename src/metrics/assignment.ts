/**
 * The cheapest one-to-one assignment of rows to columns (rectangular, Crouse 2016: shortest augmenting paths). Among equally cheap
 * assignments it takes the one SciPy's `linear_sum_assignment` takes, because matching by the official metrics depends on it.
 * It refuses to know what rows and columns are.
 */

export interface Assignment {
  /** Assigned rows, ascending. */
  readonly rows: number[];
  /** The column of each of `rows`. */
  readonly columns: number[];
}

/**
 * @param cost a row an array, all of equal length; costs finite
 * @throws RangeError if rows differ in length or a cost is not finite
 */
export function assignMinimum(cost: readonly (readonly number[])[]): Assignment {
  const rowCount = cost.length;
  const columnCount = rowCount === 0 ? 0 : cost[0].length;
  for (const row of cost) {
    if (row.length !== columnCount) throw new RangeError(`\`cost\` expected rows of ${columnCount}, got one of ${row.length}`);
    const bad = row.find((value) => !Number.isFinite(value));
    if (bad !== undefined) throw new RangeError(`\`cost\` expected finite numbers, got ${bad}`);
  }
  if (rowCount === 0 || columnCount === 0) return { rows: [], columns: [] };
  if (rowCount <= columnCount) return { rows: cost.map((_, row) => row), columns: [...columnOfRow(cost, columnCount)] };
  const transposed = Array.from({ length: columnCount }, (_, column) => cost.map((row) => row[column]));
  const pairs = Array.from(columnOfRow(transposed, rowCount), (row, column) => [row, column]).sort((a, b) => a[0] - b[0]);
  return { rows: pairs.map(([row]) => row), columns: pairs.map(([, column]) => column) };
}

/** The column of every row, for at least as many columns as rows. */
function columnOfRow(cost: readonly (readonly number[])[], columnCount: number): Int32Array {
  const rowCount = cost.length;
  const rowPotential = new Float64Array(rowCount);
  const columnPotential = new Float64Array(columnCount);
  const columnOf = new Int32Array(rowCount).fill(-1);
  const rowOf = new Int32Array(columnCount).fill(-1);
  const cameFrom = new Int32Array(columnCount);
  const pathCost = new Float64Array(columnCount);
  const remaining = new Int32Array(columnCount);
  const rowSeen = new Uint8Array(rowCount);
  const columnSeen = new Uint8Array(columnCount);

  for (let start = 0; start < rowCount; start++) {
    rowSeen.fill(0);
    columnSeen.fill(0);
    pathCost.fill(Number.POSITIVE_INFINITY);
    for (let index = 0; index < columnCount; index++) remaining[index] = columnCount - index - 1;
    let remainingCount = columnCount;
    let row = start;
    let reached = 0;
    let sink = -1;
    while (sink < 0) {
      rowSeen[row] = 1;
      let lowest = Number.POSITIVE_INFINITY;
      let nearest = -1;
      for (let index = 0; index < remainingCount; index++) {
        const column = remaining[index];
        const through = reached + cost[row][column] - rowPotential[row] - columnPotential[column];
        if (through < pathCost[column]) {
          cameFrom[column] = row;
          pathCost[column] = through;
        }
        if (pathCost[column] < lowest || (pathCost[column] === lowest && rowOf[column] < 0)) {
          lowest = pathCost[column];
          nearest = index;
        }
      }
      reached = lowest;
      const column = remaining[nearest];
      if (rowOf[column] < 0) sink = column;
      else row = rowOf[column];
      columnSeen[column] = 1;
      remaining[nearest] = remaining[--remainingCount];
    }
    rowPotential[start] += reached;
    for (let other = 0; other < rowCount; other++) {
      if (rowSeen[other] && other !== start) rowPotential[other] += reached - pathCost[columnOf[other]];
    }
    for (let column = 0; column < columnCount; column++) {
      if (columnSeen[column]) columnPotential[column] -= reached - pathCost[column];
    }
    for (let column = sink, at = -1; at !== start; ) {
      at = cameFrom[column];
      rowOf[column] = at;
      [columnOf[at], column] = [column, columnOf[at]];
    }
  }
  return columnOf;
}
