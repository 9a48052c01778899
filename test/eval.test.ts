import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BenchmarkName, evaluate, openBenchmark, writeEvaluation } from "../src/eval.ts";
import { load } from "../src/index.ts";
import { pdfFile } from "./document-files.ts";
import { picture, readerOf, testFolder, writeFiles } from "./eval-data.ts";

const goldenDataset = new URL("./golden/eval/dataset/", import.meta.url).pathname;

/** Scores by name. */
const scoresOf = ({ scores }: { readonly scores: readonly { readonly name: string; readonly value: number | null }[] }) =>
  Object.fromEntries(scores.map(({ name, value }) => [name, value]));

describe("a folder of pictures with texts", () => {
  const data = async () => {
    const folder = await testFolder();
    await writeFiles(folder, {
      "a.png": picture(100),
      "a.txt": "one two\nthree",
      "sub/b.png": picture(200),
      "sub/b.gt.txt": "<b>four</b>",
      "no-text.png": picture(300),
    });
    return folder;
  };
  const reader = () => readerOf({ 100: "one two\nthrea", 200: "<b>four</b>" });

  test("rates are edits over the characters and words of all truths", async () => {
    const benchmark = await openBenchmark("folder", await data());
    const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer: reader() });
    expect(result.counts).toEqual({ items: 2, missing: 0, failed: 0 });
    // Markdown writes `<` and `>` of running text as they are or escaped; the truth has 13 and 11 characters.
    const [a, b] = result.cases;
    expect(a).toMatchObject({ id: "a", details: { CER: 1 / 13, WER: 1 / 3 }, answer: expect.stringContaining("threa") });
    expect(b.id).toBe("sub/b");
    const edits = 1 + Math.round((b.details.CER as number) * 11);
    expect(scoresOf(result)["character error rate"]).toBeCloseTo(edits / 24, 12);
    expect(a.confidence).toBeCloseTo(0.9, 6);
    expect(result.speed).toMatchObject({ items: 2 });
  });

  test("a stopped run goes on where it ended; other settings are refused", async () => {
    const benchmark = await openBenchmark("folder", await data());
    const predictions = await testFolder();
    const first = reader();
    const whole = await evaluate(benchmark, { predictions, recognizer: first, limit: 1 });
    expect(whole.counts.items).toBe(1);
    const second = reader();
    const result = await evaluate(benchmark, { predictions, recognizer: second });
    expect(second.asked.filter(({ task }) => task === "layout")).toHaveLength(1);
    expect(result.counts).toEqual({ items: 2, missing: 0, failed: 0 });
    await expect(evaluate(benchmark, { predictions, recognizer: reader(), decoding: { blockLength: 1 } })).rejects.toMatchObject({
      code: "data-invalid",
      message: expect.stringContaining("other settings"),
    });
    const third = reader();
    const again = await evaluate(benchmark, { predictions, mode: "strict" });
    expect(third.asked).toEqual([]);
    expect(scoresOf(again)).toEqual(scoresOf(result));
  });

  test("existing Markdown is scored without a model; what is missing counts as empty", async () => {
    const benchmark = await openBenchmark("folder", await data());
    const predictions = await testFolder();
    await writeFile(join(predictions, "a.md"), "one two three");
    const result = await evaluate(benchmark, { predictions });
    expect(result).toMatchObject({ model: null, speed: null, counts: { items: 2, missing: 1, failed: 0 } });
    expect(scoresOf(result)["character error rate"]).toBeCloseTo(11 / 24, 12);
    await expect(evaluate(benchmark, { predictions: await testFolder() })).rejects.toMatchObject({ code: "file-unreadable" });
  });

  test("a damaged picture fails alone", async () => {
    const folder = await data();
    await writeFile(join(folder, "a.png"), "no picture");
    const told: string[] = [];
    const result = await evaluate(await openBenchmark("folder", folder), {
      predictions: await testFolder(),
      recognizer: reader(),
      onProgress: ({ failure }) => failure && told.push(failure),
    });
    expect(result.counts).toMatchObject({ items: 2, failed: 1 });
    expect(told).toHaveLength(1);
    expect(result.cases[0]).toMatchObject({ id: "a", score: 0, answer: "" });
  });

  test("the report shows the worst cases beside their pictures and lets no markup through", async () => {
    const benchmark = await openBenchmark("folder", await data());
    const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer: readerOf({ 100: "x", 200: "<b>four</b>" }) });
    const output = join(await testFolder(), "deep");
    await writeEvaluation(output, result, benchmark, 2);
    const html = await readFile(join(output, "results.html"), "utf8");
    expect(html.match(/src="data:image\/png;base64,/g)).toHaveLength(2);
    expect(html).toContain("&lt;b&gt;four&lt;/b&gt;");
    expect(html).not.toContain("<b>");
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
    expect(html.match(/<svg/g)).toHaveLength(2);
    const json = JSON.parse(await readFile(join(output, "results.json"), "utf8"));
    expect(json.cases.map(({ id }: { id: string }) => id)).toEqual(["a", "sub/b"]);
    expect(json.cases[0]).not.toHaveProperty("truth");
    expect(await readFile(join(output, "results.md"), "utf8")).toMatch(/\| character error rate ↓ \| 0\.\d{4} \|/);
  });
});

describe("OmniDocBench", () => {
  test("answers of the golden data set score as the official run scores them", async () => {
    const expected = JSON.parse(await readFile(join(goldenDataset, "expected.json"), "utf8")).metricResult;
    const benchmark = await openBenchmark("omnidocbench", goldenDataset);
    const result = await evaluate(benchmark, { predictions: join(goldenDataset, "predictions"), mode: "strict" });
    expect(result.counts).toEqual({ items: 6, missing: 1, failed: 0 });
    const scores = scoresOf(result);
    expect(scores["text edit distance"]).toBeCloseTo(expected.text_block.all.Edit_dist.ALL_page_avg, 10);
    expect(scores["formula edit distance"]).toBeCloseTo(expected.display_formula.all.Edit_dist.ALL_page_avg, 10);
    expect(scores["table TEDS"]).toBeCloseTo(expected.table.page.TEDS.ALL, 10);
    expect(scores["table TEDS-S"]).toBeCloseTo(expected.table.page.TEDS_structure_only.ALL, 10);
    expect(scores["reading order edit distance"]).toBeCloseTo(expected.reading_order.all.Edit_dist.ALL_page_avg, 10);
    const cdm = scores["formula CDM"]!;
    expect(cdm).toBeGreaterThan(0.7);
    expect(scores["Overall (0–100)"]).toBeCloseTo((100 * (1 - scores["text edit distance"]! + cdm + scores["table TEDS"]!)) / 3, 8);
    const row = result.groups[0].rows.find(({ name }) => name === "data_source: exam_paper");
    expect(row).toMatchObject({ count: 1 });
    expect(row?.values[0]).toBeCloseTo(expected.text_block.page.Edit_dist["data_source: exam_paper"], 10);
    // The page without an answer is passed over in strict mode and counts as empty in sound mode.
    const sound = scoresOf(await evaluate(benchmark, { predictions: join(goldenDataset, "predictions") }));
    expect(sound["text edit distance"]!).toBeGreaterThan(scores["text edit distance"]!);
  });

  test("with the annotated layout every region is read by its task, in order", async () => {
    const folder = await testFolder();
    const block = (category: string, order: number | null, [x0, y0, x1, y1]: number[], rest: object) => ({
      category_type: category,
      order,
      anno_id: `${category}${order}`,
      ignore: false,
      poly: [x0, y0, x1, y0, x1, y1, x0, y1],
      ...rest,
    });
    const table = "<table><tr><td>a</td><td>b</td></tr></table>";
    const page = {
      layout_dets: [
        block("text_block", 2, [0, 100, 400, 200], { text: "Second block of words." }),
        block("title", 1, [0, 0, 300, 100], { text: "First" }),
        block("table", 3, [0, 200, 200, 300], { html: table }),
        block("equation_isolated", 4, [0, 300, 100, 400], { latex: "$$\nx^{2}\n$$" }),
        block("abandon", null, [0, 400, 60, 500], {}),
      ],
      page_info: { page_no: 0, width: 400, height: 500, image_path: "page.png", page_attribute: { data_source: "book" } },
      extra: { relation: [] },
    };
    await writeFiles(folder, { "OmniDocBench.json": JSON.stringify([page]), "images/page.png": picture(400, 500) });
    const recognizer = readerOf({ 300: "First", 400: "Second block of words.", 200: "<fcel>a<fcel>b<nl>", 100: "\\[ x^{2} \\]" });
    const benchmark = await openBenchmark("omnidocbench", folder, { layout: "truth" });
    const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer });
    expect(recognizer.asked.map(({ task }) => task)).toEqual(["text", "text", "table", "formula"]);
    expect(recognizer.asked.map(({ image }) => [image!.width, image!.height])).toEqual([
      [300, 100],
      [400, 100],
      [200, 100],
      [100, 100],
    ]);
    expect(scoresOf(result)).toMatchObject({
      "Overall (0–100)": 100,
      "text edit distance": 0,
      "formula CDM": 1,
      "table TEDS": 1,
      "reading order edit distance": 0,
    });
    await expect(async () => openBenchmark("folder", folder, { layout: "truth" })).rejects.toThrow(/`layout` expected "own"/);
  });
});

test("CC-OCR: tables of several sets, a missing answer counts 0", async () => {
  const folder = await testFolder();
  const table = (cell: string) => `<table><tr><td>${cell}</td><td>b</td></tr></table>`;
  await writeFiles(folder, {
    "table_scan_eng/label.json": JSON.stringify({ "one.png": table("abcd"), "two.png": table("b") }),
    "table_scan_eng/images/one.png": picture(100),
    "table_scan_eng/images/two.png": picture(200),
    "table_photo_chn/label.json": JSON.stringify({ "three.png": table("c") }),
    "table_photo_chn/images/three.png": picture(300),
    "readme.txt": "not a set",
  });
  const benchmark = await openBenchmark("cc-ocr-tables", folder);
  const predictions = await testFolder();
  const recognizer = readerOf({ 100: "<fcel>abcx<fcel>b<nl>", 200: "<fcel>b<fcel>b<nl>", 300: "<fcel>c<fcel>b<nl>" });
  const result = await evaluate(benchmark, { predictions, recognizer });
  // One of four characters of a cell is wrong: 1/4 of an edit among three elements below the table.
  expect(result.groups[0].rows).toEqual([
    { name: "table_photo_chn", count: 1, values: [1, 1] },
    { name: "table_scan_eng", count: 2, values: [(1 - 0.25 / 3 + 1) / 2, 1] },
  ]);
  expect(scoresOf(result).TEDS).toBeCloseTo((1 + (2 - 0.25 / 3) / 2) / 2, 12);
  const alone = await openBenchmark("cc-ocr-tables", join(folder, "table_scan_eng"));
  expect(alone.items.map(({ id }) => id)).toEqual(["table_scan_eng/one", "table_scan_eng/two"]);
  const elsewhere = await testFolder();
  await writeFiles(elsewhere, { "table_scan_eng/one.html": table("abcd") });
  expect(scoresOf(await evaluate(alone, { predictions: elsewhere }))).toMatchObject({ TEDS: 0.5 });
});

test("OCRBench v2: HTML and Markdown questions, other tasks left out", async () => {
  const folder = await testFolder();
  const common = { dataset_name: "made up", image_path: "tables/t.png" };
  const html = "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>";
  await writeFiles(folder, {
    "OCRBench_v2.json": JSON.stringify([
      { ...common, id: 1, type: "table parsing en", question: "Convert to HTML", answers: [html] },
      { ...common, id: 2, type: "table parsing en", question: "Convert to markdown", answers: ["| a | b |\n|---|---|\n| 1 | 2 |"] },
      { ...common, id: 3, type: "table parsing cn", question: "表格", answers: ["<table><tr><td>c</td></tr></table>"] },
      { ...common, id: 4, type: "chart parsing en", question: "?", answers: [{}] },
    ]),
    "tables/t.png": picture(120),
  });
  const benchmark = await openBenchmark("ocrbench-v2-tables", folder);
  const recognizer = readerOf({ 120: "<fcel>a<fcel>b<nl><fcel>1<fcel>2<nl>" });
  for (const mode of ["strict", "sound"] as const) {
    const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer, mode });
    const [english, chinese] = result.groups[0].rows;
    expect(english).toMatchObject({ name: "table parsing en", count: 2, values: [1, 1] });
    expect(chinese).toMatchObject({ name: "table parsing cn", count: 1 });
    expect(chinese.values[0]).toBeLessThan(0.6);
  }
});

test("UniMER: numbered pictures, blank lines passed over, subsets averaged", async () => {
  const folder = await testFolder();
  await writeFiles(folder, {
    "spe.txt": "x ^ { 2 }\n\n\\frac { a } { b }\ny\n",
    "spe/0000000.png": picture(100),
    "spe/0000002.png": picture(200),
    "hwe.txt": "a + b",
    "hwe/0000000.png": picture(300),
  });
  const benchmark = await openBenchmark("unimer", folder);
  expect(benchmark.items.map(({ id }) => id)).toEqual(["spe/0000000", "spe/0000002", "hwe/0000000"]);
  const recognizer = readerOf({ 100: "\\[x^{2}\\]", 200: "\\[\\frac{a}{b}\\]", 300: "\\[c\\]" });
  const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer });
  const [printed, written] = result.groups[0].rows;
  expect(printed).toMatchObject({ name: "SPE, simple printed", count: 2, values: [1, 1, 0, expect.any(Number)] });
  expect(written.values[0]).toBeLessThan(0.5);
  expect(scoresOf(result)["CDM, mean of the subsets"]).toBeCloseTo((1 + written.values[0]!) / 2, 12);
  expect(result.notes.join()).toContain("cdm-mathjax/unimer2509");
});

test("olmOCR-bench: files averaged, baseline tests added, unanswered pages fail", async () => {
  const folder = await testFolder();
  const line = (fields: object) => JSON.stringify({ max_diffs: 0, checked: "verified", ...fields });
  await writeFiles(folder, {
    "pdfs/old_scans/one.pdf": pdfFile([{ size: [120, 60] }]),
    "old_scans.jsonl": [
      line({ pdf: "old_scans/one.pdf", page: 1, id: "1", type: "present", text: "printed words" }),
      line({ pdf: "old_scans/one.pdf", page: 1, id: "2", type: "absent", text: "printed words" }),
      line({ pdf: "old_scans/two.pdf", page: 1, id: "3", type: "absent", text: "anything" }),
      "",
    ].join("\n"),
    "arxiv_math.jsonl": line({ pdf: "old_scans/one.pdf", page: 1, id: "4", type: "math", math: "x^2" }),
  });
  const benchmark = await openBenchmark("olmocr", folder);
  expect(benchmark.items.map(({ id }) => id).sort()).toEqual(["old_scans/one_pg1", "old_scans/two_pg1"]);
  const recognizer = readerOf({});
  recognizer.answer = ({ task }) => ({
    text: task === "layout" ? "<|box_start|>000 000 1000 1000<|box_end|><|ref_start|>text<|ref_end|>" : "printed words and \\( x^2 \\)",
  });
  const result = await evaluate(benchmark, { predictions: await testFolder(), recognizer });
  // two.pdf does not exist: its test and its baseline fail.
  expect(result.counts).toMatchObject({ items: 2, failed: 1 });
  expect(result.groups[0].rows).toEqual([
    { name: "arxiv_math", count: 1, values: [1] },
    { name: "baseline", count: 2, values: [0.5] },
    { name: "old_scans", count: 3, values: [2 / 3] },
  ]);
  const elsewhere = await testFolder();
  await writeFiles(elsewhere, { "old_scans/one_pg1_repeat1.md": "printed words" });
  const unanswered = await evaluate(benchmark, { predictions: elsewhere });
  expect(unanswered.groups[0].rows.find(({ name }) => name === "old_scans")).toMatchObject({ values: [1 / 3] });
});

test("wrong data are told with the file and the cure", async () => {
  const cases: readonly [BenchmarkName, Record<string, string>, RegExp][] = [
    ["omnidocbench", { "OmniDocBench.json": "[{}]" }, /OmniDocBench\.json expected `layout_dets`/],
    ["omnidocbench", {}, /OmniDocBench\.json: there is no such file; check --data/],
    ["omnidocbench", { "OmniDocBench.json": "[" }, /expected JSON/],
    ["cc-ocr-tables", { "label.json": "[1]" }, /label\.json expected picture names/],
    ["cc-ocr-tables", {}, /expected label\.json, or folders/],
    ["ocrbench-v2-tables", { "OCRBench_v2.json": "[]" }, /expected items of type/],
    ["unimer", { "spe.txt": "x" }, /expected spe\.txt and/],
    ["olmocr", { "a.jsonl": '{"pdf":1}' }, /a\.jsonl line 1 expected `pdf`/],
    ["folder", { "a.txt": "x" }, /expected pictures with texts/],
  ];
  for (const [name, files, message] of cases) {
    const folder = await testFolder();
    await writeFiles(folder, files);
    await expect(openBenchmark(name, folder), name).rejects.toMatchObject({ name: "MineruError", message: expect.stringMatching(message) });
  }
  expect(existsSync(goldenDataset)).toBe(true);
});

test("mini reads a page from end to end", async () => {
  const folder = await testFolder();
  for (const name of ["testocr.png", "testocr.txt"]) await cp(new URL(`./samples/${name}`, import.meta.url).pathname, join(folder, name));
  await using parser = await load({ thread: "own", threads: 1 });
  const result = await evaluate(await openBenchmark("folder", folder), { predictions: await testFolder(), recognizer: parser.recognizer });
  expect(result).toMatchObject({ model: "mini", counts: { items: 1, missing: 0, failed: 0 } });
  expect(scoresOf(result)["character error rate"]!).toBeLessThan(0.15);
  expect(result.speed!.tokens).toBeGreaterThan(200);
  expect(result.cases[0].confidence).toBeGreaterThan(0.5);
});
