import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { writeContentList } from "./assembly/content-list.ts";
import { writeMarkdown } from "./assembly/markdown.ts";
import { assemble } from "./assembly.ts";
import type { Angle, Box, ReadPage, ReadRegion } from "./types.ts";

interface GoldenRegion {
  class: string;
  box: Box;
  angle: Angle;
  text?: string;
  otsl?: string;
  latex?: string;
  image?: string;
  mergePrev?: true;
  confidence?: number;
}

interface Case {
  name: string;
  why: string;
  pages: { width: number; height: number; regions: GoldenRegion[] }[];
  options: {
    keepParatext?: boolean;
    tables?: "html" | "auto";
    inline?: [string, string];
    display?: [string, string];
    mergeParagraphs?: boolean;
    mergeTables?: boolean;
  };
  markdown: string;
  contentList: Record<string, unknown>[];
}

const cases: Case[] = JSON.parse(readFileSync(new URL("../../test/golden/documents/assembly.json", import.meta.url), "utf8"));

function readRegion({ text, otsl, latex, ...region }: GoldenRegion): ReadRegion {
  if (text !== undefined) return { ...region, content: { kind: "text", text } };
  if (otsl !== undefined) return { ...region, content: { kind: "table", otsl } };
  return { ...region, content: latex === undefined ? { kind: "none" } : { kind: "formula", latex } };
}

describe("assembly", () => {
  test("the golden file holds all 120 cases", () => expect(cases).toHaveLength(120));

  test.each(cases)("$name: $why", ({ pages, options, markdown, contentList }) => {
    const read = pages.map((page, index): ReadPage => ({ ...page, index, regions: page.regions.map(readRegion) }));
    const blocks = assemble(read, options);
    expect(writeMarkdown(blocks, options)).toBe(markdown);
    const entries = writeContentList(blocks, options);
    expect(entries).toHaveLength(contentList.length);
    contentList.forEach((right, i) => {
      expect(entries[i]).toMatchObject(right);
      if (right.table_body === undefined) expect(entries[i].table_body).toBeUndefined();
    });
  });
});
