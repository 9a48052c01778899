/**
 * How a checkpoint reads the real pages that ship with the tests: character error rate, white space folded, by block length. Greedy, so
 * every run on one kind of machine prints the same.
 *
 *   npx tsx bench/pages.ts [--model DIR]
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { assemble, embeddedCheckpoint, load, type ParsedPage, writeMarkdown } from "../src/index.ts";
import { characterErrorRate } from "../src/metrics/edit-distance.ts";

const { values } = parseArgs({ options: { model: { type: "string", default: embeddedCheckpoint() } } });
const samples = new URL("../test/samples/", import.meta.url);
/** White space, pictures and broken words do not count: a truth is broken where the page is. */
const folded = (text: string): string =>
  text
    .replace(/!\[\]\([^)]*\)/g, "")
    .replace(/(\p{L})-\n(?=\p{Ll})/gu, "$1")
    .replace(/\s+/g, " ")
    .trim();
const blockLengths = [1, 4, 32];

const parser = await load({ model: values.model, thread: "own" });
process.stdout.write(
  `| page | ${blockLengths.map((length) => `block ${length}`).join(" | ")} |\n|---|${blockLengths.map(() => "--:").join("|")}|\n`,
);
for (const name of ["phototest.tif", "testocr.png", "ocr_test.pdf", "layout/magazine.tif", "layout/eurotext.tif"]) {
  const truth = folded(await readFile(new URL(name.replace(/\.\w+$/, ".txt"), samples), "utf8"));
  const rates: string[] = [];
  for (const blockLength of blockLengths) {
    const pages: ParsedPage[] = [];
    for await (const { page } of parser.parse(await readFile(new URL(name, samples)), { decoding: { blockLength } })) pages.push(page);
    const text = writeMarkdown(assemble(pages, { unwrap: parser.recognizer.info.profile.printedLineBreaks }));
    rates.push(`${(100 * (characterErrorRate(folded(text), truth) ?? 1)).toFixed(1)} %`);
  }
  process.stdout.write(`| ${name} | ${rates.join(" | ")} |\n`);
}
await parser.close();
