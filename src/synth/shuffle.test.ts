import { beforeAll, describe, expect, it } from "vitest";
import { createRandom, openSynth, SHUFFLE_RATIOS, type ShuffleKind, type SynthSources, shuffledPage, shuffleTexts } from "./index.ts";

const TEXTS = ["The (old) ship sailed west, past Cape Town.", "Nobody knew why; it “never” came back in 1902!"];
const KINDS: readonly ShuffleKind[] = ["words", "letters", "pseudo", "digits"];
const wordsOf = (texts: readonly string[]) => texts.flatMap((text) => text.split(" "));
const shuffled = (kind: ShuffleKind, ratio: number) => shuffleTexts(TEXTS, kind, ratio, createRandom("test", 1));

describe("shuffleTexts", () => {
  it.each(KINDS)("with kind %s changes nothing at 0 and no more than the share asked for", (kind) => {
    expect(shuffled(kind, 0)).toEqual(TEXTS);
    const before = wordsOf(TEXTS);
    for (const ratio of SHUFFLE_RATIOS) {
      const after = wordsOf(shuffled(kind, ratio));
      expect(after).toHaveLength(before.length);
      expect(after.filter((word, i) => word !== before[i]).length).toBeLessThanOrEqual(Math.floor(ratio * before.length));
    }
  });

  it("moves every word at 1 and keeps the words", () => {
    const before = wordsOf(TEXTS);
    const after = wordsOf(shuffled("words", 1));
    expect([...after].sort()).toEqual([...before].sort());
    expect(after.every((word, i) => word !== before[i])).toBe(true);
  });

  it.each(["letters", "pseudo", "digits"] as const)("with kind %s keeps lengths and punctuation", (kind) => {
    const before = wordsOf(TEXTS);
    wordsOf(shuffled(kind, 1)).forEach((word, i) => {
      expect(word).toHaveLength(before[i].length);
      expect(word.replace(/[\p{L}\p{N}]/gu, "x")).toBe(before[i].replace(/[\p{L}\p{N}]/gu, "x"));
    });
  });

  it("nests its levels: what changed at a quarter has changed at a half", () => {
    const before = wordsOf(TEXTS);
    const [quarter, half] = [0.25, 0.5].map((ratio) => wordsOf(shuffled("digits", ratio)));
    before.forEach((word, i) => {
      if (quarter[i] !== word) expect(half[i]).not.toBe(word);
    });
  });

  it("refuses a ratio outside 0..1", () => {
    expect(() => shuffled("words", 1.2)).toThrow("`ratio` expected 0..1, got 1.2");
  });
});

describe("shuffledPage", () => {
  let sources: SynthSources;
  beforeAll(async () => {
    sources = await openSynth();
  }, 120_000);

  it("keeps the look and the words at every level", () => {
    const pages = SHUFFLE_RATIOS.map((ratio) => shuffledPage(sources, 3, 0, { kind: "words", ratio, longEdgePx: 1100 }));
    // A hyphen at a line end may be the word's own or not: joined either way, the letters stay the same.
    const letters = (page: (typeof pages)[number]) =>
      [
        ...page.regions
          .map((region) => region.text)
          .join("")
          .replace(/[\s-]/g, ""),
      ]
        .sort()
        .join("");
    for (const page of pages) {
      expect([page.image.width, page.image.height]).toEqual([pages[0].image.width, pages[0].image.height]);
      expect(page.regions).toHaveLength(4);
      expect(letters(page)).toBe(letters(pages[0]));
    }
    expect(pages[4].regions[0].text).not.toBe(pages[0].regions[0].text);
    expect(pages[0].meta.augmentations).toEqual([]);
  });
});
