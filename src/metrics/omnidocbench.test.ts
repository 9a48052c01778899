import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { corpusBleu } from "./bleu.ts";
import { countEdits } from "./edit-distance.ts";
import { type AnsweredPage, type DatasetRow, evaluateOmniDocBench, matchDataset, overallScore, scoreDataset } from "./omnidocbench.ts";
import { isSingleColumn, type MatchedRow, splitArrays, splitPredictedArray } from "./omnidocbench-match.ts";
import { blocksOfPage, type OmniDocBlock, type OmniDocPage } from "./omnidocbench-record.ts";
import { bestWindow, chooseRuns, judgeRun } from "./prediction-runs.ts";
import { tedsOfDocuments } from "./teds.ts";

interface GoldenRow {
  gt_idx: (number | "")[];
  pred_idx: (number | "")[] | "";
  gt: string;
  pred: string;
  norm_gt: string;
  norm_pred: string;
  gt_position: (number | "")[];
  pred_position: number | "";
  gt_category_type: string;
  pred_category_type: string;
  edit: number;
  ned?: number | null;
  distance?: number;
  length?: number;
  teds?: number;
  tedsS?: number;
}
interface Metric {
  allPageAvg: number | null;
  editWhole: number | null;
  editSampleAvg: number | null;
  teds?: number;
  tedsS?: number;
}
interface MatchCase {
  id: string;
  note: string;
  markdown: string;
  page: OmniDocPage;
  quirk?: boolean;
  expected: {
    officialError?: string;
    text: { rows: GoldenRow[]; metric: Metric };
    formula: { rows: GoldenRow[]; metric: Metric };
    table: { rows: GoldenRow[]; metric: Metric };
    order: { rows: { gt: number[]; pred: number[]; edit: number }[]; metric: Metric };
  };
}
const { cases, truncated } = golden<{
  cases: MatchCase[];
  truncated: { id: string; page: OmniDocPage; expected: Record<string, Partial<OmniDocBlock>[]>; quirk?: boolean }[];
}>("extract-match.json");

const close = (value: number | null | undefined) => (typeof value === "number" ? expect.closeTo(value, 9) : null);

function goldenShape(row: MatchedRow, places: boolean) {
  return {
    truth: row.truthIndices,
    pred: row.predIndices,
    texts: [row.truth, row.pred, row.normTruth, row.normPred],
    orders: row.truthOrders,
    category: row.truthCategory,
    edit: close(row.edit),
    ...(places && { position: row.predPosition, predCategory: row.predCategory }),
  };
}

function expectedShape(row: GoldenRow, places: boolean) {
  return {
    truth: row.gt_idx.filter((index) => index !== ""),
    pred: row.pred_idx === "" ? [] : row.pred_idx.filter((index) => index !== ""),
    texts: [row.gt, row.pred, row.norm_gt, row.norm_pred],
    orders: row.gt_position.map((order) => (order === "" ? null : order)),
    category: row.gt_category_type,
    edit: close(row.edit),
    ...(places && { position: row.pred_position === "" ? null : row.pred_position, predCategory: row.pred_category_type }),
  };
}

describe("matching of a page", () => {
  it.each(cases.map((c) => [`${c.id} ${c.note}`, c] as const))("%s has the official rows and scores", (_, c) => {
    const pages: AnsweredPage[] = [{ page: c.page, markdown: c.markdown }];
    if (c.expected.officialError) {
      expect(() => matchDataset(pages, "strict")).toThrow(expect.objectContaining({ code: "data-invalid" }));
      expect(() => matchDataset(pages, "sound")).not.toThrow();
      return;
    }
    const match = matchDataset(pages, "strict");
    for (const [ours, theirs] of [
      [match.text, c.expected.text.rows],
      [match.formulas, c.expected.formula.rows],
      [match.tables, c.expected.table.rows],
    ] as const) {
      expect(ours.map((row) => goldenShape(row, true))).toEqual(theirs.map((row) => expectedShape(row, true)));
      ours.forEach((row, index) => {
        const { distance, lengthPred, lengthTruth } = countEdits(row.normPred || row.pred, row.normTruth || row.truth);
        if (theirs[index].distance !== undefined)
          expect([distance, Math.max(lengthPred, lengthTruth)]).toEqual([theirs[index].distance, theirs[index].length]);
      });
    }
    match.tables.forEach((row, index) => {
      const pair = [row.normPred || row.pred, row.normTruth || row.truth] as const;
      expect(tedsOfDocuments(...pair, { mode: "strict" })).toBeCloseTo(c.expected.table.rows[index].teds!, 9);
      expect(tedsOfDocuments(...pair, { mode: "strict", structureOnly: true })).toBeCloseTo(c.expected.table.rows[index].tedsS!, 9);
    });
    expect(match.orders.map(({ truth, pred }) => ({ gt: truth, pred }))).toEqual(
      c.expected.order.rows.map(({ gt, pred }) => ({ gt, pred })),
    );
    const result = scoreDataset(match, [c.page], "strict");
    for (const [element, expected] of [
      [result.text_block, c.expected.text.metric],
      [result.display_formula, c.expected.formula.metric],
      [result.table, c.expected.table.metric],
      [result.reading_order, c.expected.order.metric],
    ] as const) {
      expect(element.all.Edit_dist).toEqual({
        ALL_page_avg: close(expected.allPageAvg),
        edit_whole: close(expected.editWhole),
        edit_sample_avg: close(expected.editSampleAvg),
      });
    }
    if (c.expected.table.rows.length > 0) expect(result.table.all.TEDS.all).toEqual(close(c.expected.table.metric.teds));
  });

  it.each(cases.filter((c) => !c.quirk).map((c) => [`${c.id} ${c.note}`, c] as const))("%s has the same rows in sound mode", (_, c) => {
    const match = matchDataset([{ page: c.page, markdown: c.markdown }], "sound");
    expect(match.text.map((row) => goldenShape(row, false))).toEqual(c.expected.text.rows.map((row) => expectedShape(row, false)));
    expect(match.formulas.map((row) => goldenShape(row, false))).toEqual(c.expected.formula.rows.map((row) => expectedShape(row, false)));
    expect(match.tables.map((row) => [row.truthIndices, row.predIndices])).toEqual(
      c.expected.table.rows.map((row) => [expectedShape(row, false).truth, expectedShape(row, false).pred]),
    );
    expect(match.orders.map(({ truth, pred }) => ({ gt: truth, pred }))).toEqual(
      c.expected.order.rows.map(({ gt, pred }) => ({ gt, pred })),
    );
  });

  it.each(truncated.map((c) => [c.id, c] as const))("%s joins truncated blocks as the official code does", (_, c) => {
    const shape = (blocks: readonly Partial<OmniDocBlock>[]) => blocks.map(({ order, anno_id, text }) => ({ order, anno_id, text }));
    const ours = (mode: "strict" | "sound") =>
      Object.fromEntries([...blocksOfPage(c.page, mode)].map(([name, blocks]) => [name, shape(blocks)]));
    expect(ours("strict")).toEqual(Object.fromEntries(Object.entries(c.expected).map(([name, blocks]) => [name, shape(blocks)])));
    if (!c.quirk) expect(ours("sound")).toEqual(ours("strict"));
  });
});

describe("parts of the matcher", () => {
  const { functions } = golden<{ functions: { function: string; cases: { id: string; input: never; output: never }[] }[] }>(
    "normalise.json",
  );
  const casesOf = <I, O>(name: string) =>
    functions.find((f) => f.function === name)!.cases.map((c) => [c.id, c.input as I, c.output as O] as const);

  it.each(casesOf<string, boolean>("is_all_l"))("%s", (_, input, output) => expect(isSingleColumn(input)).toBe(output));
  it.each(casesOf<string, { latex: string; order: number }[]>("split_gt_equation_arrays"))("%s", (_, input, output) => {
    const block: OmniDocBlock = { category_type: "equation_isolated", anno_id: 0, latex: input, order: 7 };
    expect(splitArrays([block], "strict").map(({ latex, order }) => ({ latex, order }))).toEqual(output);
  });
  it.each(casesOf<string, { content: string; position: number[] }[]>("split_equation_arrays"))("%s", (_, input, output) => {
    const position = [100, 100 + Array.from(input).length] as const;
    const rows = splitPredictedArray({ category: "equation_isolated", position, content: input });
    expect(rows.map((row) => ({ content: row.content, position: [...row.position] }))).toEqual(output);
  });
  it.each(casesOf<[string, string], number | false>("sub_pred_fuzzy_matching"))("%s", (_, [truth, pred], output) =>
    expect(bestWindow(pred, truth)?.distance ?? false).toBe(output),
  );
  it.each(casesOf<[string, string], [number, number | "", number, string]>("sub_gt_fuzzy_matching"))("%s", (_, [pred, truth], output) => {
    const found = bestWindow(truth, pred);
    expect([found?.distance ?? 1, found?.start ?? "", Array.from(truth).length, found?.text ?? ""]).toEqual(output);
  });
  it.each(casesOf<[string, string[]], [boolean, boolean]>("judge_pred_merge"))("%s", (_, [truth, pieces], output) => {
    const { belongs, goOn } = judgeRun(truth, pieces);
    expect([belongs, goOn]).toEqual(output);
  });
  it.each(casesOf<[number[][], number[]], number[][]>("get_final_subset"))("%s", (_, [runs, costs], output) =>
    expect(chooseRuns(runs.map((indices, k) => ({ indices, cost: costs[k] })).slice(0, costs.length))).toEqual(output),
  );
});

describe("the data set", () => {
  const pages = golden<OmniDocPage[]>("dataset/OmniDocBench.json");
  const answered = pages.map((page): AnsweredPage => {
    const name = page.page_info.image_path.split("/").at(-1)!.slice(0, -4);
    const url = new URL(`../../test/golden/eval/dataset/predictions/${name}.md`, import.meta.url);
    try {
      return { page, markdown: readFileSync(url, "utf8") };
    } catch {
      return { page, markdown: null };
    }
  });
  const expected = golden<{
    metricResult: Record<"text_block" | "display_formula" | "table" | "reading_order", Record<"all" | "group" | "page", object>>;
    perPageEdit: Record<"text_block" | "display_formula" | "table" | "reading_order", Record<string, number>>;
    perTableTEDS: Record<string, { TEDS: number; TEDS_structure_only: number }>;
    filterLanguageEnglish: Record<"text_block" | "display_formula" | "table" | "reading_order", object>;
    rows: { text_block: GoldenRow[]; display_formula: GoldenRow[]; table: GoldenRow[] };
    cdmInput: GoldenRow[];
    bleu: { text_block: number; display_formula: number };
  }>("dataset/expected.json");
  const rounded = (value: unknown): unknown =>
    typeof value === "number"
      ? close(value)
      : value && typeof value === "object"
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)]))
        : value;
  const elements = ["text_block", "display_formula", "table", "reading_order"] as const;
  const match = matchDataset(answered, "strict");

  it.each(elements)("has the official result for %s, number for number", (element) => {
    const ours = evaluateOmniDocBench(answered, { mode: "strict" })[element];
    expect(ours.all).toEqual(rounded(expected.metricResult[element].all));
    expect(ours.group).toEqual(rounded(expected.metricResult[element].group));
    expect(ours.page).toEqual(rounded(expected.metricResult[element].page));
    expect(ours.perPage).toEqual(rounded(expected.perPageEdit[element]));
    const english = evaluateOmniDocBench(answered, { mode: "strict", filter: { language: "english" } })[element];
    expect(english.all).toEqual(rounded(expected.filterLanguageEnglish[element]));
  });

  it("has the official rows, table scores and BLEU", () => {
    const pairs = [
      [match.text, expected.rows.text_block],
      [match.formulas, expected.rows.display_formula],
      [match.tables, expected.rows.table],
    ] as const;
    for (const [ours, theirs] of pairs)
      expect(ours.map((row) => goldenShape(row, true))).toEqual(theirs.map((row) => expectedShape(row, true)));
    const scores = match.tables.map((row) => [
      `${row.image}_[${row.truthIndices.join(", ")}]`,
      { TEDS: tedsOfDocuments(row.normPred || row.pred, row.normTruth || row.truth, { mode: "strict" }) },
    ]);
    expect(Object.fromEntries(scores)).toEqual(
      Object.fromEntries(Object.entries(expected.perTableTEDS).map(([name, { TEDS }]) => [name, { TEDS: close(TEDS) }])),
    );
    const swapped = (rows: readonly DatasetRow[]) =>
      corpusBleu(rows.map((row) => ({ pred: row.normTruth || row.truth, truth: row.normPred || row.pred }))).bleu;
    expect(swapped(match.text)).toBeCloseTo(expected.bleu.text_block, 9);
    expect(swapped(match.formulas)).toBeCloseTo(expected.bleu.display_formula, 9);
  });

  it("counts a missing page and what was invented in sound mode only", () => {
    const sound = evaluateOmniDocBench(answered, { mode: "sound" });
    const missing = answered
      .find(({ markdown }) => markdown === null)!
      .page.page_info.image_path.split("/")
      .at(-1)!;
    expect(sound.text_block.perPage[missing]).toBe(1);
    expect(evaluateOmniDocBench(answered, { mode: "strict" }).text_block.perPage).not.toHaveProperty(missing);
    expect(sound.spuriousShare).toBeGreaterThan(0);
  });

  it("gives a perfect answer a perfect score", () => {
    const page: OmniDocPage = {
      page_info: { image_path: "p.png", page_attribute: { language: "english" } },
      layout_dets: [
        { category_type: "text_block", order: 1, anno_id: 0, text: "The ferry leaves at seven." },
        { category_type: "equation_isolated", order: 2, anno_id: 1, latex: "$$\nE=mc^2\n$$" },
        { category_type: "table", order: 3, anno_id: 2, html: "<table><tr><td>a</td><td>b</td></tr></table>" },
      ],
    };
    const markdown = "The ferry leaves at seven.\n\n$$E=mc^2$$\n\n\\begin{tabular}{ll} a & b \\end{tabular}";
    const result = evaluateOmniDocBench([{ page, markdown }]);
    expect(result.text_block.all.Edit_dist.ALL_page_avg).toBe(0);
    expect(result.display_formula.all.Edit_dist.ALL_page_avg).toBe(0);
    expect(result.table.all.TEDS.all).toBe(1);
    expect(overallScore(0, 1, 1)).toBe(100);
  });
});
