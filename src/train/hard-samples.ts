/**
 * The file of mined samples: one JSON line that says how samples are drawn and how they were mined, then a line for each hard sample with
 * its identity, consistency and weight. Samples are not stored but drawn again; a fingerprint of each answer tells when fonts or texts are
 * not those that were mined. It refuses to know how hardness is found.
 */
import { readFile, writeFile } from "node:fs/promises";
import * as z from "zod";
import { MineruError } from "../error.ts";
import type { SynthSources } from "../synth/index.ts";
import { hashText } from "../synth/random.ts";
import { drawPage, type PageIdentity } from "./drawing.ts";
import type { DrawingRecipe } from "./recipe.ts";
import { drawingSchema } from "./recipe-schema.ts";
import type { RawSample } from "./sample.ts";

/** A sample by its place among all that can be drawn. */
export interface SampleIdentity extends PageIdentity {
  /** Of the samples of its page. */
  readonly index: number;
}

export interface HardSample extends SampleIdentity {
  /** C(x), 0 to 1. */
  readonly consistency: number;
  readonly weight: number;
  /** Of the answer. */
  readonly fingerprint: number;
}

export interface HardSampleFile {
  readonly kind: "hard-samples";
  readonly drawing: DrawingRecipe;
  /** Crops to a page. */
  readonly crops: number;
  /** How they were mined, for readers. */
  readonly mining: Readonly<Record<string, unknown>>;
  /** By page, so that each page is drawn once. */
  readonly samples: readonly HardSample[];
}

const natural = z.int().min(0);
const headSchema = z.object({
  kind: z.literal("hard-samples"),
  drawing: drawingSchema,
  crops: z.int().min(1),
  mining: z.record(z.string(), z.unknown()),
});
const rowSchema = z.object({
  task: z.enum(["text", "layout", "table", "formula"]),
  seed: natural,
  page: natural,
  index: natural,
  consistency: z.number().min(0).max(1),
  weight: z.number().positive(),
  fingerprint: natural,
});

export const fingerprintOf = (answer: string): number => hashText(answer);

/** @throws MineruError `output-unwritable` */
export async function writeHardSamples(path: string, { samples, ...head }: HardSampleFile): Promise<void> {
  const lines = [head, ...samples].map((line) => JSON.stringify(line));
  try {
    await writeFile(path, `${lines.join("\n")}\n`);
  } catch (cause) {
    throw new MineruError("output-unwritable", `${path}: expected a file that can be written; check the folder`, { cause });
  }
}

/** @throws MineruError `file-unreadable`; `data-invalid` naming file and line */
export async function readHardSamples(path: string): Promise<HardSampleFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `${path}: expected a file of hard samples; \`mine\` writes one`, { cause });
  }
  const [head, ...rows] = text.trimEnd().split("\n");
  const parsed = <T>(line: string, number: number, schema: z.ZodType<T>): T => {
    try {
      return schema.parse(JSON.parse(line));
    } catch (cause) {
      const [issue] = cause instanceof z.ZodError ? cause.issues : [];
      const what = issue ? `\`${issue.path.join(".")}\` ${issue.message}` : (cause as Error).message;
      throw new MineruError("data-invalid", `${path}:${number}: expected a line of a hard-samples file: ${what}`, { cause });
    }
  };
  return { ...parsed(head, 1, headSchema), samples: rows.map((row, i) => parsed(row, i + 2, rowSchema)) };
}

/**
 * The `count` samples of pool `pool`: the file gone through from its start to its end, again and again.
 * @throws MineruError `data-invalid` if what is drawn is not what was mined
 */
export function drawHardSamples(sources: SynthSources, file: HardSampleFile, count: number, pool: number): RawSample[] {
  const { samples, drawing, crops } = file;
  let drawn: { readonly page: PageIdentity; readonly samples: RawSample[] } | null = null;
  return Array.from({ length: count }, (_, i) => {
    const { index, weight, fingerprint, ...page } = samples[(pool * count + i) % samples.length];
    if (!drawn || drawn.page.task !== page.task || drawn.page.seed !== page.seed || drawn.page.page !== page.page) {
      drawn = { page, samples: drawPage(sources, page, drawing, crops) };
    }
    const sample = drawn.samples[index];
    if (!sample || fingerprintOf(sample.answer) !== fingerprint) {
      throw new MineruError(
        "data-invalid",
        `hard sample ${page.task} ${page.seed}/${page.page}/${index}: expected the answer that was mined, got another; draw from the fonts and texts (--data) that were mined`,
      );
    }
    return { ...sample, weight };
  });
}
