/**
 * What assembly must know of writing systems: CJK letters (Han, kana) and CJK marks, which are set without spaces, against everything
 * else. Also the two noncharacters that stand around doubtful words until a writer turns them into marks: they count as no letter at all.
 */

/** Begins a doubtful passage; a noncharacter, so it is in no text. */
export const DOUBT_START = "\uFDD0";
/** Ends a doubtful passage. */
export const DOUBT_END = "\uFDD1";

/** What a character means to its neighbour at a seam. */
export type CharacterKind = "cjk-letter" | "cjk-mark" | "other";

/** Kind of a character. */
export function kindOf(character: string): CharacterKind {
  if (CJK_LETTER.test(character)) return "cjk-letter";
  return CJK_MARK.test(character) ? "cjk-mark" : "other";
}

/** First character of `text` that is no doubt mark; empty if none. */
export function firstCharacter(text: string): string {
  return /^[\uFDD0\uFDD1]*([^\uFDD0\uFDD1])/u.exec(text)?.[1] ?? "";
}

/** Last character of `text` that is no doubt mark; empty if none. */
export function lastCharacter(text: string): string {
  return /([^\uFDD0\uFDD1])[\uFDD0\uFDD1]*$/u.exec(text.slice(-64))?.[1] ?? "";
}

/** `text` without doubt marks. */
export function withoutDoubt(text: string): string {
  return text.replace(/[\uFDD0\uFDD1]/g, "");
}

const CJK_LETTER = /^(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]/u;
const CJK_MARK = /^[\u3001-\u303F\u30FB\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65]/u;
