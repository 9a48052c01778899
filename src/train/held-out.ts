/**
 * The samples that runs and checkpoints are judged by: fonts and texts of the held-out split, drawn by one fixed seed, so that numbers of
 * different days and runs compare. It refuses to know what is asked of them.
 */
import { drawSamples, openSources } from "./drawing.ts";
import type { DrawingRecipe, SampleKind } from "./recipe.ts";
import type { RawSample } from "./sample.ts";

/** What held-out samples look like unless said otherwise: single lines, small tables, all sizes of formulas, lightly worn. */
export const HELD_OUT_DRAWING: DrawingRecipe = {
  lines: [1, 1],
  widthPx: [80, 1100],
  sizePx: [16, 36],
  augmentation: 0.3,
  tables: { rows: [2, 6], columns: [2, 5], widthPx: [200, 700], sizePx: [16, 28] },
};

/** No recipe's stages draw from this seed. */
const SEED = 7;

export interface HeldOutOptions {
  readonly samples: Readonly<Partial<Record<SampleKind, number>>>;
  readonly drawing?: DrawingRecipe;
  readonly split?: "train" | "heldout";
  /** Fonts and corpora, as the scripts fetch them; the built-in ones if absent. */
  readonly dataFolder?: string;
}

/** Draws the samples of each kind asked for. */
export async function drawHeldOut(options: HeldOutOptions): Promise<Partial<Record<SampleKind, RawSample[]>>> {
  const { samples, drawing = HELD_OUT_DRAWING, split = "heldout", dataFolder } = options;
  const sources = await openSources(split, dataFolder);
  const drawn: Partial<Record<SampleKind, RawSample[]>> = {};
  for (const [task, count = 0] of Object.entries(samples) as [SampleKind, number | undefined][]) {
    if (count > 0) drawn[task] = drawSamples(sources, { task, seed: SEED, page: 0 }, drawing, count, count);
  }
  return drawn;
}
