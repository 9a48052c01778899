/**
 * Other readers on the same pages in the same run: Tesseract (tesseract.js) and PP-OCRv4 (@gutenye/ocr-node), both with the models that
 * their packages bring along, beside this project's checkpoint. Character error rate and seconds a page, rounds interleaved, medians.
 * Writes `bench/results/<date>-peers.json`.
 *
 *   cd bench/peers && npm install --ignore-scripts && cd ../..
 *   npx tsx bench/peers/compare.ts [--model DIR] [--pages test/samples] [--rounds 3]
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "../../src/eval/decoding.ts";
import { type Machine, machineText, thisMachine } from "../../src/eval/machine.ts";
import { plainText } from "../../src/eval/plain-text.ts";
import { blockDiffusion, type DecodingSample, pagesIn } from "../../src/eval.ts";
import { assemble, embeddedCheckpoint, encodePng, load, type Parser, writeMarkdown } from "../../src/index.ts";
import { countEdits } from "../../src/metrics/edit-distance.ts";
import { codePointLength } from "../../src/metrics/python-text.ts";
import { writeResult } from "../results.ts";

interface Page extends DecodingSample {
  /** The picture as a file, which is what the peers read. */
  readonly path: string;
}

interface Reader {
  readonly name: string;
  /** The text of a page, hyphens at line ends joined. */
  read(page: Page): Promise<string>;
  close(): Promise<void>;
}

interface PeerRow {
  readonly name: string;
  readonly characterErrorRate: number;
  readonly secondsPerPage: number;
  readonly processorSecondsPerPage: number;
  readonly pages: readonly { readonly name: string; readonly characterErrorRate: number; readonly seconds: number }[];
}

interface PeerMeasurement {
  readonly kind: "peers";
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly rows: readonly PeerRow[];
}

// The packages lie in this folder alone, so the rest of the project compiles without them.
const require = createRequire(import.meta.url);
const imported = async <T>(name: string): Promise<T> => (await import(require.resolve(name))) as T;
const withoutHyphens = (lines: string): string => lines.replace(/(?<=\p{Ll})-\n(?=\p{Ll})/gu, "");

interface TesseractPackage {
  createWorker(
    language: string,
    engine: number,
    options: object,
  ): Promise<{ recognize(path: string): Promise<{ data: { text: string } }>; terminate(): Promise<unknown> }>;
}

async function tesseract(): Promise<Reader> {
  const { createWorker } = await imported<TesseractPackage>("tesseract.js");
  const data = join(dirname(require.resolve("@tesseract.js-data/eng/package.json")), "4.0.0_best_int");
  const worker = await createWorker("eng", 1, { langPath: data, cacheMethod: "none", gzip: true });
  return {
    name: "Tesseract (tesseract.js 7.0.0, eng best_int)",
    read: async ({ path }) => withoutHyphens((await worker.recognize(path)).data.text),
    close: async () => void (await worker.terminate()),
  };
}

interface PaddlePackage {
  readonly default: { create(options?: object): Promise<{ detect(path: string): Promise<readonly { readonly text: string }[]> }> };
}

async function paddle(): Promise<Reader> {
  const { default: Ocr } = await imported<PaddlePackage>("@gutenye/ocr-node");
  const ocr = await Ocr.create();
  return {
    name: "PP-OCRv4 (@gutenye/ocr-node 1.4.8)",
    read: async ({ path }) => withoutHyphens((await ocr.detect(path)).map(({ text }) => text).join("\n")),
    close: async () => {},
  };
}

function ours(parser: Parser, blockLength: number): Reader {
  const { name, decoding } = blockDiffusion(blockLength, 0.95);
  return {
    name: blockLength === 1 ? `${parser.recognizer.info.name}, autoregression` : `${parser.recognizer.info.name}, ${name}`,
    read: async ({ image }) => {
      const pages = [];
      for await (const { page } of parser.parse(image, { decoding })) pages.push(page);
      return writeMarkdown(assemble(pages, { unwrap: parser.recognizer.info.profile.printedLineBreaks }));
    },
    close: async () => {},
  };
}

const { values } = parseArgs({
  options: {
    model: { type: "string", default: embeddedCheckpoint() },
    pages: { type: "string", default: new URL("../../test/samples", import.meta.url).pathname },
    rounds: { type: "string", default: "3" },
  },
});
const rounds = Number(values.rounds);
const folder = await mkdtemp(join(tmpdir(), "peers-"));
const parser = await load({ model: values.model, thread: "own" });
try {
  const pages = await Promise.all(
    (await pagesIn(values.pages)).map(async (sample, i): Promise<Page> => {
      const path = join(folder, `${i}.png`);
      await writeFile(path, await encodePng(sample.image));
      return { ...sample, path };
    }),
  );
  const readers = [...[1, 8, 32].map((length) => ours(parser, length)), await tesseract(), await paddle()];
  const times = readers.map(() => pages.map((): { wall: number; processor: number }[] => []));
  const texts = readers.map((): string[] => []);
  for (let round = -1; round < rounds; round++)
    for (const [p, page] of pages.entries())
      for (const [r, reader] of readers.entries()) {
        const [began, before] = [performance.now(), process.cpuUsage()];
        texts[r][p] = await reader.read(page);
        const { user, system } = process.cpuUsage(before);
        if (round >= 0) times[r][p].push({ wall: (performance.now() - began) / 1000, processor: (user + system) / 1e6 });
      }
  const sum = (numbers: readonly number[]) => numbers.reduce((total, value) => total + value, 0);
  const rows = readers.map(({ name }, r): PeerRow => {
    const scored = pages.map((page, p) => {
      const truth = plainText(page.truth);
      return { edits: countEdits(plainText(texts[r][p]), truth).distance, characters: codePointLength(truth) };
    });
    const seconds = (kind: "wall" | "processor", p: number) => median(times[r][p].map((time) => time[kind]));
    return {
      name,
      characterErrorRate: sum(scored.map(({ edits }) => edits)) / sum(scored.map(({ characters }) => characters)),
      secondsPerPage: sum(pages.map((_, p) => seconds("wall", p))) / pages.length,
      processorSecondsPerPage: sum(pages.map((_, p) => seconds("processor", p))) / pages.length,
      pages: pages.map((page, p) => ({
        name: page.name,
        characterErrorRate: scored[p].edits / scored[p].characters,
        seconds: seconds("wall", p),
      })),
    };
  });
  const measurement: PeerMeasurement = { kind: "peers", date: new Date().toISOString(), machine: thisMachine(), rounds, rows };
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  process.stdout.write(
    `${[
      `| ${machineText(measurement.machine)} | CER | ${pages.map(({ name }) => name).join(" | ")} | seconds a page | processor seconds |`,
      `|---|--:|${"--:|".repeat(pages.length)}--:|--:|`,
      ...rows.map(
        (row) =>
          `| ${row.name} | ${percent(row.characterErrorRate)} | ${row.pages.map((page) => percent(page.characterErrorRate)).join(" | ")} | ` +
          `${row.secondsPerPage.toFixed(2)} | ${row.processorSecondsPerPage.toFixed(2)} |`,
      ),
    ].join("\n")}\n${await writeResult(measurement)}\n`,
  );
  for (const reader of readers) await reader.close();
} finally {
  await parser.close();
  await rm(folder, { recursive: true });
}
