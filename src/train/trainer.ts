/**
 * The training loop: pools of samples become batches, a batch becomes gradients, gradients become weights. One `step()` is the unit of
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
import { float32, type Session, type Tensor } from "../runtime/session.ts";
import type { BaseFiles } from "./base-files.ts";
import { type BatchConfig, type Feeds, fullBatch, towerBatch } from "./batch.ts";
import { initialWeights } from "./initialise.ts";
import { LAYOUT_CLASSES } from "./layout-classes.ts";
import { learningRate } from "./learning-rate.ts";
import { defaultRule, momentNames, type OptimizedParameter, optimizerProgram, updatedName } from "./optimizer.ts";
import { type Recipe, type StageRecipe, stageOfStep } from "./recipe.ts";
import type { PreparedSample } from "./sample.ts";
import type { PoolRequest } from "./sample-pools.ts";
import type { TrainingState } from "./state.ts";

export interface StepReport {
  readonly step: number;
  readonly stage: string;
  readonly learningRate: number;
  readonly losses: Readonly<Record<string, number>>;
  readonly gradientNorm: number;
  readonly samples: number;
  readonly imageTokens: number;
  readonly rows: number;
  readonly milliseconds: number;
  /** Waiting for samples. */
  readonly waitedMilliseconds: number;
}

interface LoadedStage {
  readonly index: number;
  readonly training: TrainingProgram;
  readonly session: Session;
  readonly optimizer: Session;
  readonly optimized: readonly OptimizedParameter[];
}

export function modelConfigOf(recipe: Recipe, base: BaseFiles): ModelConfig {
  const { imageTokenId, visionStartTokenId, visionEndTokenId, maskTokenId } = base;
  return { ...recipe.model, imageTokenId, visionStartTokenId, visionEndTokenId, maskTokenId };
}

/** Splits a pool into steps of about equal cost, samples of like size together, in a random order. */
export function batchesOf(
  samples: readonly PreparedSample[],
  stage: StageRecipe,
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
  readonly #dense: DenseSupervision;
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
    this.#dense = { characterSlots: recipe.characterSlots, regionClasses: LAYOUT_CLASSES.length + 1 };
    this.shapes = new Map([...parameterShapes(this.model), ...denseParameterShapes(this.model, this.#dense)]);
    this.state = options.state ?? this.#freshState();
  }

  #freshState(): TrainingState {
    const weights = initialWeights(this.shapes, this.model, this.#options.recipe.seed);
    const average = new Map([...weights].map(([name, data]) => [name, data.slice()]));
    return { step: 0, pool: 0, batch: 0, weights, average, moments: new Map() };
  }

  /** Null when the recipe is done. */
  async step(): Promise<StepReport | null> {
    const { recipe } = this.#options;
    const current = stageOfStep(recipe, this.state.step + 1);
    if (!current) return null;
    const { stage, stepInStage } = current;
    const loaded = await this.#loadStage(current.index, stage);

    const beganWaiting = performance.now();
    const samples = await this.#nextBatch(current.index, stage);
    const began = performance.now();
    const feeds = this.#feeds(samples, stage);
    for (const { name, shape } of loaded.optimized) feeds[name] = float32(this.state.weights.get(name)!, shape);
    const gradients = loaded.optimized.map(({ name }) => gradientName(name));
    const results = await loaded.session.run(feeds, [...loaded.training.losses, ...gradients]);

    const rate = learningRate(stepInStage, {
      peak: stage.peakRate,
      floor: stage.floorRate,
      warmupSteps: stage.warmupSteps,
      totalSteps: stage.steps,
    });
    const gradientNorm = await this.#update(loaded, results, rate);
    this.state.step++;
    const losses = Object.fromEntries(loaded.training.losses.map((name) => [name, results[name].data[0] as number]));
    return {
      step: this.state.step,
      stage: stage.name,
      learningRate: rate,
      losses,
      gradientNorm,
      samples: samples.length,
      imageTokens: feeds.pixels.shape[0] * feeds.pixels.shape[1],
      rows: stage.scope === "full" ? feeds.ids.data.length + feeds.noisyIds.data.length : 0,
      milliseconds: performance.now() - began,
      waitedMilliseconds: began - beganWaiting,
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

  #feeds(samples: readonly PreparedSample[], stage: StageRecipe): Feeds {
    const config = this.batchConfig(stage);
    if (stage.scope === "tower") return towerBatch(samples, config);
    return fullBatch(samples, stage.noising, config, [this.#options.recipe.seed, this.state.step]);
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

  async #update(loaded: LoadedStage, gradients: Readonly<Record<string, Tensor>>, rate: number): Promise<number> {
    const { optimizer: config, averageDecay } = this.#options.recipe;
    const { weights, average, moments } = this.state;
    const one = (value: number) => float32(Float32Array.of(value), []);
    const feeds: Feeds = {
      learningRate: one(rate),
      // Moments live on from stage to stage, so their age is that of the run; those of parameters that join later start gently.
      correction1: one(1 - config.beta1 ** (this.state.step + 1)),
      correction2: one(1 - config.beta2 ** (this.state.step + 1)),
      gradientScale: one(1),
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
