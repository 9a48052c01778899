/**
 * OmniDocBench v1.5: `OmniDocBench.json` and `images/`. Pages are read whole, with the model's own layout or with the annotated regions
 * (the paper's "GT layout"); answers are Markdown. Scores are those of `metrics/omnidocbench.ts`, with CDM of formulas by MathJax.
 * Strict passes over pages without an answer, as the official code does; sound counts them as empty.
 */
import { join } from "node:path";
import type { Box, LayoutRegion, RegionClass } from "../document/types.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { MetricMode } from "../metrics/mode.ts";
import { type DatasetResult, matchDataset, overallScore, scoreDataset } from "../metrics/omnidocbench.ts";
import { imageOf, inOrder, type OmniDocBlock, type OmniDocPage } from "../metrics/omnidocbench-record.ts";
import { type Answers, type EvalItem, type Judgement, meanOf, type OpenBenchmark, type ScoreGroup } from "./benchmark.ts";
import { isObject, parseJson, picturesOf, textOf } from "./data-files.ts";
import { scoreFormulas } from "./formula-scores.ts";

const ANNOTATIONS = "OmniDocBench.json";

/** Categories by the layout class that reads them; what is not named is left out, as the benchmark does with abandoned blocks. */
const CLASSES: Readonly<Record<string, RegionClass>> = {
  title: "title",
  text_block: "text",
  figure: "image",
  figure_caption: "image_caption",
  figure_footnote: "image_footnote",
  table: "table",
  table_caption: "table_caption",
  table_footnote: "table_footnote",
  equation_isolated: "equation",
  equation_caption: "formula_number",
  header: "header",
  footer: "footer",
  page_number: "page_number",
  page_footnote: "page_footnote",
  code_txt: "code",
  code_txt_caption: "code_caption",
  code_algorithm: "algorithm",
  code_algorithm_caption: "code_caption",
  reference: "ref_text",
};

function isPage(value: unknown): value is OmniDocPage {
  return (
    isObject(value) &&
    Array.isArray(value.layout_dets) &&
    value.layout_dets.every((block) => isObject(block) && typeof block.category_type === "string") &&
    isObject(value.page_info) &&
    typeof value.page_info.image_path === "string"
  );
}

async function readAnnotations(folder: string): Promise<OmniDocPage[]> {
  const path = join(folder, ANNOTATIONS);
  const json = parseJson(await textOf(path), path);
  if (!Array.isArray(json) || json.length === 0)
    throw new MineruError("data-invalid", `${path} expected a list of pages; fetch the data again`);
  const bad = json.findIndex((page) => !isPage(page));
  if (bad >= 0)
    throw new MineruError(
      "data-invalid",
      `${path} expected \`layout_dets\` and \`page_info.image_path\` in page ${bad}; fetch the data again`,
    );
  return json as OmniDocPage[];
}

/** The annotated regions of a page, in their order, those without one at the end. */
export function truthRegions(page: OmniDocPage, image: Pick<RgbImage, "width" | "height">): LayoutRegion[] {
  const { width = image.width, height = image.height } = page.page_info;
  const place = ({ order }: OmniDocBlock) => order ?? Number.POSITIVE_INFINITY;
  return page.layout_dets
    .filter(({ category_type, poly, ignore }) => category_type in CLASSES && poly?.length === 8 && ignore !== true)
    .toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)))
    .map(({ category_type, poly }): LayoutRegion => {
      const xs = poly!.filter((_, i) => i % 2 === 0);
      const ys = poly!.filter((_, i) => i % 2 === 1);
      const share = (value: number, size: number) => Math.min(1, Math.max(0, value / size));
      const [left, right] = [share(Math.min(...xs), width), share(Math.max(...xs), width)];
      const [top, bottom] = [share(Math.min(...ys), height), share(Math.max(...ys), height)];
      const box: Box = [Math.floor(1000 * left), Math.floor(1000 * top), Math.ceil(1000 * right), Math.ceil(1000 * bottom)];
      return {
        class: CLASSES[category_type],
        box,
        pixelBox: [
          Math.floor(left * image.width),
          Math.floor(top * image.height),
          Math.ceil(right * image.width),
          Math.ceil(bottom * image.height),
        ],
        angle: 0,
      };
    })
    .filter(({ pixelBox: [left, top, right, bottom] }) => left < right && top < bottom);
}

const stemOf = (image: string): string => image.replace(/\.[^.]*$/, "");

function truthText(page: OmniDocPage): string {
  return inOrder(page.layout_dets)
    .map(({ text, latex, html }) => html ?? latex ?? text ?? "")
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Means over pages by attribute of the page, for every element. */
function attributeGroup(result: DatasetResult, pages: readonly OmniDocPage[], cdm: string): ScoreGroup {
  const labels = Object.keys(result.text_block.page.Edit_dist ?? {}).filter((label) => label !== "ALL");
  const counted = (label: string) =>
    pages.filter(({ page_info }) =>
      Object.entries(page_info.page_attribute ?? {}).some(([name, value]) =>
        Array.isArray(value) ? value.map(String).includes(label) : `${name}: ${value}` === label,
      ),
    ).length;
  const value = (element: keyof Omit<DatasetResult, "spuriousShare">, metric: string, label: string) =>
    result[element].page[metric]?.[label] ?? null;
  return {
    title: "By page attribute",
    columns: ["text edit", "formula CDM", "table TEDS", "table TEDS-S", "reading order edit"],
    rows: labels.sort().map((label) => ({
      name: label,
      count: counted(label),
      values: [
        value("text_block", "Edit_dist", label),
        value("display_formula", cdm, label),
        value("table", "TEDS", label),
        value("table", "TEDS_structure_only", label),
        value("reading_order", "Edit_dist", label),
      ],
    })),
  };
}

async function judge(pages: readonly OmniDocPage[], answers: Answers, mode: MetricMode): Promise<Judgement> {
  const asked = pages.filter((page) => answers.has(stemOf(imageOf(page))));
  const match = matchDataset(
    asked.map((page) => ({ page, markdown: answers.get(stemOf(imageOf(page))) ?? null })),
    mode,
  );
  const bare = (formula: string) => formula.replace(/^(?:\\\[|[$\s])+|(?:\\\]|[$\s])+$/g, "");
  const pairs = match.formulas.map(({ pred, truth }) => ({ pred: bare(pred), truth: bare(truth) }));
  const { f1, notes } = await scoreFormulas(pairs, "odb15", mode);
  const drawn = f1.some((value) => value !== null);
  // In sound mode a truth that cannot be drawn has no score; it would count as 0 in the means.
  const kept = match.formulas.map((_, i) => !drawn || f1[i] !== null);
  const scored = { ...match, formulas: match.formulas.filter((_, i) => kept[i]) };
  const CDM = "CDM";
  const result = scoreDataset(scored, asked, mode, drawn ? { formulas: { [CDM]: f1.filter((value) => value !== null) } } : {});
  const text = result.text_block.all.Edit_dist.ALL_page_avg;
  const cdm = result.display_formula.page[CDM]?.ALL ?? null;
  const teds = result.table.page.TEDS?.ALL ?? null;
  const tedsS = result.table.page.TEDS_structure_only?.ALL ?? null;
  const order = result.reading_order.all.Edit_dist.ALL_page_avg;
  const overall = text !== null && cdm !== null && teds !== null ? overallScore(text, cdm, teds) : null;
  const byImage = (rows: readonly { readonly image: string }[], values: readonly (number | null)[], image: string) =>
    meanOf(values.filter((_, i) => rows[i].image === image));
  return {
    scores: [
      { name: "Overall (0–100)", value: overall, better: "higher" },
      { name: "text edit distance", value: text, better: "lower" },
      { name: "formula CDM", value: cdm, better: "higher" },
      { name: "formula edit distance", value: result.display_formula.all.Edit_dist.ALL_page_avg, better: "lower" },
      { name: "table TEDS", value: teds, better: "higher" },
      { name: "table TEDS-S", value: tedsS, better: "higher" },
      { name: "reading order edit distance", value: order, better: "lower" },
      { name: "share of characters that no truth took", value: result.spuriousShare, better: "lower" },
    ],
    groups: [attributeGroup(result, asked, CDM)],
    cases: asked.map((page) => {
      const image = imageOf(page);
      const edit = result.text_block.perPage[image] ?? null;
      const formulas = byImage(match.formulas, f1, image);
      const tables = result.table.perPage[image] ?? null;
      const parts = [edit === null ? null : 1 - edit, formulas, tables === null ? null : 1 - tables];
      return {
        id: stemOf(image),
        score: meanOf(parts),
        truth: truthText(page),
        details: {
          "text edit": edit,
          "formula CDM": formulas,
          "table edit": tables,
          "order edit": result.reading_order.perPage[image] ?? null,
        },
      };
    }),
    notes: [
      ...notes,
      ...(overall === null ? ["Overall needs pages with text, formulas and tables; one of them is missing"] : []),
      ...(mode === "strict" ? ["strict: pages without an answer are not scored, as in the official code"] : []),
    ],
  };
}

export const openOmniDocBench: OpenBenchmark = async (folder, { layout = "own" } = {}) => {
  const pages = await readAnnotations(folder);
  const items = pages.map((page): EvalItem => {
    const image = imageOf(page);
    const id = stemOf(image);
    return {
      id,
      aliases: [`${id.replace(/\.pdf$/, "")}.mmd`, `${id.replace(/\.pdf$/, "")}.md`, `${image}.md`],
      reading: { kind: "page", ...(layout === "truth" ? { layout: (picture) => truthRegions(page, picture) } : {}) },
      pictures: () => picturesOf(join(folder, "images", image)),
    };
  });
  return {
    name: `OmniDocBench v1.5${layout === "truth" ? ", annotated layout" : ""}`,
    items,
    judge: (answers, mode) => judge(pages, answers, mode),
  };
};
