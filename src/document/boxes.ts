/**
 * Plane geometry on layout boxes (thousandths of the page): areas, overlaps, how much of one box another holds, and the gap between two.
 * Knows nothing of classes or texts.
 */
import type { Box } from "./types.ts";

/** Area in square thousandths. */
export function area(box: Box): number {
  return Math.max(0, box[2] - box[0]) * Math.max(0, box[3] - box[1]);
}

/** Area that two boxes share. */
export function sharedArea(a: Box, b: Box): number {
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
}

/** Overlap over union, 0..1. */
export function overlapOverUnion(a: Box, b: Box): number {
  const shared = sharedArea(a, b);
  const union = area(a) + area(b) - shared;
  return union > 0 ? shared / union : 0;
}

/** Share of `inner` that lies within `outer`, 0..1. */
export function shareInside(inner: Box, outer: Box): number {
  const whole = area(inner);
  return whole > 0 ? sharedArea(inner, outer) / whole : 0;
}

/** Width in thousandths. */
export function widthOf(box: Box): number {
  return box[2] - box[0];
}

/** Distance between the nearest edges, 0 when the boxes touch, in units of `unit` thousandths across and down. */
export function edgeDistance(a: Box, b: Box, unit: { readonly x: number; readonly y: number }): number {
  const dx = Math.max(0, a[0] - b[2], b[0] - a[2]) * unit.x;
  const dy = Math.max(0, a[1] - b[3], b[1] - a[3]) * unit.y;
  return Math.hypot(dx, dy);
}
