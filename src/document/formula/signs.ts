/**
 * Repairs of single signs and names: dollars and hashes that mean nothing in a formula, signs that need a backslash inside text, and
 * commands and environments KaTeX lacks for which another name prints the same. Refuses to touch structure.
 */
import { isDefined, isSymbol, renders } from "./katex.ts";
import { endOfGroup, type LatexToken, skipSpace, sourceOf, tokenise } from "./latex-tokens.ts";

const SAME_PRINT: Record<string, string> = {
  "\\mbox": "\\text",
  "\\textsc": "\\text",
  "\\mathds": "\\mathbb",
  "\\mathbbm": "\\mathbb",
  "\\hdots": "\\dots",
  "\\bigtimes": "\\times",
};

const SAME_LAYOUT: Record<string, string> = {
  eqnarray: "aligned",
  "eqnarray*": "aligned",
  multline: "gathered",
  "multline*": "gathered",
  tabular: "array",
};

/** Takes out dollars and stray math delimiters; gives `#`, and within text also `_` and `&`, a backslash. */
export function repairSigns(latex: string): string {
  const tokens = tokenise(latex);
  let inMath = false;
  return tokens
    .map((token, i) => {
      if (!token.inText) {
        inMath = false;
        if (token.text === "$" || /^\\[()[\]]$/.test(token.text)) return "";
        return token.text === "#" ? "\\#" : token.text;
      }
      if (token.text === "$") inMath = !inMath && hasPartner(tokens, i);
      else if (!inMath && /^[_&#]$/.test(token.text)) return `\\${token.text}`;
      return token.text;
    })
    .join("");
}

/** Renames what KaTeX calls otherwise, parts glued commands, takes out labels and `\limits` that belong to no operator. */
export function repairNames(latex: string): string {
  return withoutStrayLimits(withoutLabels(tokenise(latex).map(renamed).join("")));
}

function renamed(token: LatexToken): string {
  if (token.kind === "begin" || token.kind === "end")
    return SAME_LAYOUT[token.name] ? `\\${token.kind}{${SAME_LAYOUT[token.name]}}` : token.text;
  if (token.kind === "left" && token.name === "{") return "\\left\\{";
  if (token.kind === "right" && token.name === "}") return "\\right\\}";
  if (token.kind !== "command") return token.text;
  const same = SAME_PRINT[token.name];
  if (same !== undefined && !isDefined(token.name)) return same;
  if (/^\\[A-Za-z]{2,}$/.test(token.name) && !isDefined(token.name)) {
    const symbol = token.name.slice(0, -1);
    if (isSymbol(symbol)) return `${symbol} ${token.name.slice(-1)}`;
  }
  return token.text;
}

function withoutLabels(latex: string): string {
  const tokens = tokenise(latex);
  const kept: LatexToken[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const argument = skipSpace(tokens, i + 1);
    if (tokens[i].name === "\\label" && tokens[argument]?.kind === "open") i = endOfGroup(tokens, argument) - 1;
    else kept.push(tokens[i]);
  }
  return sourceOf(kept);
}

function withoutStrayLimits(latex: string): string {
  const tokens = tokenise(latex);
  return sourceOf(tokens.filter((token, i) => !(isLimits(token) && !takesLimits(tokens, i))));
}

function isLimits(token: LatexToken): boolean {
  return token.name === "\\limits" || token.name === "\\nolimits";
}

/** Asks KaTeX whether what stands before the `\limits` at `at` is an operator. */
function takesLimits(tokens: readonly LatexToken[], at: number): boolean {
  let end = at;
  while (end > 0 && (tokens[end - 1].kind === "space" || isLimits(tokens[end - 1]))) end--;
  if (end === 0) return false;
  let start = end - 1;
  if (tokens[start].kind === "close") {
    for (let depth = 0; start >= 0; start--) {
      if (tokens[start].kind === "close") depth++;
      else if (tokens[start].kind === "open" && --depth === 0) break;
    }
    while (start > 0 && tokens[start - 1].kind === "space") start--;
    if (start > 0 && tokens[start - 1].kind === "command") start--;
  }
  return renders(`${sourceOf(tokens.slice(Math.max(0, start), end))}\\limits_{a}`);
}

function hasPartner(tokens: readonly LatexToken[], at: number): boolean {
  for (let i = at + 1; i < tokens.length && tokens[i].inText; i++) if (tokens[i].text === "$") return true;
  return false;
}
