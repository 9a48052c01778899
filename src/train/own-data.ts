/**
 * Training on a user's own pictures and answers, from a checkpoint: part of them is held out, read before and after, and the trained
 * weights become a checkpoint folder like any other. A second call with the same folders goes on where the first stopped.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { embeddedCheckpoint } from "../checkpoint/embedded.ts";
import { loadRecognizer } from "../engine/recognizer.ts";
import { MineruError } from "../error.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { createRandom } from "../synth/random.ts";
import type { TaskName } from "../text/prompts.ts";
import type { Scores } from "./answer-scores.ts";
import { openCheckpointFiles } from "./base-files.ts";
import { evaluateReading } from "./evaluate.ts";
import { saveModelFolder } from "./model-folder.ts";
import { defaultOptimizer } from "./optimizer.ts";
import { ownPool, prepareOwn, readPicture } from "./own-pools.ts";
import { type OwnSample, readOwnSamples } from "./own-samples.ts";
import type { Recipe } from "./recipe.ts";
import { reportHtml } from "./report.ts";
import { logFile, trainOnPools } from "./run.ts";
import type { PreparationConfig } from "./sample.ts";
import { preparationOf } from "./sample-pools.ts";
import { type CheckpointDescription, describeCheckpoint } from "./start.ts";
import type { StepReport } from "./trainer.ts";
import { parseTrainingLog } from "./training-log.ts";

/** What is trained on, from which weights, for how long. */
export interface OwnDataOptions {
  /** As `readOwnSamples` takes it. */
  readonly data: string;
  /** The checkpoint folder to be; `run/` in it keeps state, log and report. */
  readonly output: string;
  /** Checkpoint folder to start from; the embedded `mini` if absent. */
  readonly from?: string;
  /** Default 200. */
  readonly steps?: number;
  /** Default 3e-4, for models above 100 million parameters 2e-5. */
  readonly learningRate?: number;
  /** Image tokens of one step, of 28 × 28 pixels each in the published geometry: less needs less memory. Default 1024. */
  readonly batchTokens?: number;
  /** Share of the samples that is only read, to judge by; default 0.1. With 0 the trained samples themselves are read. */
  readonly heldOut?: number;
  /** Wear of the pictures, 0 to 1; default 0.2. */
  readonly augmentation?: number;
  /** Default 1. */
  readonly seed?: number;
  readonly threads?: number;
  /** Seconds from one save to the next; default 180. */
  readonly saveEvery?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: (report: StepReport) => void;
  /** Told of samples that cannot be used, and why. */
  readonly onWarning?: (message: string) => void;
}

/** Scores by task. */
export type TaskScores = Readonly<Partial<Record<TaskName, Scores>>>;

/** What training came to. */
export interface OwnDataResult {
  readonly trained: number;
  readonly judged: number;
  /** Whether those judged by were kept out of training. */
  readonly judgedOn: "held-out samples" | "trained samples";
  readonly before: TaskScores;
  readonly after: TaskScores;
  readonly steps: number;
}

/** More are not read twice: enough to tell. */
const MOST_JUDGED = 100;
const LARGE_MODEL = 100e6;

function recipeFor({ base, parameters }: CheckpointDescription, options: OwnDataOptions): Recipe {
  const { steps = 200, augmentation = 0.2, seed = 1, batchTokens = 1024 } = options;
  const { learningRate = parameters > LARGE_MODEL ? 2e-5 : 3e-4 } = options;
  const { blockLength } = base.model;
  return {
    ...base,
    seed,
    characterSlots: 0,
    optimizer: defaultOptimizer,
    averageDecay: 0.99,
    stages: [
      {
        name: "own data",
        scope: "full",
        steps,
        peakRate: learningRate,
        floorRate: learningRate / 10,
        warmupSteps: Math.min(20, Math.ceil(steps / 10)),
        pool: { text: 1 },
        // Nothing is drawn.
        lines: [1, 1],
        widthPx: [1, 1],
        sizePx: [1, 1],
        augmentation,
        imageTokens: batchTokens,
        // Prompt, answer and noisy copies of a line take some six rows to an image token.
        rows: 6 * batchTokens,
        noising: {
          blockLengths: [1, 4, 16, blockLength, blockLength].filter((length) => length <= blockLength),
          weighting: "masked-mean",
          copies: 2,
          complementary: true,
          low: 0.2,
          high: 1,
          allMasked: 0.15,
        },
        characterWeight: 0,
        regionWeight: 0,
        edgeWeight: 0,
      },
    ],
  };
}

async function usableSamples(
  samples: readonly OwnSample[],
  config: PreparationConfig,
  mostTokens: number,
  { data, onWarning }: OwnDataOptions,
): Promise<OwnSample[]> {
  const usable: OwnSample[] = [];
  for (const sample of samples) {
    if (prepareOwn(sample, await readPicture(sample), config, mostTokens)) usable.push(sample);
    else {
      const { task, answer, image, source } = sample;
      const lines = answer.split("\n").filter((line) => line.trim() !== "").length;
      const hint =
        task === "text"
          ? `expected ${lines} printed ${lines === 1 ? "line" : "lines"} as the answer has, found another number`
          : `larger than ${mostTokens} image tokens`;
      onWarning?.(`${image} (of ${source}) is left out: ${hint}`);
    }
  }
  if (usable.length === 0)
    throw new MineruError("data-invalid", `${data}: expected samples that the checkpoint can be trained on, got none`);
  return usable;
}

function splitOff(
  samples: readonly OwnSample[],
  share: number,
  seed: number,
): { judged: OwnSample[]; trained: OwnSample[]; judgedOn: OwnDataResult["judgedOn"] } {
  if (!(share >= 0 && share < 1)) throw new RangeError(`\`heldOut\` expected a share from 0 to below 1, got ${share}`);
  const shuffled = createRandom("held out", seed).shuffled(samples);
  if (share === 0 || samples.length < 2) return { judged: shuffled.slice(0, MOST_JUDGED), trained: shuffled, judgedOn: "trained samples" };
  const count = Math.min(samples.length - 1, Math.max(1, Math.round(share * samples.length)));
  return { judged: shuffled.slice(0, Math.min(count, MOST_JUDGED)), trained: shuffled.slice(count), judgedOn: "held-out samples" };
}

async function readWith(folder: string, samples: readonly OwnSample[], { threads, signal }: OwnDataOptions): Promise<TaskScores> {
  await using recognizer = await loadRecognizer(folder, nodeRuntime, { threads, quietThreads: true });
  const pictures = await Promise.all(
    samples.map(async (sample) => ({ task: sample.task, image: await readPicture(sample), truth: sample.answer })),
  );
  const longest = Math.max(...samples.map(({ answer }) => answer.length));
  signal?.throwIfAborted();
  const { scores } = await evaluateReading(recognizer, pictures, { maxTokens: Math.ceil(1.5 * longest) + 32 });
  return scores;
}

/**
 * Trains and saves. When the signal is aborted the state is saved first, and the same call goes on from there.
 * @throws MineruError `file-unreadable`, `data-invalid` naming file and line; `checkpoint-missing`, `checkpoint-invalid`; `output-unwritable`.
 * RangeError for options out of range.
 */
export async function trainOnData(options: OwnDataOptions): Promise<OwnDataResult> {
  const { heldOut = 0.1, augmentation = 0.2, seed = 1, signal, threads, saveEvery = 180, onStep } = options;
  const from = resolve(options.from ?? embeddedCheckpoint());
  const output = resolve(options.output);
  if (output === from) throw new RangeError(`\`output\` expected another folder than the one to start from, got ${output}`);
  const samples = await readOwnSamples(options.data);
  const described = await describeCheckpoint(from);
  if (!described.readsTables && samples.some(({ task }) => task === "table")) {
    options.onWarning?.(
      `${from} is asked for tables cell by cell (\`table_recognition\` is false in its preprocessor_config.json): training on tables shows in reading once that is true`,
    );
  }
  const recipe = recipeFor(described, options);
  const base = await openCheckpointFiles(from);
  const config = preparationOf(recipe, base);
  const usable = await usableSamples(samples, config, recipe.maxRegionTokens, options);
  const { judged, trained, judgedOn } = splitOff(usable, heldOut, seed);

  const folder = join(output, "run");
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "recipe.json"), `${JSON.stringify(recipe, null, 1)}\n`);
  } catch (cause) {
    throw new MineruError("output-unwritable", `${folder}: expected a folder that can be written; check its permissions`, { cause });
  }
  const before = await readWith(from, judged, options);
  const pools = { samples: trained, config, mostTokens: recipe.maxRegionTokens, seed, augmentation };
  const trainer = await trainOnPools({
    recipe,
    base,
    pool: ({ pool }) => ownPool(pools, pool),
    folder,
    threads,
    saveEveryMs: saveEvery * 1000,
    signal,
    onStep,
  });
  signal?.throwIfAborted();
  await saveModelFolder(output, { recipe, config: trainer.model, weights: trainer.state.average, dtype: described.dtype });
  const after = await readWith(output, judged, options);
  const log = join(folder, logFile);
  await writeFile(join(folder, "report.html"), reportHtml(parseTrainingLog(await readFile(log, "utf8"), log), options.data));
  return { trained: trained.length, judged: judged.length, judgedOn, before, after, steps: trainer.state.step };
}
