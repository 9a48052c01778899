import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutWhite } from "./answer-text.ts";
import { isWrapped, unwrapLines } from "./unwrap.ts";

describe("printed lines", () => {
  test("of a paragraph run on", () => {
    const printed =
      "The river rises in the hills and flows\nslowly to the sea, where it meets the\ntide. Boats wait there for the water to\nrise again.";
    expect(unwrapLines(printed)).toBe(printed.replaceAll("\n", " "));
  });

  test("broken words are joined, compounds keep their hyphen", () => {
    expect(unwrapLines("We study recog-\nnition of self-\nmade pages here")).toBe("We study recognition of self-made pages here");
    expect(unwrapLines("a new multi-\nhead block too", { compounds: new Set(["multi-head"]) })).toBe("a new multi-head block too");
  });

  test("a short line that ends a sentence ends a paragraph", () => {
    const printed = "This is the first paragraph of this page, it\nis short.\nThis is the second paragraph, which goes on\nfor two lines.";
    expect(unwrapLines(printed)).toBe(
      "This is the first paragraph of this page, it is short.\nThis is the second paragraph, which goes on for two lines.",
    );
  });

  test("list items stay apart, their own lines run on", () => {
    const printed = "1. buy apples, pears and a bag of\nplums from the market\n2. pay\n3. go home by the old road along\nthe river";
    expect(unwrapLines(printed)).toBe(
      "1. buy apples, pears and a bag of plums from the market\n2. pay\n3. go home by the old road along the river",
    );
    expect(unwrapLines("• one\n• two\n• three")).toBe("• one\n• two\n• three");
  });

  test.each([
    ["an address", "Dr. Jane Miller\n12 Long Acre Street\nLondon\nEngland"],
    ["a two-line label", "Jane Miller\nDirector"],
    [
      "verse",
      "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\nRough winds do shake the darling buds of May,\nAnd summer's lease hath all too short a date",
    ],
    ["blank lines between", "one\n\ntwo"],
    ["a single line", "one line"],
  ])("%s stays as it is", (_what, text) => expect(unwrapLines(text)).toBe(text));

  test("Chinese lines join without a space", () => {
    expect(unwrapLines("河流发源于山区，流经平原和城\n市，然后流入大海。")).toBe("河流发源于山区，流经平原和城市，然后流入大海。");
  });

  test("a break inside a formula becomes a space", () => {
    expect(unwrapLines("we know that the value \\(x -\ny\\) is small and that it stays so for all\ntimes")).toBe(
      "we know that the value \\(x - y\\) is small and that it stays so for all times",
    );
  });

  test("classes whose lines mean something are left alone", () => {
    expect(["text", "title", "image_caption", "stamp"].every(isWrapped)).toBe(true);
    expect(["code", "algorithm", "index"].some(isWrapped)).toBe(false);
  });

  test("no sign is lost but hyphens at line ends", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom("the river rises", "• item", "recog-", "nition of", "中文。", "\\(a", "b\\)"),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const text = lines.join("\n");
        const bare = (s: string) => withoutWhite(s).replace(/[-\u00AD\u2010\u2043]/g, "");
        expect(bare(unwrapLines(text))).toBe(bare(text));
      }),
      { numRuns: 500 },
    );
  });
});
