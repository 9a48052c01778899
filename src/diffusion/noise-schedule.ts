/**
 * Noise schedules: how the share of masked tokens grows from 0 to 1 as diffusion time runs from 0 to 1, and what a masked token's cross
 * entropy weighs in the bound on the likelihood (BD3-LM, log-linear and cosine noise). The bound itself does not depend on the schedule,
 * only which rates are drawn often. Knows one number at a time: no tokens, no randomness.
 */

/** A schedule's name. */
export type NoiseScheduleName = "linear" | "cosine";

/** A strictly growing map of [0, 1] onto [0, 1]. */
export interface NoiseSchedule {
  /** The probability that a token is masked at this time. */
  maskRate(time: number): number;
  /** The derivative of `maskRate`. */
  slope(time: number): number;
  /** The time at which this mask rate is reached. */
  timeOf(maskRate: number): number;
}

/** `linear`: the mask rate is the time. `cosine`: 1 - cos(time · π/2), slow at first, so that lightly masked blocks come more often. */
export const noiseSchedules: Readonly<Record<NoiseScheduleName, NoiseSchedule>> = {
  linear: {
    maskRate: (time) => time,
    slope: () => 1,
    timeOf: (maskRate) => maskRate,
  },
  cosine: {
    maskRate: (time) => 1 - Math.cos((time * Math.PI) / 2),
    slope: (time) => Math.sin((time * Math.PI) / 2) * (Math.PI / 2),
    timeOf: (maskRate) => (Math.acos(1 - maskRate) * 2) / Math.PI,
  },
};

/** What a masked token's cross entropy weighs at this time in the likelihood bound: slope / rate, that is 1/t for `linear`. */
export function likelihoodWeight(schedule: NoiseSchedule, time: number): number {
  return schedule.slope(time) / schedule.maskRate(time);
}
