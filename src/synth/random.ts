/**
 * Seeded randomness for synthetic documents: a small fast counter (sfc32) whose state is hashed from a path of
 * numbers and words, so that "sample 17 of stream 3" names the same document on every machine. It refuses to
 * know what is drawn with it.
 */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform in [low, high). */
  range(low: number, high: number): number;
  /** Uniform integer, both ends included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  /** Standard normal deviate. */
  normal(): number;
  pick<T>(items: readonly T[]): T;
  /** Draws a key with probability proportional to its (non-negative) weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
  /** A new array in random order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** FNV-1a over the UTF-16 units of `text`: 32 bits, used to split corpora and to derive seeds. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Opens the random stream named by `path`; equal paths give equal streams. */
export function createRandom(...path: readonly (number | string)[]): Random {
  const name = path.join("/");
  let a = hashText(`a:${name}`);
  let b = hashText(`b:${name}`);
  let c = hashText(`c:${name}`);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i++) next();
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    range: (low, high) => low + next() * (high - low),
    int,
    chance: (probability) => next() < probability,
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick: (items) => {
      if (items.length === 0) throw new RangeError("`items` expected at least one item, got none");
      return items[Math.floor(next() * items.length)];
    },
    weighted: <K extends string>(weights: Readonly<Record<K, number>>): K => {
      const keys = Object.keys(weights) as K[];
      let total = 0;
      for (const key of keys) total += weights[key];
      let left = next() * total;
      for (const key of keys) {
        left -= weights[key];
        if (left < 0) return key;
      }
      return keys[keys.length - 1];
    },
    shuffled: (items) => {
      const copy = items.slice();
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(0, i);
        [copy[i], copy[j]] = [copy[j], copy[i]];
      }
      return copy;
    },
  };
}
