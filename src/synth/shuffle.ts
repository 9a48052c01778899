/**
 * The Semantic Shuffle (paper section 4.5): the same page, with a share of its words out of order, so that meaning goes and
 * looks stay. Besides the paper's permutation of words, three harder variants of the same look: letters shuffled inside
 * words, made-up words, digits, each as long as the word it stands for. Levels are nested (what moved at 25 % moves at
 * 50 % too), fonts and measures depend on the page alone. It refuses to know who reads it and how well.
 */
import type { BlockSpec } from "./blocks.ts";
import { setBlocks } from "./blocks.ts";
import { composePage, type PagePlan } from "./compose.ts";
import { typographic } from "./content.ts";
import { cleanText, excerpt } from "./corpus.ts";
import { type LayoutSample, layoutOf, mathFontsFor } from "./page-samples.ts";
import { drawStyle, settings } from "./page-style.ts";
import { createRandom, type Random } from "./random.ts";
import { pseudoWord } from "./snippets.ts";
import type { SynthSources } from "./text-samples.ts";
import { typstString } from "./typeset.ts";

export type ShuffleKind = "words" | "letters" | "pseudo" | "digits";

/** The levels of the curve. */
export const SHUFFLE_RATIOS = [0, 0.25, 0.5, 0.75, 1] as const;

export interface ShuffleOptions {
  readonly kind: ShuffleKind;
  /** Share of the words that is changed, 0 to 1. */
  readonly ratio: number;
  /** Paragraphs a page (default 4). */
  readonly paragraphs?: number;
  /** Longer edge of the page raster in pixels (default 2200: 200 to the inch). */
  readonly longEdgePx?: number;
}

/** Letters of a word, with the punctuation around it left where it is. */
const CORE = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/u;

function withCore(word: string, change: (core: string) => string): string {
  return word.replace(CORE, change);
}

function lettersShuffled(core: string, random: Random): string {
  return random.shuffled([...core]).join("");
}

function madeUp(core: string, random: Random): string {
  const length = [...core].length;
  let word = "";
  while (word.length < length) word += pseudoWord(random);
  word = word.slice(0, length);
  return /^\p{Lu}/u.test(core) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

function digits(core: string, random: Random): string {
  return [...core].map(() => String(random.int(0, 9))).join("");
}

/**
 * Changes `ratio` of the words of `texts` (words are what spaces part). With kind `words` the chosen ones change places among
 * themselves over all the texts, so the multiset of words stays; the number of words of each text stays with every kind.
 * @throws RangeError if `ratio` is not in 0..1.
 */
export function shuffleTexts(texts: readonly string[], kind: ShuffleKind, ratio: number, random: Random): string[] {
  if (!(ratio >= 0 && ratio <= 1)) throw new RangeError(`\`ratio\` expected 0..1, got ${ratio}`);
  const words = texts.map((text) => text.split(" "));
  const places = words.flatMap((list, t) => list.map((_, w) => [t, w] as const));
  const chosen = random.shuffled(places).slice(0, Math.floor(ratio * places.length));
  if (kind === "words") {
    // A turn around the ring of chosen places moves every one of them.
    const moved = chosen.map(([t, w]) => words[t][w]);
    chosen.forEach(([t, w], i) => {
      words[t][w] = moved[(i + 1) % moved.length];
    });
  } else {
    const change = { letters: lettersShuffled, pseudo: madeUp, digits }[kind];
    for (const [t, w] of chosen) words[t][w] = withCore(words[t][w], (core) => change(core, random));
  }
  return words.map((list) => list.join(" "));
}

/**
 * Page `index` of `seed` with `options.ratio` of its words changed: one column of paragraphs, undamaged. The regions carry
 * the printed text.
 */
export function shuffledPage(sources: SynthSources, seed: number, index: number, options: ShuffleOptions): LayoutSample {
  const random = createRandom("shuffle", seed, index);
  const style = { ...drawStyle(sources, random, random.range(24, 34), mathFontsFor(sources)), leading: random.range(0.15, 0.35) };
  const measure = random.range(900, 1350);
  const texts = Array.from({ length: options.paragraphs ?? 4 }, () =>
    cleanText(typographic(excerpt(sources.corpus, random, random.int(250, 700)))),
  );
  const printed = shuffleTexts(texts, options.kind, options.ratio, createRandom("shuffle", seed, index, options.kind));
  const blocks = printed.map(
    (text): BlockSpec => ({
      class: "text",
      width: measure,
      text,
      body: `${settings(style, { indent: style.indent > 0 })}#par(text(${typstString(text)}))`,
      space: [0, Math.max(style.gap, 0.7 * style.size)],
    }),
  );
  const [width, height] = [1700, 2200];
  const side = (width - measure) / 2;
  const scale = (options.longEdgePx ?? height) / height;
  const [set] = setBlocks(sources, blocks, [scale]);
  const plan: PagePlan<(typeof set)[number]> = {
    kind: "shuffle",
    width,
    height,
    margins: [side, 160, side, 100],
    bands: [{ columns: 1, gutter: 0, blocks: set }],
    fixtures: [],
  };
  return layoutOf({ kind: "book", page: composePage(plan, scale) }, random, { augmentation: 0, turned: 0, tinted: 0 });
}
