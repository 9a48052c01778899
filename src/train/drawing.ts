/**
 * Synthetic samples by their identity: page `page` of `seed` of a kind holds the same samples wherever and whenever it is drawn. A page of
 * crops is one document of many; a page of layout is one sample. It refuses to know what becomes of them.
 */
import { join } from "node:path";
import { openSynth, type Split, type SynthSources, textPage } from "../synth/index.ts";
import { pageSample } from "../synth/page-samples.ts";
import { formulaPage, tablePage } from "../synth/region-samples.ts";
import { LAYOUT_CLASSES } from "./layout-classes.ts";
import { augmentationOf, type DrawingRecipe, type SampleKind } from "./recipe.ts";
import type { RawSample } from "./sample.ts";

/** Opens fonts and texts: those that the scripts fetched into `dataFolder`, the built-in ones if absent. */
export function openSources(split: Split, dataFolder?: string): Promise<SynthSources> {
  return openSynth({
    split,
    ...(dataFolder === undefined ? {} : { fontPaths: [join(dataFolder, "fonts")], corpusFolder: join(dataFolder, "corpus") }),
  });
}

export interface PageIdentity {
  readonly task: SampleKind;
  readonly seed: number;
  readonly page: number;
}

/** The samples of one page, exactly `crops` of them, or one of layout. RangeError if the drawing leaves nothing to draw. */
export function drawPage(sources: SynthSources, { task, seed, page }: PageIdentity, drawing: DrawingRecipe, crops: number): RawSample[] {
  const options = { augmentation: augmentationOf(drawing, task), cropsPerPage: crops };
  if (task === "layout") {
    const { image, text, regions } = pageSample(sources, seed, page, { augmentation: options.augmentation });
    const placed = regions.map(({ class: name, box }) => ({ classIndex: (LAYOUT_CLASSES as readonly string[]).indexOf(name) + 1, box }));
    return [{ task, image, answer: text, regions: placed }];
  }
  const { lines, widthPx, sizePx, content, tables, formulas } = drawing;
  const drawn =
    task === "text"
      ? textPage(sources, seed, page, { lines, widthPx, sizePx, content, ...options })
      : task === "table"
        ? tablePage(sources, seed, page, { ...tables, ...options })
        : formulaPage(sources, seed, page, { ...formulas, ...options });
  return drawn.map(({ image, text, characters }) => ({ task, image, answer: text, characters }));
}

/** The first `count` samples of the pages from `firstPage` on, `crops` to a page. */
export function drawSamples(
  sources: SynthSources,
  { task, seed, page: firstPage }: PageIdentity,
  drawing: DrawingRecipe,
  count: number,
  crops: number,
): RawSample[] {
  const perPage = task === "layout" ? 1 : crops;
  return Array.from({ length: Math.ceil(count / perPage) }, (_, i) =>
    drawPage(sources, { task, seed, page: firstPage + i }, drawing, Math.min(perPage, count - i * perPage)),
  ).flat();
}
