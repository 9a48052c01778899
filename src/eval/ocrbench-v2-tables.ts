/**
 * The table parsing items of OCRBench v2: one JSON list (`OCRBench_v2.json`, or the only JSON file of the folder) and the pictures it
 * names. Every picture is read as one table; where the question asks for Markdown, the answer is written so. A missing answer counts 0.
 */
import { join } from "node:path";
import { parseTableHtml } from "../document/table-html.ts";
import { MineruError } from "../error.ts";
import { scoreOcrBenchTable, type TableItem } from "../metrics/ocrbench-v2.ts";
import { type EvalItem, meanOf, type OpenBenchmark } from "./benchmark.ts";
import { isObject, namesIn, parseJson, picturesOf, textOf } from "./data-files.ts";

const ANNOTATIONS = "OCRBench_v2.json";
const TYPES: readonly string[] = ["table parsing en", "table parsing cn"] satisfies TableItem["type"][];

interface Item {
  readonly id: string;
  readonly dataset: string;
  readonly type: TableItem["type"];
  readonly image: string;
  readonly question: string;
  readonly truth: string;
}

function itemOf(value: unknown, where: string): Item | null {
  if (!isObject(value) || !TYPES.includes(String(value.type))) return null;
  const { id, type, image_path: image, question, answers, dataset_name: dataset } = value;
  const truth = Array.isArray(answers) ? answers[0] : undefined;
  if (typeof image !== "string" || typeof question !== "string" || typeof truth !== "string")
    throw new MineruError(
      "data-invalid",
      `${where} expected \`image_path\`, \`question\` and \`answers\` in item ${id}; fetch the data again`,
    );
  return { id: String(id), dataset: String(dataset ?? ""), type: type as TableItem["type"], image, question, truth };
}

async function annotationsIn(folder: string): Promise<string> {
  const files = ((await namesIn(folder)) ?? []).filter((name) => name.endsWith(".json"));
  const file = files.includes(ANNOTATIONS) ? ANNOTATIONS : files.length === 1 ? files[0] : undefined;
  if (file === undefined) throw new MineruError("file-unreadable", `${folder} expected ${ANNOTATIONS}; check --data`);
  return join(folder, file);
}

const asksForHtml = ({ type, question }: Item): boolean => type === "table parsing cn" || /html/i.test(question);

/** HTML as a pipe table without spans, which this question's answers have none of: covered places are empty. */
function asMarkdown(html: string): string {
  const rows = parseTableHtml(html).map(
    (row) => `| ${row.map((cell) => (cell?.text ?? "").replace(/\s+/g, " ").replaceAll("|", "\\|").trim()).join(" | ")} |`,
  );
  if (rows.length === 0) return html;
  const columns = rows[0].split(/(?<!\\)\|/).length - 2;
  return [rows[0], `|${"---|".repeat(columns)}`, ...rows.slice(1)].join("\n");
}

export const openOcrBenchTables: OpenBenchmark = async (folder) => {
  const path = await annotationsIn(folder);
  const json = parseJson(await textOf(path), path);
  if (!Array.isArray(json)) throw new MineruError("data-invalid", `${path} expected a list of items; fetch the data again`);
  const items = json.map((value) => itemOf(value, path)).filter((item) => item !== null);
  if (items.length === 0) throw new MineruError("data-invalid", `${path} expected items of type ${TYPES.join(" or ")}, got none`);
  return {
    name: "OCRBench v2, tables",
    items: items.map(
      (item): EvalItem => ({
        id: item.id,
        aliases: [`${item.id}.html`],
        reading: { kind: "crop", task: "table" },
        pictures: () => picturesOf(join(folder, item.image)),
      }),
    ),
    judge: async (answers, mode) => {
      const scored = items
        .filter(({ id }) => answers.has(id))
        .map((item) => {
          const answer = answers.get(item.id) ?? null;
          const pred = answer !== null && !asksForHtml(item) && /<table/i.test(answer) ? asMarkdown(answer) : answer;
          const score = (structureOnly: boolean) => scoreOcrBenchTable({ ...item, pred }, { mode, structureOnly });
          return { item, teds: score(false), tedsS: score(true) };
        });
      const rows = TYPES.map((type) => ({ type, members: scored.filter(({ item }) => item.type === type) }))
        .filter(({ members }) => members.length > 0)
        .map(({ type, members }) => ({
          name: type,
          count: members.length,
          values: [meanOf(members.map(({ teds }) => teds)), meanOf(members.map(({ tedsS }) => tedsS))],
        }));
      return {
        scores: [
          { name: "TEDS", value: meanOf(scored.map(({ teds }) => teds)), better: "higher" },
          { name: "TEDS-S", value: meanOf(scored.map(({ tedsS }) => tedsS)), better: "higher" },
        ],
        groups: [{ title: "By type", columns: ["TEDS", "TEDS-S"], rows }],
        cases: scored.map(({ item, teds, tedsS }) => ({
          id: item.id,
          score: teds,
          truth: item.truth,
          details: { dataset: item.dataset, TEDS: teds, "TEDS-S": tedsS },
        })),
        notes: ["TEDS-S is not part of the official code"],
      };
    },
  };
};
