/**
 * LaTeX as a row of tokens whose texts, joined, are the formula again: the ground on which all repairs work. `\begin{…}`, `\end{…}` and
 * `\left`, `\right` with their delimiter are one token each. Refuses to judge; any text has tokens.
 */

export type TokenKind =
  | "command"
  | "begin"
  | "end"
  | "left"
  | "right"
  | "open"
  | "close"
  | "space"
  | "cell"
  | "row"
  | "sub"
  | "super"
  | "prime"
  | "char";

/** `name`: the command with its backslash, the environment, or the delimiter. `inText`: within a text argument such as that of `\text`. */
export interface LatexToken {
  readonly kind: TokenKind;
  readonly text: string;
  readonly name: string;
  readonly inText: boolean;
}

const PATTERN =
  /\\begin\s*\{\s*(?<begin>[A-Za-z]+\*?)\s*\}|\\end\s*\{\s*(?<end>[A-Za-z]+\*?)\s*\}|\\left(?![A-Za-z])\s*(?<left>\\[A-Za-z]+|\\.|[^\s\\])?|\\right(?![A-Za-z])\s*(?<right>\\[A-Za-z]+|\\.|[^\s\\])?|(?<command>\\[A-Za-z]+\*?|\\[\s\S]?)|(?<space>\s+)|(?<sign>[\s\S])/gu;

const SIGNS: Record<string, TokenKind> = { "{": "open", "}": "close", "&": "cell", _: "sub", "^": "super", "'": "prime" };

/** Commands whose braced argument is text, not mathematics. */
export const TEXT_COMMANDS = new Set(
  "text textrm textbf textit texttt textsf textnormal textup textmd textsc mbox hbox fbox tag tag* label"
    .split(" ")
    .map((name) => `\\${name}`),
);

/** Commands that take braced arguments, and how many. Scripts take one, see {@link argumentCount}. */
const ARGUMENTS = new Map<string, number>(
  [
    [2, "frac dfrac tfrac cfrac binom dbinom tbinom overset underset stackrel textcolor"],
    [
      1,
      "sqrt hat widehat check widecheck tilde widetilde acute grave dot ddot dddot breve bar vec mathring overline underline overbrace underbrace",
    ],
    [
      1,
      "overrightarrow overleftarrow overleftrightarrow underrightarrow underleftarrow xrightarrow xleftarrow boxed pmod operatorname operatorname* mathop",
    ],
    [
      1,
      "mathrm mathbf mathit mathsf mathtt mathbb mathcal mathfrak mathscr mathnormal boldsymbol bm pmb mathord mathbin mathrel mathopen mathclose",
    ],
    [1, "text textrm textbf textit texttt textsf textnormal textup textmd tag tag* phantom substack not cancel bcancel xcancel sout"],
  ].flatMap(([count, names]) => (names as string).split(" ").map((name): [string, number] => [`\\${name}`, count as number])),
);

/** How many arguments the token takes. */
export function argumentCount(token: LatexToken): number {
  if (token.kind === "sub" || token.kind === "super") return 1;
  return token.kind === "command" ? (ARGUMENTS.get(token.name) ?? 0) : 0;
}

/** Splits a formula into tokens. */
export function tokenise(latex: string): LatexToken[] {
  const tokens: LatexToken[] = [];
  let depth = 0;
  let textDepth: number | null = null;
  let awaitsText = false;
  for (const match of latex.matchAll(PATTERN)) {
    const token = readToken(match, textDepth !== null);
    tokens.push(token);
    if (token.kind === "open") {
      depth++;
      if (awaitsText && textDepth === null) textDepth = depth;
    } else if (token.kind === "close") {
      if (textDepth === depth) textDepth = null;
      depth = Math.max(0, depth - 1);
    }
    if (token.kind !== "space") awaitsText = token.kind === "command" && TEXT_COMMANDS.has(token.name);
  }
  return tokens;
}

/** Joins tokens into a formula. */
export function sourceOf(tokens: readonly { readonly text: string }[]): string {
  return tokens.map((token) => token.text).join("");
}

/** The first index at or after `from` that is no white space; `tokens.length` if none. */
export function skipSpace(tokens: readonly LatexToken[], from: number): number {
  let i = from;
  while (i < tokens.length && tokens[i].kind === "space") i++;
  return i;
}

/** The index after the group or single token that begins at `from`; a group that never closes ends with the tokens. */
export function endOfGroup(tokens: readonly LatexToken[], from: number): number {
  if (from >= tokens.length || tokens[from].kind !== "open") return Math.min(from + 1, tokens.length);
  let depth = 0;
  for (let i = from; i < tokens.length; i++) {
    if (tokens[i].kind === "open") depth++;
    else if (tokens[i].kind === "close" && --depth === 0) return i + 1;
  }
  return tokens.length;
}

/** Puts texts in before the tokens at the given places (`tokens.length` for the end), in the order given, and joins. */
export function withInsertions(
  tokens: readonly LatexToken[],
  insertions: readonly { readonly at: number; readonly text: string }[],
): string {
  const before = new Map<number, string>();
  for (const { at, text } of insertions) before.set(at, (before.get(at) ?? "") + text);
  let source = "";
  for (let i = 0; i <= tokens.length; i++) source += (before.get(i) ?? "") + (tokens[i]?.text ?? "");
  return source;
}

/** The place after the last token before `at` that is no white space: where something that closes a cell or group belongs. */
export function beforeSpace(tokens: readonly LatexToken[], at: number): number {
  let i = at;
  while (i > 0 && tokens[i - 1].kind === "space") i--;
  return i;
}

function readToken(match: RegExpMatchArray, inText: boolean): LatexToken {
  const groups = match.groups ?? {};
  const text = match[0];
  for (const kind of ["begin", "end", "space"] as const) if (groups[kind] !== undefined) return { kind, text, name: groups[kind], inText };
  if (text.startsWith("\\left") && groups.command === undefined) return { kind: "left", text, name: groups.left ?? "", inText };
  if (text.startsWith("\\right") && groups.command === undefined) return { kind: "right", text, name: groups.right ?? "", inText };
  if (groups.command !== undefined) return { kind: text === "\\\\" ? "row" : "command", text, name: text, inText };
  return { kind: SIGNS[text] ?? "char", text, name: text, inText };
}
