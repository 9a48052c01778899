/**
 * The two-step page parse (paper section 4): the layout of the page first, then every region by its own task, all regions of the page
 * decoded side by side. Knows pixels and the recogniser; what regions become is the assembly's business.
 */

import type { ReadingProfile } from "../engine/reading-profile.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { DecodingOptions, RecognitionEvent, RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import { cropRegion } from "../image/crops.ts";
import { nearlyEmpty } from "../image/ink.ts";
import { crop, pasteOnWhite, type RgbImage } from "../image/rgb-image.ts";
import { tasks } from "../text/prompts.ts";
import { bandsOf, longestAnswer } from "./crop-guards.ts";
import { type DecodingPolicy, decodingBy } from "./decoding-policy.ts";
import { inkLayout, setUpright } from "./ink-layout.ts";
import { inkCoverage, inkOverlap, LEAST_COVERAGE, MOST_OVERLAP } from "./layout-coverage.ts";
import { borderOf, decideLayout, type LayoutAttempt } from "./layout-retry.ts";
import { parseLayout } from "./layout-text.ts";
import { readRegion, tokensOf } from "./region-reading.ts";
import { planRegions, type RegionPlan, type RegionPolicy } from "./regions.ts";
import type { LayoutRegion, ParsedPage, ParsedRegion, RecognitionTask, Warning } from "./types.ts";

/** How a page is read. */
export interface PageParseOptions extends RegionPolicy {
  /** The page's regions where they are known beforehand; the layout is then not asked for. */
  readonly layout?: readonly LayoutRegion[];
  readonly decoding?: DecodingOptions;
  /** Decoding of single tasks, over `decoding`. */
  readonly taskDecoding?: Readonly<Partial<Record<RecognitionTask | "layout", DecodingOptions>>>;
  /** Settings by task and complexity, under `decoding` and `taskDecoding`. */
  readonly policy?: DecodingPolicy;
  /** Another wording of the layout prompt, such as "\nLayout Analysis:". */
  readonly layoutPrompt?: string;
  /** Regions decoded side by side. */
  readonly batchSize?: number;
  /** Keep tokens with confidence and step. Default false. */
  readonly keepTokens?: boolean;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PageEvent) => void;
}

/** What happens while a page is read: its picture, its layout, the decoding of its regions. */
export type PageEvent =
  | { readonly kind: "page"; readonly page: number; readonly image: RgbImage }
  | { readonly kind: "layout"; readonly regions: readonly LayoutRegion[] }
  | { readonly kind: "recognition"; readonly region: number; readonly event: RecognitionEvent };

/** A parsed page, the picture its boxes lie on, and the pictures cut from it, by the path that its regions name. */
export interface PageParse {
  readonly page: ParsedPage;
  readonly image: RgbImage;
  readonly crops: ReadonlyMap<string, RgbImage>;
}

interface Piece {
  readonly region: number;
  readonly request: RecognitionRequest;
}

/** Classes whose crop is saved beside the Markdown. */
const PICTURED = new Set(["image", "chart", "image_block", "table"]);

/** The pictures a region is read from: bands the weights can take. Weights that read lines cut a text themselves. */
function bandPictures(cut: RgbImage, task: RecognitionTask, { linePixels, readsTables, regionTokens }: ReadingProfile): RgbImage[] {
  if (linePixels !== null && (task === "text" || (task === "table" && !readsTables))) return [cut];
  return bandsOf(cut, task, { tokens: regionTokens, tokenSide: 28 })
    .map(({ top, bottom }) => (top === 0 && bottom === cut.height ? cut : crop(cut, [0, top, cut.width, bottom])))
    .filter((band) => !nearlyEmpty(band));
}

/** `decoding` with an end to answers that say more than `picture` can hold; whoever set an end, or made the answer one block, keeps it. */
function bounded(decoding: DecodingOptions, task: RecognitionTask, picture: RgbImage): DecodingOptions {
  if (decoding.maxTokens !== undefined || decoding.blockLength === "answer") return decoding;
  return { ...decoding, maxTokens: longestAnswer(picture, tasks[task].maxAnswerTokens) };
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
    return { result, decision: decideLayout(attempt, parseLayout(result.text, page), { ...image, blank: nearlyEmpty(image) }) };
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

/** Parses one page. `index` counts from 0 and names the page's pictures. */
export async function parsePage(
  image: RgbImage,
  index: number,
  recognizer: Recognizer<RecognizerIdentity>,
  options: PageParseOptions = {},
): Promise<PageParse> {
  const { profile } = recognizer.info;
  // Weights that find regions themselves know pages that lie on their side; white space does not.
  const { image: page, turn, skew } = profile.detectsLayout ? { image, turn: 0, skew: 0 } : setUpright(image);
  options.onEvent?.({ kind: "page", page: index, image: page });
  const layout = believable(page, await findRegions(page, recognizer, options));
  options.onEvent?.({ kind: "layout", regions: layout.regions });
  const warnings: Warning[] = layout.warnings.map((warning) => ({ ...warning, page: index }));
  const crops = new Map<string, RgbImage>();
  const paths = new Map<number, string>();
  const pieces: Piece[] = [];
  const ask = (region: number, task: RecognitionTask, picture: RgbImage): void => {
    const byPolicy = options.policy ? decodingBy(options.policy, task, picture) : {};
    const decoding = bounded({ ...byPolicy, ...options.decoding, ...options.taskDecoding?.[task] }, task, picture);
    pieces.push({ region, request: { task, image: picture, decoding } });
  };
  const { regions } = layout;
  const plans = planRegions(regions, options).map((plan): RegionPlan => {
    const region = regions[plan.region];
    const cut = cropRegion(page, { box: region.box, angle: region.angle });
    if (PICTURED.has(region.class)) {
      const path = `images/page-${index + 1}-region-${plan.region + 1}.png`;
      paths.set(plan.region, path);
      crops.set(path, cut);
    }
    if (plan.task === null) return plan;
    if (nearlyEmpty(cut)) {
      warnings.push({
        kind: "near-empty",
        message: `the ${region.class} region is blank and was not read`,
        page: index,
        region: plan.region,
      });
      return { ...plan, task: null, skipped: "near-empty" };
    }
    for (const picture of bandPictures(cut, plan.task, profile)) ask(plan.region, plan.task, picture);
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
  const warn = (warning: Warning): void => void warnings.push(warning);
  const read = plans.map((plan): ParsedRegion => {
    const own = results.filter((_, i) => pieces[i].region === plan.region);
    const region = readRegion(plan, regions[plan.region], own, { page: index, keepTokens: options.keepTokens, warn });
    const path = paths.get(plan.region);
    return path === undefined ? region : { ...region, image: path };
  });
  const parsed: ParsedPage = {
    index,
    width: page.width,
    height: page.height,
    ...(turn === 0 ? {} : { turn }),
    ...(skew === 0 ? {} : { skew }),
    regions: read,
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
  return { page: parsed, image: page, crops };
}
