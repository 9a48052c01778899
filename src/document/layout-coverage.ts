/**
 * A check on the layout: how much of the page's ink its regions cover. Text that no region holds would be lost without a word, so a layout
 * that misses most of a page is set aside and the page read whole.
 */
import { inkMask } from "../image/ink-mask.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { LayoutRegion } from "./types.ts";

/** Below this share of covered ink the layout is not believed. */
export const LEAST_COVERAGE = 0.6;

/** Share of the page's ink, specks left out, that lies in a region: 0..1; 1 for a page without ink. */
export function inkCoverage(page: RgbImage, regions: readonly Pick<LayoutRegion, "pixelBox">[]): number {
  const { width, height, ink } = inkMask(page);
  const covered = new Uint8Array(width * height);
  for (const { pixelBox } of regions) {
    const [left, top, right, bottom] = pixelBox;
    for (let y = Math.max(0, top); y < Math.min(height, bottom); y++) covered.fill(1, y * width + left, y * width + Math.min(width, right));
  }
  let [inside, all] = [0, 0];
  for (let i = 0; i < ink.length; i++) {
    all += ink[i];
    inside += ink[i] & covered[i];
  }
  return all === 0 ? 1 : inside / all;
}

/** Above this share of ink that two regions claim, the layout is not believed either: it would be read twice. */
export const MOST_OVERLAP = 0.25;

/** Share of the covered ink that lies in two text regions or more, 0..1. Containers and pictures may hold others. */
export function inkOverlap(page: RgbImage, regions: readonly Pick<LayoutRegion, "class" | "pixelBox">[]): number {
  const { width, height, ink } = inkMask(page);
  const times = new Uint8Array(width * height);
  for (const { class: name, pixelBox } of regions) {
    if (!READ_ALONE.has(name)) continue;
    const [left, top, right, bottom] = pixelBox;
    for (let y = Math.max(0, top); y < Math.min(height, bottom); y++) {
      for (let at = y * width + left; at < y * width + Math.min(width, right); at++) if (times[at] < 2) times[at]++;
    }
  }
  let [once, twice] = [0, 0];
  for (let i = 0; i < ink.length; i++) {
    if (ink[i] === 0 || times[i] === 0) continue;
    once++;
    if (times[i] > 1) twice++;
  }
  return once === 0 ? 0 : twice / once;
}

const READ_ALONE = new Set([
  "text",
  "title",
  "doc_title",
  "paragraph_title",
  "ref_text",
  "header",
  "footer",
  "page_footnote",
  "aside_text",
]);
