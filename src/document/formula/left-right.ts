/**
 * Repair of `\left` and `\right`: each needs its partner within the same brace group and between the same `&`s. One without partner gets
 * an invisible one, `\right.` where its cell or group ends, `\left.` where it begins. A pair may reach over row ends, as KaTeX allows.
 */
import { beforeSpace, type LatexToken, skipSpace, tokenise, withInsertions } from "./latex-tokens.ts";

interface Scope {
  /** Where the group, or the cell within it, begins. */
  start: number;
  /** First row end since the last `&`, per open `\left`. */
  lefts: { cellEnd: number | null }[];
}

/** Gives every `\left` and `\right` a partner. */
export function repairLeftRight(latex: string): string {
  const tokens = tokenise(latex);
  const insertions: { at: number; text: string }[] = [];
  const stack: Scope[] = [{ start: 0, lefts: [] }];
  const closeLefts = (scope: Scope, end: number) => {
    for (const left of scope.lefts.reverse()) insertions.push({ at: beforeSpace(tokens, left.cellEnd ?? end), text: " \\right." });
    scope.lefts = [];
  };
  tokens.forEach((token, i) => {
    const scope = stack[stack.length - 1];
    switch (token.kind) {
      case "open":
        stack.push({ start: i + 1, lefts: [] });
        break;
      case "begin":
        stack.push({ start: bodyStart(tokens, i), lefts: [] });
        break;
      case "close":
      case "end":
        closeLefts(scope, i);
        if (stack.length > 1) stack.pop();
        break;
      case "left":
        scope.lefts.push({ cellEnd: null });
        break;
      case "right":
        if (scope.lefts.pop() === undefined) insertions.push({ at: contentStart(tokens, scope.start), text: "\\left. " });
        break;
      case "row":
        for (const left of scope.lefts) left.cellEnd ??= i;
        if (scope.lefts.length === 0) scope.start = i + 1;
        break;
      case "cell":
        closeLefts(scope, i);
        scope.start = i + 1;
        break;
    }
  });
  for (const scope of stack.reverse()) closeLefts(scope, tokens.length);
  return insertions.length === 0 ? latex : withInsertions(tokens, insertions);
}

/** After `\begin{array}` and its column specification. */
function bodyStart(tokens: readonly LatexToken[], begin: number): number {
  if (tokens[begin].name !== "array") return begin + 1;
  const open = skipSpace(tokens, begin + 1);
  if (tokens[open]?.kind !== "open") return begin + 1;
  const close = tokens.findIndex((token, i) => i > open && token.kind === "close");
  return close < 0 ? begin + 1 : close + 1;
}

/** Past white space and rules between rows. */
function contentStart(tokens: readonly LatexToken[], from: number): number {
  let i = skipSpace(tokens, from);
  while (tokens[i]?.name === "\\hline" || tokens[i]?.name === "\\hdashline") i = skipSpace(tokens, i + 1);
  return i;
}
