/**
 * Repair of arguments and scripts: a missing argument becomes an empty group, and a second subscript or superscript on one base gets an
 * empty base of its own, so that both print (`x_{a}{}_{b}`). Refuses to drop either.
 */
import { argumentCount, beforeSpace, endOfGroup, type LatexToken, skipSpace, tokenise, withInsertions } from "./latex-tokens.ts";

/** Puts `{}` where a command or script finds no argument. */
export function repairArguments(latex: string): string {
  const tokens = tokenise(latex);
  const insertions: { at: number; text: string }[] = [];
  tokens.forEach((token, i) => {
    const wanted = token.inText ? 0 : argumentCount(token);
    let end = i + 1;
    if (token.name === "\\sqrt") end = afterOption(tokens, end);
    for (let n = 0; n < wanted; n++) {
      const next = skipSpace(tokens, end);
      if (isNoArgument(tokens[next])) {
        const at = beforeSpace(tokens, next);
        insertions.push({ at, text: " {}".repeat(wanted - n) });
        return;
      }
      end = endOfGroup(tokens, next);
    }
  });
  return insertions.length === 0 ? latex : withInsertions(tokens, insertions);
}

/** Puts `{}` before a second script of the same kind on one base, and before a prime after a superscript. */
export function repairScripts(latex: string): string {
  const tokens = tokenise(latex);
  const insertions: { at: number; text: string }[] = [];
  const walk = (from: number, to: number): void => {
    let sub = false;
    let sup: "none" | "prime" | "script" = "none";
    for (let i = from; i < to; ) {
      const token = tokens[i];
      if (token.kind === "space") {
        if (sup === "prime") sup = "script";
        i++;
        continue;
      }
      if (token.kind === "sub") {
        if (sub) {
          insertions.push({ at: i, text: "{}" });
          sup = "none";
        } else if (sup === "prime") sup = "script";
        sub = true;
        i = walkArgument(i, to);
      } else if (token.kind === "super") {
        if (sup === "script") {
          insertions.push({ at: i, text: "{}" });
          sub = false;
        }
        sup = "script";
        i = walkArgument(i, to);
      } else if (token.kind === "prime") {
        if (sup === "script") {
          insertions.push({ at: i, text: "{}" });
          sub = false;
        }
        sup = "prime";
        i++;
      } else {
        sub = false;
        sup = "none";
        if (token.kind === "open") {
          const end = Math.min(to, endOfGroup(tokens, i));
          walk(i + 1, end - 1);
          i = end;
        } else i++;
      }
    }
  };
  /** Walks the argument of the script at `script`; gives the place after it. */
  const walkArgument = (script: number, to: number): number => {
    const start = skipSpace(tokens, script + 1);
    let end = Math.min(to, endOfGroup(tokens, start));
    for (let n = start < to ? argumentCount(tokens[start]) : 0; n > 0; n--) end = Math.min(to, endOfGroup(tokens, skipSpace(tokens, end)));
    if (tokens[start]?.kind === "open") walk(start + 1, end - 1);
    return Math.max(end, script + 1);
  };
  walk(0, tokens.length);
  return insertions.length === 0 ? latex : withInsertions(tokens, insertions);
}

function isNoArgument(token: LatexToken | undefined): boolean {
  return token === undefined || ["close", "cell", "row", "end", "right", "sub", "super"].includes(token.kind);
}

function afterOption(tokens: readonly LatexToken[], from: number): number {
  const start = skipSpace(tokens, from);
  if (tokens[start]?.text !== "[") return from;
  const close = tokens.findIndex((token, i) => i > start && token.text === "]");
  return close < 0 ? from : close + 1;
}
