/**
 * What a decoding pass costs by its rows, against what this machine could do (the roofline: matrix products at their measured speed, or
 * weights read at theirs, whichever takes longer), and where the time of real decoding goes: inside the runtime, around it, and into
 * the messages of the worker thread. Writes `bench/results/<date>-rows.json`.
 *
 *   npx tsx bench/rows.ts [--model DIR] [--runs 40]
 */
import { parseArgs } from "node:util";
import { openCheckpoint } from "../src/checkpoint/folder.ts";
import type { Recognizer } from "../src/engine/recognizer.ts";
import { loadRecognizer } from "../src/engine/recognizer.ts";
import { loadSessions } from "../src/engine/sessions.ts";
import { cachedWeights } from "../src/engine/weight-cache.ts";
import { loadWorkerRecognizer } from "../src/engine/worker-recognizer.ts";
import { median } from "../src/eval/decoding.ts";
import { type Machine, thisMachine } from "../src/eval/machine.ts";
import { AUTOREGRESSION, blockDiffusion, type DecodingSample, heldOutLines, heldOutSources } from "../src/eval.ts";
import { lower } from "../src/graph/lowering.ts";
import * as g from "../src/graph/ops.ts";
import { embeddedCheckpoint } from "../src/index.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import { float32, type Runtime } from "../src/runtime/session.ts";
import { decodeFeeds, decodeOperations, decodeWeightBytes } from "./decode-feeds.ts";
import { shown, writeResult } from "./results.ts";

const ROWS = [1, 2, 4, 8, 16, 32, 64, 128];
const PAST = 64;
/** One thread everywhere: more of them share a machine with others badly, and the passes are small. */
const THREADS = 1;

export interface RowCost {
  readonly rows: number;
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
  readonly rooflineMilliseconds: number;
}

/** Of one forward pass in real decoding, processor milliseconds. */
export interface StepParts {
  readonly name: string;
  readonly forwards: number;
  readonly runtime: number;
  readonly around: number;
  /** Of one answer: pictures to features, by the vision program. */
  readonly imagePerAnswer: number;
}

export interface RowsMeasurement {
  readonly kind: "rows";
  readonly date: string;
  readonly machine: Machine;
  readonly model: string;
  readonly past: number;
  /** Of products of [rows, 576] and [576, 576] in float32, one thread. */
  readonly gigaflops: number;
  /** Read speed of weights as many as the model's, one thread. */
  readonly weightGigabytesPerSecond: number;
  readonly weightMegabytes: number;
  readonly costs: readonly RowCost[];
  readonly steps: readonly StepParts[];
  /** Wall milliseconds an answer takes longer in the worker thread than in the caller's own. */
  readonly workerMillisecondsPerAnswer: number;
}

interface Cost {
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
}

async function cost(work: () => Promise<unknown>): Promise<Cost> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { milliseconds: performance.now() - began, processorMilliseconds: (user + system) / 1000 };
}

/** Medians of `runs` turns; the first turn of each warms up. */
async function costs(passes: readonly (() => Promise<unknown>)[], runs: number): Promise<Cost[]> {
  const all = passes.map((): Cost[] => []);
  for (let run = -1; run < runs; run++)
    for (const [i, pass] of passes.entries()) {
      const spent = await cost(pass);
      if (run >= 0) all[i].push(spent);
    }
  return all.map((own) => ({
    milliseconds: median(own.map(({ milliseconds }) => milliseconds)),
    processorMilliseconds: median(own.map(({ processorMilliseconds }) => processorMilliseconds)),
  }));
}

/** `count` products in a row of [rows, width] with weights [width, width] of their own. */
async function productChain(rows: number, width: number, count: number) {
  let value = g.input("x", "float32", [rows, width]);
  for (let i = 0; i < count; i++) value = g.linear(value, g.parameter(`w${i}`, [width, width])) as typeof value;
  const weights = Float32Array.from({ length: width * width }, (_, i) => Math.sin(i) / width);
  const program = lower({ name: "products", outputs: { y: value } }, () => ({ kind: "inline", data: weights }));
  const session = await nodeRuntime.load(program, { threads: THREADS });
  const x = float32(new Float32Array(rows * width).fill(0.5), [rows, width]);
  return { run: () => session.run({ x }, ["y"]), release: () => session.release() };
}

/** The machine's own speed: products of many rows, and of one row, which only reads weights. */
async function machineSpeed(weightBytes: number, runs: number): Promise<{ gigaflops: number; gigabytesPerSecond: number }> {
  const width = 576;
  const count = Math.max(1, Math.round(weightBytes / (4 * width * width)));
  const [many, one] = [await productChain(256, width, 4), await productChain(1, width, count)];
  const [products, reading] = await costs([many.run, one.run], runs);
  await many.release();
  await one.release();
  return {
    gigaflops: (2 * 256 * width * width * 4) / products.processorMilliseconds / 1e6,
    gigabytesPerSecond: (4 * width * width * count) / reading.processorMilliseconds / 1e6,
  };
}

/** A runtime that adds up what its sessions spend. */
function measuredRuntime(): { runtime: Runtime; spent: Map<string, number>; runs: Map<string, number> } {
  const [spent, runs] = [new Map<string, number>(), new Map<string, number>()];
  const runtime: Runtime = {
    load: async (program, options) => {
      const session = await nodeRuntime.load(program, options);
      const kind = program.inputs.includes("pixels") ? "image" : "decode";
      return {
        release: () => session.release(),
        run: async (...args) => {
          const before = process.cpuUsage();
          const outputs = await session.run(...args);
          const { user, system } = process.cpuUsage(before);
          spent.set(kind, (spent.get(kind) ?? 0) + (user + system) / 1000);
          runs.set(kind, (runs.get(kind) ?? 0) + 1);
          return outputs;
        },
      };
    },
  };
  return { runtime, spent, runs };
}

async function stepParts(model: string, lines: readonly DecodingSample[]): Promise<StepParts[]> {
  const { runtime, spent, runs } = measuredRuntime();
  await using recognizer = await loadRecognizer(model, runtime, { threads: THREADS });
  const parts: StepParts[] = [];
  for (const { name, decoding } of [AUTOREGRESSION, blockDiffusion(8, 0.95), blockDiffusion(32, 0.95)]) {
    const requests = lines.map(({ image }) => ({ task: "text" as const, image, decoding }));
    await recognizer.recognize(requests.slice(0, 2), { batchSize: 1 });
    spent.clear();
    runs.clear();
    const { processorMilliseconds } = await cost(() => recognizer.recognize(requests, { batchSize: 1 }));
    const forwards = runs.get("decode")!;
    const [decode, image] = [spent.get("decode")!, spent.get("image")!];
    parts.push({
      name,
      forwards,
      runtime: decode / forwards,
      around: (processorMilliseconds - decode - image) / forwards,
      imagePerAnswer: image / lines.length,
    });
  }
  return parts;
}

async function workerCost(model: string, lines: readonly DecodingSample[]): Promise<number> {
  await using own = await loadRecognizer(model, nodeRuntime, { threads: THREADS });
  await using worker = await loadWorkerRecognizer(model, { threads: THREADS });
  const ask =
    (recognizer: Recognizer, { image }: DecodingSample) =>
    () =>
      recognizer.recognize([{ task: "text", image, decoding: blockDiffusion(32, 0.95).decoding }], { batchSize: 1 });
  const passes = lines.slice(0, 8).flatMap((line) => [ask(own, line), ask(worker, line)]);
  const spent = await costs(passes, 7);
  return median(spent.flatMap(({ milliseconds }, i) => (i % 2 === 1 ? [milliseconds - spent[i - 1].milliseconds] : [])));
}

export async function measureRows({ model, runs, data }: { model: string; runs: number; data?: string }): Promise<RowsMeasurement> {
  const checkpoint = await openCheckpoint(model);
  const sessions = await loadSessions(checkpoint, nodeRuntime, cachedWeights, { threads: THREADS, precision: "float32" });
  const { config } = checkpoint;
  const weightBytes = decodeWeightBytes(config);
  const show = shown("rows");
  show(0, 4);
  const { gigaflops, gigabytesPerSecond } = await machineSpeed(weightBytes, runs);
  show(1, 4);
  const spent = await costs(
    ROWS.map((rows) => {
      const feeds = decodeFeeds(config, rows, PAST);
      return () => sessions.decode.run(feeds, ["logits"]);
    }),
    runs,
  );
  await sessions[Symbol.asyncDispose]();
  await checkpoint.close();
  show(2, 4);
  const lines = heldOutLines(await heldOutSources(data), 12);
  const steps = await stepParts(model, lines);
  show(3, 4);
  const workerMillisecondsPerAnswer = await workerCost(model, lines);
  show(4, 4);
  return {
    kind: "rows",
    date: new Date().toISOString(),
    machine: thisMachine(),
    model: model.split(/[\\/]/).filter(Boolean).at(-1)!,
    past: PAST,
    gigaflops,
    weightGigabytesPerSecond: gigabytesPerSecond,
    weightMegabytes: weightBytes / 1e6,
    costs: ROWS.map((rows, i) => ({
      rows,
      ...spent[i],
      rooflineMilliseconds: Math.max(decodeOperations(config, rows, PAST) / gigaflops, weightBytes / gigabytesPerSecond) / 1e6,
    })),
    steps,
    workerMillisecondsPerAnswer,
  };
}

if (process.argv[1]?.endsWith("rows.ts")) {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: embeddedCheckpoint() },
      runs: { type: "string", default: "40" },
      data: { type: "string" },
    },
  });
  const measurement = await measureRows({ ...values, runs: Number(values.runs) });
  process.stdout.write(`${JSON.stringify(measurement, null, 1)}\n${await writeResult(measurement)}\n`);
}
