/**
 * How the page pipeline prepares pictures for a checkpoint's weights, read from its preprocessor_config.json: published values where the
 * file is silent (paper section 4: layout on 1036×1036, regions at native size up to 2048 image tokens).
 */
import { MineruError } from "../error.ts";

/** How the weights want their pictures, and what they have learnt. */
export interface ReadingProfile {
  /** Edge of the square a page is resized to for layout detection (`layout_image_size`). */
  readonly layoutSize: number;
  /** Image tokens a region may take before it is cut into bands (`region_max_tokens`). */
  readonly regionTokens: number;
  /** Text is read one printed line at a time, each fitted to this height in pixels, tables and formulas to rows of it (`text_line_pixels`); null: regions are read as they are. */
  readonly linePixels: number | null;
  /** The weights have learnt layout detection; else pages are cut at their white space (`layout_detection`). */
  readonly detectsLayout: boolean;
  /** The weights have learnt tables; else those of line-reading weights are read cell by cell (`table_recognition`). */
  readonly readsTables: boolean;
  /** Answers break lines where the page does (`printed_line_breaks`). */
  readonly printedLineBreaks: boolean;
}

const PUBLISHED: ReadingProfile = {
  layoutSize: 1036,
  regionTokens: 2048,
  linePixels: null,
  detectsLayout: true,
  readsTables: true,
  printedLineBreaks: false,
};

const positive = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value > 0;

/** @throws MineruError `checkpoint-invalid` naming each value that does not fit. */
export function parseReadingProfile(preprocessor: unknown): ReadingProfile {
  const json = (preprocessor ?? {}) as Record<string, unknown>;
  const problems: string[] = [];
  const read = <T>(key: string, fallback: T, fits: (value: unknown) => value is T, expected: string): T => {
    const value = json[key];
    if (value === undefined) return fallback;
    if (fits(value)) return value;
    problems.push(`\`${key}\` expected ${expected}, got ${JSON.stringify(value)}`);
    return fallback;
  };
  const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
  const profile: ReadingProfile = {
    layoutSize: read("layout_image_size", PUBLISHED.layoutSize, positive, "a positive integer"),
    regionTokens: read("region_max_tokens", PUBLISHED.regionTokens, positive, "a positive integer"),
    linePixels: read("text_line_pixels", PUBLISHED.linePixels, (v): v is number => positive(v), "a positive integer"),
    detectsLayout: read("layout_detection", PUBLISHED.detectsLayout, isFlag, "true or false"),
    readsTables: read("table_recognition", PUBLISHED.readsTables, isFlag, "true or false"),
    printedLineBreaks: read("printed_line_breaks", PUBLISHED.printedLineBreaks, isFlag, "true or false"),
  };
  if (problems.length > 0) throw new MineruError("checkpoint-invalid", `preprocessor_config.json: ${problems.join("; ")}`);
  return profile;
}

const spellings: Readonly<Record<keyof ReadingProfile, string>> = {
  layoutSize: "layout_image_size",
  regionTokens: "region_max_tokens",
  linePixels: "text_line_pixels",
  detectsLayout: "layout_detection",
  readsTables: "table_recognition",
  printedLineBreaks: "printed_line_breaks",
};

/** The profile as `parseReadingProfile` reads it. */
export function writeReadingProfile(profile: ReadingProfile): Record<string, unknown> {
  const keys = Object.keys(spellings) as (keyof ReadingProfile)[];
  return Object.fromEntries(keys.filter((key) => profile[key] !== null).map((key) => [spellings[key], profile[key]]));
}
