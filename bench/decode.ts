/**
 * Diffusion against autoregression on the same weights, same crops, same run: tokens per second, tokens per forward and character error
 * rate for block length 1 and for block 32 at several thresholds, one region at a time. Runs are interleaved; medians are printed.
 *
 *   npx tsx bench/decode.ts [--model DIR] [--samples 24] [--rounds 3] [--data .train] [--json FILE]
 */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadRecognizer } from "../src/engine/recognizer.ts";
import type { DecodingOptions } from "../src/engine/types.ts";
import { embeddedCheckpoint } from "../src/index.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { openSynth, textPage } from "../src/synth/index.ts";
import { type EvaluationResult, evaluateReading } from "../src/train/evaluate.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: embeddedCheckpoint() },
    samples: { type: "string", default: "24" },
    rounds: { type: "string", default: "3" },
    data: { type: "string" },
    json: { type: "string" },
  },
});

const settings: readonly { readonly name: string; readonly decoding: DecodingOptions }[] = [
  { name: "autoregression (block 1)", decoding: { blockLength: 1 } },
  ...[0.99, 0.95, 0.9, 0.8, 0.6].map((threshold) => ({
    name: `block 32, τ ${threshold}`,
    decoding: { blockLength: 32, rule: { threshold } },
  })),
  { name: "block 16, τ 0.95", decoding: { blockLength: 16, rule: { threshold: 0.95 } } },
  { name: "block 8, τ 0.95", decoding: { blockLength: 8, rule: { threshold: 0.95 } } },
];

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const sources = await openSynth({
  split: "heldout",
  ...(values.data ? { fontPaths: [join(values.data, "fonts")], corpusFolder: join(values.data, "corpus") } : {}),
});
const crops = textPage(sources, 11, 0, {
  lines: [1, 1],
  widthPx: [150, 900],
  sizePx: [20, 32],
  augmentation: 0,
  cropsPerPage: Number(values.samples),
});
const samples = crops.map(({ image, text }) => ({ task: "text" as const, image, truth: text }));

await using recognizer = await loadRecognizer(values.model, nodeRuntime);
await evaluateReading(recognizer, samples.slice(0, 2), {}, 1);
const rounds = settings.map((): EvaluationResult[] => []);
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [i, { decoding }] of settings.entries())
    rounds[i].push(await evaluateReading(recognizer, samples, { ...decoding, maxTokens: 512 }, 1));
}

const baseline = median(rounds[0].map(({ tokensPerSecond }) => tokensPerSecond));
const rows = settings.map(({ name }, i) => {
  const [first] = rounds[i];
  const speed = median(rounds[i].map(({ tokensPerSecond }) => tokensPerSecond));
  return {
    name,
    characterErrorRate: first.characterErrorRate,
    tokensPerForward: first.tokensPerForward,
    tokensPerSecond: speed,
    ratio: speed / baseline,
  };
});
const table = [
  "| decoding | CER | tokens per forward | tokens/s | against autoregression |",
  "|---|--:|--:|--:|--:|",
  ...rows.map(
    ({ name, characterErrorRate, tokensPerForward, tokensPerSecond, ratio }) =>
      `| ${name} | ${(100 * characterErrorRate).toFixed(2)} % | ${tokensPerForward.toFixed(2)} | ${tokensPerSecond.toFixed(0)} | ${ratio.toFixed(2)}× |`,
  ),
];
process.stdout.write(
  `${cpus().length} × ${cpus()[0].model}; ${samples.length} crops, ${rounds[0][0].characters} characters, fonts and texts never trained on\n\n${table.join("\n")}\n`,
);
if (values.json)
  await writeFile(
    values.json,
    `${JSON.stringify({ date: new Date().toISOString(), machine: cpus()[0].model, cores: cpus().length, rows }, null, 2)}\n`,
  );
