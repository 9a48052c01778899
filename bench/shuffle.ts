/**
 * The Semantic Shuffle by autoregression and by block diffusion on the same weights. Writes `bench/results/<date>-shuffle.json`.
 *
 *   npx tsx bench/shuffle.ts [--model DIR] [--pages 2] [--paragraphs 2] [--data .train]
 */
import { parseArgs } from "node:util";
import { AUTOREGRESSION, blockDiffusion, heldOutSources, measureShuffle, type ShuffleMeasurement, shuffleMarkdown } from "../src/eval.ts";
import { embeddedCheckpoint, load } from "../src/index.ts";
import { shown, writeResult } from "./results.ts";

export interface ShuffleOptions {
  readonly model: string;
  readonly pages: number;
  readonly paragraphs: number;
  /** Folder with fonts/ and corpus/. */
  readonly data?: string;
}

export async function runShuffle({ model, data, pages, paragraphs }: ShuffleOptions): Promise<ShuffleMeasurement> {
  const sources = await heldOutSources(data);
  await using parser = await load({ model, thread: "own" });
  const settings = [AUTOREGRESSION, blockDiffusion(32, 0.95)];
  return await measureShuffle(parser.recognizer, sources, settings, { pages, paragraphs, onProgress: shown("shuffle") });
}

if (process.argv[1]?.endsWith("shuffle.ts")) {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: embeddedCheckpoint() },
      pages: { type: "string", default: "2" },
      paragraphs: { type: "string", default: "2" },
      data: { type: "string" },
    },
  });
  const measurement = await runShuffle({ ...values, pages: Number(values.pages), paragraphs: Number(values.paragraphs) });
  process.stdout.write(`${shuffleMarkdown(measurement)}\n\n${await writeResult(measurement)}\n`);
}
