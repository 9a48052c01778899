import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ReadingOptions, readLogits } from "./confidence.ts";
import { createRandom } from "./random.ts";

/** The plain softmax of a row in float64 with forbidden ids left out: [probability by id]. */
function softmax(row: ArrayLike<number>, forbidden: readonly number[], temperature = 1): number[] {
  const scaled = Array.from(row, (logit, id) => (forbidden.includes(id) ? Number.NEGATIVE_INFINITY : logit / temperature));
  const largest = Math.max(...scaled);
  const weights = scaled.map((logit) => Math.exp(logit - largest));
  const mass = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / mass);
}

const entropyOf = (probabilities: readonly number[]): number => probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);

const logitRow = fc
  .array(fc.float({ min: -30, max: 30, noNaN: true }), { minLength: 4, maxLength: 40 })
  .map((row) => Float32Array.from(row));

describe("reading logits greedily", () => {
  it("takes the argmax of what is allowed, with its probability, entropy and candidates as plain arithmetic gives them", () => {
    fc.assert(
      fc.property(logitRow, fc.array(fc.nat(60), { maxLength: 3 }), (row, forbidden) => {
        const probabilities = softmax(row, forbidden);
        const ranking = probabilities.map((_, id) => id).filter((id) => !forbidden.includes(id));
        ranking.sort((a, b) => row[b] - row[a] || a - b);
        fc.pre(ranking.length > 0);
        const reading = readLogits(row, { vocabularySize: row.length, forbidden, entropies: true, candidates: 3 });
        expect(reading.tokens[0]).toBe(ranking[0]);
        expect(reading.confidences[0]).toBeCloseTo(probabilities[ranking[0]], 6);
        expect(reading.entropies![0]).toBeCloseTo(entropyOf(probabilities), 5);
        expect(reading.candidates![0].map(({ token }) => token)).toEqual(ranking.slice(0, 3));
        for (const { token, probability } of reading.candidates![0]) expect(probability).toBeCloseTo(probabilities[token], 9);
      }),
    );
  });

  it("reads each row for itself", () => {
    const rows = [Float32Array.of(0, 1, 2, 9), Float32Array.of(5, 5, 1, 9), Float32Array.of(-80, -90, -70, 9)];
    const together = readLogits(Float32Array.from(rows.flatMap((row) => Array.from(row))), { vocabularySize: 4, forbidden: [3] });
    expect(Array.from(together.tokens)).toEqual([2, 0, 2]);
    rows.forEach((row, index) => {
      expect(readLogits(row, { vocabularySize: 4, forbidden: [3] }).confidences[0]).toBe(together.confidences[index]);
    });
  });

  it("takes no probability for forbidden tokens, and none from shifting or from logits of -Infinity", () => {
    const options = { vocabularySize: 3, forbidden: [2] };
    const expected = Math.fround(1 / (1 + Math.exp(-1)));
    expect(readLogits(Float32Array.of(1, 0, 40), options).confidences[0]).toBe(expected);
    expect(readLogits(Float32Array.of(3001, 3000, 40), options).confidences[0]).toBe(expected);
    expect(readLogits(Float32Array.of(1, Number.NEGATIVE_INFINITY, 40), options).confidences[0]).toBe(1);
  });

  it("stays exact to float32 when a large vocabulary shares the probability", () => {
    const row = new Float32Array(150_000).fill(-13);
    row[70_000] = 0;
    const { tokens, confidences, entropies } = readLogits(row, { vocabularySize: row.length, forbidden: [], entropies: true });
    const probability = 1 / (1 + 149_999 * Math.exp(-13));
    expect(tokens[0]).toBe(70_000);
    expect(confidences[0]).toBe(Math.fround(probability));
    const rest = (1 - probability) / 149_999;
    expect(entropies![0]).toBeCloseTo(-probability * Math.log(probability) - 149_999 * rest * Math.log(rest), 6);
  });

  it("refuses rows without a finite logit to choose, and shapes that do not fit", () => {
    const read = (row: number[], options: Partial<ReadingOptions> = {}) =>
      readLogits(Float32Array.from(row), { vocabularySize: 2, forbidden: [], ...options });
    expect(() => read([0, Number.NaN])).toThrow("got none or NaN in row 0");
    expect(() => read([0, 1, Number.NaN, Number.NaN])).toThrow("in row 1");
    expect(() => read([0, Number.POSITIVE_INFINITY])).toThrow(RangeError);
    expect(() => read([0, 1], { forbidden: [0, 1] })).toThrow(RangeError);
    expect(() => read([0, 1, 2])).toThrow("`logits` expected a multiple of 2 numbers, got 3");
    expect(() => read([0, 1], { topP: 1.5 })).toThrow("`topP` expected a number from 0 to 1, got 1.5");
    expect(() => read([0, 1], { temperature: 1 })).toThrow(TypeError);
    expect(() => read([0, Number.NaN], { temperature: 1, random: createRandom(1) })).toThrow("in row 0");
    expect(() => read([0, 1], { candidates: 3 })).toThrow(RangeError);
  });
});

describe("sampling", () => {
  const row = Float32Array.of(2, 0.5, 1.5, -1, 2.5, -3, 4);
  const forbidden = [6];
  const draws = 20_000;

  /** Kept ids and their renormalised probabilities, by sorting everything. */
  function filtered(temperature: number, topK: number, topP: number): Map<number, number> {
    const probabilities = softmax(row, forbidden, temperature);
    let ids = probabilities.map((_, id) => id).filter((id) => id !== 6);
    ids.sort((a, b) => row[b] - row[a] || a - b);
    if (topK > 0) ids = ids.slice(0, topK);
    const mass = ids.reduce((sum, id) => sum + probabilities[id], 0);
    let before = 0;
    ids = ids.filter((id, place) => {
      const keep = place === 0 || before <= topP * mass;
      before += probabilities[id];
      return keep;
    });
    const kept = ids.reduce((sum, id) => sum + probabilities[id], 0);
    return new Map(ids.map((id) => [id, probabilities[id] / kept]));
  }

  it.each([
    [1, 0, 1],
    [0.5, 0, 1],
    [2, 3, 1],
    [1, 0, 0.8],
    [1, 4, 0.7],
    [1, 2, 0.6],
    [1, 0, 0],
    [1, 1, 1],
  ])("draws as often as temperature %d, top-k %d, top-p %d say, and says so", (temperature, topK, topP) => {
    const random = createRandom(17);
    const logits = new Float32Array(row.length * draws);
    for (let draw = 0; draw < draws; draw++) logits.set(row, draw * row.length);
    const options = { vocabularySize: row.length, forbidden, temperature, topK, topP, random, entropies: true };
    const { tokens, confidences, entropies } = readLogits(logits, options);
    const expected = filtered(temperature, topK, topP);
    const entropy = entropyOf([...expected.values()]);
    const counts = new Map<number, number>();
    tokens.forEach((token, draw) => {
      counts.set(token, (counts.get(token) ?? 0) + 1);
      if (Math.abs(confidences[draw] - (expected.get(token) ?? -1)) > 1e-6) throw new Error(`token ${token}: ${confidences[draw]}`);
      if (Math.abs(entropies![draw] - entropy) > 1e-5) throw new Error(`entropy ${entropies![draw]}`);
    });
    for (const [token, probability] of expected) expect(Math.abs((counts.get(token) ?? 0) / draws - probability)).toBeLessThan(0.015);
  });

  it("keeps the unfiltered probability as confidence if asked", () => {
    const plain = softmax(row, forbidden);
    const options = { vocabularySize: row.length, forbidden, temperature: 0.7, topK: 2, confidence: "unfiltered" as const };
    for (let seed = 0; seed < 20; seed++) {
      const { tokens, confidences } = readLogits(row, { ...options, random: createRandom(seed) });
      expect([0, 4]).toContain(tokens[0]);
      expect(confidences[0]).toBeCloseTo(plain[tokens[0]], 6);
    }
  });

  it("is the same again from the same seed, and greedy when it is cold", () => {
    fc.assert(
      fc.property(logitRow, fc.nat(), (logits, seed) => {
        const options = { vocabularySize: logits.length, forbidden: [0], temperature: 1, topP: 0.9 };
        expect(readLogits(logits, { ...options, random: createRandom(seed) })).toEqual(
          readLogits(logits, { ...options, random: createRandom(seed) }),
        );
        const cold = readLogits(logits, {
          vocabularySize: logits.length,
          forbidden: [0],
          temperature: 1,
          topK: 1,
          random: createRandom(seed),
        });
        expect(cold.tokens).toEqual(readLogits(logits, { vocabularySize: logits.length, forbidden: [0] }).tokens);
        expect(cold.confidences[0]).toBe(1);
      }),
    );
  });
});
