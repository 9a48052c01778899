/**
 * NumPy's default random generator (PCG64 seeded by SeedSequence) as far as drawing a few indices without replacement needs it. The
 * official formula match draws its samples with seed 42; the same draws give the same score. It refuses to know of other distributions.
 */

const MASK_128 = (1n << 128n) - 1n;
const MASK_64 = (1n << 64n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

export class NumpyRandom {
  private state = 0n;
  private readonly increment: bigint;
  /** The upper half of a 64-bit draw whose lower half has been used. */
  private spare: number | null = null;

  /** @param seed whole number from 0 to 2^32 - 1 */
  constructor(seed: number) {
    if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
      throw new RangeError(`\`seed\` expected a 32-bit whole number, got ${seed}`);
    const [a, b, c, d] = seedWords(seed);
    this.increment = ((((c << 64n) | d) << 1n) | 1n) & MASK_128;
    this.step();
    this.state = (this.state + ((a << 64n) | b)) & MASK_128;
    this.step();
  }

  /** `count` different indices below `population`, as `Generator.choice(population, count, replace=False)` draws them. */
  choose(population: number, count: number): number[] {
    const drawn: number[] = [];
    for (let last = population - count; last < population; last++) {
      const index = this.below(last + 1);
      drawn.push(drawn.includes(index) ? last : index);
    }
    for (let position = count - 1; position >= 1; position--) {
      const other = this.below(position + 1);
      [drawn[position], drawn[other]] = [drawn[other], drawn[position]];
    }
    return drawn;
  }

  /** A whole number below `bound`, by Lemire's method on 32-bit draws. */
  private below(bound: number): number {
    if (bound === 1) return 0;
    const range = BigInt(bound);
    let product = BigInt(this.next32()) * range;
    const threshold = (0x100000000n - range) % range;
    while ((product & 0xffffffffn) < threshold) product = BigInt(this.next32()) * range;
    return Number(product >> 32n);
  }

  private next32(): number {
    if (this.spare !== null) {
      const value = this.spare;
      this.spare = null;
      return value;
    }
    this.step();
    const mixed = ((this.state >> 64n) ^ this.state) & MASK_64;
    const turn = this.state >> 122n;
    const word = ((mixed >> turn) | (mixed << ((64n - turn) & 63n))) & MASK_64;
    this.spare = Number(word >> 32n);
    return Number(word & 0xffffffffn);
  }

  private step(): void {
    this.state = (this.state * MULTIPLIER + this.increment) & MASK_128;
  }
}

/** Four 64-bit words from a seed (SeedSequence with a pool of four 32-bit words). */
function seedWords(seed: number): bigint[] {
  let constant = 0x43b0d7e5;
  const hash = (input: number) => {
    let value = (input ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mix = (x: number, y: number) => {
    const value = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const pool = [seed, 0, 0, 0].map(hash);
  for (let source = 0; source < 4; source++) {
    for (let target = 0; target < 4; target++) {
      if (source !== target) pool[target] = mix(pool[target], hash(pool[source]));
    }
  }
  let output = 0x8b51f9dd;
  const words = Array.from({ length: 8 }, (_, index) => {
    let value = (pool[index % 4] ^ output) >>> 0;
    output = Math.imul(output, 0x58f38ded) >>> 0;
    value = Math.imul(value, output) >>> 0;
    return BigInt((value ^ (value >>> 16)) >>> 0);
  });
  return [0, 2, 4, 6].map((index) => words[index] | (words[index + 1] << 32n));
}
