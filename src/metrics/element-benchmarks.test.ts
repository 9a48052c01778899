import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { bleu } from "./bleu.ts";
import { cleanCcOcrTable, scoreCcOcrDocument, scoreCcOcrFormula, scoreCcOcrTable, scoreCcOcrTables } from "./cc-ocr.ts";
import { normalisedEditDistance } from "./edit-distance.ts";
import { markdownTableToHtml, scoreOcrBenchTable, type TableItem, wrapHtmlTable } from "./ocrbench-v2.ts";
import { normaliseUnimer, scoreUnimer } from "./unimer.ts";

const strict = { mode: "strict" } as const;

describe("UniMER", () => {
  interface UnimerCase {
    id: string;
    pred: string;
    truth: string;
    normPred: string;
    normTruth: string;
    edit: number;
    bleu: number;
    quirk?: boolean;
  }
  const { cases, sets } = golden<{ cases: UnimerCase[]; sets: { id: string; pairs: [string, string][]; edit: number; bleu: number }[] }>(
    "unimer.json",
  );

  it.each(cases.map((c) => [c.id, c] as const))("%s has the official form and scores", (_, c) => {
    expect([normaliseUnimer(c.pred, "strict"), normaliseUnimer(c.truth, "strict")]).toEqual([c.normPred, c.normTruth]);
    expect(normalisedEditDistance(c.normPred, c.normTruth)).toBeCloseTo(c.edit, 9);
    expect(bleu(c.normPred, c.normTruth).bleu).toBeCloseTo(c.bleu, 9);
    if (!c.quirk) expect(scoreUnimer([c], "sound").edit).toBeCloseTo(c.edit, 9);
  });

  it.each(sets.map((c) => [c.id, c] as const))("%s has the official means", (_, c) => {
    const score = scoreUnimer(
      c.pairs.map(([pred, truth]) => ({ pred, truth })),
      "strict",
    );
    expect(score.edit).toBeCloseTo(c.edit, 9);
    expect(score.bleu).toBeCloseTo(c.bleu, 9);
  });

  it("does not see blanks in sound mode, and knows a short formula to be equal", () => {
    expect(normaliseUnimer("E = m c ^ { 2 }")).toBe("E=mc^{2}");
    expect(normaliseUnimer("\\alpha  x \\ \\beta y")).toBe("\\alpha x\\ \\beta y");
    expect(scoreUnimer([{ pred: "A B", truth: "AB" }])).toEqual({ edit: 0, bleu: 1 });
    expect(() => scoreUnimer([])).toThrow(RangeError);
  });
});

describe("CC-OCR", () => {
  interface CcOcrCase {
    id: string;
    op: "table" | "formula" | "doc";
    pred: string;
    truth: string;
    score?: number;
    tedsS?: number;
    cleanPred?: string;
    cleanTruth?: string;
    officialError?: string;
    quirk?: boolean;
  }
  const { cases, sets } = golden<{
    cases: CcOcrCase[];
    sets: { id: string; truth: Record<string, string>; pred: Record<string, string>; score: number }[];
  }>("ccocr.json");

  it.each(cases.filter((c) => c.op === "table").map((c) => [c.id, c] as const))("%s has the official table and score", (_, c) => {
    expect([cleanCcOcrTable(c.pred, "strict"), cleanCcOcrTable(c.truth, "strict")]).toEqual([c.cleanPred, c.cleanTruth]);
    expect(scoreCcOcrTable(c.pred, c.truth, strict)).toBeCloseTo(c.officialError ? 0 : c.score!, 9);
    if (!c.officialError) expect(scoreCcOcrTable(c.pred, c.truth, { ...strict, structureOnly: true })).toBeCloseTo(c.tedsS!, 9);
    if (!c.quirk && c.score === 1) expect(scoreCcOcrTable(c.pred, c.truth)).toBeCloseTo(1, 9);
  });

  it.each(cases.filter((c) => c.op !== "table" && !c.officialError).map((c) => [c.id, c] as const))("%s has the official score", (_, c) => {
    const score = c.op === "formula" ? scoreCcOcrFormula : scoreCcOcrDocument;
    expect(score(c.pred, c.truth)).toBeCloseTo(c.score!, 9);
  });

  it.each(sets.map((c) => [c.id, c] as const))("%s has the official mean", (_, c) => {
    expect(scoreCcOcrTables(c.pred, c.truth, strict)).toBeCloseTo(c.score, 9);
  });

  it("has sound values where the official ones are not", () => {
    expect(scoreCcOcrFormula("", "")).toBe(1);
    expect(scoreCcOcrTable("<table><tr><th>a</th></tr></table>", "<table><tr><td>a</td></tr></table>")).toBe(1);
    expect(scoreCcOcrTable("<table><tr><td>12 m</td></tr></table>", "<table><tr><td>12m</td></tr></table>")).toBeLessThan(1);
  });
});

describe("OCRBench v2", () => {
  const {
    cases,
    convertMarkdownTable,
    wrapHtmlTable: wraps,
  } = golden<{
    cases: (TableItem & { id: string; score: number; tedsS: number; quirk?: boolean })[];
    convertMarkdownTable: { id: string; input: string; output: string }[];
    wrapHtmlTable: { id: string; input: string; output: string }[];
  }>("ocrbench-v2.json");

  it.each(cases.map((c) => [c.id, c] as const))("%s has the official score", (_, c) => {
    expect(scoreOcrBenchTable(c, strict)).toBeCloseTo(c.score, 9);
    expect(scoreOcrBenchTable(c, { ...strict, structureOnly: true })).toBeCloseTo(c.tedsS, 9);
    if (!c.quirk && c.score === 1) expect(scoreOcrBenchTable(c)).toBeCloseTo(1, 9);
  });
  it.each(convertMarkdownTable.map((c) => [c.id, c] as const))("%s", (_, c) => expect(markdownTableToHtml(c.input)).toBe(c.output));
  it.each(wraps.map((c) => [c.id, c] as const))("%s", (_, c) => expect(wrapHtmlTable(c.input)).toBe(c.output));

  it("has sound values where the official ones are not", () => {
    const item = { type: "table parsing en", question: "As markdown, please", truth: "| a | b |\n|---|---|\n| 1 | 2 |" } as const;
    expect(scoreOcrBenchTable({ ...item, pred: "nothing" })).toBe(0);
    expect(scoreOcrBenchTable({ ...item, pred: "```markdown\n| a | b |\n|-|-|\n| 1 | 2 |\n```" })).toBe(1);
    const rows = {
      type: "table parsing cn",
      question: "",
      pred: "<tr><th>a</th></tr>",
      truth: "<table><tr><td>a</td></tr></table>",
    } as const;
    expect(scoreOcrBenchTable(rows)).toBe(1);
  });

  it("is between 0 and 1 and 1 for the truth", () => {
    const cell = fc.constantFrom("a", "bc", "1.5");
    const table = fc
      .array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 })
      .map((rows) => `<table>${rows.map((row) => `<tr>${row.map((c) => `<td>${c}</td>`).join("")}</tr>`).join("")}</table>`);
    fc.assert(
      fc.property(table, table, (pred, truth) => {
        const item = { type: "table parsing cn", question: "", truth } as const;
        expect(scoreOcrBenchTable({ ...item, pred: truth })).toBe(1);
        const score = scoreOcrBenchTable({ ...item, pred });
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }),
    );
  });
});
