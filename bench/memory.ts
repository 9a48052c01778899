/**
 * Whether a long document costs more memory than a short one: a synthetic PDF of small pages with a line or two each, read page by page by
 * one process; resident memory every 50 pages. The criterion is the last within 10 % of the first.
 *
 *   npx tsx --expose-gc bench/memory.ts [--pages 500] [--model DIR]
 */
import { parseArgs } from "node:util";
import { embeddedCheckpoint, load } from "../src/index.ts";
import { openTypesetter, typstString } from "../src/synth/typeset.ts";

const { values } = parseArgs({
  options: { pages: { type: "string", default: "500" }, model: { type: "string", default: embeddedCheckpoint() } },
});
const pageCount = Number(values.pages);
const every = 50;

const typesetter = await openTypesetter();
const pages = Array.from(
  { length: pageCount },
  (_, i) => `#text(${typstString(`Page number ${i + 1}`)})\n\n#text(${typstString("a few words")})`,
);
const pdf = typesetter.pdf(`#set page(width: 180pt, height: 90pt, margin: 12pt)\n#set text(size: 11pt)\n${pages.join("\n#pagebreak()\n")}`);

await using parser = await load({ model: values.model, threads: 1 });
process.stdout.write(`| page | resident memory | JavaScript heap |\n|--:|--:|--:|\n`);
const resident: number[] = [];
let count = 0;
for await (const { page } of parser.parse(pdf, { window: 2 })) {
  if (page.warnings.some(({ kind }) => kind === "page-failed")) throw new Error(`page ${page.index + 1} expected to be read`);
  if (++count % every > 0) continue;
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  resident.push(rss);
  process.stdout.write(`| ${count} | ${(rss / 1e6).toFixed(0)} MB | ${(heapUsed / 1e6).toFixed(0)} MB |\n`);
}
const growth = resident[resident.length - 1] / resident[0] - 1;
process.stdout.write(`\nlast against first: ${(100 * growth).toFixed(1)} %\n`);
if (growth > 0.1) process.exitCode = 1;
