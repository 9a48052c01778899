import { expect, test } from "vitest";
import { parseReadingProfile, type ReadingProfile, writeReadingProfile } from "./reading-profile.ts";

test("what is written is read back", () => {
  const published = parseReadingProfile(undefined);
  const own: ReadingProfile = {
    layoutSize: 560,
    regionTokens: 512,
    linePixels: 28,
    detectsLayout: false,
    readsTables: false,
    printedLineBreaks: true,
  };
  for (const profile of [published, own]) {
    const written = writeReadingProfile(profile);
    expect(parseReadingProfile(JSON.parse(JSON.stringify(written)))).toEqual(profile);
  }
  expect(Object.keys(writeReadingProfile(own))).toHaveLength(Object.keys(own).length);
});

test("values that do not fit are named", () => {
  expect(() => parseReadingProfile({ layout_image_size: -1, text_line_pixels: 0, printed_line_breaks: "yes" })).toThrow(
    /`layout_image_size`.*`text_line_pixels`.*`printed_line_breaks`/,
  );
});
