import { expect, test } from "vitest";
import type { LayoutRegion, PageEvent, ParsedPage, RecognitionResult, StepRecord } from "../browser.ts";
import { advance, newReading, type Reading } from "./reading.ts";

const image = { width: 10, height: 10, data: new Uint8Array(300) };
const region: LayoutRegion = { class: "text", box: [0, 0, 1000, 1000], pixelBox: [0, 0, 10, 10], angle: 0 };
const record = (step: number, positions: number[]): StepRecord => ({
  step,
  block: 0,
  masked: 4,
  positions: Int32Array.from(positions),
  tokens: new Int32Array(positions.length),
  confidences: new Float32Array(positions.length),
});
const step = (line: number | undefined, number: number, positions: number[], texts: string[]): PageEvent => ({
  kind: "recognition",
  region: 1,
  event: { kind: "step", request: 0, line, record: record(number, positions), texts },
});

const read = (events: readonly PageEvent[], from: Reading = newReading("a.pdf", { blockLength: 32, threshold: 0.95 })): Reading =>
  events.reduce((reading, event) => advance(reading, { kind: "page event", event }), from);

const begun: readonly PageEvent[] = [
  { kind: "page", page: 0, image },
  { kind: "layout", regions: [region, region] },
];

test("a page appears, then its regions, then their text out of order and by lines", () => {
  const reading = read([...begun, step(1, 1, [0, 2], ["a", "c"]), step(1, 2, [1], ["b"])]);
  expect(reading.pages).toHaveLength(1);
  const [first, second] = reading.pages[0].regions!;
  expect(first.appearing).toEqual([]);
  expect(second.appearing).toEqual([
    { texts: [], steps: 0 },
    { texts: ["a", "b", "c"], steps: 2 },
  ]);
});

test("events leave earlier values as they were", () => {
  const before = read(begun);
  const copy = structuredClone(before);
  read([step(undefined, 1, [0], ["a"])], before);
  expect(before).toEqual(copy);
});

test("a page that is read keeps what its regions answered", () => {
  const result = { text: "ab" } as RecognitionResult;
  const answered = read([...begun, { kind: "recognition", region: 0, event: { kind: "result", request: 0, result } }]);
  const page = { index: 0, width: 10, height: 10, regions: [], warnings: [] } as ParsedPage;
  const done = advance(answered, { kind: "page read", page: { page, image, crops: new Map(), pageCount: 3 }, milliseconds: 12 });
  expect(done).toMatchObject({ pageCount: 3, pages: [{ index: 0, milliseconds: 12, parsed: page }] });
  expect(done.pages[0].regions![0].results).toEqual([result]);
});

test("a page that failed before it appeared is there all the same", () => {
  const page = { index: 2, width: 1, height: 1, regions: [], warnings: [] } as ParsedPage;
  const done = advance(read(begun), { kind: "page read", page: { page, image, crops: new Map(), pageCount: 3 }, milliseconds: 0 });
  expect(done.pages.map(({ index }) => index)).toEqual([0, 2]);
});
