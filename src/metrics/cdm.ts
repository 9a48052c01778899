/**
 * CDM of two LaTeX formulas without LaTeX: tokens as the official code marks them, boxes from MathJax, matching as published. Scores
 * carry the name of their variant, `cdm-mathjax/odb15` or `cdm-mathjax/unimer2509`, and do not stand for official ones: boxes differ
 * from TeX's. Strict mode scores 0 whenever a side cannot be drawn; sound mode has no answer where it is the truth that cannot. It
 * refuses to know where formulas come from.
 */
import { type CdmScore, type CdmVariant, matchFormulas } from "./cdm-match.ts";
import { mathjaxRenderer } from "./formula-boxes.ts";
import { FormulaError } from "./formula-normalise.ts";
import type { MetricMode } from "./mode.ts";

export interface CdmMetric {
  /** Name under which scores are reported. */
  readonly name: `cdm-mathjax/${CdmVariant}`;
  /** Score of a prediction; null in sound mode if the truth cannot be drawn. */
  readonly score: (pred: string, truth: string) => Promise<CdmScore | null>;
}

const NOTHING: CdmScore = { pairs: [], inliers: [], recall: 0, precision: 0, f1: 0 };

/**
 * Starts the renderer.
 * @throws MineruError `runtime-unavailable` if the package `@mathjax/src` is not installed
 */
export async function startCdm(variant: CdmVariant = "odb15", mode: MetricMode = "sound"): Promise<CdmMetric> {
  const render = await mathjaxRenderer();
  const draw = async (latex: string) => {
    try {
      return await render(latex, variant);
    } catch (error) {
      if (error instanceof FormulaError) return null;
      throw error;
    }
  };
  return {
    name: `cdm-mathjax/${variant}`,
    score: async (pred, truth) => {
      const truthImage = await draw(truth);
      if (!truthImage) return mode === "sound" ? null : NOTHING;
      const predImage = await draw(pred);
      return predImage ? matchFormulas(predImage, truthImage, variant, mode) : NOTHING;
    },
  };
}
