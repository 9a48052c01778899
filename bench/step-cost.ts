/**
 * What one pass costs: seconds for a step of 1 row and of a whole block against a cache, for a prefill and for an image, and the memory
 * it takes, for one checkpoint in one precision. Measures sessions alone, so random weights will do. One process per precision, since the
 * peak belongs to the process; kinds of pass are interleaved and medians given, since machines are shared.
 *
 *   node bench/step-cost.ts FOLDER [--precision int8] [--rows 1,32] [--past 400] [--prefill 400] [--image 400] [--runs 9] [--threads 2]
 *
 * On Node 20 put `node -e 'import("vite").then((vite) => vite.runnerImport("./bench/step-cost.ts"))' --` in front of the arguments.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { openCheckpoint } from "../src/checkpoint/folder.ts";
import type { PrecisionChoice } from "../src/engine/precision.ts";
import { loadSessions } from "../src/engine/sessions.ts";
import { cachedWeights } from "../src/engine/weight-cache.ts";
import type { ModelConfig } from "../src/model/config.ts";
import { visionRotary } from "../src/model/positions.ts";
import { presentName } from "../src/model/programs.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { float32, type Tensors } from "../src/runtime/session.ts";
import { decodeFeeds } from "./decode-feeds.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(process.argv[1]?.endsWith(".ts") ? 2 : 1),
  allowPositionals: true,
  options: {
    precision: { type: "string", default: "auto" },
    rows: { type: "string", default: "1,32" },
    past: { type: "string", default: "400" },
    prefill: { type: "string", default: "400" },
    image: { type: "string", default: "400" },
    runs: { type: "string", default: "9" },
    threads: { type: "string" },
    cache: { type: "string" },
  },
});

/** A square-ish picture of about `tokens` image tokens. */
function imageFeeds({ vision }: ModelConfig, tokens: number): Tensors {
  const edge = Math.max(1, Math.round(Math.sqrt(tokens))) * vision.mergeSize;
  const headDim = vision.embedDim / vision.heads;
  const squares = vision.mergeSize ** 2;
  const width = squares * vision.inChannels * vision.temporalPatchSize * vision.patchSize ** 2;
  const { cos, sin } = visionRotary(edge, edge, vision.mergeSize, headDim);
  const count = edge ** 2 / squares;
  return {
    pixels: float32(
      Float32Array.from({ length: count * width }, (_, i) => Math.sin(i * 0.37)),
      [1, count, width],
    ),
    imageCos: float32(cos, [1, edge ** 2, headDim / 2]),
    imageSin: float32(sin, [1, edge ** 2, headDim / 2]),
  };
}

/** Peak resident memory and its parts now, in MB; files are the mapped weights, which the system may drop. */
async function memory(): Promise<string> {
  const status = await readFile("/proc/self/status", "utf8").catch(() => "");
  const part = (key: string): string => {
    const kilobytes = status.match(new RegExp(`${key}:\\s+(\\d+)`))?.[1];
    return kilobytes ? String(Math.round(Number(kilobytes) / 1024)) : "?";
  };
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  return `peak ${peak} MB, now ${part("VmRSS")} MB (own ${part("RssAnon")}, mapped ${part("RssFile")})`;
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const [folder] = positionals;
if (!folder) throw new TypeError("expected a checkpoint folder, got no argument");
const checkpoint = await openCheckpoint(folder);
const began = performance.now();
const sessions = await loadSessions(checkpoint, nodeRuntime, cachedWeights, {
  precision: values.precision as PrecisionChoice,
  threads: values.threads ? Number(values.threads) : undefined,
  cacheDir: values.cache,
  onWarning: (message) => process.stderr.write(`${message}\n`),
});
const { precision, why } = sessions.precision;
print(`${folder}  ${precision} (${why})`);
print(`load  ${((performance.now() - began) / 1000).toFixed(1)} s  ${await memory()}`);

const { config } = checkpoint;
const present = Array.from({ length: config.text.layers }, (_, layer) => [presentName("key", layer), presentName("value", layer)]).flat();
const past = Number(values.past);
const rowCounts = values.rows.split(",").map(Number);
const prefill = decodeFeeds(config, Number(values.prefill), 0);
const image = imageFeeds(config, Number(values.image));
const passes: Record<string, () => Promise<unknown>> = {
  ...Object.fromEntries(
    rowCounts.map((rows) => {
      const feeds = decodeFeeds(config, rows, past);
      return [`step of ${rows} row(s), ${past} cached`, () => sessions.decode.run(feeds, ["logits"])];
    }),
  ),
  [`prefill of ${values.prefill} rows`]: () => sessions.decode.run(prefill, ["logits", ...present]),
  [`image of ${image.pixels.shape[1]} tokens`]: () => sessions.encodeImage.run(image, ["features"]),
};
const wall: Record<string, number[]> = Object.fromEntries(Object.keys(passes).map((name) => [name, []]));
const cpu: Record<string, number[]> = structuredClone(wall);
for (let run = -1; run < Number(values.runs); run++) {
  for (const [name, pass] of Object.entries(passes)) {
    const [start, used] = [performance.now(), process.cpuUsage()];
    await pass();
    const { user, system } = process.cpuUsage(used);
    if (run < 0) continue; // the first run of each warms up
    wall[name].push(performance.now() - start);
    cpu[name].push((user + system) / 1000);
  }
}
for (const name of Object.keys(passes)) {
  print(
    `${name.padEnd(32)} median ${median(wall[name]).toFixed(1)} ms, fastest ${Math.min(...wall[name]).toFixed(1)} ms; processor time ${median(cpu[name]).toFixed(1)} ms`,
  );
}
print(`end  ${await memory()}`);
await sessions[Symbol.asyncDispose]();
await checkpoint.close();
