/**
 * Crops of tables and formulas with their truth (OTSL, LaTeX), one document of many small sheets at a time, as
 * text-samples.ts does for text. What prints nothing, or runs over its measure, is dropped and replaced by the next, so
 * batch `index` of `seed` always holds the same samples. It refuses to know how tables and formulas are drawn.
 */
import { crop, type PixelBox, type RgbImage } from "../image/rgb-image.ts";
import { placeGlyph, type SynthCharacter } from "./align.ts";
import { augment } from "./augment.ts";
import { type BlockSpec, type SetBlock, setBlocks } from "./blocks.ts";
import { displayFormula, type Formula, inlineFormula } from "./formulas.ts";
import { mathFontsFor } from "./page-samples.ts";
import { drawStyle, settings } from "./page-style.ts";
import { createRandom, type Random } from "./random.ts";
import { drawTable, printsTable } from "./tables.ts";
import type { SynthSources } from "./text-samples.ts";
import { typstString } from "./typeset.ts";

interface RegionSampleOptions {
  /** Font size in pixels (default 16 to 34). */
  readonly sizePx?: readonly [number, number];
  /** Longest truth in characters. */
  readonly maxCharacters?: number;
  /** Largest crop in pixels, width times height. */
  readonly maxPixels?: number;
  /** Strength of the damage, 0 to 1 (default 0.6). */
  readonly augmentation?: number;
  /** Crops made from one document (default 16). */
  readonly cropsPerPage?: number;
}

export interface TableSampleOptions extends RegionSampleOptions {
  readonly rows?: readonly [number, number];
  readonly columns?: readonly [number, number];
  /** Measure of the table in pixels (default 260 to 1000). */
  readonly widthPx?: readonly [number, number];
}

export interface FormulaSampleOptions extends RegionSampleOptions {
  /** How often each size is drawn: inline, one plain statement, nested, several lines. */
  readonly sizes?: { readonly inline: number; readonly small: number; readonly middle: number; readonly large: number };
}

export interface RegionSample<Task extends "table" | "formula"> {
  readonly task: Task;
  readonly image: RgbImage;
  /** OTSL or LaTeX. */
  readonly text: string;
  /** Characters printed, in content order; for formulas as printed (a script letter is its own character). */
  readonly characters: readonly SynthCharacter[];
  readonly meta: { readonly font: string; readonly sizePx: number; readonly augmentations: readonly string[] };
}

export type TableSample = RegionSample<"table">;
export type FormulaSample = RegionSample<"formula">;

interface Draft {
  readonly spec: BlockSpec;
  readonly font: string;
  readonly sizePx: number;
}

function drawTableDraft(sources: SynthSources, random: Random, options: TableSampleOptions): Draft {
  const sizePx = random.range(...(options.sizePx ?? [16, 34]));
  const style = drawStyle(sources, random, sizePx, mathFontsFor(sources));
  const width = random.range(...(options.widthPx ?? [260, 1000]));
  const mostColumns = Math.max(2, Math.floor(width / (sizePx * 5)));
  const [lowColumns, highColumns] = options.columns ?? [2, 8];
  const columns: [number, number] = [Math.min(lowColumns, mostColumns), Math.min(highColumns, mostColumns)];
  const table = drawTable(sources.corpus, random, { rows: options.rows ?? [2, 9], columns, measure: width / sizePx });
  return {
    spec: {
      class: "table",
      width,
      truth: table.otsl,
      accepts: (glyphs) => printsTable(table, glyphs),
      body: `${settings(style, { justify: false })}#set text(hyphenate: false)\n#${table.typst}`,
      space: [0, 0],
    },
    font: style.body.family,
    sizePx,
  };
}

function drawFormula(random: Random, sizes: NonNullable<FormulaSampleOptions["sizes"]>): { formula: Formula; display: boolean } {
  const size = random.weighted(sizes as Record<keyof typeof sizes, number>);
  if (size === "inline") return { formula: inlineFormula(random), display: false };
  return { formula: displayFormula(random, size === "small" ? 1 : size === "middle" ? 2 : 3), display: random.chance(0.92) };
}

function drawFormulaDraft(sources: SynthSources, random: Random, options: FormulaSampleOptions): Draft {
  const sizePx = random.range(...(options.sizePx ?? [18, 38]));
  const style = drawStyle(sources, random, sizePx, mathFontsFor(sources));
  const { formula, display } = drawFormula(random, options.sizes ?? { inline: 10, small: 40, middle: 35, large: 15 });
  const tag = display && random.chance(0.1) ? String(random.int(1, 99)) : undefined;
  const equation = `math.equation(block: ${display}, $ ${formula.typst} $)`;
  const body =
    tag === undefined
      ? `#${equation}`
      : `#grid(columns: 2, column-gutter: ${random.range(1, 5).toFixed(1)}em, align: horizon, ${equation}, text(${typstString(`(${tag})`)}))`;
  return {
    spec: {
      class: "equation",
      width: 1400,
      truth: formula.latex + (tag === undefined ? "" : `\\tag{${tag}}`),
      body: `${settings(style, { justify: false })}#show math.equation: set text(font: ${typstString(style.math)}, top-edge: "cap-height", bottom-edge: "baseline")\n#set align(left)\n${body}`,
      space: [0, 0],
    },
    font: style.math,
    sizePx,
  };
}

function cropOf(block: SetBlock, random: Random): { image: RgbImage; characters: SynthCharacter[] } {
  const { image, ink } = block;
  const tight = random.chance(0.3);
  const margin = () => random.int(0, tight ? 3 : 14);
  const box: PixelBox = [
    Math.max(0, ink[0] - margin()),
    Math.max(0, ink[1] - margin()),
    Math.min(image.width, ink[2] + margin()),
    Math.min(image.height, ink[3] + margin()),
  ];
  return { image: crop(image, box), characters: block.glyphs.map((glyph) => placeGlyph(glyph, box[0], box[1])) };
}

function regionPage<Task extends "table" | "formula">(
  task: Task,
  sources: SynthSources,
  seed: number,
  index: number,
  options: RegionSampleOptions,
  draw: (random: Random) => Draft,
): RegionSample<Task>[] {
  const wanted = options.cropsPerPage ?? 16;
  const samples: RegionSample<Task>[] = [];
  for (let attempt = 0; samples.length < wanted; attempt++) {
    if (attempt === 40) throw new RangeError("`options` expected to leave something to draw, got 40 pages without enough samples");
    const random = createRandom(task, seed, index, attempt);
    const drafts = Array.from({ length: wanted - samples.length + 4 }, () => draw(random)).filter(
      (draft) => draft.spec.truth!.length <= (options.maxCharacters ?? Infinity),
    );
    const [blocks] = setBlocks(
      sources,
      drafts.map((draft) => draft.spec),
      [1],
    );
    for (let i = 0; i < drafts.length && samples.length < wanted; i++) {
      const block = blocks[i];
      const draft = drafts[i];
      if (!block) continue;
      const cut = cropOf(block, random);
      if (cut.image.width * cut.image.height > (options.maxPixels ?? Infinity)) continue;
      const worn = augment(cut, random, options.augmentation ?? 0.6);
      samples.push({
        task,
        image: worn.image,
        text: draft.spec.truth!,
        characters: worn.characters,
        meta: { font: draft.font, sizePx: draft.sizePx, augmentations: worn.applied },
      });
    }
  }
  return samples;
}

/** The table crops of batch `index` of `seed`: always exactly `cropsPerPage`. Throws `RangeError` if the options leave nothing to draw. */
export function tablePage(sources: SynthSources, seed: number, index: number, options: TableSampleOptions = {}): TableSample[] {
  return regionPage("table", sources, seed, index, options, (random) => drawTableDraft(sources, random, options));
}

/** The formula crops of batch `index` of `seed`: always exactly `cropsPerPage`. Throws `RangeError` if the options leave nothing to draw. */
export function formulaPage(sources: SynthSources, seed: number, index: number, options: FormulaSampleOptions = {}): FormulaSample[] {
  return regionPage("formula", sources, seed, index, options, (random) => drawFormulaDraft(sources, random, options));
}
