import { beforeAll, describe, expect, it, vi } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { type CdmMetric, startCdm } from "./cdm.ts";
import { type FormulaRenderer, mathjaxRenderer } from "./formula-boxes.ts";
import { FormulaError, prepareFormula } from "./formula-normalise.ts";

const { cases } = golden<{ cases: { id: string; latex: string; quirk?: boolean }[] }>("formula-tokens.json");
let render: FormulaRenderer;
let sound: CdmMetric;
let strict: CdmMetric;
beforeAll(async () => {
  render = await mathjaxRenderer();
  sound = await startCdm();
  strict = await startCdm("unimer2509", "strict");
}, 60_000);

const f1 = async (pred: string, truth: string) => (await sound.score(pred, truth))?.f1;

describe("boxes of a drawn formula", () => {
  it("lie inside the image, in the order of the tokens", async () => {
    const { size, boxes } = await render("a+\\frac{b}{c}");
    expect(boxes.map((box) => box.token)).toEqual(["a", "+", "\\frac", "b", "c"]);
    const [a, plus, bar, b, c] = boxes.map((box) => box.bbox);
    expect(a[2]).toBeLessThan(plus[0] + 2);
    expect(plus[2]).toBeLessThan(bar[0] + 2);
    expect(b[3]).toBeLessThan(bar[3]);
    expect(c[1]).toBeGreaterThan(bar[1]);
    expect(bar[3] - bar[1]).toBeLessThan(6);
    for (const [x0, y0, x1, y1] of [a, plus, bar, b, c]) {
      expect(x0).toBeGreaterThanOrEqual(7);
      expect(y0).toBeGreaterThanOrEqual(7);
      expect(x1).toBeLessThanOrEqual(size[0] - 7);
      expect(y1).toBeLessThanOrEqual(size[1] - 7);
    }
  });

  it("have the size of 12 pt at 200 dpi", async () => {
    const { boxes } = await render("x\\quad x");
    expect(boxes[1].bbox[0] - boxes[0].bbox[0]).toBeCloseTo(33.2 * 1.572, 0);
  });

  it("span stretched signs and all they are made of", async () => {
    const rows = "a\\\\b\\\\c\\\\d\\\\e\\\\f\\\\g\\\\h";
    const { boxes, size } = await render(`\\overbrace{${"a+".repeat(12)}b}+\\xrightarrow{abcdefghijkl}`);
    const brace = boxes.find((box) => box.token === "\\overbrace")?.bbox ?? [0, 0, 0, 0];
    const arrow = boxes.find((box) => box.token === "\\xrightarrow")?.bbox ?? [0, 0, 0, 0];
    expect(brace[2] - brace[0] + arrow[2] - arrow[0]).toBeGreaterThan(0.85 * size[0]);
    expect((await render(`\\begin{array}{c}${rows}\\end{array}`)).boxes).toHaveLength(8);
  });

  it("leave out tokens without ink and give characters the font lacks an em", async () => {
    expect((await render("\\phantom{x}y\\hspace{1cm}z")).boxes.map((box) => box.token)).toEqual(["y", "z"]);
    const [{ bbox }] = (await render("\\text{速}")).boxes;
    expect(bbox[2] - bbox[0]).toBeGreaterThan(25);
    expect((await render("\\,")).boxes).toEqual([]);
  });

  it("do not exist for what cannot be drawn", async () => {
    await expect(render("\\frac{a}{b")).rejects.toThrow(FormulaError);
    await expect(render("\\sqrt [ 3")).rejects.toThrow(FormulaError);
  });
});

it("names the package to install where it is missing", async () => {
  vi.doMock("@mathjax/src/js/output/svg.js", () => {
    throw new Error("not installed");
  });
  try {
    await expect(mathjaxRenderer()).rejects.toMatchObject({
      code: "runtime-unavailable",
      message: expect.stringContaining("npm install @mathjax/src"),
    });
  } finally {
    vi.doUnmock("@mathjax/src/js/output/svg.js");
  }
});

describe("CDM with MathJax's boxes", () => {
  it("is 1 for a formula and itself", async () => {
    const drawn: string[] = [];
    for (const { id, latex } of cases) {
      for (const metric of [sound, strict]) {
        const score = await metric.score(latex, latex);
        if (score === null || score.f1 === 0) continue;
        expect([id, score.f1]).toEqual([id, 1]);
        drawn.push(id);
      }
    }
    expect(drawn.length).toBeGreaterThan(1.8 * cases.filter((c) => !c.quirk).length);
  });

  it("does not see spelling, but sees what is printed", async () => {
    expect(await f1("\\frac12", "\\dfrac{1}{2}")).toBe(1);
    expect(await f1("x^2_1", "x_{1}^{2}")).toBe(1);
    expect(await f1("a+b=d", "a+b=c")).toBe(0.8);
    expect(await f1("", "a+b=c")).toBe(0);
    expect(await f1("\\frac{2}{1}", "\\frac{1}{2}")).toBeLessThan(1);
    expect(await f1("a+b+c+d+e+f", "a+b")).toBeLessThan(0.6);
  });

  it("counts precision against recall", async () => {
    const short = await sound.score("a+b=c", "a+b=c+d");
    expect(short?.precision).toBe(1);
    expect(short?.recall).toBeCloseTo(5 / 7, 3);
  });

  it("scores 0 what cannot be drawn, and has no answer in sound mode if that is the truth", async () => {
    expect(await f1("\\frac{a}{b", "\\frac{a}{b}")).toBe(0);
    expect(await sound.score("a", "\\frac{a}{b")).toBeNull();
    expect((await strict.score("a", "\\frac{a}{b"))?.f1).toBe(0);
    expect([sound.name, strict.name]).toEqual(["cdm-mathjax/odb15", "cdm-mathjax/unimer2509"]);
  });

  it("draws every token the official code marks in formulas that are well formed", async () => {
    const unseen = new Set(["\\hspace{1cm}", "\\left.", "\\right.", "\\smallmatrix"]);
    for (const { latex, quirk } of cases) {
      if (quirk) continue;
      const expected = prepareFormula(latex).visible.filter((token) => !unseen.has(token));
      const { boxes } = await render(latex);
      expect(boxes.map((box) => box.token).filter((token) => !unseen.has(token))).toEqual(expected);
    }
  });
});
