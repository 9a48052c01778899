import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { golden } from "../../test/golden/eval/load.ts";
import { teds, tedsOfDocuments, tedsStructure } from "./teds.ts";

interface TedsCase {
  id: string;
  pred: string;
  truth: string;
  raw: { teds: number; tedsS: number };
  quirk?: boolean;
  /** Newer versions of the parser give another value. */
  versionDependent?: unknown;
}
const { cases, exact } = golden<{ cases: TedsCase[]; exact: { id: string; pred: string; truth: string; teds: number; tedsS: number }[] }>(
  "teds.json",
);

describe("TEDS", () => {
  it.each(cases.map((c) => [c.id, c] as const))("%s has the official value", (_, c) => {
    for (const mode of c.quirk || c.versionDependent ? (["strict"] as const) : (["strict", "sound"] as const)) {
      expect(teds(c.pred, c.truth, { mode })).toBeCloseTo(c.raw.teds, 9);
      expect(teds(c.pred, c.truth, { mode, structureOnly: true })).toBeCloseTo(c.raw.tedsS, 9);
    }
  });

  it.each(exact.map((c) => [c.id, c] as const))("%s, a document as it is, has the official value", (_, c) => {
    const mode = "strict";
    expect(tedsOfDocuments(c.pred, c.truth, { mode })).toBeCloseTo(c.teds, 9);
    expect(tedsOfDocuments(c.pred, c.truth, { mode, structureOnly: true })).toBeCloseTo(c.tedsS, 9);
  });

  it("has sound values where the official ones are not", () => {
    const one = "<table><tr><td>a</td></tr></table>";
    const two = "<table><tr><td>b</td></tr></table>";
    expect(teds("<table></table>", "<table></table>")).toBe(1);
    expect(teds('<table><tr><td colspan="x">a</td></tr></table>', one)).toBe(1);
    expect(teds("<table><tr><th>a</th></tr></table>", "<table><tr><th>b</th></tr></table>")).toBeCloseTo(0.5, 9);
    expect(teds("<table><tr>stray<td>a</td></tr></table>", one)).toBeCloseTo(1 - 1 / 3, 9);
    expect(teds(two + one, one)).toBeLessThan(1);
    expect(teds(two + one, one)).toBeGreaterThan(teds(two + two, one));
    expect(teds(two + one, two + one)).toBe(1);
  });

  const cell = fc.record({ text: fc.constantFrom("", "a", "ab", "<b>b</b>c"), colspan: fc.integer({ min: 1, max: 2 }) });
  const table = fc
    .array(fc.array(cell, { maxLength: 3 }), { maxLength: 3 })
    .map(
      (rows) =>
        `<table>${rows.map((row) => `<tr>${row.map((c) => `<td colspan="${c.colspan}">${c.text}</td>`).join("")}</tr>`).join("")}</table>`,
    );

  const threeWide = '<table><tr><td colspan="2"></td><td colspan="2"></td><td colspan="2"></td></tr></table>';
  const twoHigh = "<table><tr><td></td></tr><tr><td></td></tr></table>";

  it("is 1 for equal tables, symmetric and at most 1; tables of quite other shape may come out below 0, as officially", () => {
    fc.assert(
      fc.property(table, table, (a, b) => {
        expect(teds(a, a)).toBe(1);
        expect(teds(a, b)).toBeCloseTo(teds(b, a), 12);
        expect(tedsStructure(a, b)).toBeGreaterThanOrEqual(teds(a, b) - 1e-12);
        expect(teds(a, b)).toBeGreaterThanOrEqual(-1);
        expect(teds(a, b)).toBeLessThanOrEqual(1);
      }),
      { examples: [[threeWide, twoHigh]] },
    );
    expect(teds(threeWide, twoHigh)).toBeCloseTo(-0.25, 9);
  });

  it("compares two tables of 30 x 30 cells in a second of work or less", () => {
    const grid = (salt: number) =>
      `<table>${Array.from({ length: 30 }, (_, r) => `<tr>${Array.from({ length: 30 }, (_, c) => `<td>${(r * 31 + c * salt) % 997}</td>`).join("")}</tr>`).join("")}</table>`;
    const start = process.cpuUsage();
    const score = teds(grid(7), grid(11));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThan(1);
  });
});
