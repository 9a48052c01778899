/**
 * Repair of environments: what is open is closed, inner first; an `\end` takes the name of its `\begin`; an `\end` without `\begin` gets
 * one at the very start; an `array` without column specification gets one; alignment outside any environment is put into `aligned`.
 */
import { beforeSpace, endOfGroup, type LatexToken, skipSpace, sourceOf, tokenise, withInsertions } from "./latex-tokens.ts";

/** Pairs `\begin` and `\end` and gives arrays their columns. */
export function repairEnvironments(latex: string): string {
  return withColumns(paired(latex));
}

function paired(latex: string): string {
  const tokens = tokenise(latex);
  const total = tokens.filter((token) => token.kind === "end").length;
  const stack: { name: string; isBrace: boolean }[] = [];
  const insertions: { at: number; text: string }[] = [];
  let seen = 0;
  const mended = tokens.map((token, i): LatexToken => {
    if (token.kind === "begin") stack.push({ name: token.name, isBrace: false });
    else if (token.kind === "open") stack.push({ name: "", isBrace: true });
    else if (token.kind === "close") {
      const brace = stack.findLastIndex((scope) => scope.isBrace);
      if (brace >= 0) {
        const open = stack.splice(brace).slice(1).reverse();
        if (seen === total) for (const { name } of open) insertions.push({ at: beforeSpace(tokens, i), text: ` \\end{${name}}` });
        else stack.push(...open.reverse());
      }
    } else if (token.kind === "end") {
      seen++;
      const begin = stack.findLastIndex((scope) => !scope.isBrace);
      if (begin < 0) insertions.unshift({ at: 0, text: `\\begin{${token.name}} ` });
      else {
        const [{ name }] = stack.splice(begin, 1);
        if (name !== token.name) return { ...token, name, text: `\\end{${name}}` };
      }
    }
    return token;
  });
  for (const { name, isBrace } of stack.reverse()) if (!isBrace) insertions.push({ at: tokens.length, text: ` \\end{${name}}` });
  return withInsertions(mended, insertions);
}

function withColumns(latex: string): string {
  const tokens = tokenise(latex);
  const insertions: { at: number; text: string }[] = [];
  tokens.forEach((token, i) => {
    if (token.kind !== "begin" || token.name !== "array") return;
    let next = skipSpace(tokens, i + 1);
    if (tokens[next]?.text === "[") {
      const close = tokens.findIndex((t, at) => at > next && t.text === "]");
      if (close > 0) next = skipSpace(tokens, close + 1);
    }
    if (tokens[next]?.kind !== "open") insertions.push({ at: i + 1, text: `{${"l".repeat(widestRow(tokens, i + 1))}}` });
  });
  return withInsertions(tokens, insertions);
}

/** Cells of the widest row of the environment whose body begins at `from`. */
function widestRow(tokens: readonly LatexToken[], from: number): number {
  let widest = 1;
  let cells = 1;
  let depth = 0;
  for (const token of tokens.slice(from)) {
    if (token.kind === "begin" || token.kind === "open") depth++;
    else if ((token.kind === "end" || token.kind === "close") && --depth < 0) break;
    else if (depth === 0 && token.kind === "cell") widest = Math.max(widest, ++cells);
    else if (depth === 0 && token.kind === "row") cells = 1;
  }
  return widest;
}

/** Puts a formula with `&` outside any environment into `aligned`; a tag at its end stays outside. */
export function repairAlignment(latex: string): string {
  const tokens = tokenise(latex);
  let depth = 0;
  const outside = tokens.some((token) => {
    if (token.kind === "begin") depth++;
    else if (token.kind === "end") depth--;
    return depth === 0 && token.kind === "cell" && !token.inText;
  });
  if (!outside) return latex;
  const tag = finalTag(tokens);
  const body = sourceOf(tokens.slice(0, tag)).trim();
  const rest = sourceOf(tokens.slice(tag)).trim();
  return `\\begin{aligned} ${body} \\end{aligned}${rest === "" ? "" : ` ${rest}`}`;
}

function finalTag(tokens: readonly LatexToken[]): number {
  const at = tokens.findLastIndex((token) => token.name === "\\tag" || token.name === "\\tag*");
  return at >= 0 && skipSpace(tokens, endOfGroup(tokens, skipSpace(tokens, at + 1))) === tokens.length ? at : tokens.length;
}

/** Where more than one number stands in a formula, each becomes text in brackets: KaTeX takes one. */
export function repairTags(latex: string): string {
  const tokens = tokenise(latex);
  const isTag = (token: LatexToken) => token.name === "\\tag" || token.name === "\\tag*";
  if (tokens.filter(isTag).length < 2) return latex;
  let source = "";
  for (let i = 0; i < tokens.length; i++) {
    const argument = skipSpace(tokens, i + 1);
    if (isTag(tokens[i]) && tokens[argument]?.kind === "open") {
      const end = endOfGroup(tokens, argument);
      source += `(${sourceOf(tokens.slice(argument + 1, end - 1)).trim()})`;
      i = end - 1;
    } else source += tokens[i].text;
  }
  return source;
}
