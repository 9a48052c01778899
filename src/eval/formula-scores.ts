/**
 * CDM over many formulas for the benchmarks that want it: started once, `null` throughout where the drawing package is not installed.
 * Refuses to know where formulas come from.
 */
import { MineruError } from "../error.ts";
import { type CdmMetric, startCdm } from "../metrics/cdm.ts";
import type { CdmVariant } from "../metrics/cdm-match.ts";
import type { MetricMode } from "../metrics/mode.ts";

export interface FormulaScores {
  /** F1 of each pair, 0 to 1; `null` where it was not computed or the truth cannot be drawn. */
  readonly f1: readonly (number | null)[];
  /** What a reader must know. */
  readonly notes: readonly string[];
}

export interface FormulaPair {
  readonly pred: string;
  readonly truth: string;
}

export async function scoreFormulas(pairs: readonly FormulaPair[], variant: CdmVariant, mode: MetricMode): Promise<FormulaScores> {
  if (pairs.length === 0) return { f1: [], notes: [] };
  let metric: CdmMetric;
  try {
    metric = await startCdm(variant, mode);
  } catch (error) {
    if (!(error instanceof MineruError) || error.code !== "runtime-unavailable") throw error;
    return { f1: pairs.map(() => null), notes: [`CDM was not computed: ${error.message}`] };
  }
  const f1: (number | null)[] = [];
  for (const { pred, truth } of pairs) f1.push((await metric.score(pred, truth))?.f1 ?? null);
  return {
    f1,
    notes: [
      `CDM is ${metric.name}: glyph boxes are MathJax's, so values do not stand for those of the official code, which draws with LaTeX`,
    ],
  };
}
