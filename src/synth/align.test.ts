import { describe, expect, it } from "vitest";
import { alignGlyphs } from "./align.ts";
import type { Glyph } from "./rasterise.ts";

/** Glyphs 8 pixels apart, one row of `lines` every 20 pixels; spaces advance without printing. */
function printed(lines: readonly string[]): Glyph[] {
  return lines.flatMap((line, row) =>
    [...line].flatMap((char, column) =>
      char === " "
        ? []
        : [{ char, left: column * 8, right: column * 8 + 7, top: row * 20, bottom: row * 20 + 12, baseline: row * 20 + 12, size: 14 }],
    ),
  );
}

describe("alignGlyphs", () => {
  it("takes spaces from the text and line ends from the page", () => {
    expect(alignGlyphs("one two three", printed(["one two", "three"]))).toMatchObject({ text: "one two\nthree", lineCount: 2 });
  });

  it("keeps a hyphen that the engine set at a line end", () => {
    expect(alignGlyphs("consider it", printed(["con-", "sider it"]))?.text).toBe("con-\nsider it");
  });

  it("breaks after the text's own hyphen without doubling it", () => {
    expect(alignGlyphs("well-known", printed(["well-", "known"]))?.text).toBe("well-\nknown");
  });

  it.each([
    ["a missing character", "abc", ["ab"]],
    ["an extra character", "ab", ["abc"]],
    ["another character", "abc", ["abd"]],
    ["a hyphen inside a line", "abcd", ["ab-cd"]],
    ["a hyphen at the very end", "ab", ["ab-"]],
  ])("refuses %s", (_name, source, lines) => {
    expect(alignGlyphs(source, printed(lines))).toBeUndefined();
  });
});
