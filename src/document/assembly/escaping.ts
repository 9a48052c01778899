/**
 * Running text as Markdown: signs that would be markup get a backslash, formulas the chosen delimiters. What the model has escaped
 * already is not escaped again. Refuses to know blocks.
 */
import { withoutBlankLines } from "../answer-text.ts";
import type { RunningText } from "./running-text.ts";
import { firstCharacter, kindOf, lastCharacter } from "./scripts.ts";

/** Opening and closing delimiter of a formula. */
export type Delimiters = readonly [open: string, close: string];

/** Writes running text as inline Markdown. A formula that touches a CJK letter gets a space there. */
export function inlineMarkdown(text: RunningText, inline: Delimiters): string {
  return text
    .map((part, i) => {
      if (part.kind === "words") return escapeWords(part.text);
      const before = text[i - 1];
      const after = text[i + 1];
      const left = before?.kind === "words" && kindOf(lastCharacter(before.text)) === "cjk-letter" ? " " : "";
      const right = after?.kind === "words" && kindOf(firstCharacter(after.text)) === "cjk-letter" ? " " : "";
      return left + inlineFormula(part.latex, inline) + right;
    })
    .join("");
}

/** Writes a formula within a line. Dollars inside its text arguments would end it and become `\( \)`, which KaTeX reads alike. */
export function inlineFormula(latex: string, [open, close]: Delimiters): string {
  const line = latex.replace(/\s*\n\s*/g, " ");
  return `${open}${open === "$" ? withoutDollars(line) : line}${close}`;
}

/** Writes a display formula: delimiter, formula and delimiter on lines of their own, without blank lines between. */
export function displayFormula(latex: string, [open, close]: Delimiters): string {
  return `${open}\n${withoutBlankLines(latex)}\n${close}`;
}

/** Escapes what would begin a heading, list, quote, rule or number at the start of each line. */
export function escapeLineStarts(markdown: string): string {
  return markdown
    .split("\n")
    .map((line) =>
      line
        .replace(/^( {0,3}[\uFDD0\uFDD1]*)(#{1,6}(?=\s|$)|[+-](?=\s|$)|>|-{2,}(?=\s*$)|=+(?=\s*$))/, "$1\\$2")
        .replace(/^( {0,3}[\uFDD0\uFDD1]*\d+)([.)])(?=\s)/, "$1\\$2"),
    )
    .join("\n");
}

/** Escapes the signs of inline markup. */
export function escapeWords(text: string): string {
  return text.replace(MARKUP, (found, slashes: string, sign: string) => (slashes.length % 2 === 1 ? found : `${slashes}\\${sign}`));
}

const MARKUP = /(\\*)([*_`~$]|<(?=[A-Za-z/!?])|&(?=#\d+;|#[xX][\dA-Fa-f]+;|[A-Za-z][A-Za-z\d]*;))/g;

function withoutDollars(latex: string): string {
  const signs = [...latex.matchAll(/\\[\s\S]|\$/g)].filter((match) => match[0] === "$").length;
  let seen = 0;
  return latex.replace(/\\[\s\S]|\$/g, (sign) => {
    if (sign !== "$") return sign;
    seen++;
    if (signs % 2 === 1 && seen === signs) return "\\$";
    return seen % 2 === 1 ? "\\(" : "\\)";
  });
}
