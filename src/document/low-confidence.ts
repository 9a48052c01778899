/**
 * Which words of a region are doubtful: those whose tokens the model was less sure of than asked (paper section 4: confidence is the
 * probability of the committed token). Doubtful passages are put between two noncharacters that writers turn into marks. Passages never
 * cut a formula or a line. Refuses to know how marks look.
 */
import { trimWhite } from "./answer-text.ts";
import { DOUBT_END, DOUBT_START } from "./assembly/scripts.ts";
import type { ReadRegion } from "./types.ts";

/** A passage: start inclusive, end exclusive, in UTF-16 units. */
interface Passage {
  readonly start: number;
  readonly end: number;
}

/**
 * The text of a region with its passages of confidence below `below` (0..1) marked. Without tokens, or when the tokens do not spell the
 * text, the region's own confidence decides for all of it. Regions that hold no text give the empty string.
 */
export function doubtfulText(region: ReadRegion, below: number): string {
  if (region.content.kind !== "text") return "";
  const { text } = region.content;
  if (below <= 0) return text;
  const passages = tokenPassages(text, region, below) ?? ((region.confidence ?? 1) < below ? [{ start: 0, end: text.length }] : []);
  return marked(text, passages);
}

function tokenPassages(text: string, region: ReadRegion, below: number): Passage[] | null {
  if (region.tokens === undefined) return null;
  const answer = region.tokens.map((token) => token.text).join("");
  const offset = answer.indexOf(text);
  if (offset < 0) return null;
  const passages: Passage[] = [];
  let at = -offset;
  for (const token of region.tokens) {
    const passage = { start: Math.max(0, at), end: Math.min(text.length, at + token.text.length) };
    at += token.text.length;
    if (token.confidence < below && passage.start < passage.end) passages.push(passage);
  }
  return passages;
}

/** Puts marks around passages: widened to whole formulas, parted at line ends, joined over white space, trimmed. */
function marked(text: string, passages: readonly Passage[]): string {
  const formulas = [...text.matchAll(/\\\(.*?\\\)|\\\[.*?\\\]/gs)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const doubtful = new Uint8Array(text.length);
  for (const { start, end } of passages) {
    doubtful.fill(1, start, end);
    for (const formula of formulas) if (formula.start < end && start < formula.end) doubtful.fill(1, formula.start, formula.end);
  }
  const isDoubtful = (i: number) => doubtful[i] === 1 || (/[^\S\n]/.test(text[i]) && doubtful[i - 1] === 1 && doubtful[i + 1] === 1);
  const inFormula = (i: number) => formulas.some((formula) => formula.start <= i && i < formula.end);
  let out = "";
  for (let i = 0; i < text.length; ) {
    let end = i;
    while (end < text.length && isDoubtful(end) && (text[end] !== "\n" || inFormula(end))) end++;
    if (end === i) {
      out += text[i++];
      continue;
    }
    out += between(text.slice(i, end));
    i = end;
  }
  return out;
}

function between(passage: string): string {
  const inner = trimWhite(passage);
  if (inner === "") return passage;
  const at = passage.indexOf(inner);
  return `${passage.slice(0, at)}${DOUBT_START}${inner}${DOUBT_END}${passage.slice(at + inner.length)}`;
}
