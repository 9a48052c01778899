/**
 * The order in which blocks on a page are read (T. Breuel, 2003): what stands above comes first where both share a part of the line; what
 * stands at the left comes first unless something that spans both stands between. The rest follows from these. What sits astride two
 * columns without spanning them, such as a picture that text runs around, follows the text beside it.
 */
import { type Extent, overlapAcross, overlapDown, widthOf } from "./marks.ts";

/** A block astride two columns covers less than this part of each; a heading over both covers more. */
const ASTRIDE = 0.6;

function precedes(a: Extent, b: Extent, blocks: readonly Extent[]): boolean {
  if (overlapAcross(a, b) > 0) return a.top < b.top || (a.top === b.top && a.left < b.left);
  if (a.left >= b.left) return false;
  const [top, bottom] = [Math.min(a.bottom, b.bottom), Math.max(a.top, b.top)];
  return !blocks.some(
    (c) => c !== a && c !== b && c.top >= top - 1 && c.bottom <= bottom + 1 && overlapAcross(a, c) > 0 && overlapAcross(b, c) > 0,
  );
}

function isAstride(block: Extent, blocks: readonly Extent[]): boolean {
  const others = blocks.filter((other) => other !== block);
  // Without text at both sides it stands between what is above and below.
  const beside = others.filter((other) => overlapDown(block, other) > 0);
  if (!beside.some(({ left }) => left < block.left) || !beside.some(({ right }) => right > block.right)) return false;
  const grazed = others.filter((other) => {
    const shared = overlapAcross(block, other);
    return shared > 0 && shared < ASTRIDE * widthOf(other) && widthOf(other) > 0.5 * widthOf(block);
  });
  return grazed.some((left) => grazed.some((right) => left.right <= right.left));
}

function ordered<T extends Extent>(blocks: readonly T[]): T[] {
  const found: T[] = [];
  const seen = new Set<T>();
  const visit = (block: T): void => {
    if (seen.has(block)) return;
    seen.add(block);
    for (const other of blocks) if (!seen.has(other) && precedes(other, block, blocks)) visit(other);
    found.push(block);
  };
  for (const block of blocks) visit(block);
  return found;
}

/** `blocks` in reading order. */
export function readingOrder<T extends Extent>(blocks: readonly T[]): T[] {
  const byPlace = [...blocks].sort((a, b) => a.top - b.top || a.left - b.left);
  const astride = byPlace.filter((block) => isAstride(block, byPlace));
  const found = ordered(byPlace.filter((block) => !astride.includes(block)));
  for (const block of astride) {
    const beside = found.map((other, i) => (overlapDown(block, other) > 0 ? i : -1));
    const above = found.map((other, i) => (other.bottom <= block.top ? i : -1));
    let place = Math.max(...(Math.max(...beside) >= 0 ? beside : above), -1) + 1;
    while (place < found.length && astride.includes(found[place])) place++;
    found.splice(place, 0, block);
  }
  return found;
}
