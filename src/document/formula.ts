/**
 * From a raw formula answer to LaTeX that renders. What renders is left as it stands; what does not is mended step by step, each step
 * where its fault is found, and KaTeX has the last word: a formula that still does not render is handed on as it was
 * and flagged. Nothing
 * that prints is deleted, except a tail that repeats itself without end (rules: test/golden/documents/README.md). The single repairs
 * live in `formula/`. Refuses to know where the formula stands on the page.
 */
import { cutAtStop } from "./answer-text.ts";
import { repairArguments, repairScripts } from "./formula/arguments.ts";
import { repairBraces } from "./formula/braces.ts";
import { withoutDelimiters, withPercentEscaped } from "./formula/delimiters.ts";
import { repairAlignment, repairEnvironments, repairTags } from "./formula/environments.ts";
import { renders } from "./formula/katex.ts";
import { repairLeftRight } from "./formula/left-right.ts";
import { repairNames, repairSigns } from "./formula/signs.ts";
import { cutRunaway } from "./runaway.ts";

/** A formula ready to be printed. */
export interface FormulaReading {
  /** LaTeX without outer delimiters. */
  readonly latex: string;
  /** Whether KaTeX renders it. */
  readonly renders: boolean;
  /** The user must be told: it does not render, or something was cut off. */
  readonly flagged: boolean;
  /** Names of the repairs that changed something, in order. */
  readonly repairs: readonly string[];
}

const REPAIRS: readonly (readonly [string, (latex: string) => string])[] = [
  ["signs", repairSigns],
  ["names", repairNames],
  ["braces", repairBraces],
  ["environments", repairEnvironments],
  ["left-right", repairLeftRight],
  ["arguments", repairArguments],
  ["scripts", repairScripts],
  ["tags", repairTags],
  ["alignment", repairAlignment],
];

/** Reads a formula answer. Never throws on any answer. An empty one gives the empty formula, not flagged. */
export function parseFormula(answer: string): FormulaReading {
  const verbatim = withoutDelimiters(cutAtStop(answer));
  const escaped = withPercentEscaped(verbatim);
  const shortened = cutRunaway(escaped);
  const runaway = shortened !== null;
  const repairs = [...(escaped === verbatim ? [] : ["percent"]), ...(runaway ? ["runaway"] : [])];
  let latex = runaway ? shortened.trim() : escaped;
  if (renders(latex)) return { latex, renders: true, flagged: runaway, repairs };
  for (const [name, repair] of REPAIRS) {
    const repaired = repair(latex);
    if (repaired !== latex) repairs.push(name);
    latex = repaired;
  }
  latex = latex.trim();
  if (renders(latex)) return { latex, renders: true, flagged: runaway, repairs };
  return { latex: escaped, renders: false, flagged: true, repairs: escaped === verbatim ? [] : ["percent"] };
}
