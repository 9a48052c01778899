/** Scores of answers against hand-made truths, and agreement of answers with each other. */
import { describe, expect, test } from "vitest";
import { writeLayout } from "../document/layout-text.ts";
import { startCdm } from "../metrics/cdm.ts";
import { taskNames } from "../text/prompts.ts";
import { agreementOf, scoreAnswers } from "./answer-scores.ts";

const region = (name: string, box: readonly [number, number, number, number]) => ({ class: name, box, angle: 0 as const });
const page = [region("title", [100, 50, 900, 100]), region("text", [100, 150, 900, 500]), region("table", [100, 550, 900, 800])];
const cdm = await startCdm();

describe("scores", () => {
  test("text: edits over all characters, white space folded", () => {
    const samples = [
      { truth: "one two", answer: "one\ntwo " },
      { truth: "abc", answer: "abd" },
    ];
    expect(scoreAnswers("text", samples)).toEqual({ characterErrorRate: 1 / 10, exact: 0.5 });
  });

  test("table: a wrong cell costs TEDS, not structure", () => {
    const { teds, tedsStructure } = scoreAnswers("table", [
      { truth: "<fcel>a<fcel>b<nl><fcel>c<fcel>d<nl>", answer: "<fcel>a<fcel>b<nl><fcel>c<fcel>x<nl>" },
    ]);
    // Two rows and four cells; one cell renamed at cost 1.
    expect(teds).toBeCloseTo(1 - 1 / 6, 10);
    expect(tedsStructure).toBe(1);
  });

  test("formula: blanks that TeX does not see cost nothing", () => {
    expect(scoreAnswers("formula", [{ truth: "\\frac {a} {b}", answer: "\\frac{a}{b}" }])).toEqual({ formulaEdit: 0, exact: 1 });
    expect(scoreAnswers("formula", [{ truth: "a+b", answer: "a+c" }]).formulaEdit).toBeCloseTo(1 / 3, 10);
  });

  test("layout: places, names and order are three things", () => {
    const truth = writeLayout(page);
    const score = (regions: typeof page) => scoreAnswers("layout", [{ truth, answer: writeLayout(regions) }]);
    expect(score(page)).toEqual({ pageIoU: 1, classAccuracy: 1, orderEdit: 0 });
    expect(score([page[0], { ...page[1], class: "list" }, page[2]])).toEqual({ pageIoU: 1, classAccuracy: 2 / 3, orderEdit: 0 });
    expect(score([page[1], page[0], page[2]])).toEqual({ pageIoU: 1, classAccuracy: 1, orderEdit: 2 / 3 });
    const missing = score(page.slice(0, 2));
    expect(missing.pageIoU).toBeCloseTo((40 + 280) / (40 + 280 + 200), 10);
    expect(missing.classAccuracy).toBeCloseTo(2 / 3, 10);
    expect(missing.orderEdit).toBeCloseTo(1 / 3, 10);
  });

  test("of no samples there is none", () => {
    expect(() => scoreAnswers("text", [])).toThrow(RangeError);
  });
});

describe("agreement", () => {
  const answers = {
    text: ["a line of text", "a lime of test", "1234"],
    table: ["<fcel>a<fcel>b<nl>", "<fcel>a<fcel>c<nl>", "<fcel>xyz<nl><fcel>u<nl><fcel>v<nl>"],
    formula: ["\\frac{a}{b}+c", "\\frac{a}{b}+d", "\\sum_{i=1}^{n} x"],
    layout: [writeLayout(page), writeLayout(page.slice(0, 2)), writeLayout([region("text", [0, 900, 60, 990])])],
  } as const;

  test.each(taskNames)("is one for equal answers, symmetric, and falls with the difference: %s", async (task) => {
    const [answer, near, far] = answers[task];
    const agreement = agreementOf(task, cdm);
    expect(await agreement(answer, answer)).toBe(1);
    const [close, distant] = [await agreement(answer, near), await agreement(answer, far)];
    expect(close).toBeLessThan(1);
    expect(close).toBeGreaterThan(0.3);
    expect(distant).toBeLessThan(close);
    expect(distant).toBeGreaterThanOrEqual(0);
    expect(await agreement(near, answer)).toBe(close);
  });

  test("unreadable layouts agree with nothing but themselves", async () => {
    const agreement = agreementOf("layout", cdm);
    expect(await agreement("gibberish", "nonsense")).toBe(0);
    expect(await agreement("gibberish", "gibberish")).toBe(1);
  });
});
