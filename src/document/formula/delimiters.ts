/**
 * What surrounds a formula: math delimiters around the whole are taken off, and a percent sign, which would hide the rest of its line, is
 * escaped. Refuses to look inside.
 */
import { trimWhite } from "../answer-text.ts";

const PAIRS: readonly (readonly [string, string])[] = [
  ["\\[", "\\]"],
  ["$$", "$$"],
  ["\\(", "\\)"],
  ["$", "$"],
];

/** `latex` without the delimiters around the whole, layer by layer, and without a lone `\[` at its start or `\]` at its end. */
export function withoutDelimiters(latex: string): string {
  let text = trimWhite(latex);
  for (;;) {
    const inner = withoutLayer(text);
    if (inner === null) return text;
    text = trimWhite(inner);
  }
}

/** `latex` with every unescaped `%` escaped. */
export function withPercentEscaped(latex: string): string {
  return latex.replace(/\\[\s\S]|%/g, (sign) => (sign === "%" ? "\\%" : sign));
}

function withoutLayer(text: string): string | null {
  for (const [open, close] of PAIRS) {
    if (text.length < open.length + close.length || !text.startsWith(open) || !endsUnescaped(text, close)) continue;
    const inner = text.slice(open.length, text.length - close.length);
    if (open === "\\(" && inner.includes("\\)")) continue;
    return inner;
  }
  if (text.startsWith("\\[")) return text.slice(2);
  return endsUnescaped(text, "\\]") ? text.slice(0, -2) : null;
}

function endsUnescaped(text: string, end: string): boolean {
  if (!text.endsWith(end)) return false;
  const before = /\\*$/.exec(text.slice(0, text.length - end.length));
  return (before?.[0].length ?? 0) % 2 === 0;
}
