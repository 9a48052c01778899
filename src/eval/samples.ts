/**
 * What decoding is measured on: single printed lines in typefaces and texts never trained on, and real pages that lie in a folder with
 * their texts. Refuses to know how they are read.
 */
import { join } from "node:path";
import { openSynth, type SynthSources, textPage } from "../synth/index.ts";
import { picturesOf } from "./data-files.ts";
import type { DecodingSample } from "./decoding.ts";
import { filesWithTexts } from "./folder.ts";

const SEED = 11;

/** The held-out sources; with `data`, from its folders `fonts` and `corpus`, else from what the typesetter brings along. */
export function heldOutSources(data?: string): Promise<SynthSources> {
  return openSynth({ split: "heldout", ...(data ? { fontPaths: [join(data, "fonts")], corpusFolder: join(data, "corpus") } : {}) });
}

/** `count` clean lines, always the same. */
export function heldOutLines(sources: SynthSources, count: number): DecodingSample[] {
  const lines = textPage(sources, SEED, 0, {
    lines: [1, 1],
    widthPx: [150, 900],
    sizePx: [20, 32],
    augmentation: 0,
    cropsPerPage: count,
  });
  return lines.map(({ image, text }, i) => ({ name: `line ${i + 1}`, kind: "region", image, truth: text }));
}

/** First pages of the pictures and PDFs of a folder, with their texts. */
export async function pagesIn(folder: string): Promise<DecodingSample[]> {
  const samples: DecodingSample[] = [];
  for (const { id, path, truth } of await filesWithTexts(folder))
    for await (const image of picturesOf(path, 0)) samples.push({ name: id, kind: "page", image, truth });
  return samples;
}
