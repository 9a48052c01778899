/**
 * Every committed number again: decoding, a pass by its rows, Semantic Shuffle; then `docs/benchmarks.md`, its plots and the README's
 * table. Meant for a quiet machine.
 *
 *   npx tsx bench/all.ts [--model DIR] [--data .train] [--lines 40] [--rounds 3] [--pages 2]
 */
import { parseArgs } from "node:util";
import { embeddedCheckpoint } from "../src/index.ts";
import { measureDecode } from "./decode.ts";
import { draw } from "./draw-benchmarks.ts";
import { writeResult } from "./results.ts";
import { measureRows } from "./rows.ts";
import { runShuffle } from "./shuffle.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: embeddedCheckpoint() },
    data: { type: "string" },
    lines: { type: "string", default: "40" },
    rounds: { type: "string", default: "3" },
    pages: { type: "string", default: "2" },
  },
});
const { model, data } = values;
const began = performance.now();
await writeResult(await measureRows({ model, data, runs: 40 }));
await writeResult(await measureDecode({ model, data, lines: Number(values.lines), rounds: Number(values.rounds) }));
await writeResult(await runShuffle({ model, data, pages: Number(values.pages), paragraphs: 2 }));
await draw();
process.stdout.write(`measured and drawn in ${((performance.now() - began) / 60_000).toFixed(1)} minutes\n`);
