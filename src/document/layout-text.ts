/**
 * The layout answer and its inverse: one entry per region, `<|box_start|>x0 y0 x1 y1<|box_end|><|ref_start|>class<|ref_end|>` and a rotate
 * tag, coordinates in thousandths of the page (paper section 4). The reader mends what can be mended, keeps what it does not know, and
 * says in warnings what it did; the rules are numbered in test/golden/documents/README.md. Refuses to know what the classes mean.
 */
import { pixelBoxOf } from "../image/crops.ts";
import { cutAtStop, isBlank, trimWhite } from "./answer-text.ts";
import { overlapOverUnion } from "./boxes.ts";
import { type Angle, type Box, isKnownClass, type LayoutRegion, type Warning, type WarningKind } from "./types.ts";

/** Regions in the order of the answer, warnings in order of appearance. */
export interface LayoutReading {
  readonly regions: LayoutRegion[];
  readonly warnings: Warning[];
}

const BOX_START = "<|box_start|>";
const BOX_END = "<|box_end|>";
const REF_START = "<|ref_start|>";
const REF_END = "<|ref_end|>";
const CONTINUES = "<|txt_contd_tgt|>";
const HALF_TOKEN = /<\|[A-Za-z0-9_]*\|?$/;
const SPECIAL_TOKEN = /<\|[^<>|]*\|>/g;
const FOUR_INTEGERS = /^(-?\d+)(?:\s*,\s*|\s+)(-?\d+)(?:\s*,\s*|\s+)(-?\d+)(?:\s*,\s*|\s+)(-?\d+)$/;
const ROTATE = /<\|rotate_(up|right|down|left)\|>/;
const ANGLES = { up: 0, right: 90, down: 180, left: 270 } as const;
const ROTATES = { 0: "<|rotate_up|>", 90: "<|rotate_right|>", 180: "<|rotate_down|>", 270: "<|rotate_left|>" } as const;
const DUPLICATE_OVERLAP = 0.9;

/**
 * Reads a layout answer for a page of `page.width` x `page.height` pixels. Never throws on any answer; throws `RangeError` when the page
 * has no pixels.
 */
export function parseLayout(answer: string, page: { readonly width: number; readonly height: number }): LayoutReading {
  for (const edge of ["width", "height"] as const)
    if (!Number.isInteger(page[edge]) || page[edge] < 1)
      throw new RangeError(`\`page.${edge}\` expected a positive integer, got ${page[edge]}`);
  const regions: LayoutRegion[] = [];
  const warnings: Warning[] = [];
  const warn = (kind: WarningKind, about: string) =>
    warnings.push({ kind, message: `${MEANING[kind]}${about === "" ? "" : `: ${about}`}` });

  const text = cutAtStop(answer);
  if (isBlank(text)) warn("empty-layout", "");
  else if (!text.includes(BOX_START)) warn("unparseable", shortened(text));
  if (warnings.length > 0) return { regions, warnings };

  const [lead, ...entries] = text.split(BOX_START);
  if (hasWords(lead)) warn("stray-text", shortened(lead));
  entries.forEach((entry, i) => {
    const reading = readEntry(entry, i === entries.length - 1);
    const found: WarningKind[] = reading.warnings;
    if (reading.region !== null) {
      const { box, class: name, angle, mergePrev } = reading.region;
      const twin = regions.some((r) => r.class === name && r.angle === angle && overlapOverUnion(r.box, box) > DUPLICATE_OVERLAP);
      if (twin) found.push("duplicate");
      else
        regions.push({ class: name, box, pixelBox: pixelBoxOf(box, page.width, page.height), angle, ...(mergePrev ? { mergePrev } : {}) });
    }
    if (reading.stray) found.push("stray-text");
    for (const kind of found) warn(kind, shortened(entry));
  });
  return { regions, warnings };
}

/** Writes regions as a layout answer, one entry a line; the inverse of {@link parseLayout} for regions it gave. */
export function writeLayout(regions: readonly Pick<LayoutRegion, "class" | "box" | "angle" | "mergePrev">[]): string {
  return regions
    .map((region) => {
      const numbers = region.box.map((n) => String(n).padStart(3, "0")).join(" ");
      const rotate = region.angle === null ? "" : ROTATES[region.angle];
      return `${BOX_START}${numbers}${BOX_END}${REF_START}${region.class}${REF_END}${rotate}${region.mergePrev ? CONTINUES : ""}`;
    })
    .join("\n");
}

interface EntryReading {
  readonly region: { class: string; box: Box; angle: Angle; mergePrev?: true } | null;
  readonly warnings: WarningKind[];
  readonly stray: boolean;
}

function readEntry(entry: string, last: boolean): EntryReading {
  const half = last && HALF_TOKEN.test(entry);
  const text = half ? entry.replace(HALF_TOKEN, "") : entry;
  const numbersEnd = text.indexOf("<|");
  const closed = numbersEnd >= 0 && (text.startsWith(BOX_END, numbersEnd) || text.startsWith(REF_START, numbersEnd));
  if (!closed && last && numbersEnd < 0) return { region: null, warnings: ["truncated"], stray: false };
  const numbers = closed ? FOUR_INTEGERS.exec(trimWhite(text.slice(0, numbersEnd))) : null;
  if (numbers === null) return { region: null, warnings: ["bad-box"], stray: false };

  const warnings: WarningKind[] = [];
  const box = mendedBox(numbers.slice(1).map(Number), warnings);
  const rest = text.slice(text.startsWith(BOX_END, numbersEnd) ? numbersEnd + BOX_END.length : numbersEnd);
  const named = readClass(rest, last);
  const rotate = ROTATE.exec(named.tail);
  const angle = rotate === null ? null : ANGLES[rotate[1] as keyof typeof ANGLES];
  const truncated = half || named.truncated;
  if (box !== null) {
    if (!named.truncated && !isKnownClass(named.class)) warnings.push("unknown-class");
    else if (!named.truncated && !named.given) warnings.push("unknown-class");
    if (angle === null && !truncated) warnings.push("no-angle");
  }
  if (truncated) warnings.push("truncated");
  const mergePrev = named.class === "text" && named.tail.includes(CONTINUES);
  return {
    region: box === null ? null : { class: named.class, box, angle, ...(mergePrev ? { mergePrev } : {}) },
    warnings,
    stray: hasWords(named.before) || hasWords(named.tail),
  };
}

function mendedBox(written: number[], warnings: WarningKind[]): Box | null {
  const cut = written.map((n) => Math.min(1000, Math.max(0, n)));
  if (cut.some((n, i) => n !== written[i])) warnings.push("out-of-range");
  if (written[0] > written[2] || written[1] > written[3]) warnings.push("reversed-corners");
  const box: Box = [Math.min(cut[0], cut[2]), Math.min(cut[1], cut[3]), Math.max(cut[0], cut[2]), Math.max(cut[1], cut[3])];
  if (box[0] < box[2] && box[1] < box[3]) return box;
  warnings.push("zero-area");
  return null;
}

interface ClassReading {
  /** The class, `unknown` when none was given. */
  readonly class: string;
  readonly given: boolean;
  /** The answer broke off before the class was closed. */
  readonly truncated: boolean;
  /** What stands before the class and after it. */
  readonly before: string;
  readonly tail: string;
}

function readClass(rest: string, last: boolean): ClassReading {
  const start = rest.indexOf(REF_START);
  if (start < 0) return { class: "unknown", given: false, truncated: last && !rest.includes("<|"), before: "", tail: rest };
  const from = start + REF_START.length;
  const end = rest.indexOf("<|", from);
  if (end < 0 && last) return { class: "unknown", given: false, truncated: true, before: rest.slice(0, start), tail: "" };
  const written = trimWhite(rest.slice(from, end < 0 ? rest.length : end));
  const name = written.toLowerCase().replace(/[\p{White_Space}-]+/gu, "_");
  const tail = end < 0 ? "" : rest.slice(rest.startsWith(REF_END, end) ? end + REF_END.length : end);
  return { class: name === "" ? "unknown" : name, given: name !== "", truncated: false, before: rest.slice(0, start), tail };
}

function hasWords(text: string): boolean {
  return !isBlank(text.replace(SPECIAL_TOKEN, ""));
}

function shortened(text: string): string {
  const line = trimWhite(text).replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

const MEANING: Partial<Record<WarningKind, string>> = {
  "empty-layout": "the layout answer is empty",
  unparseable: "the layout answer holds no box",
  "bad-box": "dropped an entry whose box is not four whole numbers",
  "out-of-range": "cut coordinates to the page",
  "reversed-corners": "swapped reversed corners",
  "zero-area": "dropped a box without area",
  "unknown-class": "kept a region of a class that is not known",
  "no-angle": "the entry does not say how the region is turned, taken as upright",
  truncated: "the layout answer breaks off inside its last entry",
  duplicate: "dropped a region that repeats an earlier one",
  "stray-text": "passed over words between the entries",
};
