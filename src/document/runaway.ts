/**
 * An answer that never came to its end: one unit said over and over until the answer breaks off. Works on the finished text, where a
 * repetition that something follows is genuine. Refuses to know what the text is.
 */

const LEAST_REPEATS = 20;

/**
 * Cuts `text` after the first occurrence of the unit it ends in, when that unit stands there 20 times or more in direct succession (the
 * last one may be cut); null when it does not. Takes at most length²/20 comparisons.
 */
export function cutRunaway(text: string): string | null {
  const longestUnit = Math.floor(text.length / (LEAST_REPEATS - 1));
  for (let unit = 1; unit <= longestUnit; unit++) {
    let start = text.length - unit;
    while (start > 0 && text[start - 1] === text[start - 1 + unit]) start--;
    const repeats = Math.ceil((text.length - start) / unit);
    if (repeats >= LEAST_REPEATS) return text.slice(0, start + unit);
  }
  return null;
}
