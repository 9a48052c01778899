/**
 * What every raw answer of the model has in common: it ends before its first stop token, and white space is what Unicode calls so (which
 * is not quite what `String.trim` and `\s` take it to be). Knows nothing of layouts, tables or formulas.
 */

/** The special tokens that end an answer. */
export const STOP_TOKENS = ["<|im_end|>", "<|endoftext|>"] as const;

/** `answer` up to its first stop token. */
export function cutAtStop(answer: string): string {
  let end = answer.length;
  for (const token of STOP_TOKENS) {
    const at = answer.indexOf(token);
    if (at >= 0 && at < end) end = at;
  }
  return answer.slice(0, end);
}

/** `text` without white space at its ends. */
export function trimWhite(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE.test(text[start])) start++;
  while (end > start && WHITE.test(text[end - 1])) end--;
  return text.slice(start, end);
}

/** Whether `text` holds nothing but white space. */
export function isBlank(text: string): boolean {
  return trimWhite(text) === "";
}

/** `text` with all white space taken out, for comparisons. */
export function withoutWhite(text: string): string {
  return text.replace(/\p{White_Space}+/gu, "");
}

/** The lines of `text` that are not blank, trimmed. */
export function filledLines(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map(trimWhite)
    .filter(Boolean);
}

/** `text` with every run of line ends that holds blank lines made one line end: inside HTML or a formula a blank line would end the block. */
export function withoutBlankLines(text: string): string {
  return text.replace(/(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))+/g, "\n");
}

const WHITE = /^\p{White_Space}$/u;
