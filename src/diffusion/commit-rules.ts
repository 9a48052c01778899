/**
 * Commit rules: which masked positions of a block become fixed after a denoising step. One total table, keyed by strategy:
 *
 * - `low_confidence_dynamic`, the paper's: all positions more confident than the threshold (strictly);
 * - `low_confidence_static`: the most confident ones, as many as the step is due; `sequential`: the leftmost, likewise;
 * - `entropy_bounded` (EB-Sampler): lowest entropies first while their sum stays below gamma;
 * - `factor` (Fast-dLLM): the n most confident, n the largest with (n + 1)(1 - n-th confidence) < factor.
 *
 * Every rule commits at least what the step is due, so a block of B positions fills in at most `stepsPerBlock` steps. Ties go to the
 * lower position. Knows confidences and entropies, not tokens.
 */

import { integerIn, numberIn } from "./ranges.ts";

/** A strategy with its settings. */
export type CommitRule =
  | { readonly strategy: "low_confidence_dynamic"; readonly threshold: number }
  | { readonly strategy: "low_confidence_static" }
  | { readonly strategy: "sequential" }
  | { readonly strategy: "entropy_bounded"; readonly gamma: number }
  | { readonly strategy: "factor"; readonly factor: number };

/** Names of the rules by which positions are committed. */
export type CommitStrategy = CommitRule["strategy"];

/** As a caller may spell it: settings left out take their defaults (threshold 0.95, gamma 0.35, factor 1). */
export interface CommitRuleOptions {
  readonly strategy?: CommitStrategy;
  readonly threshold?: number;
  readonly gamma?: number;
  readonly factor?: number;
}

/** Entry i belongs to the i-th masked position, ascending. */
export interface Certainty {
  readonly confidences: ArrayLike<number>;
  readonly entropies?: ArrayLike<number>;
}

/** How many of the masked positions a rule would take of its own accord, and in which order they come. */
interface Preference {
  readonly order: Int32Array;
  readonly count: number;
}

const rules: { readonly [S in CommitStrategy]: (rule: Extract<CommitRule, { strategy: S }>, certainty: Certainty) => Preference } = {
  low_confidence_dynamic({ threshold }, { confidences }) {
    // Confidences are float32, so the threshold is too: the float32 nearest to 0.85 is above 0.85, yet not above the threshold.
    const bar = Math.fround(threshold);
    return take(descending(confidences), (place) => Math.fround(confidences[place]) > bar);
  },
  low_confidence_static: (_, { confidences }) => ({ order: descending(confidences), count: 0 }),
  sequential: (_, { confidences }) => ({ order: Int32Array.from(confidences, (_confidence, place) => place), count: 0 }),
  entropy_bounded({ gamma }, { entropies }) {
    if (entropies === undefined) throw new RangeError("`entropies` expected with the strategy entropy_bounded, got none");
    let sum = 0;
    return take(ascending(entropies), (place) => {
      sum += entropies[place];
      return sum < gamma;
    });
  },
  factor({ factor }, { confidences }) {
    const order = descending(confidences);
    let count = 0;
    for (let n = 1; n <= order.length; n++) if ((n + 1) * (1 - confidences[order[n - 1]]) < factor) count = n;
    return { order, count };
  },
};

/** The names of all strategies. */
export const commitStrategies = Object.keys(rules) as readonly CommitStrategy[];

/** Checks settings and fills in defaults. RangeError for an unknown strategy, a value out of range or a setting of another strategy. */
export function commitRule(options: CommitRuleOptions = {}): CommitRule {
  const strategy = options.strategy ?? "low_confidence_dynamic";
  if (!commitStrategies.includes(strategy)) {
    throw new RangeError(`\`strategy\` expected one of ${commitStrategies.join(", ")}, got ${String(strategy)}`);
  }
  const owners = { threshold: "low_confidence_dynamic", gamma: "entropy_bounded", factor: "factor" } as const;
  for (const [setting, owner] of Object.entries(owners)) {
    if (options[setting as keyof typeof owners] !== undefined && owner !== strategy) {
      throw new RangeError(`\`${setting}\` expected only with the strategy ${owner}, got it with ${strategy}`);
    }
  }
  switch (strategy) {
    case "low_confidence_dynamic":
      return { strategy, threshold: numberIn("threshold", options.threshold ?? 0.95, 0, 1) };
    case "entropy_bounded":
      return { strategy, gamma: numberIn("gamma", options.gamma ?? 0.35, 0) };
    case "factor":
      return { strategy, factor: numberIn("factor", options.factor ?? 1, 0) };
    default:
      return { strategy };
  }
}

/**
 * The positions due in each step: blockLength div steps, and one more in the first blockLength mod steps. They add up to `blockLength`.
 * RangeError unless 1 <= steps <= blockLength.
 */
export function forcedCounts(blockLength: number, steps: number): Int32Array {
  integerIn("blockLength", blockLength, 1);
  integerIn("stepsPerBlock", steps, 1, blockLength);
  const even = Math.floor(blockLength / steps);
  return Int32Array.from({ length: steps }, (_, step) => even + (step < blockLength % steps ? 1 : 0));
}

/**
 * Which of the masked positions to commit, as ascending indices into `certainty`: what the rule takes, or, if that is fewer than `due`,
 * the first `due` in the rule's order; never more than there are. RangeError if nothing is masked or `due` is below 1.
 */
export function selectCommits(rule: CommitRule, certainty: Certainty, due: number): Int32Array {
  integerIn("due", due, 1);
  integerIn("confidences.length", certainty.confidences.length, 1);
  const { order, count } = (rules[rule.strategy] as (rule: CommitRule, certainty: Certainty) => Preference)(rule, certainty);
  return order.subarray(0, Math.max(count, due)).slice().sort();
}

/** The longest prefix of `order` whose every place passes. */
function take(order: Int32Array, passes: (place: number) => boolean): Preference {
  let count = 0;
  while (count < order.length && passes(order[count])) count++;
  return { order, count };
}

function ascending(values: ArrayLike<number>): Int32Array {
  return Int32Array.from(values, (_, place) => place).sort((a, b) => values[a] - values[b] || a - b);
}

function descending(values: ArrayLike<number>): Int32Array {
  return Int32Array.from(values, (_, place) => place).sort((a, b) => values[b] - values[a] || a - b);
}
