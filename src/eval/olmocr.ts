/**
 * olmOCR-bench: files of unit tests (`*.jsonl`) about pages of `pdfs/`. A page's answer is Markdown; the score of a file is the share of
 * its tests that pass, the overall score the mean over files, with a file's worth of baseline tests for documents that have none. A page
 * without an answer fails its tests. Formulas are compared by MathML, since the official boxes need a browser.
 */
import { join } from "node:path";
import { MineruError } from "../error.ts";
import { type OlmOcrTest, runOlmOcrTest } from "../metrics/olmocr.ts";
import { mathmlRenderer } from "../metrics/olmocr-math.ts";
import { type Answers, type EvalItem, meanOf, type OpenBenchmark } from "./benchmark.ts";
import { isObject, namesIn, parseJson, picturesOf, textOf } from "./data-files.ts";

interface PageTest {
  /** The file it stands in, without ending. */
  readonly file: string;
  readonly id: string;
  readonly pdf: string;
  /** From 1. */
  readonly page: number;
  readonly test: OlmOcrTest;
}

async function testsOf(folder: string, name: string): Promise<PageTest[]> {
  const path = join(folder, name);
  const lines = (await textOf(path)).split("\n").map((line, i) => ({ line: line.trim(), where: `${path} line ${i + 1}` }));
  return lines
    .filter(({ line }) => line !== "")
    .map(({ line, where }): PageTest => {
      const json = parseJson(line, where);
      if (!isObject(json) || typeof json.pdf !== "string" || typeof json.page !== "number" || typeof json.type !== "string")
        throw new MineruError("data-invalid", `${where} expected \`pdf\`, \`page\` and \`type\`; fetch the data again`);
      return {
        file: name.replace(/\.jsonl$/, ""),
        id: String(json.id),
        pdf: json.pdf,
        page: json.page,
        test: json as unknown as OlmOcrTest,
      };
    });
}

const pageId = ({ pdf, page }: Pick<PageTest, "pdf" | "page">): string => `${pdf.replace(/\.[^.]*$/, "")}_pg${page}`;

/** Documents that no file has a baseline test for get one, on their first page. */
function baselines(tests: readonly PageTest[]): PageTest[] {
  const covered = new Set(tests.filter(({ test }) => test.type === "baseline").map(({ pdf }) => pdf));
  const pdfs = [...new Set(tests.map(({ pdf }) => pdf))].filter((pdf) => !covered.has(pdf));
  return pdfs.map((pdf) => ({ file: "baseline", id: `${pdf}_baseline`, pdf, page: 1, test: { type: "baseline" } }));
}

const askedFor = (test: OlmOcrTest): string => {
  const { type, ...rest } = test as Readonly<Record<string, unknown>>;
  const known = [
    "text",
    "before",
    "after",
    "format",
    "cell",
    "up",
    "down",
    "left",
    "right",
    "top_heading",
    "left_heading",
    "math",
    "marker",
  ];
  return `${type}: ${known.flatMap((key) => (rest[key] ? [`${key} ${JSON.stringify(rest[key])}`] : [])).join(", ")}`;
};

export const openOlmOcr: OpenBenchmark = async (folder) => {
  const names = ((await namesIn(folder)) ?? []).filter((name) => name.endsWith(".jsonl"));
  const written = (await Promise.all(names.map((name) => testsOf(folder, name)))).flat();
  if (written.length === 0)
    throw new MineruError("file-unreadable", `${folder} expected files of tests (*.jsonl) beside pdfs/; check --data`);
  const tests = [...written, ...baselines(written)];
  const pages = new Map(tests.map((entry) => [pageId(entry), entry]));
  return {
    name: "olmOCR-bench",
    items: [...pages].map(
      ([id, { pdf, page }]): EvalItem => ({
        id,
        aliases: [`${id}_repeat1.md`],
        reading: { kind: "page" },
        pictures: () => picturesOf(join(folder, "pdfs", pdf), page - 1),
      }),
    ),
    judge: async (answers: Answers, mode) => {
      const render = await mathmlRenderer();
      const results = tests
        .filter((entry) => answers.has(pageId(entry)))
        .map((entry) => {
          const answer = answers.get(pageId(entry)) ?? null;
          return { ...entry, passed: answer !== null && runOlmOcrTest(entry.test, answer, { mode, render }) };
        });
      const share = (members: readonly { readonly passed: boolean }[]) => meanOf(members.map(({ passed }) => Number(passed)));
      const grouped = (title: string, keyOf: (result: (typeof results)[number]) => string) => {
        const keys = [...new Set(results.map(keyOf))].sort();
        const rows = keys.map((name) => {
          const members = results.filter((result) => keyOf(result) === name);
          return { name, count: members.length, values: [share(members)] };
        });
        return { title, columns: ["passed"], rows };
      };
      const byFile = grouped("By file", ({ file }) => file);
      return {
        scores: [
          { name: "passed, mean of the files", value: meanOf(byFile.rows.map(({ values }) => values[0])), better: "higher" },
          { name: "passed, all tests", value: share(results), better: "higher" },
        ],
        groups: [byFile, grouped("By type", ({ test }) => test.type)],
        cases: [...answers.keys()].map((id) => {
          const own = results.filter((entry) => pageId(entry) === id);
          const failed = own.filter(({ passed }) => !passed);
          return {
            id,
            score: share(own),
            truth: (failed.length > 0 ? failed : own).map(({ test }) => askedFor(test)).join("\n"),
            details: { tests: own.length, failed: failed.length },
          };
        }),
        notes: ["math tests compare KaTeX's MathML only, without boxes: some that pass officially fail here"],
      };
    },
  };
};
