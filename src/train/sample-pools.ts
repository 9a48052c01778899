/**
 * Pools of prepared samples, drawn from synthetic documents by a stage's recipe. A pool is large enough that samples of one size can be
 * batched together, and a function of (seed, stage, number) alone, so that a resumed run sees what an unbroken one would have seen.
 */
import { join } from "node:path";
import { MAX_LINE_TOKENS } from "../image/line-pictures.ts";
import { openSynth, type SynthSources, textPage } from "../synth/index.ts";
import { pageSample } from "../synth/page-samples.ts";
import { formulaPage, type RegionSample, tablePage } from "../synth/region-samples.ts";
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

/** Crops per synthetic document: a text crop costs 6.5 ms in documents of 30 and 2.7 ms in documents of 100. */
const CROPS_PER_PAGE = 80;

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
      if (tokens <= (recipe.linePixels === undefined ? recipe.maxRegionTokens : MAX_LINE_TOKENS)) samples.push(sample);
    }
  }
  return samples;
}

/** Crops of tables or formulas that fit the region budget, fewer than `count` if some do not. */
function regionSamples<Task extends "table" | "formula">(
  draw: (page: number, cropsPerPage: number) => RegionSample<Task>[],
  recipe: Recipe,
  count: number,
  first: number,
  config: PreparationConfig,
): PreparedSample[] {
  const pages = Math.ceil(count / CROPS_PER_PAGE);
  return Array.from({ length: pages }, (_, page) => draw(first + page, Math.min(CROPS_PER_PAGE, count - page * CROPS_PER_PAGE)))
    .flat()
    .map(({ task, image, text, characters }) => prepareSample({ task, image, answer: text, characters }, config))
    .filter(({ rows, columns }) => (rows * columns) / config.processor.mergeSize ** 2 <= recipe.maxRegionTokens);
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
    linePixels: recipe.linePixels,
    characterSlots: recipe.characterSlots,
  };
  const sources = await openSynth({
    split,
    ...(dataFolder === undefined ? {} : { fontPaths: [join(dataFolder, "fonts")], corpusFolder: join(dataFolder, "corpus") }),
  });
  return {
    pool({ stage: stageIndex, pool }) {
      const stage = recipe.stages[stageIndex];
      const { text = 0, layout = 0, table = 0, formula = 0 } = stage.pool;
      const seed = recipe.seed + stageIndex;
      const pagesPerPool = Math.ceil(text / CROPS_PER_PAGE);
      return [
        ...textSamples(sources, recipe, stage, text, seed, pool * pagesPerPool, config),
        ...layoutSamples(sources, stage, layout, seed, pool * layout, config),
        ...regionSamples(
          (page, cropsPerPage) => tablePage(sources, seed, page, { ...stage.tables, augmentation: stage.augmentation, cropsPerPage }),
          recipe,
          table,
          pool * Math.ceil(table / CROPS_PER_PAGE),
          config,
        ),
        ...regionSamples(
          (page, cropsPerPage) => formulaPage(sources, seed, page, { ...stage.formulas, augmentation: stage.augmentation, cropsPerPage }),
          recipe,
          formula,
          pool * Math.ceil(formula / CROPS_PER_PAGE),
          config,
        ),
      ];
    },
  };
}
