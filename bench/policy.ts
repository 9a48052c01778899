/**
 * Learns a decoding policy from traces: held-out synthetic lines, every one decoded with every setting; rules from half of them, judged on
 * the other half against the best single setting with the same allowance of errors. Cost is processor time, so that other work on the
 * machine does not count. Writes `policy.json` where it is told to.
 *
 *   npx tsx bench/policy.ts [--model DIR] [--lines 60] [--data .train] [--output policy.json]
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { bestSetting, complexityOf, learnRules, type PolicySetting, type PolicyTrace } from "../src/document/decoding-policy.ts";
import { heldOutLines, heldOutSources } from "../src/eval.ts";
import { embeddedCheckpoint, load } from "../src/index.ts";
import { levenshtein } from "../src/metrics/edit-distance.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: embeddedCheckpoint() },
    lines: { type: "string", default: "60" },
    data: { type: "string" },
    output: { type: "string" },
  },
});
/** Errors the rules may make, over those of the most exact setting. */
const ALLOWANCE = 1.02;
const settings: readonly PolicySetting[] = [
  { blockLength: 1, threshold: 0.95 },
  ...[4, 8, 32].flatMap((blockLength) => [0.6, 0.8, 0.9, 0.95].map((threshold) => ({ blockLength, threshold }))),
];
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const samples = heldOutLines(await heldOutSources(values.data), Number(values.lines));
await using parser = await load({ model: values.model, thread: "own", threads: 1 });
await parser.recognize([{ task: "text", image: samples[0].image }]);
const traces: PolicyTrace[][] = [];
for (const { image, truth } of samples) {
  const complexity = complexityOf(image);
  const own: PolicyTrace[] = [];
  for (const { blockLength, threshold } of settings) {
    const before = processorMs();
    const [{ text }] = await parser.recognize([{ task: "text", image, decoding: { blockLength, rule: { threshold } } }]);
    own.push({ task: "text", complexity, blockLength, threshold, errors: levenshtein(text.trim(), truth), cost: processorMs() - before });
  }
  traces.push(own);
  process.stderr.write(`\r${traces.length} of ${samples.length} lines`);
}
process.stderr.write("\n");

const [learnt, judged] = [0, 1].map((half) => traces.filter((_, i) => i % 2 === half).flat());
const errorsOf = (of: readonly PolicyTrace[], { blockLength, threshold }: PolicySetting): PolicyTrace[] =>
  of.filter((trace) => trace.blockLength === blockLength && trace.threshold === threshold);
const sum = (of: readonly PolicyTrace[], what: "errors" | "cost"): number => of.reduce((total, trace) => total + trace[what], 0);
const fewest = Math.min(...settings.map((setting) => sum(errorsOf(learnt, setting), "errors")));
const single = bestSetting(learnt, fewest * ALLOWANCE);
const rules = learnRules("text", learnt, fewest * ALLOWANCE);
const byRules = judged.filter((trace) => {
  const rule = rules.find(({ when }) =>
    Object.entries(when).every(([measure, [least, most]]) => {
      const value = trace.complexity[measure as "length" | "inkDensity"];
      return (least === null || value >= least) && (most === null || value < most);
    }),
  );
  return rule?.blockLength === trace.blockLength && rule.threshold === trace.threshold;
});
const row = (name: string, of: readonly PolicyTrace[]): string => `| ${name} | ${sum(of, "errors")} | ${sum(of, "cost").toFixed(0)} ms |`;
process.stdout.write(
  [
    `${judged.length / settings.length} lines judged, ${learnt.length / settings.length} learnt from; processor time`,
    "",
    "| setting | errors | cost |",
    "|---|--:|--:|",
    ...settings.map((setting) => row(`block ${setting.blockLength}, τ ${setting.threshold}`, errorsOf(judged, setting))),
    row(`best single: block ${single.blockLength}, τ ${single.threshold}`, errorsOf(judged, single)),
    row("rules", byRules),
    "",
    ...rules.map(({ when, blockLength, threshold }) => `${JSON.stringify(when)}: block ${blockLength}, τ ${threshold}`),
    "",
  ].join("\n"),
);
if (values.output) {
  const policy = { format: "mineru-diffusion/policy", version: 1, checkpoint: parser.recognizer.info.name, rules };
  await writeFile(values.output, `${JSON.stringify(policy, null, 2)}\n`);
}
