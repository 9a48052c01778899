/**
 * Whole pages with their layout: a document is planned, its blocks are set and composed, and the boxes of their ink
 * become the layout answer in the published form. Pages may be turned, tinted and worn (light only, so boxes stay
 * true). Pure but for the engines handed in: page `index` of `seed` is always the same page.
 */
import { writeLayout } from "../document/layout-text.ts";
import { type PixelBox, type RgbImage, rotateCounterClockwise } from "../image/rgb-image.ts";
import { placeGlyph, type SynthCharacter } from "./align.ts";
import { augment } from "./augment.ts";
import type { BlockClass, BlockSpec, SetBlock } from "./blocks.ts";
import { setBlocks } from "./blocks.ts";
import { type ComposedPage, composePage, type PagePlan, type PlacedBlock } from "./compose.ts";
import { DOCUMENT_WEIGHTS, type DocumentKind, planPage } from "./documents.ts";
import { mathFontsOf } from "./page-style.ts";
import { createRandom, type Random } from "./random.ts";
import type { SynthSources } from "./text-samples.ts";

export interface PageSampleOptions {
  /** Longer edge of the page raster in pixels (default 760 to 1200). */
  readonly longEdgePx?: readonly [number, number];
  /** Strength of the photometric damage, 0 to 1 (default 0.6). */
  readonly augmentation?: number;
  /** How often a page is turned by a quarter or half (default 0.03). */
  readonly turned?: number;
  /** How often the paper is not white (default 0.15). */
  readonly tinted?: number;
  /** How often each kind of document is drawn; kinds left out are not drawn. */
  readonly kinds?: Partial<Readonly<Record<DocumentKind, number>>>;
}

export interface SynthRegion {
  readonly class: BlockClass;
  /** left, top, right, bottom in thousandths of the page: the region's ink. */
  readonly box: readonly [number, number, number, number];
  /** Counter-clockwise turn that sets the region upright. */
  readonly angle: 0 | 90 | 180 | 270;
  readonly text?: string;
  readonly otsl?: string;
  readonly latex?: string;
}

export interface LayoutSample {
  readonly task: "layout";
  readonly image: RgbImage;
  /** The layout answer. */
  readonly text: string;
  /** In reading order. */
  readonly regions: readonly SynthRegion[];
  /** Characters of upright text regions, in reading order; empty on turned pages. */
  readonly characters: readonly SynthCharacter[];
  readonly meta: { readonly kind: DocumentKind; readonly augmentations: readonly string[] };
}

const mathFonts = new WeakMap<SynthSources, readonly string[]>();

/** The mathematics fonts of `sources`, asked for once. */
export function mathFontsFor(sources: SynthSources): readonly string[] {
  const known = mathFonts.get(sources);
  if (known) return known;
  const found = mathFontsOf(sources);
  mathFonts.set(sources, found);
  return found;
}

function specsOf(plan: PagePlan): BlockSpec[] {
  return [...plan.fixtures.map((fixture) => fixture.block), ...plan.bands.flatMap((band) => band.blocks)];
}

function withBlocks(plan: PagePlan, blocks: readonly (SetBlock | undefined)[]): PagePlan<SetBlock | undefined> {
  let at = 0;
  const fixtures = plan.fixtures.map((fixture) => ({ ...fixture, block: blocks[at++] }));
  const bands = plan.bands.map((band) => ({ ...band, blocks: band.blocks.map(() => blocks[at++]) }));
  return { ...plan, fixtures, bands };
}

function turnBox([left, top, right, bottom]: PixelBox, width: number, height: number, turn: 0 | 90 | 180 | 270): PixelBox {
  if (turn === 90) return [top, width - right, bottom, width - left];
  if (turn === 180) return [width - right, height - bottom, width - left, height - top];
  if (turn === 270) return [height - bottom, left, height - top, right];
  return [left, top, right, bottom];
}

function thousandths(box: PixelBox, width: number, height: number): [number, number, number, number] {
  const [left, top] = [Math.round((box[0] * 1000) / width), Math.round((box[1] * 1000) / height)];
  return [left, top, Math.max(left + 1, Math.round((box[2] * 1000) / width)), Math.max(top + 1, Math.round((box[3] * 1000) / height))];
}

function regionOf(placed: PlacedBlock, page: RgbImage, turn: 0 | 90 | 180 | 270, width: number, height: number): SynthRegion {
  const cls = placed.spec.class;
  return {
    class: cls,
    box: thousandths(turnBox(placed.box, width, height, turn), page.width, page.height),
    // A page turned counter-clockwise by `turn` is set upright by the rest of the circle.
    angle: ((placed.angle + 360 - turn) % 360) as SynthRegion["angle"],
    ...(placed.text === undefined ? {} : { text: placed.text }),
    ...(cls === "table" ? { otsl: placed.spec.truth } : cls === "equation" ? { latex: placed.spec.truth } : {}),
  };
}

/** Tints the paper: multiplies by a light colour. */
function onPaper(image: RgbImage, random: Random, chance: number): RgbImage {
  if (!random.chance(chance)) return image;
  const paper = [random.int(215, 255), random.int(215, 255), random.int(205, 250)];
  const data = Uint8Array.from(image.data, (value, i) => (value * paper[i % 3]) / 255);
  return { width: image.width, height: image.height, data };
}

interface DrawnPage {
  readonly kind: DocumentKind;
  readonly page: ComposedPage;
}

/** Draws, sets and composes a page; one that came out empty without meaning to is drawn again. */
function drawPage(sources: SynthSources, random: Random, options: PageSampleOptions): DrawnPage {
  const [low, high] = options.longEdgePx ?? [760, 1200];
  for (let attempt = 0; ; attempt++) {
    const kind = random.weighted((options.kinds ?? DOCUMENT_WEIGHTS) as Record<DocumentKind, number>);
    const plan = planPage(kind, sources, random, mathFontsFor(sources));
    const scale = random.range(low, high) / Math.max(plan.width, plan.height);
    const [blocks] = setBlocks(sources, specsOf(plan), [scale]);
    const page = composePage(withBlocks(plan, blocks), scale);
    if (page.blocks.length > 0 || kind === "blank") return { kind, page };
    if (attempt === 20) throw new Error("internal: 20 planned pages in a row came out empty");
  }
}

/** The sample of a composed page: turned, tinted and worn as `options` say. */
export function layoutOf({ kind, page: composed }: DrawnPage, random: Random, options: PageSampleOptions): LayoutSample {
  const turn = random.chance(options.turned ?? 0.03) ? random.pick([90, 180, 270] as const) : 0;
  const upright = onPaper(composed.image, random, options.tinted ?? 0.15);
  const page = turn === 0 ? upright : rotateCounterClockwise(upright, turn);
  const regions = composed.blocks.map((placed) => regionOf(placed, page, turn, upright.width, upright.height));
  const isUpright = (placed: PlacedBlock) => turn === 0 && placed.angle === 0;
  const characters = composed.blocks.filter(isUpright).flatMap((placed) => placed.glyphs.map((glyph) => placeGlyph(glyph, 0, 0)));
  const worn = augment({ image: page, characters }, random, options.augmentation ?? 0.6, { photometricOnly: true });
  return {
    task: "layout",
    image: worn.image,
    text: writeLayout(regions),
    regions,
    characters,
    meta: { kind, augmentations: worn.applied },
  };
}

/** Page `index` of `seed`. */
export function pageSample(sources: SynthSources, seed: number, index: number, options: PageSampleOptions = {}): LayoutSample {
  const random = createRandom("page", seed, index);
  return layoutOf(drawPage(sources, random, options), random, options);
}

/** All pages of `seed`, without end. */
export function* pageSamples(sources: SynthSources, seed: number, options: PageSampleOptions = {}): Generator<LayoutSample, never> {
  for (let index = 0; ; index++) yield pageSample(sources, seed, index, options);
}
