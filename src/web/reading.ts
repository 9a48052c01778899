/**
 * A document while it is read, as the page shows it: pages, their regions, and in each region the text as far as it has appeared. Changed
 * by events alone, each time into a new value. Knows no element and no parser.
 */
import type { DocumentPage, LayoutRegion, PageEvent, ParsedPage, RecognitionResult, RgbImage, StepRecord } from "../browser.ts";

/** How the text is decoded. */
export interface Settings {
  readonly blockLength: number;
  readonly threshold: number;
}

/** Text that appears: what is settled by position. */
export interface Appearing {
  readonly texts: readonly (string | undefined)[];
  readonly steps: number;
}

export interface RegionReading {
  readonly region: LayoutRegion;
  /** By printed line, or one. */
  readonly appearing: readonly Appearing[];
  /** What was read, by request: a region may be read in several bands. */
  readonly results: readonly RecognitionResult[];
}

export interface PageReading {
  readonly index: number;
  readonly image: RgbImage;
  /** Null until the layout is known. */
  readonly regions: readonly RegionReading[] | null;
  /** Once it is read. */
  readonly parsed: ParsedPage | null;
  readonly crops: ReadonlyMap<string, RgbImage>;
  readonly milliseconds: number;
}

export interface Reading {
  readonly name: string;
  readonly settings: Settings;
  readonly pageCount: number;
  readonly pages: readonly PageReading[];
}

export type ReadingEvent =
  | { readonly kind: "page event"; readonly event: PageEvent }
  | { readonly kind: "page read"; readonly page: DocumentPage; readonly milliseconds: number };

export const newReading = (name: string, settings: Settings): Reading => ({ name, settings, pageCount: 0, pages: [] });

/** The reading after an event. Events of regions belong to the page begun last. */
export function advance(reading: Reading, change: ReadingEvent): Reading {
  if (change.kind === "page read") {
    const { page, crops, image, pageCount } = change.page;
    const known = reading.pages.find(({ index }) => index === page.index);
    const done: PageReading = {
      index: page.index,
      image,
      regions: known?.regions ?? [],
      parsed: page,
      crops,
      milliseconds: change.milliseconds,
    };
    return {
      ...reading,
      pageCount,
      pages: known ? reading.pages.map((entry) => (entry === known ? done : entry)) : [...reading.pages, done],
    };
  }
  const { event } = change;
  if (event.kind === "page") {
    const begun: PageReading = {
      index: event.page,
      image: event.image,
      regions: null,
      parsed: null,
      crops: new Map(),
      milliseconds: 0,
    };
    return { ...reading, pages: [...reading.pages, begun] };
  }
  const current = reading.pages.at(-1);
  if (!current) return reading;
  const regions =
    event.kind === "layout"
      ? event.regions.map((region): RegionReading => ({ region, appearing: [], results: [] }))
      : (current.regions ?? []).map((region, i) => (i === event.region ? regionAfter(region, event.event) : region));
  return { ...reading, pages: [...reading.pages.slice(0, -1), { ...current, regions }] };
}

type RecognitionEvent = Extract<PageEvent, { kind: "recognition" }>["event"];

function regionAfter(reading: RegionReading, event: RecognitionEvent): RegionReading {
  if (event.kind === "result") return { ...reading, results: [...reading.results, event.result] };
  if (event.kind === "line") return reading;
  const line = event.line ?? 0;
  const appearing = [...reading.appearing];
  while (appearing.length <= line) appearing.push({ texts: [], steps: 0 });
  appearing[line] = lineAfter(appearing[line], event.record, event.texts);
  return { ...reading, appearing };
}

function lineAfter({ texts }: Appearing, { positions, step }: StepRecord, settled: readonly string[]): Appearing {
  const next = [...texts];
  positions.forEach((position, i) => {
    next[position] = settled[i];
  });
  return { texts: next, steps: step };
}
