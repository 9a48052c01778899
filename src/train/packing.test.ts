import fc from "fast-check";
import { expect, test } from "vitest";
import { packIntoBins } from "./packing.ts";

const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 });

/** Items of each bin as [from, to), in order. */
function spans(items: readonly number[], { placements, bins }: ReturnType<typeof packIntoBins>): [number, number][][] {
  const byBin = Array.from({ length: bins }, (): [number, number][] => []);
  items.forEach((length, i) => {
    byBin[placements[i].bin].push([placements[i].offset, placements[i].offset + length]);
  });
  return byBin.map((bin) => bin.sort((a, b) => a[0] - b[0]));
}

test("every item has its place, none overlap, nothing is left between them, no bin is empty", () => {
  fc.assert(
    fc.property(lengths, fc.integer({ min: 60, max: 100 }), fc.boolean(), (items, capacity, given) => {
      const packing = given ? packIntoBins(items, capacity) : packIntoBins(items);
      expect(packing.placements).toHaveLength(items.length);
      expect(packing.capacity).toBe(given ? capacity : Math.max(0, ...items));
      for (const bin of spans(items, packing)) {
        expect(bin.length).toBeGreaterThan(0);
        bin.forEach(([from, to], i) => {
          expect(from).toBe(i === 0 ? 0 : bin[i - 1][1]);
          expect(to).toBeLessThanOrEqual(packing.capacity);
        });
      }
    }),
  );
});

test("no two bins would fit into one", () => {
  fc.assert(
    fc.property(lengths, (items) => {
      const packing = packIntoBins(items);
      const ends = spans(items, packing).map((bin) => bin[bin.length - 1][1]);
      const [smallest = 0, next = Number.POSITIVE_INFINITY] = ends.sort((a, b) => a - b);
      expect(smallest + next).toBeGreaterThan(packing.capacity);
    }),
  );
});

test("nothing to pack takes no bins", () => {
  expect(packIntoBins([])).toEqual({ bins: 0, capacity: 0, placements: [] });
});

test("an item longer than a bin is refused", () => {
  expect(() => packIntoBins([3, 9], 8)).toThrow(new RangeError("items expected to fit 8 rows, got one of 9"));
});
