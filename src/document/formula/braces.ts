/**
 * Repair of braces: a closing brace without partner goes, an opening one is closed where its cell ends, that is before the next `&`, row
 * end, or `\right` or `\end` whose partner stands outside the brace; else at the end. Nothing that prints is lost.
 */
import { beforeSpace, tokenise, withInsertions } from "./latex-tokens.ts";

interface Scope {
  readonly kind: "brace" | "left" | "environment";
  readonly at: number;
  /** For braces: the first `&` or row end since it was opened. */
  cellEnd: number | null;
}

/** Balances the braces of a formula. */
export function repairBraces(latex: string): string {
  const tokens = tokenise(latex);
  const ended = environmentsThatEnd(tokens);
  const stack: Scope[] = [];
  const stray = new Set<number>();
  const insertions: { at: number; text: string }[] = [];
  const closeBrace = (brace: Scope, before: number) => insertions.push({ at: beforeSpace(tokens, brace.cellEnd ?? before), text: "}" });
  const lastIndex = (kind: Scope["kind"]) => stack.findLastIndex((scope) => scope.kind === kind);

  tokens.forEach((token, i) => {
    if (token.kind === "open") stack.push({ kind: "brace", at: i, cellEnd: null });
    else if (token.kind === "left") stack.push({ kind: "left", at: i, cellEnd: null });
    else if (token.kind === "begin") stack.push({ kind: "environment", at: i, cellEnd: null });
    else if (token.kind === "cell" || token.kind === "row") {
      for (const scope of stack.slice(lastIndex("environment") + 1)) scope.cellEnd ??= i;
    } else if (token.kind === "close") {
      const brace = lastIndex("brace");
      const foreign = brace < 0 || stack.slice(brace + 1).some((scope) => scope.kind === "environment" && ended.has(scope.at));
      if (foreign) stray.add(i);
      else {
        const { at } = stack[brace];
        stack.length = brace;
        for (const scope of stack) if (scope.cellEnd !== null && scope.cellEnd > at) scope.cellEnd = null;
      }
    } else if (token.kind === "right") {
      const left = lastIndex("left");
      if (left < 0 || left < lastIndex("environment")) return;
      for (const scope of stack.splice(left).reverse()) if (scope.kind === "brace") closeBrace(scope, i);
    } else if (token.kind === "end") {
      for (const scope of stack.splice(Math.max(0, lastIndex("environment"))).reverse()) if (scope.kind === "brace") closeBrace(scope, i);
    }
  });
  for (const scope of stack.reverse()) if (scope.kind === "brace") closeBrace(scope, tokens.length);
  if (insertions.length === 0 && stray.size === 0) return latex;
  return withInsertions(
    tokens.map((token, i) => (stray.has(i) ? { ...token, text: "" } : token)),
    insertions,
  );
}

/** Places of the `\begin`s that an `\end` follows. */
function environmentsThatEnd(tokens: ReturnType<typeof tokenise>): Set<number> {
  const ended = new Set<number>();
  const open: number[] = [];
  tokens.forEach((token, i) => {
    if (token.kind === "begin") open.push(i);
    else if (token.kind === "end" && open.length > 0) ended.add(open.pop() as number);
  });
  return ended;
}
