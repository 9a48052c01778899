/**
 * The judge of formulas: KaTeX. A formula is right when KaTeX renders it in display mode. Also answers what KaTeX knows about single
 * commands, so that no list of them has to be kept here. Refuses to know how faults are mended.
 */
import katex from "katex";

/** Whether KaTeX renders `latex` as a display formula. */
export function renders(latex: string): boolean {
  return failure(latex) === null;
}

/** Whether KaTeX knows the command `name` (with its backslash), whatever arguments it wants. */
export function isDefined(name: string): boolean {
  return remembered(defined, name, () => !(failure(name) ?? "").includes("Undefined control sequence"));
}

/** Whether `name` is a command that prints by itself, without arguments. */
export function isSymbol(name: string): boolean {
  return remembered(symbols, name, () => renders(name));
}

/** A formula as MathML that needs neither style sheet nor fonts, or null if KaTeX does not render it. Links and styles are switched off. */
export function formulaToMathml(latex: string, display: boolean): string | null {
  try {
    return katex.renderToString(latex, { displayMode: display, throwOnError: true, strict: "ignore", trust: false, output: "mathml" });
  } catch {
    return null;
  }
}

const defined = new Map<string, boolean>();
const symbols = new Map<string, boolean>();
const MOST_REMEMBERED = 5000;

function failure(latex: string): string | null {
  try {
    katex.renderToString(latex, { displayMode: true, throwOnError: true, strict: "ignore", trust: false });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function remembered(memory: Map<string, boolean>, key: string, answer: () => boolean): boolean {
  const known = memory.get(key);
  if (known !== undefined) return known;
  if (memory.size >= MOST_REMEMBERED) memory.clear();
  const value = answer();
  memory.set(key, value);
  return value;
}
