/**
 * Python's notions of text where they differ from JavaScript's: white space, splitting, stripping, word characters, lengths in code
 * points. The official metric code is Python, so strict modes speak these words. Knows nothing of metrics.
 */

/** Characters for which Python's `str.isspace()` is true, for use inside a regular-expression class. */
export const PYTHON_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const SPACE_RUN = new RegExp(`[${PYTHON_SPACE}]+`, "g");
const LEADING_SPACE = new RegExp(`^[${PYTHON_SPACE}]+`);
const SPACE_ONLY = new RegExp(`^[${PYTHON_SPACE}]$`);

/** `text.split()`: the words between runs of white space, none of them empty. */
export function splitWords(text: string): string[] {
  return text.split(SPACE_RUN).filter((word) => word !== "");
}

/** `text.lstrip()`. */
export function stripStart(text: string): string {
  return text.replace(LEADING_SPACE, "");
}

/** `text.rstrip()`. */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE_ONLY.test(text[end - 1])) end--;
  return text.slice(0, end);
}

/** `text.strip()`. */
export function strip(text: string): string {
  return stripEnd(stripStart(text));
}

/** `text.strip(characters)`: removes any of the given characters from both ends. */
export function stripCharacters(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text[start])) start++;
  while (end > start && characters.includes(text[end - 1])) end--;
  return text.slice(start, end);
}

/** True if `text` holds a surrogate, that is, if its UTF-16 length differs from its length in code points. */
export function hasSurrogates(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}

/** `len(text)`: length in code points. */
export function codePointLength(text: string): number {
  if (!hasSurrogates(text)) return text.length;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** `text.replace(from, to)` for every occurrence, with `to` taken literally. */
export function replaceEvery(text: string, from: string, to: string): string {
  return text.split(from).join(to);
}
