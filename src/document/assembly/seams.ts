/**
 * What stands where two pieces of running text meet: nothing between CJK, a space otherwise, and at a hyphen the question whether it
 * belongs to the word. A hyphen stays if no lower-case letter follows, if the word is a compound by its form, or if the document writes
 * it with a hyphen elsewhere; else the word was broken and is joined. Refuses to decide whether two pieces belong together.
 */
import { firstCharacter, kindOf, lastCharacter, withoutDoubt } from "./scripts.ts";

/** Compounds a document writes with a hyphen, lower case, such as `multi-head`. */
export type Compounds = ReadonlySet<string>;

/** Collects the hyphenated compounds of a document's texts. */
export function compoundsIn(texts: Iterable<string>): Compounds {
  const compounds = new Set<string>();
  for (const text of texts) {
    for (const [chain] of withoutDoubt(text).matchAll(/[\p{L}\p{M}\p{N}]+(?:[-\u2010\u2011][\p{L}\p{M}\p{N}]+)+/gu)) {
      const words = chain.toLowerCase().split(/[-\u2010\u2011]/);
      for (let i = 1; i < words.length; i++) compounds.add(`${words[i - 1]}-${words[i]}`);
    }
  }
  return compounds;
}

/** Joins two pieces of text that run on. */
export function joinTexts(before: string, after: string, compounds: Compounds): string {
  return joinAtHyphen(before, after, compounds) ?? `${before}${gapBetween(lastCharacter(before), firstCharacter(after))}${after}`;
}

/** What stands between two characters at a seam, hyphens aside. */
export function gapBetween(before: string, after: string): "" | " " {
  const [left, right] = [kindOf(before), kindOf(after)];
  if (left === "other" && right === "other") return " ";
  if (left !== "other" && right !== "other") return "";
  return left === "cjk-letter" || right === "cjk-letter" ? " " : "";
}

/** Joins two pieces if the first ends in a hyphen after a Latin letter; null if it does not. */
export function joinAtHyphen(before: string, after: string, compounds: Compounds): string | null {
  const tail = /\p{Script=Latin}\p{M}*([-\u00AD\u2010\u2011\u2043])([\uFDD0\uFDD1]*)$/u.exec(before.slice(-LONGEST_WORD));
  if (tail === null) return null;
  const [, hyphen, doubt] = tail;
  const whole = before.slice(0, before.length - doubt.length);
  const stem = whole.slice(0, -hyphen.length);
  const lower = /^\p{Ll}/u.test(firstCharacter(after));
  const stays = !lower || (hyphen !== "\u00AD" && (hyphen === "\u2011" || isCompound(stem, withoutDoubt(after), compounds)));
  return `${stays ? whole : stem}${doubt}${after}`;
}

/** Joins words that are broken over a line end within one piece of text; other line ends stay. */
export function mendBrokenWords(text: string, compounds: Compounds): string {
  const [first, ...lines] = text.split("\n");
  let mended = first;
  for (const line of lines) {
    const joined = /^[\p{L}\p{N}]/u.test(firstCharacter(line.trimStart()))
      ? joinAtHyphen(mended.trimEnd(), line.trimStart(), compounds)
      : null;
    mended = joined ?? `${mended}\n${line}`;
  }
  return mended;
}

/** Looking back further than this from a seam finds no word. */
const LONGEST_WORD = 128;
const PREFIXES = new Set(["self", "well", "ex", "quasi"]);

function isCompound(stem: string, after: string, compounds: Compounds): boolean {
  const word = /[\p{L}\p{M}\p{N}'’\-\u2010\u2011]+$/u.exec(withoutDoubt(stem.slice(-LONGEST_WORD)))?.[0] ?? "";
  if (/[-\u2010\u2011]/.test(word) || [...word.normalize("NFC")].length === 1 || PREFIXES.has(word.toLowerCase())) return true;
  const next = /^[\p{L}\p{M}\p{N}]+/u.exec(after)?.[0] ?? "";
  return compounds.has(`${word}-${next}`.toLowerCase());
}
