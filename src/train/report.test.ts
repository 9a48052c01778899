/** The report of a log: what of the log counts, what is drawn, and that the page stands alone. */
import { describe, expect, test } from "vitest";
import { lineChart } from "./line-chart.ts";
import { reportHtml } from "./report.ts";
import { parseTrainingLog, stagesOf } from "./training-log.ts";

function stepLine(step: number, stage = "read", loss = 1): string {
  return JSON.stringify({
    time: "2026-12-01T00:00:00.000Z",
    step,
    stage,
    learningRate: 0.001,
    losses: { loss, textLoss: loss, regionLoss: 0 },
    taskLosses: { text: loss, table: loss * 2 },
    gradientNorm: 0.5,
    samples: 10,
    imageTokens: 100,
    rows: 200,
    milliseconds: 900,
    waitedMilliseconds: 100,
  });
}

const evaluationLine = (step: number, cer: number) =>
  JSON.stringify({
    time: "2026-12-01T00:00:00.000Z",
    kind: "evaluation",
    step,
    losses: { text: { block1: 1, block32: 2 } },
    scores: { text: { block32: { characterErrorRate: cer } } },
    seconds: 3,
  });

describe("the log", () => {
  test("of a run that did steps again counts them once, as they were done last", () => {
    const lines = [
      stepLine(1),
      stepLine(2),
      evaluationLine(2, 0.9),
      stepLine(3, "read", 5),
      '{"time":"2026',
      stepLine(2, "read", 7),
      evaluationLine(2, 0.4),
    ];
    const log = parseTrainingLog(`${lines.join("\n")}\n`, "log.jsonl");
    expect(log.steps.map(({ step, losses }) => [step, losses.loss])).toEqual([
      [1, 1],
      [2, 7],
    ]);
    expect(log.evaluations.map(({ scores }) => scores?.text?.block32.characterErrorRate)).toEqual([0.4]);
  });

  test("with a line that is none is refused by file and line", () => {
    expect(() => parseTrainingLog(`${stepLine(1)}\nhello\n`, "log.jsonl")).toThrow(/^log\.jsonl:2: expected a JSON object, got hello/);
    expect(() => parseTrainingLog("{}\n", "log.jsonl")).toThrow(/^log\.jsonl:1: .*`step`/);
  });

  test("knows where stages begin", () => {
    const { steps } = parseTrainingLog([stepLine(1, "see"), stepLine(2, "see"), stepLine(3)].join("\n"), "log");
    expect(stagesOf(steps)).toEqual([
      { name: "see", from: 1 },
      { name: "read", from: 3 },
    ]);
  });
});

describe("a chart", () => {
  test("puts points where their values are, within the frame", () => {
    const svg = lineChart({
      title: "a < b",
      series: [
        {
          name: "rising",
          points: [
            [0, 0],
            [50, 1],
            [100, 2],
          ],
        },
      ],
      fromZero: true,
    });
    const points = /<polyline points="([^"]+)"/
      .exec(svg)![1]
      .split(" ")
      .map((pair) => pair.split(",").map(Number));
    expect(points).toHaveLength(3);
    const [[x0, y0], [x1, y1], [x2, y2]] = points;
    expect([x1 - x0, y1 - y0]).toEqual([x2 - x1, expect.closeTo(y2 - y1, 5)]);
    expect(y2).toBeLessThan(y0);
    for (const [x, y] of points) expect([x >= 0, x <= 560, y >= 0, y <= 250]).toEqual([true, true, true, true]);
    expect(svg).toContain("a &#60; b");
  });

  test("of many points draws means", () => {
    const points = Array.from({ length: 5000 }, (_, i): [number, number] => [i, i % 2]);
    const drawn = /<polyline points="([^"]+)"/.exec(lineChart({ title: "", series: [{ name: "", points }] }))![1].split(" ");
    expect(drawn.length).toBeLessThanOrEqual(221);
    const heights = drawn.map((pair) => Number(pair.split(",")[1]));
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(250);
  });

  test("leaves out what was not measured", () => {
    const points = [...Array(50).keys(), ...Array.from({ length: 50 }, (_, i) => 150 + i)].map((step): [number, number] => [step, 1]);
    const lines = (marks: boolean) => lineChart({ title: "", series: [{ name: "", points, marks }] }).match(/<polyline/g)!.length;
    expect([lines(false), lines(true)]).toEqual([2, 1]);
  });

  test("without points is none; a single value still has an axis", () => {
    expect(
      lineChart({
        title: "",
        series: [
          { name: "", points: [] },
          { name: "", points: [[1, Number.NaN]] },
        ],
      }),
    ).toBe("");
    expect(lineChart({ title: "", series: [{ name: "", points: [[3, 4]] }] })).not.toContain("NaN");
  });
});

describe("the page", () => {
  const lines = [...Array.from({ length: 40 }, (_, i) => stepLine(i + 1, i < 20 ? "see" : "read", 3 - i / 20)), evaluationLine(40, 0.25)];
  const html = reportHtml(parseTrainingLog(lines.join("\n"), "log"), "mini <run>");

  test("draws losses by task, evaluations, rate, cost and samples, and names the stages", () => {
    for (const title of [
      "Cross entropy of masked tokens in training, nats",
      "text: held-out losses, nats",
      "text: characterErrorRate (lower is better)",
      "Learning rate",
      "Seconds per step",
      "Samples seen",
    ]) {
      expect(html).toContain(`aria-label="${title}"`);
    }
    for (const name of ["table 2.1", "<td>see</td>", "<td>read</td>", "<td>200</td>", "mini &#60;run&#62;"]) expect(html).toContain(name);
    expect(html).not.toContain("NaN");
  });

  test("asks for nothing from elsewhere", () => {
    expect(html).not.toMatch(/<script|<link|src=|href=|url\(|@import/);
  });

  test("of a log without steps says so", () => {
    expect(reportHtml({ steps: [], evaluations: [] }, "new")).toContain("No step yet.");
  });
});
