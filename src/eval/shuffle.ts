/**
 * The Semantic Shuffle (paper section 4.5): pages whose look stays while their meaning goes, read with autoregression and with block
 * diffusion by the same weights. Regions are the true ones, so that only reading is measured. How much accuracy falls with the share of
 * changed words tells how much a decoder leans on language instead of the picture.
 */
import { writeMarkdown } from "../document/assembly/markdown.ts";
import { assemble } from "../document/assembly.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import { corpusBleu } from "../metrics/bleu.ts";
import { countEdits } from "../metrics/edit-distance.ts";
import { codePointLength } from "../metrics/python-text.ts";
import { wordOverlap } from "../metrics/word-overlap.ts";
import { type LayoutSample, SHUFFLE_RATIOS, type ShuffleKind, type SynthSources, shuffledPage } from "../synth/index.ts";
import { meanOf } from "./benchmark.ts";
import type { DecodingSetting } from "./decoding-settings.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { plainText } from "./plain-text.ts";
import { linePlot } from "./plots.ts";
import { readPages } from "./reading.ts";

/** All kinds of shuffle. */
export const shuffleKinds: readonly ShuffleKind[] = ["words", "letters", "pseudo", "digits"];

/** All pages of one kind and share, read with one setting. */
export interface ShufflePoint {
  readonly kind: ShuffleKind;
  /** Share of the words that were changed. */
  readonly ratio: number;
  readonly decoder: string;
  readonly characterErrorRate: number;
  /** (1 − error rate) / (1 − error rate of the same decoder on unchanged pages). */
  readonly relativeAccuracy: number;
  readonly bleu: number;
  /** Of words, whatever their order: means over pages. */
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly tokensPerForward: number;
}

/** How reading suffers when a page's words mean less and less. */
export interface ShuffleMeasurement {
  readonly kind: "shuffle";
  readonly date: string;
  readonly machine: Machine;
  readonly model: string;
  readonly pages: number;
  readonly points: readonly ShufflePoint[];
}

/** How much is read for a shuffle measurement. */
export interface ShuffleMeasureOptions {
  /** Pages of each kind and share. Default 4. */
  readonly pages?: number;
  readonly paragraphs?: number;
  readonly kinds?: readonly ShuffleKind[];
  readonly ratios?: readonly number[];
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

const SEED = 5;

/** A page as the parse wants it: its regions as a layout. */
function layoutOf({ regions, image }: LayoutSample) {
  const scaled = (value: number, size: number) => Math.round((value * size) / 1000);
  return regions.map(({ class: name, box, angle }) => ({
    class: name,
    box,
    angle,
    pixelBox: [
      scaled(box[0], image.width),
      scaled(box[1], image.height),
      scaled(box[2], image.width),
      scaled(box[3], image.height),
    ] as const,
  }));
}

/** The printed text of a page as the parse would write it, hyphens at line ends joined alike. */
function truthOf({ regions, image }: LayoutSample): string {
  const page = {
    index: 0,
    width: image.width,
    height: image.height,
    regions: regions.map(({ class: name, box, angle, text = "" }) => ({
      class: name,
      box,
      angle,
      content: { kind: "text" as const, text },
    })),
  };
  return plainText(writeMarkdown(assemble([page], { unwrap: true })));
}

interface PageReading {
  readonly pred: string;
  readonly truth: string;
  readonly tokens: number;
  readonly forwards: number;
}

function pointOf(pages: readonly PageReading[]): Omit<ShufflePoint, "kind" | "ratio" | "decoder" | "relativeAccuracy"> {
  const sum = (pick: (page: PageReading) => number) => pages.reduce((total, page) => total + pick(page), 0);
  const words = pages.map(({ pred, truth }) => wordOverlap(pred, truth));
  return {
    characterErrorRate: sum(({ pred, truth }) => countEdits(pred, truth).distance) / sum(({ truth }) => codePointLength(truth)),
    bleu: corpusBleu(pages).bleu,
    precision: meanOf(words.map(({ precision }) => precision))!,
    recall: meanOf(words.map(({ recall }) => recall))!,
    f1: meanOf(words.map(({ f1 }) => f1))!,
    tokensPerForward: sum(({ tokens }) => tokens) / sum(({ forwards }) => forwards),
  };
}

/** Reads every page with every setting in turn. */
export async function measureShuffle(
  recognizer: Recognizer<RecognizerIdentity>,
  sources: SynthSources,
  settings: readonly DecodingSetting[],
  options: ShuffleMeasureOptions = {},
): Promise<ShuffleMeasurement> {
  const { pages = 4, paragraphs, kinds = shuffleKinds, ratios = SHUFFLE_RATIOS, batchSize, signal, onProgress } = options;
  const points: ShufflePoint[] = [];
  const cases = kinds.flatMap((kind) => ratios.map((ratio) => ({ kind, ratio })));
  const clean = new Map<string, number>();
  let done = 0;
  for (const { kind, ratio } of cases) {
    const readings = settings.map((): PageReading[] => []);
    for (let index = 0; index < pages; index++) {
      const page = shuffledPage(sources, SEED, index, { kind, ratio, paragraphs });
      const truth = truthOf(page);
      for (const [i, { decoding }] of settings.entries()) {
        signal?.throwIfAborted();
        const reading = { kind: "page" as const, layout: () => layoutOf(page) };
        const { text, facts } = await readPages([page.image], reading, recognizer, { decoding, batchSize, signal });
        readings[i].push({ pred: plainText(text), truth, tokens: facts!.tokens, forwards: facts!.forwards });
      }
    }
    for (const [i, { name: decoder }] of settings.entries()) {
      const point = pointOf(readings[i]);
      const key = `${kind} ${decoder}`;
      if (!clean.has(key)) clean.set(key, 1 - point.characterErrorRate);
      points.push({ kind, ratio, decoder, ...point, relativeAccuracy: (1 - point.characterErrorRate) / clean.get(key)! });
    }
    onProgress?.(++done, cases.length);
  }
  return { kind: "shuffle", date: new Date().toISOString(), machine: thisMachine(), model: recognizer.info.name, pages, points };
}

const titles: Readonly<Record<ShuffleKind, string>> = {
  words: "Words in another order",
  letters: "Letters shuffled inside words",
  pseudo: "Made-up words",
  digits: "Digits instead of words",
};

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** A table for each kind: every measure by share and decoder. */
export function shuffleMarkdown({ points }: ShuffleMeasurement, heading = "##"): string {
  const kinds = [...new Set(points.map(({ kind }) => kind))];
  return kinds
    .map((kind) => {
      const rows = points
        .filter((point) => point.kind === kind)
        .map(
          (p) =>
            `| ${percent(p.ratio)} | ${p.decoder} | ${percent(p.characterErrorRate)} | ${percent(p.relativeAccuracy)} | ${p.bleu.toFixed(3)} | ` +
            `${p.precision.toFixed(3)} | ${p.f1.toFixed(3)} | ${p.tokensPerForward.toFixed(2)} |`,
        );
      return [
        `${heading} ${titles[kind]}`,
        "",
        "| changed | decoding | CER | relative to unchanged | BLEU | word precision | word F1 | tokens per forward |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
        ...rows,
      ].join("\n");
    })
    .join("\n\n");
}

/** Character accuracy by share of changed words, one curve for each decoder. */
export function shufflePlot({ points }: ShuffleMeasurement, kind: ShuffleKind): string {
  const own = points.filter((point) => point.kind === kind);
  const decoders = [...new Set(own.map(({ decoder }) => decoder))];
  return linePlot(
    decoders.map((name) => ({
      name,
      points: own.filter(({ decoder }) => decoder === name).map((p) => [100 * p.ratio, 100 * (1 - p.characterErrorRate)] as const),
    })),
    { title: titles[kind], x: { label: "words changed, %", range: [0, 100] }, y: { label: "characters right, %" } },
  );
}
