/**
 * Load on the server: many clients at once for a while – chat completions whole and streamed, documents, and clients that hang up – and what
 * became of it: answers by status, memory and delay of the event loop at intervals, and whether every place is free again afterwards.
 *
 *   npx tsx bench/load.ts --parallel 64 --seconds 600            # starts a server of the built command line
 *   npx tsx bench/load.ts --url http://127.0.0.1:8000 --seconds 60
 *
 * Ends with 1 when an answer was a 5xx other than 503, or a place was not freed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { decodeImage, encodePng } from "../src/index.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    parallel: { type: "string", default: "64" },
    seconds: { type: "string", default: "600" },
    every: { type: "string", default: "10" },
    model: { type: "string" },
    threads: { type: "string", default: "2" },
    concurrency: { type: "string" },
  },
});
const [parallel, seconds, every] = [Number(values.parallel), Number(values.seconds), Number(values.every)];
const samples = new URL("../test/samples/", import.meta.url);

async function startServer(): Promise<{ url: string; stop: () => Promise<number> }> {
  const main = new URL("../dist/cli/main.js", import.meta.url).pathname;
  const model = values.model ? ["--model", values.model] : [];
  const concurrency = values.concurrency ? ["--concurrency", values.concurrency] : [];
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--quiet", "--threads", values.threads, ...model, ...concurrency], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    let log = "";
    child.stderr.on("data", (chunk) => {
      log += chunk;
      const address = /on (http:\S+)/.exec(log)?.[1];
      if (address) resolve(address);
    });
    child.once("close", () => reject(new Error(log)));
  });
  return {
    url,
    stop: async () => {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      return (await closed)[0] as number;
    },
  };
}

const server = values.url ? { url: values.url, stop: async () => 0 } : await startServer();
const { url } = server;

/** A line of print, so that an answer takes no longer than one does. */
async function lineOfPrint(): Promise<string> {
  const { width, height, data } = await decodeImage(await readFile(new URL("testocr.png", samples)));
  const top = Math.round(height * 0.18);
  const rows = Math.round(height * 0.1);
  const png = await encodePng({ width, height: rows, data: data.slice(top * width * 3, (top + rows) * width * 3) });
  return `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
}

const line = await lineOfPrint();
const pdf = await readFile(new URL("ocr_test.pdf", samples));
const chat = (stream: boolean) =>
  JSON.stringify({
    stream,
    max_tokens: 128,
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: line } },
          { type: "text", text: "\nText Recognition:" },
        ],
      },
    ],
  });

type Kind = "whole" | "stream" | "document" | "hang-up";
/** Of ten requests. */
const mix: readonly Kind[] = ["whole", "whole", "whole", "stream", "stream", "stream", "whole", "document", "hang-up", "hang-up"];
const counts = new Map<string, number>();
const times: number[] = [];
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

async function ask(kind: Kind): Promise<void> {
  const signal = kind === "hang-up" ? AbortSignal.timeout(Math.round(50 + Math.random() * 1000)) : undefined;
  const began = performance.now();
  try {
    let response: Response;
    if (kind === "document") {
      const form = new FormData();
      form.append("files", new File([pdf], "page.pdf"));
      form.append("return_images", "true");
      response = await fetch(`${url}/file_parse`, { method: "POST", body: form, signal });
    } else response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: chat(kind === "stream"), signal });
    const text = await response.text();
    count(`${kind} ${response.status}${kind === "stream" && response.ok && !text.includes("[DONE]") ? " broken" : ""}`);
    if (response.ok) times.push(performance.now() - began);
    if (response.status === 429 || response.status === 503)
      await sleep(1000 * Math.min(5, Number(response.headers.get("retry-after") ?? 1)));
  } catch (error) {
    count(`${kind} ${signal?.aborted ? "hung up" : `failed: ${(error as { cause?: Error }).cause?.message ?? (error as Error).message}`}`);
  }
}

/** The delay of a thread that has nothing to do: what the machine itself adds, other programs on it included. */
const idle = new Worker(
  `const { monitorEventLoopDelay } = require("node:perf_hooks");
   const { parentPort } = require("node:worker_threads");
   const delay = monitorEventLoopDelay({ resolution: 10 });
   delay.enable();
   parentPort.on("message", () => { parentPort.postMessage([delay.percentile(99), delay.max].map((ns) => Math.max(0, ns / 1e9 - 0.01))); delay.reset(); });`,
  { eval: true },
);
idle.unref();
async function idleDelay(): Promise<readonly [high: number, most: number]> {
  idle.postMessage(null);
  return (await once(idle, "message"))[0];
}

async function gauges(): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Object.fromEntries([...text.matchAll(/^([a-z_0-9]+) ([\d.e+-]+)$/gm)].map(([, name, value]) => [name, Number(value)]));
}

const milliseconds = (value: number): string => `${(value * 1000).toFixed(0)} ms`;
const memory: number[] = [];
const delays: number[] = [];
const began = performance.now();
const end = began + seconds * 1000;
await gauges();
const clients = Promise.all(
  Array.from({ length: parallel }, async (_, client) => {
    for (let i = client; performance.now() < end; i++) await ask(mix[i % mix.length]);
  }),
);
while (performance.now() < end) {
  await sleep(Math.min(every * 1000, Math.max(1, end - performance.now())));
  const [now, [idleHigh, idleMost]] = [await gauges(), await idleDelay()];
  const mib = now.process_resident_memory_bytes / 1024 ** 2;
  memory.push(mib);
  delays.push(now.nodejs_eventloop_lag_max_seconds);
  console.log(
    `${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${mib.toFixed(0)} MiB  event loop p99 ${milliseconds(now.nodejs_eventloop_lag_p99_seconds)}, max ${milliseconds(now.nodejs_eventloop_lag_max_seconds)} (an idle thread ${milliseconds(idleHigh)}, ${milliseconds(idleMost)})  working ${now.mineru_requests_working}, waiting ${now.mineru_requests_waiting}`,
  );
}
await clients;
let busy = Number.NaN;
for (let wait = 0; wait < 100 && busy !== 0; wait++) {
  const { mineru_requests_working: working, mineru_requests_waiting: waiting } = await gauges();
  busy = working + waiting;
  if (busy > 0) await sleep(100);
}
const exitCode = await server.stop();

times.sort((a, b) => a - b);
const quantile = (share: number): string => `${((times[Math.floor(share * (times.length - 1))] ?? 0) / 1000).toFixed(1)} s`;
for (const [what, number] of [...counts].sort()) console.log(`${String(number).padStart(7)}  ${what}`);
const bad = [...counts].filter(([what]) => / 5(?!03)\d\d| broken| failed/.test(what)).reduce((sum, [, number]) => sum + number, 0);
const quarter = Math.max(1, Math.floor(memory.length / 4));
const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;
console.log(
  `${times.length} answers, ${(times.length / seconds).toFixed(1)} a second; median ${quantile(0.5)}, 99 % within ${quantile(0.99)}; memory ${mean(memory.slice(quarter, 2 * quarter)).toFixed(0)} → ${mean(memory.slice(-quarter)).toFixed(0)} MiB (second and last quarter); event loop at most ${milliseconds(Math.max(...delays))} late; places taken afterwards: ${busy}; 5xx and broken: ${bad}; the server ended with ${exitCode}`,
);
process.exitCode = bad > 0 || busy !== 0 || exitCode !== 0 ? 1 : 0;
