/**
 * Pools of prepared samples, drawn from synthetic documents by a stage's recipe. A pool is large enough that samples of one size can be
 * batched together, and a function of (seed, stage, number) alone, so that a resumed run sees what an unbroken one would have seen.
 */
import { join } from "node:path";
import { openSynth, type SynthSources, textPage } from "../synth/index.ts";
import { pageSample } from "../synth/page-samples.ts";
import { openCheckpointFiles } from "./base-files.ts";
import { LAYOUT_CLASSES } from "./layout-classes.ts";
import type { Recipe, StageRecipe } from "./recipe.ts";
import { type PreparationConfig, type PreparedSample, prepareSample } from "./sample.ts";

export interface SamplePoolOptions {
  readonly recipe: Recipe;
  /** Fonts and corpora, as the scripts fetch them; the built-in ones if absent. */
  readonly dataFolder?: string;
  readonly split?: "train" | "heldout";
}

export interface PoolRequest {
  readonly stage: number;
  readonly pool: number;
}

export interface SamplePools {
  pool(request: PoolRequest): PreparedSample[];
}

/** Crops per synthetic document of text blocks. */
const CROPS_PER_PAGE = 20;

function textSamples(
  sources: SynthSources,
  recipe: Recipe,
  stage: StageRecipe,
  count: number,
  seed: number,
  first: number,
  config: PreparationConfig,
): PreparedSample[] {
  const samples: PreparedSample[] = [];
  for (let page = 0; page * CROPS_PER_PAGE < count; page++) {
    const crops = textPage(sources, seed, first + page, {
      lines: stage.lines,
      widthPx: stage.widthPx,
      sizePx: stage.sizePx,
      augmentation: stage.augmentation,
      cropsPerPage: Math.min(CROPS_PER_PAGE, count - page * CROPS_PER_PAGE),
    });
    for (const { image, text, characters } of crops) {
      const sample = prepareSample({ task: "text", image, answer: text, characters }, config);
      const tokens = (sample.rows * sample.columns) / config.processor.mergeSize ** 2;
      if (tokens <= recipe.maxRegionTokens) samples.push(sample);
    }
  }
  return samples;
}

function layoutSamples(
  sources: SynthSources,
  stage: StageRecipe,
  count: number,
  seed: number,
  first: number,
  config: PreparationConfig,
): PreparedSample[] {
  return Array.from({ length: count }, (_, i) => {
    const { image, text, regions } = pageSample(sources, seed, first + i, { augmentation: stage.augmentation });
    const placed = regions.map(({ class: name, box }) => ({ classIndex: (LAYOUT_CLASSES as readonly string[]).indexOf(name) + 1, box }));
    return prepareSample({ task: "layout", image, answer: text, regions: placed }, config);
  });
}

export async function openSamplePools({ recipe, dataFolder, split = "train" }: SamplePoolOptions): Promise<SamplePools> {
  const base = await openCheckpointFiles(recipe.base);
  const config: PreparationConfig = {
    tokenizer: base.tokenizer,
    processor: base.processor,
    layoutSize: recipe.layoutSize,
    endToken: base.endToken,
    slotEndToken: base.fillToken,
    characterSlots: recipe.characterSlots,
  };
  const sources = await openSynth({
    split,
    ...(dataFolder === undefined ? {} : { fontPaths: [join(dataFolder, "fonts")], corpusFolder: join(dataFolder, "corpus") }),
  });
  return {
    pool({ stage: stageIndex, pool }) {
      const stage = recipe.stages[stageIndex];
      const { text = 0, layout = 0 } = stage.pool;
      const seed = recipe.seed + stageIndex;
      const pagesPerPool = Math.ceil(text / CROPS_PER_PAGE);
      return [
        ...textSamples(sources, recipe, stage, text, seed, pool * pagesPerPool, config),
        ...layoutSamples(sources, stage, layout, seed, pool * layout, config),
      ];
    },
  };
}
