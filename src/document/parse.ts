/**
 * The two-step page parse (paper section 4): the layout of the page first, then every region by its own task, all regions of the page
 * decoded side by side. Knows pixels and the recogniser; what regions become is the assembly's business.
 */

import type { ReadingProfile } from "../engine/reading-profile.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { DecodingOptions, RecognitionEvent, RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import { cropRegion } from "../image/crops.ts";
import { crop, pasteOnWhite, type RgbImage } from "../image/rgb-image.ts";
import { bandsOf, isNearEmpty, rejoin } from "./crop-guards.ts";
import { parseFormula } from "./formula.ts";
import { inkLayout } from "./ink-layout.ts";
import { inkCoverage, inkOverlap, LEAST_COVERAGE, MOST_OVERLAP } from "./layout-coverage.ts";
import { borderOf, decideLayout, type LayoutAttempt } from "./layout-retry.ts";
import { parseLayout } from "./layout-text.ts";
import { planRegions, type RegionPlan, type RegionPolicy } from "./regions.ts";
import type { LayoutRegion, ParsedPage, ParsedRegion, Provenance, RecognitionTask, RegionContent, TokenReading, Warning } from "./types.ts";

export interface PageParseOptions extends RegionPolicy {
  /** The page's regions where they are known beforehand; the layout is then not asked for. */
  readonly layout?: readonly LayoutRegion[];
  readonly decoding?: DecodingOptions;
  /** Decoding of single tasks, over `decoding`. */
  readonly taskDecoding?: Readonly<Partial<Record<RecognitionTask | "layout", DecodingOptions>>>;
  /** Another wording of the layout prompt, such as "\nLayout Analysis:". */
  readonly layoutPrompt?: string;
  /** Regions decoded side by side. */
  readonly batchSize?: number;
  /** Keep tokens with confidence and step. Default false. */
  readonly keepTokens?: boolean;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PageEvent) => void;
}

export type PageEvent =
  | { readonly kind: "page"; readonly page: number; readonly image: RgbImage }
  | { readonly kind: "layout"; readonly regions: readonly LayoutRegion[] }
  | { readonly kind: "recognition"; readonly region: number; readonly event: RecognitionEvent };

/** A parsed page and the pictures cut from it, by the path that its regions name. */
export interface PageParse {
  readonly page: ParsedPage;
  readonly crops: ReadonlyMap<string, RgbImage>;
}

interface Piece {
  readonly region: number;
  readonly request: RecognitionRequest;
}

const ENDED: Readonly<Record<string, Provenance["ended"]>> = { stop: "stop-token", length: "length", repetition: "repetition" };
/** Classes whose crop is saved beside the Markdown. */
const PICTURED = new Set(["image", "chart", "image_block", "table"]);

/** The pictures a text region is read from: bands the weights can take; weights that read lines cut them themselves. */
function textPictures(cut: RgbImage, { linePixels, regionTokens }: ReadingProfile): RgbImage[] {
  if (linePixels !== null) return [cut];
  return bandsOf(cut, "text", { tokens: regionTokens, tokenSide: 28 })
    .map(({ top, bottom }) => (top === 0 && bottom === cut.height ? cut : crop(cut, [0, top, cut.width, bottom])))
    .filter((band) => !isNearEmpty(band));
}

/** What the layout step hands on; `result` is the model's answer, null where it was not asked. */
interface FoundLayout {
  readonly regions: readonly LayoutRegion[];
  readonly warnings: readonly Warning[];
  readonly result: RecognitionResult | null;
  readonly attempts: number;
}

async function findRegions(image: RgbImage, recognizer: Recognizer<RecognizerIdentity>, options: PageParseOptions): Promise<FoundLayout> {
  if (options.layout) return { regions: options.layout, warnings: [], result: null, attempts: 0 };
  if (!recognizer.info.profile.detectsLayout) return { regions: inkLayout(image), warnings: [], result: null, attempts: 0 };
  const ask = async (attempt: LayoutAttempt) => {
    const border = borderOf(image);
    const page =
      attempt === "plain"
        ? image
        : pasteOnWhite(image, image.width + border.left + border.right, image.height + border.top + border.bottom, border.left, border.top);
    const decoding = { ...options.decoding, ...options.taskDecoding?.layout };
    const [result] = await recognizer.recognize([{ task: "layout", image: page, prompt: options.layoutPrompt, decoding }], {
      signal: options.signal,
    });
    return { result, decision: decideLayout(attempt, parseLayout(result.text, page), { ...image, blank: isNearEmpty(image) }) };
  };
  const first = await ask("plain");
  if (first.decision.kind === "accept") return { ...first.decision, result: first.result, attempts: 1 };
  const second = await ask(first.decision.attempt);
  if (second.decision.kind !== "accept") throw new Error("internal: the second layout answer expected a decision");
  return { ...second.decision, result: second.result, attempts: 2 };
}

/** A layout that leaves most of the page's ink outside, or claims much of it twice, is set aside: text would be lost or read twice. */
function believable(image: RgbImage, layout: FoundLayout): FoundLayout {
  if (layout.result === null) return layout;
  if (layout.warnings.some(({ kind }) => kind === "whole-page")) {
    const blocks = inkLayout(image);
    if (blocks.length < 2) return layout;
    const message = "the layout found nothing on a page that is not blank; the page was cut at its white space and read as text";
    const warnings = layout.warnings.map((warning) => (warning.kind === "whole-page" ? { ...warning, message } : warning));
    return { ...layout, regions: blocks, warnings };
  }
  const coverage = inkCoverage(image, layout.regions);
  const overlap = inkOverlap(image, layout.regions);
  if (coverage >= LEAST_COVERAGE && overlap <= MOST_OVERLAP) return layout;
  const regions = inkLayout(image);
  if (regions.length === 0) return layout;
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  const why =
    coverage < LEAST_COVERAGE ? `holds only ${percent(coverage)} of what is printed` : `claims ${percent(overlap)} of what it holds twice`;
  const message = `the layout ${why}; the page was cut at its white space instead and read as text`;
  return { ...layout, regions, warnings: [...layout.warnings, { kind: "whole-page", message }] };
}

function tokensOf(results: readonly RecognitionResult[]): TokenReading[] {
  return results.flatMap(({ tokens }) => tokens.map(({ text, confidence, step }) => ({ text, confidence, step: step - 1 })));
}

function contentOf(task: RecognitionTask, answer: string): { content: RegionContent; repairs?: readonly string[] } {
  if (task === "table") return { content: { kind: "table", otsl: answer } };
  if (task === "text") return { content: { kind: "text", text: answer } };
  const { latex, flagged, repairs } = parseFormula(answer);
  return { content: { kind: "formula", latex, ...(flagged ? { flagged } : {}) }, repairs };
}

function readRegion(
  plan: RegionPlan,
  region: LayoutRegion,
  results: readonly RecognitionResult[],
  page: number,
  options: PageParseOptions,
  warn: (warning: Warning) => void,
): ParsedRegion {
  const { task } = plan;
  if (task === null || results.length === 0)
    return { ...region, content: { kind: "none" }, provenance: { task, ...(plan.skipped ? { skipped: plan.skipped } : {}) } };
  const answer = rejoin(
    results.map(({ text }) => text),
    task,
  );
  const { content, repairs } = contentOf(task, answer);
  const confidences = results.flatMap(({ tokens }) => tokens.map(({ confidence }) => confidence));
  const about = { page, region: plan.region };
  if (results.some(({ ended }) => ended === "length"))
    warn({ kind: "answer-truncated", message: "the answer reached its token limit and may be incomplete", ...about });
  if (results.some(({ ended }) => ended === "repetition"))
    warn({ kind: "runaway", message: "the answer repeated itself and was cut", ...about });
  if (content.kind === "formula" && content.flagged)
    warn({ kind: "formula-unrendered", message: "the formula does not render and is kept as it was read", ...about });
  if (results.length > 1) warn({ kind: "banded", message: `the region was read in ${results.length} bands`, ...about });
  return {
    ...region,
    content,
    ...(confidences.length > 0
      ? { confidence: confidences.reduce((a, b) => a + b, 0) / confidences.length, minConfidence: Math.min(...confidences) }
      : {}),
    ...(options.keepTokens ? { tokens: tokensOf(results) } : {}),
    provenance: {
      task,
      ...(task === "formula" ? { answer } : {}),
      steps: results.reduce((sum, { steps }) => sum + steps, 0),
      forwardPasses: results.reduce((sum, { forwards }) => sum + forwards, 0),
      ended: ENDED[results[results.length - 1].ended],
      ...(results.length > 1 ? { bands: results.length } : {}),
      ...(repairs && repairs.length > 0 ? { repairs } : {}),
    },
  };
}

/** Parses one page. `index` counts from 0 and names the page's pictures. */
export async function parsePage(
  image: RgbImage,
  index: number,
  recognizer: Recognizer<RecognizerIdentity>,
  options: PageParseOptions = {},
): Promise<PageParse> {
  options.onEvent?.({ kind: "page", page: index, image });
  const { profile } = recognizer.info;
  const layout = believable(image, await findRegions(image, recognizer, options));
  options.onEvent?.({ kind: "layout", regions: layout.regions });
  const warnings: Warning[] = layout.warnings.map((warning) => ({ ...warning, page: index }));
  const plans = planRegions(layout.regions, options);
  const crops = new Map<string, RgbImage>();
  const paths = new Map<number, string>();
  const pieces: Piece[] = [];
  const finalPlans = plans.map((plan): RegionPlan => {
    const region = layout.regions[plan.region];
    const cut = cropRegion(image, { box: region.box, angle: region.angle });
    if (PICTURED.has(region.class)) {
      const path = `images/page-${index + 1}-region-${plan.region + 1}.png`;
      paths.set(plan.region, path);
      crops.set(path, cut);
    }
    if (plan.task === null) return plan;
    if (isNearEmpty(cut)) {
      warnings.push({
        kind: "near-empty",
        message: `the ${region.class} region is blank and was not read`,
        page: index,
        region: plan.region,
      });
      return { ...plan, task: null, skipped: "near-empty" };
    }
    const decoding = { ...options.decoding, ...options.taskDecoding?.[plan.task] };
    const pictures = plan.task === "text" ? textPictures(cut, profile) : [cut];
    for (const picture of pictures) pieces.push({ region: plan.region, request: { task: plan.task, image: picture, decoding } });
    return plan;
  });

  const results = await recognizer.recognize(
    pieces.map(({ request }) => request),
    {
      signal: options.signal,
      batchSize: options.batchSize,
      onEvent: options.onEvent && ((event) => options.onEvent!({ kind: "recognition", region: pieces[event.request].region, event })),
    },
  );
  const regions = finalPlans.map((plan): ParsedRegion => {
    const own = results.filter((_, i) => pieces[i].region === plan.region).flatMap((result) => result.lines ?? [result]);
    const region = readRegion(plan, layout.regions[plan.region], own, index, options, (warning) => warnings.push(warning));
    const path = paths.get(plan.region);
    return path === undefined ? region : { ...region, image: path };
  });
  const page: ParsedPage = {
    index,
    width: image.width,
    height: image.height,
    regions,
    warnings,
    ...(layout.result
      ? {
          layout: {
            answer: layout.result.text,
            attempts: layout.attempts,
            ...(options.keepTokens ? { tokens: tokensOf([layout.result]) } : {}),
          },
        }
      : {}),
  };
  return { page, crops };
}
