/**
 * What the batches of one step add up to: gradients to step along, losses and counts to report. It refuses to know how either is made.
 */
import type { Tensors } from "../runtime/session.ts";
import type { TaskName } from "../text/prompts.ts";
import type { Feeds } from "./batch.ts";
import type { PreparedSample } from "./sample.ts";

/** What a training step tells. */
export interface StepReport {
  readonly step: number;
  readonly stage: string;
  readonly learningRate: number;
  /** Means over the batches of the step. */
  readonly losses: Readonly<Record<string, number>>;
  /** Mean cross entropy of the masked tokens of each task, in nats; empty in tower stages. */
  readonly taskLosses: Readonly<Partial<Record<TaskName, number>>>;
  readonly gradientNorm: number;
  readonly samples: number;
  readonly imageTokens: number;
  readonly rows: number;
  readonly milliseconds: number;
  /** Waiting for samples. */
  readonly waitedMilliseconds: number;
}

/** What the batches of one step add up to. */
export class StepTally {
  waitedMilliseconds = 0;
  /** Sums over the batches, by gradient name. */
  gradients: Tensors = {};
  #samples = 0;
  #imageTokens = 0;
  #rows = 0;
  readonly #losses = new Map<string, number>();
  readonly #tasks = new Map<TaskName, { sum: number; tokens: number }>();

  add(
    samples: readonly PreparedSample[],
    feeds: Feeds,
    owners: Int32Array,
    results: Tensors,
    losses: readonly string[],
    gradients: readonly string[],
  ): void {
    this.#samples += samples.length;
    this.#imageTokens += feeds.pixels.shape[0] * feeds.pixels.shape[1];
    if (feeds.ids) this.#rows += feeds.ids.data.length + feeds.noisyIds.data.length;
    for (const name of losses) this.#losses.set(name, (this.#losses.get(name) ?? 0) + (results[name].data[0] as number));
    owners.forEach((owner, row) => {
      const { task } = samples[owner];
      const part = this.#tasks.get(task) ?? { sum: 0, tokens: 0 };
      this.#tasks.set(task, { sum: part.sum + (results.crossEntropy.data[row] as number), tokens: part.tokens + 1 });
    });
    const before = this.gradients;
    this.gradients = Object.fromEntries(gradients.map((name) => [name, results[name]]));
    for (const name of Object.keys(before)) {
      const [sum, more] = [this.gradients[name].data as Float32Array, before[name].data as Float32Array];
      for (let i = 0; i < sum.length; i++) sum[i] += more[i];
    }
  }

  report(batches: number): Pick<StepReport, "losses" | "taskLosses" | "samples" | "imageTokens" | "rows"> {
    return {
      losses: Object.fromEntries([...this.#losses].map(([name, sum]) => [name, sum / batches])),
      taskLosses: Object.fromEntries([...this.#tasks].map(([task, { sum, tokens }]) => [task, sum / tokens])),
      samples: this.#samples,
      imageTokens: this.#imageTokens,
      rows: this.#rows,
    };
  }
}
