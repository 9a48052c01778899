/** Command-line entry of the training room: `node dist/train/main.js RECIPE FOLDER [--data DIR] [--threads N] [--steps N]`. */
import { parseArgs } from "node:util";
import { runTraining } from "./run.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { data: { type: "string" }, threads: { type: "string" }, steps: { type: "string" }, every: { type: "string" } },
});
const [recipePath, folder] = positionals;
if (!recipePath || !folder) {
  process.stderr.write("usage: train RECIPE.json FOLDER [--data DIR] [--threads N] [--steps N] [--every N]\n");
  process.exit(2);
}
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
const every = Number(values.every ?? 20);
await runTraining({
  recipePath,
  folder,
  dataFolder: values.data,
  threads: values.threads === undefined ? undefined : Number(values.threads),
  maxSteps: values.steps === undefined ? undefined : Number(values.steps),
  signal: stop.signal,
  onStep: (report) => {
    if (report.step % every !== 0 && report.step > 3) return;
    const losses = Object.entries(report.losses).map(([name, value]) => `${name} ${value.toFixed(4)}`);
    const parts = [`step ${report.step}`, report.stage, ...losses, `norm ${report.gradientNorm.toFixed(2)}`, `${report.samples} samples`];
    parts.push(
      `${report.imageTokens} tokens`,
      `${report.rows} rows`,
      `${Math.round(report.milliseconds)} ms`,
      `waited ${Math.round(report.waitedMilliseconds)} ms`,
    );
    process.stderr.write(`${parts.join("  ")}\n`);
  },
});
