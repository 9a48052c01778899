/** The learning-rate schedule: linear warm-up, then a cosine down to a floor. Steps count from 1. */

export interface LearningRateSchedule {
  readonly peak: number;
  readonly floor: number;
  readonly warmupSteps: number;
  readonly totalSteps: number;
}

export function learningRate(step: number, { peak, floor, warmupSteps, totalSteps }: LearningRateSchedule): number {
  if (step <= warmupSteps) return (peak * step) / warmupSteps;
  const progress = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
  return floor + (peak - floor) * 0.5 * (1 + Math.cos(Math.PI * progress));
}
