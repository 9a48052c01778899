/**
 * Synthetic documents with exact ground truth: Typst pages, rasterised by PDFium, checked character by character
 * against what was asked for. Open the sources once, then draw:
 *
 *   const sources = await openSynth({ split: "train", fontPaths: [".train/fonts"], corpusFolder: ".train/corpus" });
 *   for (const sample of textSamples(sources, seed, { augmentation: 0.7 })) …
 *
 * `textPage(sources, seed, index, options)` gives exactly `cropsPerPage` crops and depends on nothing else;
 * `tablePage` and `formulaPage` are its like for OTSL and LaTeX, `pageSample(sources, seed, index, options)` gives one page with
 * its layout answer, `shuffledPage` a page with a share of its words out of order (Semantic Shuffle). All samples share `task`, `image`, `text` (the answer) and `characters`. Beside a trainer, let worker threads make them (run from dist/):
 *
 *   await using stream = startSampleStream({ seed, recipe: { sources: { fontPaths, corpusFolder }, weights: { text: 1 } } });
 *   const samples = await stream.take(32); // the same for the same seed and recipe, whatever the number of workers
 */
import { loadCorpus } from "./corpus.ts";
import { fontsFor, type Split } from "./fonts.ts";
import { openRasteriser } from "./rasterise.ts";
import type { SynthSources } from "./text-samples.ts";
import { openTypesetter } from "./typeset.ts";

export type { SynthCharacter } from "./align.ts";
export { augment, type DamagedPicture, type Picture } from "./augment.ts";
export type { BlockClass } from "./blocks.ts";
export { CONTENT_WEIGHTS, type ContentKind } from "./content.ts";
export { type Corpus, SYNTH_ALPHABET } from "./corpus.ts";
export { DOCUMENT_WEIGHTS, type DocumentKind } from "./documents.ts";
export { BUILT_IN_FAMILIES, FAMILIES, type FontFamily, type Split } from "./fonts.ts";
export { type LayoutSample, type PageSampleOptions, pageSample, pageSamples, type SynthRegion } from "./page-samples.ts";
export { createRandom, type Random } from "./random.ts";
export { makeBatch, type SampleRecipe, type SynthSample, type SynthTask } from "./recipe.ts";
export {
  type FormulaSample,
  type FormulaSampleOptions,
  formulaPage,
  type TableSample,
  type TableSampleOptions,
  tablePage,
} from "./region-samples.ts";
export { SHUFFLE_RATIOS, type ShuffleKind, type ShuffleOptions, shuffledPage, shuffleTexts } from "./shuffle.ts";
export { type SampleStream, type SampleStreamOptions, startSampleStream } from "./stream.ts";
export { type SynthSources, type TextSample, type TextSampleOptions, textPage, textSamples } from "./text-samples.ts";

export interface SynthOptions {
  /** Which side of fonts and texts to draw from (default `train`). */
  readonly split?: Split;
  /** Folders with font files (scripts/synth-fetch-fonts.sh fills `.train/fonts`). */
  readonly fontPaths?: readonly string[];
  /** Folder with corpus text (scripts/synth-fetch-corpus.mjs fills `.train/corpus`); the built-in text if left out. */
  readonly corpusFolder?: string;
}

/**
 * Opens the engines, fonts and texts that samplers draw from.
 * @throws MineruError `runtime-unavailable` without the typesetting engine, `file-unreadable` without the corpus.
 */
export async function openSynth(options: SynthOptions = {}): Promise<SynthSources> {
  const split = options.split ?? "train";
  const [typesetter, rasteriser, corpus] = await Promise.all([
    openTypesetter({ fontPaths: options.fontPaths }),
    openRasteriser(),
    loadCorpus(split, options.corpusFolder),
  ]);
  return { typesetter, rasteriser, corpus, fonts: fontsFor(typesetter, split) };
}
