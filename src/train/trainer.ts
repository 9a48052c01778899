/**
 * The training loop: pools of samples become batches, batches become gradients, gradients become weights. One `step()` is the unit of
 * time; everything it needs to be repeated lies in the state.
 */
import { availableParallelism } from "node:os";
import { createRandom } from "../diffusion/random.ts";
import { lower } from "../graph/lowering.ts";
import type { ModelConfig } from "../model/config.ts";
import { parameterShapes } from "../model/parameters.ts";
import {
  type DenseSupervision,
  denseParameterPrefix,
  denseParameterShapes,
  gradientName,
  type TrainingProgram,
  trainingProgram,
} from "../model/training.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { float32, type Session, type Tensors } from "../runtime/session.ts";
import type { BaseFiles } from "./base-files.ts";
import { type BatchConfig, type Feeds, type FullBatch, packBatch, towerBatch } from "./batch.ts";
import { initialWeights } from "./initialise.ts";
import { LAYOUT_CLASSES } from "./layout-classes.ts";
import { learningRate } from "./learning-rate.ts";
import { defaultRule, momentNames, type OptimizedParameter, optimizerProgram, updatedName } from "./optimizer.ts";
import { type Recipe, type StageRecipe, stageOfStep } from "./recipe.ts";
import type { PreparedSample } from "./sample.ts";
import type { PoolRequest } from "./sample-pools.ts";
import type { TrainingState } from "./state.ts";
import { type StepReport, StepTally } from "./step-tally.ts";

interface LoadedStage {
  readonly index: number;
  readonly training: TrainingProgram;
  readonly session: Session;
  readonly optimizer: Session;
  readonly optimized: readonly OptimizedParameter[];
}

/** Steps in which the learning rate grows back after a restart from weights alone, while moments fill. */
const RESTART_WARMUP = 50;

export function modelConfigOf(recipe: Recipe, base: BaseFiles): ModelConfig {
  const { imageTokenId, visionStartTokenId, visionEndTokenId, maskTokenId } = base;
  return { ...recipe.model, imageTokenId, visionStartTokenId, visionEndTokenId, maskTokenId };
}

/** What dense supervision a recipe's samples give; none without character slots. */
export function denseOf({ characterSlots }: Pick<Recipe, "characterSlots">): DenseSupervision | undefined {
  return characterSlots > 0 ? { characterSlots, regionClasses: LAYOUT_CLASSES.length + 1 } : undefined;
}

/** Names and shapes of everything a recipe trains: the model and the heads of dense supervision. */
export function trainedShapes(recipe: Recipe, model: ModelConfig): Map<string, readonly number[]> {
  const dense = denseOf(recipe);
  return new Map([...parameterShapes(model), ...(dense ? denseParameterShapes(model, dense) : [])]);
}

/** A state in which nothing has been learnt yet. */
export function freshState(recipe: Recipe, model: ModelConfig): TrainingState {
  const weights = initialWeights(trainedShapes(recipe, model), model, recipe.seed);
  const average = new Map([...weights].map(([name, data]) => [name, data.slice()]));
  return { step: 0, pool: 0, batch: 0, weights, average, moments: new Map() };
}

/** Splits a pool into batches of about equal cost, samples of like size together, in a random order. */
export function batchesOf(
  samples: readonly PreparedSample[],
  stage: Pick<StageRecipe, "scope" | "imageTokens" | "rows" | "noising">,
  mergeSize: number,
  seed: readonly number[],
): PreparedSample[][] {
  const tokensOf = (sample: PreparedSample) => (sample.rows * sample.columns) / mergeSize ** 2;
  const rowsOf = (sample: PreparedSample) => tokensOf(sample) + 40 + sample.answer.length * (1 + (stage.noising.copies ?? 1));
  const sorted = [...samples].sort((a, b) => tokensOf(a) - tokensOf(b) || a.answer.length - b.answer.length);
  const batches: PreparedSample[][] = [];
  let [tokens, rows] = [Number.POSITIVE_INFINITY, 0];
  for (const sample of sorted) {
    if (tokens + tokensOf(sample) > stage.imageTokens || (stage.scope === "full" && rows + rowsOf(sample) > stage.rows)) {
      batches.push([]);
      [tokens, rows] = [0, 0];
    }
    batches[batches.length - 1].push(sample);
    tokens += tokensOf(sample);
    rows += rowsOf(sample);
  }
  const random = createRandom(seed[0], ...seed.slice(1));
  for (let i = batches.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [batches[i], batches[j]] = [batches[j], batches[i]];
  }
  return batches;
}

export type { StepReport } from "./step-tally.ts";

export interface TrainerOptions {
  readonly recipe: Recipe;
  readonly base: BaseFiles;
  readonly state: TrainingState | null;
  /** Asks for the samples of a pool; called one pool ahead. */
  readonly pool: (request: PoolRequest) => Promise<PreparedSample[]>;
  readonly threads?: number;
}

export class Trainer {
  readonly model: ModelConfig;
  readonly state: TrainingState;
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  readonly #options: TrainerOptions;
  readonly #dense: DenseSupervision | undefined;
  #stage: LoadedStage | null = null;
  #batches: PreparedSample[][] = [];
  /** The pool, counted with its passes, that `#batches` was made from. */
  #batchesOf = -1;
  #pool: { readonly request: PoolRequest; readonly samples: Promise<PreparedSample[]> } | null = null;
  #next: { readonly request: PoolRequest; readonly samples: Promise<PreparedSample[]> } | null = null;

  constructor(options: TrainerOptions) {
    const { recipe, base } = options;
    this.#options = options;
    this.model = modelConfigOf(recipe, base);
    this.#dense = denseOf(recipe);
    this.shapes = trainedShapes(recipe, this.model);
    this.state = options.state ?? freshState(recipe, this.model);
  }

  /** Null when the recipe is done. */
  async step(): Promise<StepReport | null> {
    const { recipe } = this.#options;
    const current = stageOfStep(recipe, this.state.step + 1);
    if (!current) return null;
    const { stage, stepInStage } = current;
    const loaded = await this.#loadStage(current.index, stage);

    const began = performance.now();
    const tally = new StepTally();
    const batches = stage.accumulate ?? 1;
    for (let batch = 0; batch < batches; batch++) {
      const beganWaiting = performance.now();
      const samples = await this.#nextBatch(current.index, stage);
      tally.waitedMilliseconds += performance.now() - beganWaiting;
      const { feeds, owners } = this.#batch(samples, stage, batch);
      for (const { name, shape } of loaded.optimized) feeds[name] = float32(this.state.weights.get(name)!, shape);
      const gradients = loaded.optimized.map(({ name }) => gradientName(name));
      const perToken = stage.scope === "full" ? ["crossEntropy"] : [];
      const results = await loaded.session.run(feeds, [...loaded.training.losses, ...perToken, ...gradients]);
      tally.add(samples, feeds, owners, results, loaded.training.losses, gradients);
    }

    const rate = this.#rate(stage, stepInStage);
    const gradientNorm = await this.#update(loaded, tally.gradients, 1 / batches, rate);
    this.state.step++;
    return {
      step: this.state.step,
      stage: stage.name,
      learningRate: rate,
      ...tally.report(batches),
      gradientNorm,
      milliseconds: performance.now() - began - tally.waitedMilliseconds,
      waitedMilliseconds: tally.waitedMilliseconds,
    };
  }

  async close(): Promise<void> {
    await this.#stage?.session.release();
    await this.#stage?.optimizer.release();
    this.#stage = null;
  }

  batchConfig(stage: StageRecipe): BatchConfig {
    const { base } = this.#options;
    const { characterWeight, regionWeight, edgeWeight } = stage;
    return {
      model: this.model,
      dense: this.#dense,
      prompt: base.prompt,
      fillToken: base.fillToken,
      characterWeight,
      regionWeight,
      edgeWeight,
    };
  }

  #batch(samples: readonly PreparedSample[], stage: StageRecipe, batch: number): FullBatch {
    const config = this.batchConfig(stage);
    if (stage.scope === "tower") return { feeds: towerBatch(samples, config), owners: new Int32Array(0) };
    const seed = [this.#options.recipe.seed, this.state.step];
    return packBatch(samples, stage.noising, config, batch === 0 ? seed : [...seed, batch]);
  }

  #rate(stage: StageRecipe, stepInStage: number): number {
    const { peakRate: peak, floorRate: floor, warmupSteps, steps: totalSteps } = stage;
    const rate = learningRate(stepInStage, { peak, floor, warmupSteps, totalSteps });
    const { restartedAt } = this.state;
    return restartedAt === undefined ? rate : rate * Math.min(1, (this.state.step + 1 - restartedAt) / RESTART_WARMUP);
  }

  async #loadStage(index: number, stage: StageRecipe): Promise<LoadedStage> {
    if (this.#stage?.index === index) return this.#stage;
    await this.close();
    const { recipe, threads = availableParallelism() } = this.#options;
    const training = trainingProgram(this.model, { scope: stage.scope, dense: this.#dense, sequences: "streams" });
    const optimized = training.parameters.map(({ attributes: { name }, shape }): OptimizedParameter => {
      const sizes = shape as readonly number[];
      const rateScale = name.startsWith("vision_model") ? (stage.visionRateScale ?? 1) : 1;
      return {
        name,
        shape: sizes,
        rule: defaultRule(name, sizes),
        rateScale,
        decays: sizes.length > 1 && !name.startsWith(denseParameterPrefix),
      };
    });
    const session = await nodeRuntime.load(
      lower(training.program, () => ({ kind: "input" })),
      { threads, quietThreads: true },
    );
    const optimizer = await nodeRuntime.load(
      lower(optimizerProgram(optimized, recipe.optimizer), () => ({ kind: "input" })),
      { threads, quietThreads: true },
    );
    for (const { name, shape, rule } of optimized) {
      for (const moment of momentNames(name, rule)) {
        if (!this.state.moments.has(moment)) this.state.moments.set(moment, new Float32Array(shape.reduce((a, b) => a * b, 1)));
      }
    }
    this.#stage = { index, training, session, optimizer, optimized };
    return this.#stage;
  }

  async #update(loaded: LoadedStage, gradients: Tensors, gradientScale: number, rate: number): Promise<number> {
    const { optimizer: config, averageDecay } = this.#options.recipe;
    const { weights, average, moments, restartedAt = 0 } = this.state;
    const one = (value: number) => float32(Float32Array.of(value), []);
    // Moments live on from stage to stage, so their age is that of the run; those of parameters that join later start gently.
    const age = this.state.step + 1 - restartedAt;
    const feeds: Feeds = {
      learningRate: one(rate),
      correction1: one(1 - config.beta1 ** age),
      correction2: one(1 - config.beta2 ** age),
      gradientScale: one(gradientScale),
    };
    const wanted = ["gradientNorm"];
    for (const { name, shape, rule } of loaded.optimized) {
      feeds[name] = float32(weights.get(name)!, shape);
      feeds[gradientName(name)] = gradients[gradientName(name)];
      for (const moment of momentNames(name, rule)) feeds[moment] = float32(moments.get(moment)!, shape);
      wanted.push(updatedName(name), ...momentNames(name, rule).map(updatedName));
    }
    const results = await loaded.optimizer.run(feeds, wanted);
    const norm = results.gradientNorm.data[0] as number;
    if (!Number.isFinite(norm)) throw new Error(`internal: the gradient of step ${this.state.step + 1} is not finite`);
    // A young average follows closely, so that it never carries the random start along.
    const decay = Math.min(averageDecay, (1 + this.state.step) / (10 + this.state.step));
    for (const { name, rule } of loaded.optimized) {
      const updated = results[updatedName(name)].data as Float32Array;
      weights.set(name, updated);
      const mean = average.get(name)!;
      for (let i = 0; i < mean.length; i++) mean[i] += (1 - decay) * (updated[i] - mean[i]);
      for (const moment of momentNames(name, rule)) moments.set(moment, results[updatedName(moment)].data as Float32Array);
    }
    return norm;
  }

  async #nextBatch(stageIndex: number, stage: StageRecipe): Promise<PreparedSample[]> {
    const { state } = this;
    const { recipe } = this.#options;
    for (;;) {
      const pool = Math.floor(state.pool / (stage.passes ?? 1));
      if (this.#pool?.request.stage !== stageIndex || this.#pool.request.pool !== pool) {
        const request = { stage: stageIndex, pool };
        const ahead = this.#next?.request.stage === stageIndex && this.#next.request.pool === pool ? this.#next : null;
        this.#pool = ahead ?? { request, samples: this.#options.pool(request) };
        const following = { stage: stageIndex, pool: pool + 1 };
        this.#next = { request: following, samples: this.#options.pool(following) };
        // A pool that fails ahead of its time is told when its turn comes.
        this.#next.samples.catch(() => {});
        this.#batchesOf = -1;
      }
      if (this.#batchesOf !== state.pool) {
        this.#batches = batchesOf(await this.#pool.samples, stage, this.model.vision.mergeSize, [recipe.seed, stageIndex, state.pool]);
        this.#batchesOf = state.pool;
      }
      if (state.batch < this.#batches.length) return this.#batches[state.batch++];
      state.pool++;
      state.batch = 0;
    }
  }
}
