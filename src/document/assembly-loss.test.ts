import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { writeContentList } from "./assembly/content-list.ts";
import { writeMarkdown } from "./assembly/markdown.ts";
import { assemble } from "./assembly.ts";
import { documentHtml } from "./outputs/html.ts";
import { type Box, REGION_CLASSES, type ReadPage, type ReadRegion } from "./types.ts";

/**
 * Every region gets a text with a word of its own, so that loss can be told from repetition: whatever assembly joins, splits, escapes or
 * moves, each word must be in the Markdown (with paratext kept) and in the content list.
 */
const SIGNS = [
  "",
  "-",
  "# ",
  "1. ",
  "*",
  "_",
  "$5 ",
  "<b>",
  "&lt;",
  "\\",
  "`",
  "~",
  "> ",
  "|",
  "(",
  "\\(x\\) ",
  "中文",
  "\\[1\\] ",
  "\n",
  "[Non-Text] ",
];

const box: fc.Arbitrary<Box> = fc
  .tuple(
    fc.integer({ min: 0, max: 900 }),
    fc.integer({ min: 0, max: 900 }),
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: 1, max: 600 }),
  )
  .map(([x, y, w, h]): Box => [x, y, Math.min(1000, x + w * 5), Math.min(1000, y + h)]);

const draft = fc.record({
  name: fc.constantFrom(...REGION_CLASSES, "stamp"),
  box,
  kind: fc.constantFrom("text", "text", "text", "table", "formula", "none"),
  before: fc.constantFrom(...SIGNS),
  after: fc.constantFrom(...SIGNS),
  mergePrev: fc.boolean(),
  image: fc.boolean(),
});

const pages = fc.array(fc.array(draft, { maxLength: 8 }), { maxLength: 4 }).map((drafts) => {
  const words: string[] = [];
  const built = drafts.map(
    (regions, index): ReadPage => ({
      index,
      width: 800,
      height: 1100,
      regions: regions.map(({ name, kind, before, after, mergePrev, image, ...rest }): ReadRegion => {
        const word = `word${"abcdefghij"[words.length % 10]}${"klmnopqrst"[Math.floor(words.length / 10)]}`;
        const base = {
          ...rest,
          class: name,
          angle: 0 as const,
          ...(image ? { image: `images/${word}.png` } : {}),
          ...(mergePrev ? { mergePrev: true as const } : {}),
        };
        if (kind === "none") return { ...base, content: { kind } };
        words.push(word);
        if (kind === "table") return { ...base, content: { kind, otsl: `<fcel>${word}<fcel>${word}z<nl>` } };
        if (kind === "formula") return { ...base, content: { kind, latex: `\\text{${word}}` } };
        return { ...base, content: { kind: "text", text: `${before} ${word}${after}` } };
      }),
    }),
  );
  return { pages: built, words };
});

describe("assembly of any regions", () => {
  test("loses no word in Markdown, content list or HTML", () => {
    fc.assert(
      fc.property(pages, fc.boolean(), ({ pages: read, words }, unwrap) => {
        const blocks = assemble(read, { unwrap });
        const markdown = writeMarkdown(blocks, { keepParatext: true });
        const list = JSON.stringify(writeContentList(blocks));
        const html = documentHtml(read, { unwrap, keepParatext: true });
        for (const word of words) {
          expect(markdown).toContain(word);
          expect(list).toContain(word);
          expect(html).toContain(word);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("names every region that holds text as the source of exactly one block", () => {
    fc.assert(
      fc.property(pages, ({ pages: read }) => {
        const sources = assemble(read).flatMap((block) => block.sources.map(({ page, region }) => `${page}.${region}`));
        expect(new Set(sources).size).toBe(sources.length);
        const full = read.flatMap((page) =>
          page.regions.flatMap(({ content }, i) =>
            content.kind === "none" || (content.kind === "text" && content.text.trim() === "") ? [] : [`${page.index}.${i}`],
          ),
        );
        for (const source of full) expect(sources).toContain(source);
      }),
      { numRuns: 500 },
    );
  });

  test("marks change nothing but marks", () => {
    fc.assert(
      fc.property(pages, ({ pages: read }) => {
        const doubtful = read.map((page) => ({ ...page, regions: page.regions.map((region) => ({ ...region, confidence: 0.2 })) }));
        const plain = writeMarkdown(assemble(read));
        const marked = writeMarkdown(assemble(doubtful, { markBelow: 0.5 }));
        expect(marked.replace(/<\/?mark>/g, "")).toBe(plain);
        expect(writeContentList(assemble(doubtful, { markBelow: 0.5 }))).toEqual(writeContentList(assemble(read)));
      }),
      { numRuns: 500 },
    );
  });
});
