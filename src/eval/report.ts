/**
 * An evaluation as files: `results.json` with every number, `results.md` for people, `results.html` with plots and the worst cases beside
 * their pictures, complete in itself. Everything read or annotated is escaped text. Refuses to judge.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { escapeHtml } from "../document/table-html.ts";
import { MineruError } from "../error.ts";
import { encodePng } from "../image/encode-png.ts";
import { resizeBicubic } from "../image/resample.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { Benchmark, ScoreGroup } from "./benchmark.ts";
import type { EvaluatedCase, Evaluation } from "./evaluation.ts";
import { machineText } from "./machine.ts";
import { histogram, linePlot } from "./plots.ts";

/** Pictures in the HTML are brought to this width. */
const PICTURE_WIDTH = 640;

const spelled = (value: number | string | null): string => {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) > 1 ? 2 : 4);
};

const settingsText = ({ decoding }: Evaluation): string => {
  const entries = Object.entries(decoding).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? entries.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ") : "the model's own";
};

/** What was evaluated, in lines. */
function facts(evaluation: Evaluation): string[] {
  const { model, mode, date, machine, counts, speed } = evaluation;
  return [
    `${model === null ? "existing answers" : `model ${model}, decoding: ${settingsText(evaluation)}`}; ${mode} scores`,
    `${counts.items} items, ${counts.missing} without an answer, ${counts.failed} failed`,
    ...(speed
      ? [
          `${speed.items} answers in ${speed.seconds.toFixed(1)} s: ${speed.tokensPerSecond.toFixed(0)} tokens per second, ${speed.tokensPerForward.toFixed(2)} per forward pass`,
        ]
      : []),
    `${date.slice(0, 10)}, ${machineText(machine)}`,
  ];
}

const arrow = (better: "higher" | "lower"): string => (better === "higher" ? "↑" : "↓");
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function groupMarkdown({ title, columns, rows }: ScoreGroup): string {
  const lines = rows.map(({ name, count, values }) => `| ${cell(name)} | ${count} | ${values.map(spelled).join(" | ")} |`);
  return [`## ${title}`, "", `| | count | ${columns.join(" | ")} |`, `|---|--:|${"--:|".repeat(columns.length)}`, ...lines].join("\n");
}

/** Lowest scores first; what is not scored is left out. */
export function worstCases(evaluation: Evaluation, count: number): EvaluatedCase[] {
  return evaluation.cases
    .filter(({ score }) => score !== null)
    .toSorted((a, b) => a.score! - b.score!)
    .slice(0, count);
}

/** A result as Markdown tables. */
export function evaluationMarkdown(evaluation: Evaluation): string {
  const { benchmark, scores, groups, notes } = evaluation;
  return `${[
    `# ${benchmark}`,
    facts(evaluation).join("  \n"),
    [
      "| score | value |",
      "|---|--:|",
      ...scores.map(({ name, value, better }) => `| ${cell(name)} ${arrow(better)} | ${spelled(value)} |`),
    ].join("\n"),
    ...groups.filter(({ rows }) => rows.length > 0).map(groupMarkdown),
    ...(notes.length > 0 ? [["## Notes", "", ...notes.map((note) => `- ${note}`)].join("\n")] : []),
    [
      "## Worst",
      "",
      "| item | score | confidence |",
      "|---|--:|--:|",
      ...worstCases(evaluation, 20).map(({ id, score, confidence }) => `| ${cell(id)} | ${spelled(score)} | ${spelled(confidence)} |`),
    ].join("\n"),
  ].join("\n\n")}\n`;
}

/** Every number, without truths and answers, which lie in the data and among the predictions. */
export function evaluationJson(evaluation: Evaluation): unknown {
  return { ...evaluation, cases: evaluation.cases.map(({ truth: _truth, answer: _answer, ...rest }) => rest) };
}

async function pictureData(image: RgbImage): Promise<string> {
  const scale = Math.min(1, PICTURE_WIDTH / image.width);
  const height = Math.max(1, Math.round(image.height * scale));
  const sized = scale < 1 ? resizeBicubic(image, PICTURE_WIDTH, height) : image;
  return `data:image/png;base64,${Buffer.from(await encodePng(sized)).toString("base64")}`;
}

async function pictureOf(benchmark: Benchmark, id: string): Promise<string> {
  const item = benchmark.items.find((entry) => entry.id === id);
  try {
    for await (const image of item?.pictures() ?? []) return `<img alt="" src="${await pictureData(image)}">`;
  } catch (error) {
    if (!(error instanceof MineruError)) throw error;
    return `<p>${escapeHtml(error.message)}</p>`;
  }
  return "";
}

async function caseHtml(benchmark: Benchmark, { id, score, confidence, details, truth, answer }: EvaluatedCase): Promise<string> {
  const numbers = Object.entries({ score, confidence, ...details }).map(([name, value]) => `${name} ${spelled(value)}`);
  return (
    `<section><h3>${escapeHtml(id)}</h3><p>${escapeHtml(numbers.join(" · "))}</p><div class="case"><div>${await pictureOf(benchmark, id)}</div>` +
    `<div><h4>truth</h4><pre>${escapeHtml(truth)}</pre></div><div><h4>answer</h4><pre>${escapeHtml(answer ?? "none")}</pre></div></div></section>`
  );
}

const STYLE = `:root{color-scheme:light dark}body{max-width:90rem;margin:2rem auto;padding:0 1rem;font:.95rem/1.45 sans-serif}
table{border-collapse:collapse;margin:.5rem 0}td,th{border-bottom:1px solid #8886;padding:.2rem .8rem .2rem 0;text-align:left}td:not(:first-child){text-align:right}
.case{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:1rem;align-items:start}img{max-width:100%;border:1px solid #8886}
pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:30rem;overflow:auto;margin:0;font-size:.85rem}section{border-top:1px solid #8886}svg{max-width:100%;height:auto}
@media(max-width:60rem){.case{grid-template-columns:1fr}}`;

function groupHtml({ title, columns, rows }: ScoreGroup): string {
  const head = ["", "count", ...columns].map((name) => `<th>${escapeHtml(name)}</th>`).join("");
  const body = rows
    .map(
      ({ name, count, values }) => `<tr>${[name, count, ...values].map((value) => `<td>${escapeHtml(spelled(value))}</td>`).join("")}</tr>`,
    )
    .join("");
  return `<h2>${escapeHtml(title)}</h2><table><tr>${head}</tr>${body}</table>`;
}

function plotsOf({ cases }: Evaluation): string {
  const scores = cases.flatMap(({ score }) => (score === null ? [] : [score]));
  const sure = cases.flatMap(({ score, confidence }): [number, number][] =>
    score === null || confidence === null ? [] : [[confidence, score]],
  );
  return [
    histogram(scores, { title: "Items by score", label: "score, 1 is best" }),
    ...(sure.length > 1
      ? [
          linePlot([{ name: "items", points: sure }], {
            title: "Is the model sure where it is right?",
            x: { label: "mean confidence" },
            y: { label: "score", range: [0, 1] },
            scattered: true,
          }),
        ]
      : []),
  ].join("");
}

/** A page that needs nothing else, with the `worst` lowest scored items. */
export async function evaluationHtml(evaluation: Evaluation, benchmark: Benchmark, worst = 12): Promise<string> {
  const { scores, groups, notes } = evaluation;
  const cases: string[] = [];
  for (const entry of worstCases(evaluation, worst)) cases.push(await caseHtml(benchmark, entry));
  const rows = scores
    .map(({ name, value, better }) => `<tr><td>${escapeHtml(name)} ${arrow(better)}</td><td>${spelled(value)}</td></tr>`)
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(evaluation.benchmark)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(evaluation.benchmark)}</h1>
<p>${facts(evaluation).map(escapeHtml).join("<br>")}</p>
<table>${rows}</table>
${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join("")}
${plotsOf(evaluation)}
${groups
  .filter((group) => group.rows.length > 0)
  .map(groupHtml)
  .join("")}
<h2>Worst cases</h2>
${cases.join("\n")}
</body>
</html>
`;
}

/** Writes the three files into `folder`. @throws MineruError `output-unwritable` */
export async function writeEvaluation(folder: string, evaluation: Evaluation, benchmark: Benchmark, worst?: number): Promise<void> {
  const files = {
    "results.json": `${JSON.stringify(evaluationJson(evaluation), null, 2)}\n`,
    "results.md": evaluationMarkdown(evaluation),
    "results.html": await evaluationHtml(evaluation, benchmark, worst),
  };
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  } catch (cause) {
    throw new MineruError(
      "output-unwritable",
      `cannot write to ${folder}: ${(cause as Error).message}; check the folder and the free space`,
      {
        cause,
      },
    );
  }
}
