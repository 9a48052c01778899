/**
 * The two questions every option of this room is asked: is it a whole number, or a number, between these bounds? The answers are
 * `RangeError`s that name the argument, what was expected and what came. Knows nothing of what the numbers mean.
 */

/** Returns `value` if it is an integer in `[low, high]`, else throws a RangeError naming it. */
export function integerIn(name: string, value: number, low: number, high: number = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  const bounds = high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`;
  throw new RangeError(`\`${name}\` expected an integer ${bounds}, got ${value}`);
}

/** Returns `value` if it is a number in `[low, high]` (NaN never is), else throws a RangeError naming it. */
export function numberIn(name: string, value: number, low: number, high: number = Number.POSITIVE_INFINITY): number {
  if (typeof value === "number" && value >= low && value <= high) return value;
  const bounds = high === Number.POSITIVE_INFINITY ? `of at least ${low}` : `from ${low} to ${high}`;
  throw new RangeError(`\`${name}\` expected a number ${bounds}, got ${value}`);
}
