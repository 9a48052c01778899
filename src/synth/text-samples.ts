/**
 * Text regions with their truth: one document of many small pages, each page one block of one to eight lines in its
 * own font, size, measure and colour, typeset, rasterised and cut to the ink plus a random margin. Sizes are drawn
 * in pixels (a page is rendered at one pixel per point). A block whose printed characters differ from what was
 * asked for is dropped and replaced by the next, so every sample is exact. Pure but for the engines handed in:
 * page `index` of `seed` is always the same page.
 */
import { crop, type PixelBox, type RgbImage } from "../image/rgb-image.ts";
import { alignGlyphs, placeGlyph, type SynthCharacter } from "./align.ts";
import { augment } from "./augment.ts";
import { CONTENT_WEIGHTS, type ContentKind, drawContent } from "./content.ts";
import type { Corpus } from "./corpus.ts";
import type { FontDesign, FontFamily } from "./fonts.ts";
import { createRandom, type Random } from "./random.ts";
import type { Glyph, Rasteriser } from "./rasterise.ts";
import { type Typesetter, typstString } from "./typeset.ts";

export interface TextSampleOptions {
  /** Lines per crop, both ends included. */
  readonly lines?: readonly [number, number];
  /** Measure of the block in pixels. */
  readonly widthPx?: readonly [number, number];
  /** Font size in pixels; the draw favours the middle (200-dpi body text is about 22–34). */
  readonly sizePx?: readonly [number, number];
  /** Longest text in characters, spaces and line ends counted. */
  readonly maxCharacters?: number;
  /** Strength of the photometric and geometric damage, 0 (none) to 1; half of the samples stay nearly clean. */
  readonly augmentation?: number;
  /** How often each kind of content is drawn; kinds left out are not drawn. */
  readonly content?: Partial<Readonly<Record<ContentKind, number>>>;
  /** Crops made from one document. */
  readonly cropsPerPage?: number;
}

export interface TextSample {
  readonly task: "text";
  readonly image: RgbImage;
  /** Lines as printed, joined by "\n"; hyphens at line ends stay. */
  readonly text: string;
  /** One per non-space character of `text`, in reading order; centres and sizes in pixels of `image`. */
  readonly characters: readonly SynthCharacter[];
  readonly meta: {
    readonly kind: ContentKind;
    readonly font: string;
    readonly sizePx: number;
    readonly lineCount: number;
    readonly augmentations: readonly string[];
  };
}

/** What every sampler draws from. */
export interface SynthSources {
  readonly typesetter: Typesetter;
  readonly rasteriser: Rasteriser;
  readonly corpus: Corpus;
  readonly fonts: readonly FontFamily[];
}

const PAGE_MARGIN = 24;
/** Room for a word that is longer than its line. */
const OVERFLOW_MARGIN = 90;
const DESIGN_WEIGHTS: Readonly<Record<FontDesign, number>> = { serif: 52, sans: 36, mono: 12 };
/** Average advance of a character, in font sizes. */
const ADVANCE: Readonly<Record<FontDesign, number>> = { serif: 0.46, sans: 0.51, mono: 0.6 };

interface Block {
  readonly kind: ContentKind;
  readonly text: string;
  readonly font: FontFamily;
  readonly sizePx: number;
  readonly source: string;
}

export function drawFont(fonts: readonly FontFamily[], random: Random): FontFamily {
  const designs = { ...DESIGN_WEIGHTS };
  for (const design of Object.keys(designs) as FontDesign[]) if (!fonts.some((font) => font.design === design)) designs[design] = 0;
  const design = random.weighted(designs);
  const candidates = fonts.filter((font) => font.design === design);
  let left = random.next() * candidates.reduce((sum, font) => sum + font.weight, 0);
  for (const font of candidates) {
    left -= font.weight;
    if (left < 0) return font;
  }
  return candidates[candidates.length - 1];
}

/** Ink and paper: mostly black on white, sometimes grey, coloured or reversed. */
function drawColours(random: Random): { ink: string; paper: string } {
  const roll = random.next();
  const grey = (low: number, high: number) => `luma(${random.int(low, high)})`;
  const rgb = (low: number, high: number) => `rgb(${random.int(low, high)}, ${random.int(low, high)}, ${random.int(low, high)})`;
  if (roll < 0.62) return { ink: "black", paper: "white" };
  if (roll < 0.78) return { ink: grey(0, 90), paper: grey(235, 255) };
  if (roll < 0.88) return { ink: rgb(0, 110), paper: "white" };
  if (roll < 0.97) return { ink: rgb(0, 80), paper: rgb(205, 255) };
  return { ink: rgb(220, 255), paper: rgb(0, 90) };
}

function fontArguments(font: FontFamily, random: Random, kind: ContentKind): string {
  const isHeading = kind === "heading";
  const weight = random.chance(isHeading ? 0.7 : 0.1) ? ', weight: "bold"' : "";
  const style = random.chance(isHeading ? 0.12 : 0.09) ? ', style: "italic"' : "";
  const widest = isHeading && random.chance(0.3) ? 0.35 : 0.12;
  const tracking = random.chance(isHeading ? 0.16 : 0.08) ? `, tracking: ${random.range(-0.01, widest).toFixed(3)}em` : "";
  const spacing = random.chance(0.12) ? `, spacing: ${random.int(85, 170)}%` : "";
  const ligatures = font.design === "mono" || random.chance(0.25) ? ", ligatures: false" : "";
  // Programming fonts draw arrows for "->" through contextual alternates: the page would not say what it says.
  const features = font.design === "mono" ? ", features: (calt: 0)" : "";
  return `font: ${typstString(font.family)}${weight}${style}${tracking}${spacing}${ligatures}${features}`;
}

/** A list's marker stands off its text, and may be larger or smaller than its letters. */
function listContent(text: string, random: Random): string {
  const space = text.indexOf(" ");
  if (space < 0 || random.chance(0.3)) return paragraphContent(text, random);
  const marker = `text(size: ${random.chance(0.3) ? random.range(0.8, 1.4).toFixed(2) : 1}em, ${typstString(text.slice(0, space))})`;
  return `(${marker} + h(${random.range(0.3, 1.8).toFixed(2)}em) + ${paragraphContent(text.slice(space + 1), random)})`;
}

/** A raised figure after a word, as notes and authors have it: the text says it as a plain one. */
function withNoteMark(text: string, random: Random): string {
  const words = text.split(" ");
  const at = random.int(0, words.length - 1);
  if (!/^\p{L}{2,}[,.;]?$/u.test(words[at])) return text;
  words[at] += random.pick(["1", "2", "3", "4", "5", "*", "12", "†"]);
  return words.join(" ");
}

/** Words of running text set apart by weight, slope or underline now and then; figures and stars after letters raised. */
function paragraphContent(text: string, random: Random): string {
  const [, before, mark, after] = /^(.*?\p{L}[,.;]?)([0-9]{1,2}|[*†])((?: .*)?)$/su.exec(text) ?? [];
  if (mark !== undefined && random.chance(0.7))
    return `(text(${typstString(before)}) + super(${typstString(mark)}) + text(${typstString(after)}))`;
  if (!random.chance(0.12)) return `text(${typstString(text)})`;
  const words = text.split(" ");
  const parts: string[] = [];
  for (let at = 0; at < words.length; ) {
    const count = random.int(1, 8);
    const run = words.slice(at, at + count).join(" ");
    at += count;
    const literal = typstString(at < words.length ? `${run} ` : run);
    parts.push(
      random.chance(0.3)
        ? random.pick([
            `text(weight: "bold", ${literal})`,
            `text(style: "italic", ${literal})`,
            `underline(${literal})`,
            `text(fill: blue, ${literal})`,
          ])
        : `text(${literal})`,
    );
  }
  return `(${parts.join(" + ")})`;
}

function drawSize(random: Random, range: readonly [number, number]): number {
  const [low, high] = range;
  const middle = Math.min(high, Math.max(low, 27));
  const size = random.chance(0.7) ? middle + random.normal() * 4.5 : random.range(low, high);
  return Math.min(high, Math.max(low, size));
}

/** Single lines end in a broken word as often as those of a narrow column do: their hyphen is seen nowhere else. */
function brokenOff(text: string, random: Random): string {
  const [word] = /\p{L}{5,}$/u.exec(text) ?? [""];
  if (word === "" || !random.chance(0.2)) return text;
  return `${text.slice(0, text.length - random.int(2, word.length - 2))}-`;
}

function drawBlock(sources: SynthSources, options: TextSampleOptions, random: Random): Block {
  const kind = random.weighted((options.content ?? CONTENT_WEIGHTS) as Record<ContentKind, number>);
  const font = drawFont(sources.fonts, random);
  const sizePx = drawSize(random, options.sizePx ?? [13, 42]);
  const [lowWidth, highWidth] = options.widthPx ?? [120, 1300];
  const [lowLines, highLines] = options.lines ?? [1, 8];
  const width = Math.exp(random.range(Math.log(lowWidth), Math.log(highWidth)));
  const lines = random.int(lowLines, kind === "heading" ? Math.min(highLines, 3) : highLines);
  const fill = lines === 1 ? random.range(0.25, 0.95) : lines - random.range(0.1, 0.7);
  const wanted = Math.max(2, Math.round((fill * width) / (sizePx * ADVANCE[font.design])));
  const whole = drawContent(kind, sources.corpus, random, Math.min(wanted, options.maxCharacters ?? 1000));
  const ended = highLines === 1 ? brokenOff(whole, random) : whole;
  const text = kind === "prose" && random.chance(0.06) ? withNoteMark(ended, random) : ended;
  const { ink, paper } = drawColours(random);

  // Lines are one font size high (edges set below), so pitch = size + leading: 1.02 to 1.6 sizes, most near 1.2.
  const leading = sizePx * (random.chance(0.75) ? random.range(0.05, 0.32) : random.range(0.02, Math.min(0.6, 50 / sizePx - 1)));
  const alignment = random.weighted({ left: 80, center: kind === "heading" ? 40 : 10, right: 4 });
  const justify = alignment === "left" && random.chance(0.55);
  const hyphenate = random.chance(0.5);
  const indent =
    alignment === "left" && random.chance(0.25) ? `, first-line-indent: (amount: ${random.range(0.8, 2.5).toFixed(2)}em, all: true)` : "";
  const hanging =
    (kind === "list-item" || kind === "reference") && random.chance(0.7) ? `, hanging-indent: ${random.range(0.8, 2).toFixed(2)}em` : "";
  const source =
    `#page(width: ${(width + PAGE_MARGIN + OVERFLOW_MARGIN).toFixed(2)}pt, height: auto, margin: (rest: ${PAGE_MARGIN}pt, right: ${OVERFLOW_MARGIN}pt), fill: ${paper})[\n` +
    `#set text(size: ${sizePx.toFixed(2)}pt, top-edge: 0.8em, bottom-edge: -0.2em, fill: ${ink}, lang: "en", hyphenate: ${hyphenate}, ${fontArguments(font, random, kind)})\n` +
    `#set par(leading: ${leading.toFixed(2)}pt, justify: ${justify}${hanging || indent})\n` +
    `#set align(${alignment})\n#par(${(kind === "list-item" ? listContent : paragraphContent)(text, random)})]\n`;
  return { kind, text, font, sizePx, source };
}

function inkBox(glyphs: readonly Glyph[]): PixelBox {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const glyph of glyphs) {
    left = Math.min(left, glyph.left);
    top = Math.min(top, glyph.top);
    right = Math.max(right, glyph.right);
    bottom = Math.max(bottom, glyph.bottom);
  }
  return [Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom)];
}

/** Cuts the glyphs' ink out of `page` with a random margin; `undefined` if some of it lies outside the page. */
export function cutCrop(
  page: RgbImage,
  glyphs: readonly Glyph[],
  random: Random,
): { image: RgbImage; characters: SynthCharacter[] } | undefined {
  const [left, top, right, bottom] = inkBox(glyphs);
  if (left < 0 || top < 0 || right > page.width || bottom > page.height) return undefined;
  const tight = random.chance(0.3);
  const margin = () => random.int(0, tight ? 3 : 14);
  const box: PixelBox = [
    Math.max(0, left - margin()),
    Math.max(0, top - margin()),
    Math.min(page.width, right + margin()),
    Math.min(page.height, bottom + margin()),
  ];
  if (!(box[2] - box[0] >= 4 && box[3] - box[1] >= 4)) return undefined;
  const characters = glyphs.map((glyph) => placeGlyph(glyph, box[0], box[1]));
  return { image: crop(page, box), characters };
}

/** The truth's own spelling of each character: where PDF and text differ in code only, the text wins. */
export function spellAs(text: string, characters: readonly SynthCharacter[]): SynthCharacter[] {
  const letters = [...text].filter((char) => char.trim() !== "");
  return characters.map((character, i) => ({ ...character, char: letters[i] }));
}

/**
 * The crops of page `index` of `seed`: always exactly `cropsPerPage` samples.
 * @throws RangeError if the options leave nothing to draw.
 */
export function textPage(sources: SynthSources, seed: number, index: number, options: TextSampleOptions = {}): TextSample[] {
  const wanted = options.cropsPerPage ?? 24;
  const [, highLines] = options.lines ?? [1, 8];
  const samples: TextSample[] = [];
  for (let attempt = 0; samples.length < wanted; attempt++) {
    if (attempt === 20) throw new RangeError("`options` expected to leave something to draw, got 20 pages without enough samples");
    const random = createRandom("text", seed, index, attempt);
    const blocks = Array.from({ length: wanted - samples.length + 3 }, () => drawBlock(sources, options, random));
    const document = sources.rasteriser.open(sources.typesetter.pdf(blocks.map((block) => block.source).join("")));
    for (let i = 0; i < blocks.length && samples.length < wanted; i++) {
      const block = blocks[i];
      if (block.text.length === 0) continue;
      const page = document.page(i, 1);
      const aligned = alignGlyphs(block.text, page.glyphs);
      if (!aligned || aligned.lineCount > highLines || aligned.text.length > (options.maxCharacters ?? Infinity)) continue;
      const cut = cutCrop(page.image, aligned.glyphs, random);
      if (!cut) continue;
      const characters = spellAs(aligned.text, cut.characters);
      const damaged = augment({ image: cut.image, characters }, random, options.augmentation ?? 0.7);
      samples.push({
        task: "text",
        image: damaged.image,
        text: aligned.text,
        characters: damaged.characters,
        meta: {
          kind: block.kind,
          font: block.font.family,
          sizePx: block.sizePx,
          lineCount: aligned.lineCount,
          augmentations: damaged.applied,
        },
      });
    }
    document.close();
  }
  return samples;
}

/** All text samples of `seed`, without end. */
export function* textSamples(sources: SynthSources, seed: number, options: TextSampleOptions = {}): Generator<TextSample, never> {
  for (let index = 0; ; index++) yield* textPage(sources, seed, index, options);
}
