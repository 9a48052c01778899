/**
 * How a run fares on samples it never trains on – the same ones from its first step to its last, in fonts and words of the held-out split:
 * cross entropy of blocks that are masked throughout, as every block is when its decoding starts, what dense supervision still gets wrong,
 * and, less often, answers decoded greedily and scored. Weights are the averaged ones, which are what is exported.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadRecognizer } from "../engine/recognizer.ts";
import { lower } from "../graph/lowering.ts";
import type { ModelConfig } from "../model/config.ts";
import { trainingProgram } from "../model/training.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { float32, type Session, type Tensors } from "../runtime/session.ts";
import type { Scores } from "./answer-scores.ts";
import type { BaseFiles } from "./base-files.ts";
import { type BatchConfig, packBatch } from "./batch.ts";
import { evaluateReading } from "./evaluate.ts";
import { saveModelFolder } from "./model-folder.ts";
import type { EvaluationRecipe, Recipe, SampleKind } from "./recipe.ts";
import { type PreparedSample, prepareSample, type RawSample } from "./sample.ts";
import { fits, preparationOf } from "./sample-pools.ts";
import { batchesOf, denseOf, trainedShapes } from "./trainer.ts";

/** A line of the log. */
export interface EvaluationReport {
  readonly kind: "evaluation";
  readonly step: number;
  /** Nats per token by block length (`block1`, `block32`), and the losses of dense supervision, for each kind of sample. */
  readonly losses: Readonly<Partial<Record<SampleKind, Readonly<Record<string, number>>>>>;
  /** Scores of greedy answers by block length, where they were decoded. */
  readonly scores?: Readonly<Partial<Record<SampleKind, Readonly<Record<string, Scores>>>>>;
  readonly seconds: number;
}

/** Held-out samples by kind. */
export type HeldOut = Readonly<Partial<Record<SampleKind, readonly RawSample[]>>>;

export interface EvaluationOptions {
  readonly recipe: Recipe;
  readonly base: BaseFiles;
  readonly config: ModelConfig;
  readonly heldOut: HeldOut;
  readonly threads?: number;
}

const BLOCK_LENGTHS = [1, 32];
const LIMITS = { scope: "full", imageTokens: 1024, rows: 4000 } as const;
/** A decode that has not ended long after its truth would is no better for going on. */
const longestAnswer = (tokens: number): number => Math.ceil(tokens * 1.5) + 32;

interface PreparedKind {
  readonly kind: SampleKind;
  readonly raw: readonly RawSample[];
  readonly prepared: readonly PreparedSample[];
}

export class TrainingEvaluation {
  readonly #options: EvaluationOptions;
  readonly #kinds: readonly PreparedKind[];
  readonly #blockLengths: readonly number[];
  readonly #batchConfig: BatchConfig;
  #loaded: Promise<{ readonly session: Session; readonly inputs: ReadonlySet<string> }> | null = null;

  constructor(options: EvaluationOptions) {
    const { recipe, base, config, heldOut } = options;
    const preparation = preparationOf(recipe, base);
    this.#options = options;
    this.#blockLengths = recipe.evaluation?.blockLengths ?? BLOCK_LENGTHS;
    this.#kinds = (Object.entries(heldOut) as [SampleKind, readonly RawSample[]][]).flatMap(([kind, samples]) => {
      const small = samples
        .map((raw) => ({ raw, prepared: prepareSample(raw, preparation) }))
        .filter(({ prepared }) => fits(prepared, recipe, base.processor));
      if (small.length === 0) return [];
      return [{ kind, raw: small.map(({ raw }) => raw), prepared: small.map(({ prepared }) => prepared) }];
    });
    this.#batchConfig = {
      model: config,
      dense: denseOf(recipe),
      prompt: base.prompt,
      fillToken: base.fillToken,
      characterWeight: 1,
      regionWeight: 1,
      edgeWeight: 1,
    };
  }

  /** Losses, and scores too if `decode`. */
  async evaluate(step: number, weights: ReadonlyMap<string, Float32Array>, decode: boolean): Promise<EvaluationReport> {
    const began = performance.now();
    const losses: Partial<Record<SampleKind, Record<string, number>>> = {};
    for (const kind of this.#kinds) losses[kind.kind] = await this.#lossesOf(kind, weights);
    const scores = decode ? { scores: await this.#scores(weights) } : {};
    return { kind: "evaluation", step, losses, ...scores, seconds: (performance.now() - began) / 1000 };
  }

  async close(): Promise<void> {
    await (await this.#loaded)?.session.release();
    this.#loaded = null;
  }

  /** The forward pass alone: a session computes its whole graph, whatever is asked for. */
  #load() {
    const load = async () => {
      const { config, recipe, threads } = this.#options;
      const { outputs } = trainingProgram(config, { dense: denseOf(recipe), sequences: "streams" }).program;
      const wanted = ["crossEntropy", ...this.#denseLosses()].map((name) => [name, outputs[name]] as const);
      const program = lower({ name: "evaluation", outputs: Object.fromEntries(wanted) }, () => ({ kind: "input" }));
      return { session: await nodeRuntime.load(program, { threads, quietThreads: true }), inputs: new Set(program.inputs) };
    };
    this.#loaded ??= load();
    return this.#loaded;
  }

  #denseLosses(): string[] {
    return this.#batchConfig.dense ? ["characterLoss", "regionLoss", "edgeLoss"] : [];
  }

  async #lossesOf({ kind, prepared }: PreparedKind, weights: ReadonlyMap<string, Float32Array>): Promise<Record<string, number>> {
    const { session, inputs } = await this.#load();
    const { recipe, base, config } = this.#options;
    const parameters = [...trainedShapes(recipe, config)].map(([name, shape]) => [name, float32(weights.get(name)!, shape)] as const);
    const sums = new Map<string, { sum: number; weight: number }>();
    const add = (name: string, value: number, weight: number) => {
      const part = sums.get(name) ?? { sum: 0, weight: 0 };
      sums.set(name, { sum: part.sum + value * weight, weight: part.weight + weight });
    };
    for (const blockLength of this.#blockLengths) {
      const noising = { blockLengths: [blockLength], weighting: "masked-mean", low: 1, high: 1 } as const;
      for (const samples of batchesOf(prepared, { ...LIMITS, noising }, config.vision.mergeSize, [0])) {
        const { feeds } = packBatch(samples, noising, this.#batchConfig, [0]);
        const all: Tensors = { ...feeds, ...Object.fromEntries(parameters) };
        const known = Object.fromEntries(Object.entries(all).filter(([name]) => inputs.has(name)));
        const results = await session.run(known, ["crossEntropy", ...this.#denseLosses()]);
        const { data: targets } = feeds.targets;
        // What fills the last block up is no part of the answer.
        (results.crossEntropy.data as Float32Array).forEach((loss, row) => {
          if (Number(targets[row]) !== base.fillToken) add(`block${blockLength}`, loss, 1);
        });
        if (blockLength !== this.#blockLengths[0]) continue;
        for (const name of this.#denseLosses()) {
          const isKnown = (feeds[name.replace("Loss", "Weights")].data as Float32Array).some((weight) => weight > 0);
          if (isKnown) add(name.replace("Loss", ""), results[name].data[0] as number, samples.length);
        }
      }
    }
    if (sums.size === 0) throw new Error(`internal: nothing to evaluate of ${kind}`);
    return Object.fromEntries([...sums].map(([name, { sum, weight }]) => [name, sum / weight]));
  }

  async #scores(weights: ReadonlyMap<string, Float32Array>): Promise<EvaluationReport["scores"]> {
    const { recipe, config, threads } = this.#options;
    const folder = await mkdtemp(join(tmpdir(), "evaluation-"));
    try {
      await saveModelFolder(folder, { recipe, config, weights, dtype: "float32" });
      await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads, quietThreads: true, precision: "float32" });
      const scores: Partial<Record<SampleKind, Record<string, Scores>>> = {};
      for (const { kind, raw, prepared } of this.#kinds) {
        const samples = raw.map(({ task, image, answer }) => ({ task, image, truth: answer }));
        const maxTokens = longestAnswer(Math.max(...prepared.map(({ answer }) => answer.length)));
        const ofKind: Record<string, Scores> = {};
        for (const blockLength of this.#blockLengths) {
          const result = await evaluateReading(recognizer, samples, { blockLength, maxTokens });
          ofKind[`block${blockLength}`] = { ...result.scores[kind], tokensPerForward: result.tokensPerForward };
        }
        scores[kind] = ofKind;
      }
      return scores;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Whether and how a step is evaluated. */
export function dueEvaluation(evaluation: EvaluationRecipe | undefined, step: number): "none" | "losses" | "scores" {
  if (!evaluation) return "none";
  if (evaluation.decodeEvery !== undefined && step % evaluation.decodeEvery === 0) return "scores";
  return step % evaluation.every === 0 ? "losses" : "none";
}
