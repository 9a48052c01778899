/**
 * Likeness and approximate search of strings, in code points: similarity from the longest common subsequence, of whole strings and of
 * the best window (as rapidfuzz has them), and places within a number of edits (as fuzzysearch finds them: candidates grow from pieces
 * that occur unchanged, the best of each overlapping group stays), next to the plain definition by Sellers. It refuses to know what
 * the strings mean and which likeness is enough.
 */

/** A place in a text, `[start, end)` in code points, and its edit distance to what was searched. */
export interface NearMatch {
  readonly start: number;
  readonly end: number;
  readonly distance: number;
}

/** Longest common subsequences of one pattern with many texts, 32 characters of the pattern at a time. */
class CommonSubsequence {
  private readonly length: number;
  private readonly words: number;
  private readonly masks = new Map<string, Uint32Array>();
  private readonly state: Uint32Array;

  constructor(pattern: readonly string[]) {
    this.length = pattern.length;
    this.words = Math.ceil(pattern.length / 32);
    this.state = new Uint32Array(this.words);
    pattern.forEach((character, index) => {
      let mask = this.masks.get(character);
      if (!mask) {
        mask = new Uint32Array(this.words);
        this.masks.set(character, mask);
      }
      mask[index >>> 5] |= 1 << (index & 31);
    });
  }

  has(character: string): boolean {
    return this.masks.has(character);
  }

  /** Length of the longest common subsequence with `text[start, end)`. */
  with(text: readonly string[], start: number, end: number): number {
    const { state, words } = this;
    state.fill(0xffffffff);
    for (let index = start; index < end; index++) {
      const mask = this.masks.get(text[index]);
      if (!mask) continue;
      let carry = 0;
      for (let word = 0; word < words; word++) {
        const old = state[word];
        const match = (old & mask[word]) >>> 0;
        const sum = old + match + carry;
        carry = sum > 0xffffffff ? 1 : 0;
        state[word] = (sum >>> 0) | (old - match);
      }
    }
    let common = 0;
    for (let index = 0; index < this.length; index++) if (((state[index >>> 5] >>> (index & 31)) & 1) === 0) common++;
    return common;
  }
}

function likeness(common: number, lengths: number): number {
  return 1 - (lengths - 2 * common) / lengths;
}

/** Similarity of two strings, 0..100: twice the longest common subsequence / sum of the lengths; two empty strings are alike. */
export function similarity(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const lengths = left.length + right.length;
  if (lengths === 0) return 100;
  return likeness(new CommonSubsequence(left).with(right, 0, right.length), lengths) * 100;
}

/**
 * Similarity, 0..100, of the shorter string with that window of the longer one, of its length or cut by an end, which it is most
 * similar to. Symmetric: a short text inside a long query counts as much as the reverse.
 */
export function partialSimilarity(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  if (left.length === 0 && right.length === 0) return 100;
  const [shorter, longer] = left.length <= right.length ? [left, right] : [right, left];
  const best = bestWindow(shorter, longer);
  return (best < 1 && left.length === right.length ? Math.max(best, bestWindow(longer, shorter)) : best) * 100;
}

function bestWindow(pattern: readonly string[], text: readonly string[]): number {
  const common = new CommonSubsequence(pattern);
  const { length } = pattern;
  let best = 0;
  for (let start = 1 - length; start < text.length && best < 1; start++) {
    const from = Math.max(0, start);
    const to = Math.min(text.length, start + length);
    if (!common.has(text[start <= text.length - length ? to - 1 : from])) continue;
    best = Math.max(best, likeness(common.with(text, from, to), length + to - from));
  }
  return best;
}

/** Least edit distance of `needle` to any part of `text`, the empty part included. */
export function distanceToPart(needle: string, text: string): number {
  const pattern = [...needle];
  const row = pattern.map((_, index) => index + 1);
  let best = pattern.length;
  for (const character of text) {
    let diagonal = 0;
    let left = 0;
    for (let index = 0; index < pattern.length; index++) {
      const above = row[index];
      left = Math.min(diagonal + (pattern[index] === character ? 0 : 1), above + 1, left + 1);
      row[index] = left;
      diagonal = above;
    }
    if (left < best) best = left;
  }
  return best;
}

/**
 * Places of `text` within `maxDistance` edits of `needle`, in order. Without edits every occurrence, overlapping ones too; with edits
 * the best of each overlapping group, of equally near ones the longest.
 * @throws RangeError if `needle` is empty or `maxDistance` no whole number from 0 on
 */
export function nearMatches(needle: string, text: string, maxDistance: number): NearMatch[] {
  const pattern = [...needle];
  if (pattern.length === 0) throw new RangeError("`needle` expected at least one character, got none");
  if (!Number.isInteger(maxDistance) || maxDistance < 0)
    throw new RangeError(`\`maxDistance\` expected a whole number from 0 on, got ${maxDistance}`);
  const characters = [...text];
  if (maxDistance === 0) {
    return occurrences(pattern, characters, 0, characters.length).map((start) => ({ start, end: start + pattern.length, distance: 0 }));
  }
  const isLong = Math.floor(pattern.length / (maxDistance + 1)) >= 3;
  return bestOfGroups((isLong ? grownFromPieces : followed)(pattern, characters, maxDistance));
}

function occurrences(pattern: readonly string[], text: readonly string[], from: number, to: number): number[] {
  const starts: number[] = [];
  for (let start = from; start + pattern.length <= to; start++) {
    let length = 0;
    while (length < pattern.length && text[start + length] === pattern[length]) length++;
    if (length === pattern.length) starts.push(start);
  }
  return starts;
}

/** One of the equal pieces of the pattern is unchanged; from each occurrence of a piece the match grows to both sides. */
function grownFromPieces(pattern: readonly string[], text: readonly string[], max: number): NearMatch[] {
  const matches: NearMatch[] = [];
  const size = Math.floor(pattern.length / (max + 1));
  for (let offset = 0; offset + size <= pattern.length; offset += size) {
    const before = pattern.slice(0, offset).reverse();
    const after = pattern.slice(offset + size);
    const from = Math.max(0, offset - max);
    const to = Math.min(text.length, text.length - pattern.length + offset + size + max);
    for (const index of occurrences(pattern.slice(offset, offset + size), text, from, to)) {
      const right = grow(after, text.slice(index + size, Math.max(0, index - offset + pattern.length + max)), max);
      if (!right) continue;
      const rest = max - right.distance;
      const left = grow(before, text.slice(Math.max(0, index - offset - rest), index).reverse(), rest);
      if (left) matches.push({ start: index - left.size, end: index + size + right.size, distance: left.distance + right.distance });
    }
  }
  return matches;
}

/** The beginning of `text` nearest to `pattern`, of equally near ones the longest; short patterns stop looking early. */
function grow(pattern: readonly string[], text: readonly string[], max: number): { distance: number; size: number } | null {
  if (pattern.length === 0) return { distance: 0, size: 0 };
  const stopsEarly = pattern.length <= Math.max(max * 2, 10);
  const row = pattern.map((_, index) => index + 1);
  let distance = pattern.length;
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    let diagonal = index;
    let left = index + 1;
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < pattern.length; k++) {
      const above = row[k];
      left = Math.min(diagonal + (pattern[k] === text[index] ? 0 : 1), above + 1, left + 1);
      row[k] = left;
      diagonal = above;
      least = Math.min(least, left);
    }
    if (left <= distance) {
      distance = left;
      size = index + 1;
    } else if (stopsEarly && least >= distance) break;
    if (!stopsEarly && Math.min(least, index + 1) > Math.min(max, distance)) break;
  }
  return distance <= max ? { distance, size } : null;
}

/** Follows every beginning of a match through the text, for patterns too short to have an unchanged piece. */
function followed(pattern: readonly string[], text: readonly string[], max: number): NearMatch[] {
  const { length } = pattern;
  if (max >= length) return Array.from({ length: text.length + 1 }, (_, start) => ({ start, end: start, distance: length }));
  const matches: NearMatch[] = [];
  let open: { start: number; next: number; distance: number }[] = [];
  text.forEach((character, index) => {
    const stillOpen: typeof open = [];
    const reach = (start: number, next: number, distance: number) => {
      if (next === length) matches.push({ start, end: index + 1, distance });
      else stillOpen.push({ start, next, distance });
    };
    const first = pattern.indexOf(character);
    if (first >= 0 && first <= max) reach(index, first + 1, first);
    for (const { start, next, distance } of open) {
      if (pattern[next] === character) {
        reach(start, next + 1, distance);
        continue;
      }
      if (distance === max) continue;
      stillOpen.push({ start, next, distance: distance + 1 });
      if (index + 1 < text.length && next + 1 < length) stillOpen.push({ start, next: next + 1, distance: distance + 1 });
      for (let skipped = 1; skipped <= max - distance; skipped++) {
        if (next + skipped < length && pattern[next + skipped] !== character) continue;
        reach(start, Math.min(length, next + skipped + 1), distance + skipped);
        break;
      }
    }
    open = stillOpen;
  });
  for (const { start, next, distance } of open) {
    const whole = distance + length - next;
    if (whole <= max) matches.push({ start, end: text.length, distance: whole });
  }
  return matches;
}

function bestOfGroups(matches: readonly NearMatch[]): NearMatch[] {
  let groups: { start: number; end: number; members: NearMatch[] }[] = [];
  for (const match of matches) {
    const touching = groups.filter((group) => match.end > group.start && match.start < group.end);
    const members = [...touching.flatMap((group) => group.members), match];
    groups = groups.filter((group) => !touching.includes(group));
    groups.push({
      start: Math.min(match.start, ...touching.map((group) => group.start)),
      end: Math.max(match.end, ...touching.map((group) => group.end)),
      members,
    });
  }
  const best = groups.map(({ members }) =>
    members.reduce((a, b) => (b.distance < a.distance || (b.distance === a.distance && b.end - b.start > a.end - a.start) ? b : a)),
  );
  return best.sort((a, b) => a.start - b.start || a.end - b.end || a.distance - b.distance);
}
