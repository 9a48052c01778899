/**
 * Autoregression, block diffusion under every commit rule, threshold and block length, and full-sequence diffusion on the same weights,
 * lines and pages, in one run. Writes `bench/results/<date>-decoding.json`.
 *
 *   npx tsx bench/decode.ts [--model DIR] [--lines 40] [--rounds 3] [--data .train]
 */
import { parseArgs } from "node:util";
import { type DecodingMeasurement, decodingMarkdown, heldOutLines, heldOutSources, measureAllDecoding, pagesIn } from "../src/eval.ts";
import { embeddedCheckpoint, load } from "../src/index.ts";
import { shown, writeResult } from "./results.ts";

export interface DecodeOptions {
  readonly model: string;
  readonly lines: number;
  readonly rounds: number;
  /** Folder with fonts/ and corpus/. */
  readonly data?: string;
}

export async function measureDecode({ model, lines, rounds, data }: DecodeOptions): Promise<DecodingMeasurement> {
  const samples = heldOutLines(await heldOutSources(data), lines);
  const pages = await pagesIn(new URL("../test/samples", import.meta.url).pathname);
  await using parser = await load({ model, thread: "own" });
  return await measureAllDecoding(parser.recognizer, samples, pages, { rounds, onProgress: shown("decoding") });
}

if (process.argv[1]?.endsWith("decode.ts")) {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: embeddedCheckpoint() },
      lines: { type: "string", default: "40" },
      rounds: { type: "string", default: "3" },
      data: { type: "string" },
    },
  });
  const measurement = await measureDecode({ ...values, lines: Number(values.lines), rounds: Number(values.rounds) });
  process.stdout.write(`${decodingMarkdown(measurement)}\n\n${await writeResult(measurement)}\n`);
}
