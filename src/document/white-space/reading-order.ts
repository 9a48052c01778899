/**
 * The order in which blocks on a page are read (T. Breuel, 2003): what stands above comes first where both share a part of the line; what
 * stands at the left comes first unless something that spans both stands between. The rest follows from these.
 */
import { type Extent, overlapAcross } from "./marks.ts";

function precedes(a: Extent, b: Extent, blocks: readonly Extent[]): boolean {
  if (overlapAcross(a, b) > 0) return a.top < b.top || (a.top === b.top && a.left < b.left);
  if (a.left >= b.left) return false;
  const [top, bottom] = [Math.min(a.bottom, b.bottom), Math.max(a.top, b.top)];
  return !blocks.some(
    (c) => c !== a && c !== b && c.top >= top - 1 && c.bottom <= bottom + 1 && overlapAcross(a, c) > 0 && overlapAcross(b, c) > 0,
  );
}

/** `blocks` in reading order. */
export function readingOrder<T extends Extent>(blocks: readonly T[]): T[] {
  const byPlace = [...blocks].sort((a, b) => a.top - b.top || a.left - b.left);
  const ordered: T[] = [];
  const seen = new Set<T>();
  const visit = (block: T): void => {
    if (seen.has(block)) return;
    seen.add(block);
    for (const other of byPlace) if (!seen.has(other) && precedes(other, block, byPlace)) visit(other);
    ordered.push(block);
  };
  for (const block of byPlace) visit(block);
  return ordered;
}
