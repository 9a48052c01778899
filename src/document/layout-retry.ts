/**
 * What follows from a layout answer: regions are taken, a blank page has none, and a page where the layout finds nothing although it is
 * not blank is asked for again with white around it (which helps pages that are one edge-to-edge table), and at last read whole, as one
 * text, with a warning. Decides only; refuses to run anything.
 */
import type { LayoutReading } from "./layout-text.ts";
import type { LayoutRegion, Warning } from "./types.ts";

/** How the layout of a page is asked for: as it is, or with white around it. */
export type LayoutAttempt = "plain" | "bordered";

/** What follows from a layout answer. */
export type LayoutDecision =
  | { readonly kind: "accept"; readonly regions: readonly LayoutRegion[]; readonly warnings: readonly Warning[] }
  | { readonly kind: "ask-again"; readonly attempt: "bordered" };

/** White added at each side for the second attempt, as a share of that side's length. */
export const BORDER_SHARE = 0.1;

/**
 * Decides after a layout answer. Regions are accepted, those of a bordered page put back into its own thousandths. None on a blank page
 * is right; else the page is asked for again with a white border, and if that finds nothing it is read whole, as one text.
 */
export function decideLayout(
  attempt: LayoutAttempt,
  reading: LayoutReading,
  page: { readonly width: number; readonly height: number; readonly blank: boolean },
): LayoutDecision {
  const warnings: Warning[] = [...reading.warnings];
  if (reading.regions.length > 0) {
    if (attempt === "plain") return { kind: "accept", regions: reading.regions, warnings };
    const regions = withoutBorder(reading.regions, page);
    if (regions.length > 0) {
      warnings.push({ kind: "layout-retried", message: "the layout found nothing at first; found with a white border around the page" });
      return { kind: "accept", regions, warnings };
    }
  }
  if (page.blank) return { kind: "accept", regions: [], warnings: warnings.filter((w) => w.kind !== "empty-layout") };
  if (attempt === "plain") return { kind: "ask-again", attempt: "bordered" };
  warnings.push({
    kind: "whole-page",
    message: "the layout found nothing on a page that is not blank; the page was read whole, as one text",
  });
  return { kind: "accept", regions: [wholePage(page)], warnings };
}

/** The page as one region of text. */
export function wholePage(page: { readonly width: number; readonly height: number }): LayoutRegion {
  return { class: "text", box: [0, 0, 1000, 1000], pixelBox: [0, 0, page.width, page.height], angle: 0 };
}

/** Pixels of white to add at each side of a page for the second attempt. */
export function borderOf(page: { readonly width: number; readonly height: number }): {
  left: number;
  top: number;
  right: number;
  bottom: number;
} {
  const [across, down] = [Math.ceil(page.width * BORDER_SHARE), Math.ceil(page.height * BORDER_SHARE)];
  return { left: across, top: down, right: across, bottom: down };
}

/** Regions of a bordered page in the thousandths of the page itself; those wholly on the border are dropped. */
export function withoutBorder(regions: readonly LayoutRegion[], page: { readonly width: number; readonly height: number }): LayoutRegion[] {
  const border = borderOf(page);
  const back = (edge: number, length: number, added: number) =>
    Math.min(1000, Math.max(0, Math.round((((edge / 1000) * (length + 2 * added) - added) / length) * 1000)));
  return regions.flatMap((region): LayoutRegion[] => {
    const [left, right] = [region.box[0], region.box[2]].map((edge) => back(edge, page.width, border.left));
    const [top, bottom] = [region.box[1], region.box[3]].map((edge) => back(edge, page.height, border.top));
    if (left >= right || top >= bottom) return [];
    const pixelBox = [
      Math.floor((left * page.width) / 1000),
      Math.floor((top * page.height) / 1000),
      Math.ceil((right * page.width) / 1000),
      Math.ceil((bottom * page.height) / 1000),
    ] as const;
    return [{ ...region, box: [left, top, right, bottom], pixelBox }];
  });
}
