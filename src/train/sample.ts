/**
 * A training sample ready for the model: patches, answer tokens and what dense supervision knows about each image token. Made from a
 * synthetic crop or page by the same resizing and patching that reading uses.
 */

import { resizeByNeed } from "../image/crops.ts";
import { fitFormula } from "../image/fit-formula.ts";
import { fitLine } from "../image/fit-line.ts";
import { fitTable } from "../image/fit-table.ts";
import { patchify } from "../image/patches.ts";
import type { ImageProcessorConfig } from "../image/processor-config.ts";
import { resizeBicubic } from "../image/resample.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { TaskName } from "../text/prompts.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import { asLatex, withCells, withSpaces } from "./printed-answer.ts";

/** Target of a slot that takes no part in the loss. */
export const IGNORED = -1;

export interface PreparedSample {
  readonly task: TaskName;
  /** [patches, patchPixels] in merge order */
  readonly patches: Float32Array;
  /** Grid in patches. */
  readonly rows: number;
  readonly columns: number;
  /** Answer tokens with the end token. */
  readonly answer: Int32Array;
  /** [imageTokens, slots]: characters centred in the token in reading order, then the end mark, then `IGNORED`. */
  readonly characterTargets?: Int32Array;
  /** [imageTokens]: layout class of the region around the token's centre, 0 for none. */
  readonly regionTargets?: Int32Array;
  /** [imageTokens, 4]: left, top, right, bottom of that region relative to the token's centre, in page edges. */
  readonly edgeTargets?: Float32Array;
  /** Weight of the sample in the loss, 1 + β(1 − C) for mined ones (paper equation 15). */
  readonly weight: number;
}

export interface PlacedCharacter {
  readonly char: string;
  /** Centre in pixels of the image. */
  readonly x: number;
  readonly y: number;
}

export interface PlacedRegion {
  /** Index among the layout classes, from 1. */
  readonly classIndex: number;
  /** 0..1000 */
  readonly box: readonly [number, number, number, number];
}

export interface RawSample {
  readonly task: TaskName;
  readonly image: RgbImage;
  readonly answer: string;
  readonly characters?: readonly PlacedCharacter[];
  readonly regions?: readonly PlacedRegion[];
  readonly weight?: number;
}

export interface PreparationConfig {
  readonly tokenizer: Tokenizer;
  readonly processor: ImageProcessorConfig;
  /** Edge of the square that layout pages are resized to. */
  readonly layoutSize: number;
  readonly endToken: number;
  /** Text samples are single lines; they, tables and formulas are fitted to rows of this height in pixels as reading fits them; left as drawn if absent. */
  readonly linePixels?: number;
  /** Written after the last character of a token's slots. */
  readonly slotEndToken: number;
  readonly characterSlots: number;
}

/** Id of a single-token character, or undefined: such characters take no part in dense supervision. */
function characterId(tokenizer: Tokenizer, cache: Map<string, number | undefined>, char: string): number | undefined {
  if (!cache.has(char)) {
    const ids = tokenizer.encode(char);
    cache.set(char, ids.length === 1 ? ids[0] : undefined);
  }
  return cache.get(char);
}

const characterCache = new Map<string, number | undefined>();

function placeCharacters(
  characters: readonly PlacedCharacter[],
  image: RgbImage,
  tokenRows: number,
  tokenColumns: number,
  config: PreparationConfig,
): Int32Array {
  const { characterSlots: slots } = config;
  const targets = new Int32Array(tokenRows * tokenColumns * slots).fill(IGNORED);
  const filled = new Int32Array(tokenRows * tokenColumns);
  for (const { char, x, y } of characters) {
    const id = characterId(config.tokenizer, characterCache, char);
    const column = Math.min(tokenColumns - 1, Math.max(0, Math.floor((x / image.width) * tokenColumns)));
    const row = Math.min(tokenRows - 1, Math.max(0, Math.floor((y / image.height) * tokenRows)));
    const token = row * tokenColumns + column;
    const slot = filled[token]++;
    if (slot < slots && id !== undefined) targets[token * slots + slot] = id;
  }
  for (let token = 0; token < filled.length; token++) {
    if (filled[token] < slots) targets[token * slots + filled[token]] = config.slotEndToken;
  }
  return targets;
}

function placeRegions(
  regions: readonly PlacedRegion[],
  tokenRows: number,
  tokenColumns: number,
): { classes: Int32Array; edges: Float32Array } {
  const classes = new Int32Array(tokenRows * tokenColumns);
  const edges = new Float32Array(tokenRows * tokenColumns * 4);
  const smallestFirst = [...regions].sort((a, b) => area(a.box) - area(b.box));
  for (let row = 0; row < tokenRows; row++) {
    for (let column = 0; column < tokenColumns; column++) {
      const [x, y] = [((column + 0.5) / tokenColumns) * 1000, ((row + 0.5) / tokenRows) * 1000];
      // A thin region may pass between token centres: it claims tokens whose centre is within half a token of it.
      const [reachX, reachY] = [500 / tokenColumns, 500 / tokenRows];
      const region =
        smallestFirst.find(({ box: [l, t, r, b] }) => x >= l && x <= r && y >= t && y <= b) ??
        smallestFirst.find(({ box: [l, t, r, b] }) => x >= l - reachX && x <= r + reachX && y >= t - reachY && y <= b + reachY);
      if (!region) continue;
      const token = row * tokenColumns + column;
      const [l, t, r, b] = region.box;
      classes[token] = region.classIndex;
      edges.set([(l - x) / 1000, (t - y) / 1000, (r - x) / 1000, (b - y) / 1000], token * 4);
    }
  }
  return { classes, edges };
}

function area([l, t, r, b]: readonly [number, number, number, number]): number {
  return (r - l) * (b - t);
}

/** A region as reading will see it, its characters moved along. */
function fitted(sample: RawSample, linePixels: number, tokenSide: number): RawSample {
  const { answer, characters, task } = sample;
  if (task === "text") {
    const { image, left, scale } = fitLine(sample.image, linePixels, tokenSide);
    const letters = characters?.map(({ char, x }) => ({ char, x: (x - left) * scale, y: linePixels / 2 }));
    return { ...sample, image, characters: letters && withSpaces(answer, letters) };
  }
  const { image, place } = (task === "table" ? fitTable : fitFormula)(sample.image, linePixels, tokenSide);
  const letters = characters?.map(({ char, x, y }): PlacedCharacter => {
    const [newX, newY] = place(x, y);
    return { char, x: newX, y: newY };
  });
  return { ...sample, image, characters: letters && (task === "table" ? withCells(answer, letters) : asLatex(letters)) };
}

export function prepareSample(drawn: RawSample, config: PreparationConfig): PreparedSample {
  const { processor, tokenizer, linePixels } = config;
  const tokenSide = processor.patchSize * processor.mergeSize;
  const sample = drawn.task !== "layout" && linePixels !== undefined ? fitted(drawn, linePixels, tokenSide) : drawn;
  const image = sample.task === "layout" ? resizeBicubic(sample.image, config.layoutSize, config.layoutSize) : resizeByNeed(sample.image);
  const { pixelValues, grid } = patchify(image, { ...processor, maxPixels: Math.max(processor.maxPixels, config.layoutSize ** 2) });
  const [rows, columns] = [grid[1], grid[2]];
  const [tokenRows, tokenColumns] = [rows / processor.mergeSize, columns / processor.mergeSize];
  const regions = sample.regions && placeRegions(sample.regions, tokenRows, tokenColumns);
  return {
    task: sample.task,
    patches: pixelValues,
    rows,
    columns,
    answer: Int32Array.from([...tokenizer.encode(sample.answer), config.endToken]),
    characterTargets: sample.characters && placeCharacters(sample.characters, sample.image, tokenRows, tokenColumns, config),
    regionTargets: regions?.classes,
    edgeTargets: regions?.edges,
    weight: sample.weight ?? 1,
  };
}
