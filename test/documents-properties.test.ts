import fc from "fast-check";
import { expect, test } from "vitest";
import { writeContentList } from "../src/document/assembly/content-list.ts";
import { writeMarkdown } from "../src/document/assembly/markdown.ts";
import { assemble } from "../src/document/assembly.ts";
import { parseLayout } from "../src/document/layout-text.ts";
import { documentFromJson, documentToJson } from "../src/document/outputs/document-json.ts";
import { type ParsedPage, REGION_CLASSES } from "../src/document/types.ts";

const token = fc.constantFrom(
  ...["<|box_start|>", "<|box_end|>", "<|ref_start|>", "<|ref_end|>", "<|rotate_up|>", "<|rotate_left|>", "<|txt_contd_tgt|>", "\n"],
  ...["text", "table", "000", "1000", "-5", "99999999999", " ", ",", "<|", "é"],
);
const entry = fc
  .tuple(fc.array(fc.integer({ min: -50, max: 1100 }), { minLength: 3, maxLength: 5 }), fc.constantFrom(...REGION_CLASSES, "stamp"))
  .map(([box, name]) => `<|box_start|>${box.join(" ")}<|box_end|><|ref_start|>${name}<|ref_end|><|rotate_up|>`);

test("any layout answer gives boxes with an area inside the page", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(token, entry, fc.string({ maxLength: 6 })), { maxLength: 30 }),
      fc.integer({ min: 1, max: 4000 }),
      fc.integer({ min: 1, max: 4000 }),
      (parts, width, height) => {
        for (const { box, pixelBox } of parseLayout(parts.join(""), { width, height }).regions) {
          for (const [[left, top, right, bottom], most] of [
            [box, [1000, 1000]],
            [pixelBox, [width, height]],
          ] as const) {
            expect(0 <= left && left < right && right <= most[0]).toBe(true);
            expect(0 <= top && top < bottom && bottom <= most[1]).toBe(true);
          }
        }
      },
    ),
    { numRuns: 600 },
  );
});

const CHARACTERS = /[\p{L}\p{N}]/gu;
const sorted = (text: string): string => (text.normalize("NFC").match(CHARACTERS) ?? []).sort().join("");

const words = fc.array(
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => !/[\\\uFDD0\uFDD1<>&]/.test(text)),
    fc.constantFrom("and", "multi-", "head", "1.", "2.1 Zweck", "中文", "# x", "a*b*c", "x_1", "$5", "\n", "\n\n", "- ", "•", "end."),
  ),
  { maxLength: 12 },
);
const region = fc.record({
  name: fc.constantFrom(...REGION_CLASSES),
  text: words,
  top: fc.integer({ min: 0, max: 900 }),
  left: fc.integer({ min: 0, max: 500 }),
});
const document = fc.array(fc.array(region, { maxLength: 5 }), { maxLength: 3 }).map((pages) =>
  pages.map(
    (regions, index): ParsedPage => ({
      index,
      width: 800,
      height: 1000,
      warnings: [],
      regions: regions.map(({ name, text, top, left }) => ({
        class: name,
        box: [left, top, left + 400, top + 60],
        pixelBox: [left, top, left + 300, top + 60],
        angle: 0,
        content: { kind: "text", text: text.join(" ") },
        provenance: { task: "text" },
      })),
    }),
  ),
);

test("from page to JSON and back to Markdown and content list, no letter or digit that was read is lost", () => {
  fc.assert(
    fc.property(document, fc.boolean(), (pages, unwrap) => {
      const again = documentFromJson(JSON.parse(JSON.stringify(documentToJson({ source: {}, pages, warnings: [] }))));
      expect(again.pages).toEqual(pages);
      const read = pages.flatMap(({ regions }) => regions.map(({ content }) => (content.kind === "text" ? content.text : "")));
      const kept = read.filter((text) => text.trim() !== "[Non-Text]");
      const blocks = assemble(again.pages, { unwrap });
      const markdown = writeMarkdown(blocks, { keepParatext: true })
        .replace(/<\/?(?:table|tr|td|div|details|summary|pre|code)[^>]*>/g, "")
        .replace(/&(?:amp|lt|gt|quot|#x27);/g, "")
        .replace(/(?:image|chart) content/g, "")
        .replace(/^```\w+/gm, "```");
      // Letters may be added by a code fence's language or a table's markup, never taken away.
      const missing = subtract(sorted(kept.join(" ")), sorted(markdown));
      expect(missing).toBe("");
      expect(subtract(sorted(kept.join(" ")), sorted(JSON.stringify(writeContentList(blocks))))).toBe("");
    }),
    { numRuns: 300 },
  );
});

/** What `text` has more of than `from`, both sorted. */
function subtract(text: string, from: string): string {
  const left = new Map<string, number>();
  for (const sign of from) left.set(sign, (left.get(sign) ?? 0) + 1);
  let missing = "";
  for (const sign of text) {
    const count = left.get(sign) ?? 0;
    if (count === 0) missing += sign;
    else left.set(sign, count - 1);
  }
  return missing;
}

/** Rows of texts as a table answer, null where nothing is printed. */
const otslOf = (rows: readonly (readonly (string | null)[])[]): string =>
  rows.map((texts) => `${texts.map((text) => (text === null ? "<ecel>" : `<fcel>${text}`)).join("")}<nl>`).join("");

const cell = fc.oneof(fc.constant(null), fc.string({ unit: fc.constantFrom("a", "7", "|", "*", "_", "é", "表", "\n", "-"), maxLength: 6 }));

test("tables as Markdown, spans or not, keep all their text, and say when they lose a span", () => {
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 }), fc.boolean(), (rows, spans) => {
      const otsl = (spans ? "<fcel>wide<lcel><nl>" : "") + otslOf(rows);
      const page: ParsedPage = {
        index: 4,
        width: 100,
        height: 100,
        warnings: [],
        regions: [
          {
            class: "table",
            box: [0, 0, 1000, 1000],
            pixelBox: [0, 0, 100, 100],
            angle: 0,
            content: { kind: "table", otsl },
            provenance: { task: "table" },
          },
        ],
      };
      const losses: number[] = [];
      const markdown = writeMarkdown(assemble([page]), { tables: "markdown", onTableLoss: ({ page: lost }) => losses.push(lost) });
      expect(markdown).not.toContain("<td");
      const text = rows.flat().map((part) => part ?? "").join("") + (spans ? "wide" : ""); // biome-ignore format: short
      expect(subtract(sorted(text), sorted(markdown))).toBe("");
      if (spans && sorted(text) !== "") expect(losses).toEqual([4]);
      if (!spans) expect(losses).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
