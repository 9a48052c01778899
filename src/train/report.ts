/**
 * A run's log as one HTML page that needs nothing but itself: what was learnt (losses and scores by task), how (learning rate, gradient,
 * stages) and at what cost (seconds per step, samples). It refuses to judge.
 */
import { lowerIsBetter } from "./answer-scores.ts";
import { escapeText, lineChart, readable, type Series } from "./line-chart.ts";
import { type LoggedEvaluation, type LoggedStep, stagesOf, type TrainingLog } from "./training-log.ts";

const STYLE = `:root{color-scheme:light dark;--ink:#1b1f24;--soft:#667;--line:#8883;--page:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa;--page:#15181c}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:2rem auto;max-width:1180px;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{color:var(--soft);margin:.25rem 0}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(440px,1fr));gap:1rem}
svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--ink)}svg .title{font-size:13px;font-weight:600}
svg .tick{fill:var(--soft);font-size:10px}.grid{stroke:var(--line)}.stage{stroke:var(--soft);stroke-dasharray:2 3;opacity:.6}
.series polyline{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}.series circle{fill:currentColor}.series text{fill:currentColor}
.s0{color:#2a6fdb}.s1{color:#d9572b}.s2{color:#1f9d61}.s3{color:#9a4fd0}.s4{color:#b98900}.s5{color:#0b94a8}.s6{color:#d1428a}.s7{color:#6b7280}
table{border-collapse:collapse;font-size:13px}td,th{padding:.2rem .8rem .2rem 0;text-align:right;border-bottom:1px solid var(--line)}
td:first-child,th:first-child{text-align:left}`;

function series(name: string, steps: readonly LoggedStep[], measure: (step: LoggedStep) => number | undefined): Series {
  const points = steps.flatMap((step): [number, number][] => {
    const value = measure(step);
    return value === undefined ? [] : [[step.step, value]];
  });
  return { name, points };
}

/** One series per path of keys that lead to a number, of all evaluations. */
function judged(evaluations: readonly LoggedEvaluation[], pathsOf: (report: LoggedEvaluation) => readonly [string, number][]): Series[] {
  const found = new Map<string, [number, number][]>();
  for (const report of evaluations) {
    for (const [name, value] of pathsOf(report)) found.set(name, [...(found.get(name) ?? []), [report.step, value]]);
  }
  return [...found].map(([name, points]) => ({ name, points, marks: true }));
}

const keysOf = (steps: readonly LoggedStep[], of: (step: LoggedStep) => object | undefined): string[] => [
  ...new Set(steps.flatMap((step) => Object.keys(of(step) ?? {}))),
];

/** A part of the loss that a batch knows nothing of is logged as 0. */
const known = (value: number | undefined): number | undefined => (value === 0 ? undefined : value);

function stageTable(steps: readonly LoggedStep[]): string {
  const sum = (own: readonly LoggedStep[], of: (step: LoggedStep) => number) => own.reduce((total, step) => total + of(step), 0);
  const rows = stagesOf(steps).map(({ name, from }, i, all) => {
    const own = steps.filter(({ step }) => step >= from && step < (all[i + 1]?.from ?? Number.POSITIVE_INFINITY));
    const hours = sum(own, ({ milliseconds, waitedMilliseconds }) => milliseconds + waitedMilliseconds) / 3_600_000;
    const last = own[own.length - 1];
    const cells = [from, last.step, own.length, sum(own, ({ samples }) => samples), hours].map((value) => `<td>${readable(value)}</td>`);
    return `<tr><td>${escapeText(name)}</td>${cells.join("")}<td>${escapeText(last.time)}</td></tr>`;
  });
  return `<table><tr><th>stage</th><th>from step</th><th>to step</th><th>steps</th><th>samples</th><th>hours</th><th>ended</th></tr>${rows.join("")}</table>`;
}

function lossCharts(steps: readonly LoggedStep[], chart: (title: string, series: readonly Series[]) => string): string[] {
  const tasks = keysOf(steps, ({ taskLosses }) => taskLosses);
  const byTask = tasks.map((task) => series(task, steps, ({ taskLosses }) => taskLosses?.[task as keyof typeof taskLosses]));
  const parts = keysOf(steps, ({ losses }) => losses).filter((name) => name !== "loss");
  return [
    chart("Cross entropy of masked tokens in training, nats", byTask),
    chart(
      "Parts of the loss in training",
      parts.map((part) => series(part.replace(/Loss$/, ""), steps, ({ losses }) => known(losses[part]))),
    ),
  ];
}

function evaluationCharts(evaluations: readonly LoggedEvaluation[], chart: (title: string, series: readonly Series[]) => string): string[] {
  const kinds = [...new Set(evaluations.flatMap(({ losses }) => Object.keys(losses)))] as (keyof LoggedEvaluation["losses"])[];
  return kinds.flatMap((kind) => {
    const lossesOf = ({ losses }: LoggedEvaluation) => Object.entries(losses[kind] ?? {});
    const scored = evaluations.flatMap(({ scores }) => Object.values(scores?.[kind] ?? {}).flatMap((one) => Object.keys(one)));
    const scoreCharts = [...new Set(scored)].map((name) => {
      const way = lowerIsBetter.has(name) ? " (lower is better)" : "";
      const byBlock = ({ scores }: LoggedEvaluation) =>
        Object.entries(scores?.[kind] ?? {}).map(([block, values]): [string, number] => [block, values[name]]);
      return chart(`${kind}: ${name}${way}`, judged(evaluations, byBlock));
    });
    return [chart(`${kind}: held-out losses, nats`, judged(evaluations, lossesOf)), ...scoreCharts];
  });
}

/** The page. `title` is the run's name. */
export function reportHtml({ steps, evaluations }: TrainingLog, title: string): string {
  const boundaries = stagesOf(steps);
  const chart = (name: string, lines: readonly Series[], fromZero = false) =>
    lineChart({ title: name, series: lines, boundaries, fromZero });
  let samples = 0;
  const seen = series("samples", steps, (step) => {
    samples += step.samples;
    return samples;
  });
  const seconds = steps.reduce((sum, { milliseconds, waitedMilliseconds }) => sum + milliseconds + waitedMilliseconds, 0) / 1000;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ["On samples never trained on", evaluationCharts(evaluations, chart)],
    ["In training", lossCharts(steps, chart)],
    [
      "How and at what cost",
      [
        chart("Learning rate", [series("rate", steps, ({ learningRate }) => learningRate)], true),
        chart("Norm of the gradient", [series("norm", steps, ({ gradientNorm }) => gradientNorm)], true),
        chart(
          "Seconds per step",
          [
            series("computing", steps, ({ milliseconds }) => milliseconds / 1000),
            series("waiting", steps, ({ waitedMilliseconds }) => waitedMilliseconds / 1000),
          ],
          true,
        ),
        chart("Samples seen", [seen], true),
      ],
    ],
  ];
  const shown = sections
    .map(([name, charts]) => [name, charts.filter((svg) => svg !== "")] as const)
    .filter(([, charts]) => charts.length > 0);
  const body = shown.map(([name, charts]) => `<h2>${name}</h2><div class="charts">${charts.join("")}</div>`).join("");
  const last = steps[steps.length - 1];
  const summary = last
    ? `${readable(last.step)} steps, ${readable(samples)} samples, ${readable(seconds / 3600)} hours; last step ${escapeText(last.time)}. Lines are means of spans; dashes part stages.`
    : "No step yet.";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeText(title)}</title><style>${STYLE}</style><h1>${escapeText(title)}</h1><p>${summary}</p>${steps.length > 0 ? stageTable(steps) : ""}${body}</html>\n`;
}
