/**
 * UniMER-Test's own scores of formulas: mean normalised edit distance and corpus BLEU of LaTeX without needless blanks (UniMERNet's
 * test script). Strict keeps blanks between letters, as the script does; sound removes all that TeX would not see, and gives equal
 * formulas of fewer than four tokens a BLEU of 1. It refuses to know how formulas look.
 */
import { corpusBleu } from "./bleu.ts";
import { normalisedEditDistance } from "./edit-distance.ts";
import type { MetricMode } from "./mode.ts";
import { PYTHON_SPACE } from "./python-text.ts";

const NAMED_GROUP = new RegExp(`\\\\(?:operatorname|mathrm|text|mathbf)[${PYTHON_SPACE}]?\\*? \\{[^\\n]*?\\}`, "g");
const LETTER = "[a-zA-Z]";
const NO_LETTER = "(?:[^\\p{L}\\p{N}_]|[_^\\p{Nd}])";
const GAPS = [
  new RegExp(`(?!\\\\ )(${NO_LETTER})[${PYTHON_SPACE}]+?(${NO_LETTER})`, "gu"),
  new RegExp(`(?!\\\\ )(${NO_LETTER})[${PYTHON_SPACE}]+?(${LETTER})`, "gu"),
  new RegExp(`(${LETTER})[${PYTHON_SPACE}]+?(${NO_LETTER})`, "gu"),
];

/** A formula without needless blanks. */
export function normaliseUnimer(latex: string, mode: MetricMode = "sound"): string {
  if (mode === "sound") return withoutBlanks(latex);
  let text = latex.replace(NAMED_GROUP, (group) => group.replaceAll(" ", ""));
  for (;;) {
    const next = GAPS.reduce((rest, gap) => rest.replace(gap, "$1$2"), text);
    if (next === text) return text;
    text = next;
  }
}

/** Keeps `\ ` and the blank that ends a command before a letter. */
function withoutBlanks(latex: string): string {
  return latex
    .trim()
    .replace(/(\\ )\s*|(\\[a-zA-Z]+)\s+(?=[a-zA-Z])|\s+/g, (_, space: string | undefined, command: string | undefined) =>
      space ? "\\ " : command ? `${command} ` : "",
    );
}

export interface UnimerScore {
  /** Mean normalised edit distance, 0 to 1. */
  readonly edit: number;
  /** Corpus BLEU, 0 to 1. */
  readonly bleu: number;
}

/**
 * Scores of a set of formulas.
 * @throws RangeError if the set is empty
 */
export function scoreUnimer(pairs: readonly { readonly pred: string; readonly truth: string }[], mode: MetricMode = "sound"): UnimerScore {
  if (pairs.length === 0) throw new RangeError("`pairs` expected at least one formula, got none");
  const normal = pairs.map(({ pred, truth }) => ({ pred: normaliseUnimer(pred, mode), truth: normaliseUnimer(truth, mode) }));
  const edit = normal.reduce((sum, { pred, truth }) => sum + normalisedEditDistance(pred, truth), 0) / normal.length;
  const isPerfect = mode === "sound" && normal.every(({ pred, truth }) => pred === truth);
  return { edit, bleu: isPerfect ? 1 : corpusBleu(normal).bleu };
}
