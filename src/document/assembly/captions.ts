/**
 * Which picture, table or listing a caption or footnote belongs to: the nearest of its kind in reading order with nothing but visuals,
 * captions and footnotes between; of two equally near the one whose edge is nearer; then a table's caption goes to what is below it,
 * anything else to what is above. Those that find none are paragraphs.
 */
import { edgeDistance } from "../boxes.ts";
import { isParatext } from "./blocks.ts";
import { absorb, type Item } from "./items.ts";

const VISUAL_KINDS: Record<string, "picture" | "table" | "code"> = {
  image: "picture",
  chart: "picture",
  image_block: "picture",
  table: "table",
  code: "code",
  algorithm: "code",
};

const NOTE_KINDS: Record<string, "picture" | "table" | "code" | "any"> = {
  image_caption: "picture",
  image_footnote: "picture",
  table_caption: "table",
  table_footnote: "table",
  code_caption: "code",
  caption: "any",
  footnote: "any",
};

/** Whether a class is that of a visual. */
export function isVisual(name: string): boolean {
  return VISUAL_KINDS[name] !== undefined;
}

/** Whether a class is that of a caption or footnote. */
export function isNote(name: string): boolean {
  return NOTE_KINDS[name] !== undefined;
}

/** Finds the visual of every caption and footnote on a page of `size` pixels, and marks those that found one as used. */
export function attachNotes(items: readonly Item[], size: { readonly width: number; readonly height: number }): Map<Item, Item[]> {
  const notes = new Map<Item, Item[]>();
  let run: Item[] = [];
  const closeRun = () => {
    for (const note of run) {
      if (!isNote(note.name)) continue;
      const visual = nearestVisual(note, run, size);
      if (visual === null) continue;
      notes.set(visual, [...(notes.get(visual) ?? []), note]);
      absorb(visual, note);
    }
    run = [];
  };
  for (const item of items) {
    const name = item.name;
    if (item.used || isParatext(name)) continue;
    if (isVisual(name) || isNote(name)) run.push(item);
    else closeRun();
  }
  closeRun();
  return notes;
}

/** Edge distances that differ by less are equal: two points on a page 842 points high. */
const SAME_DISTANCE = 2 / 842;

function nearestVisual(note: Item, run: readonly Item[], size: { readonly width: number; readonly height: number }): Item | null {
  const at = run.indexOf(note);
  const wanted = NOTE_KINDS[note.name];
  const unit = { x: size.width / size.height / 1000, y: 1 / 1000 };
  const candidates = run.flatMap((visual, i) => {
    const kind = VISUAL_KINDS[visual.name];
    if (kind === undefined || (wanted !== "any" && wanted !== kind)) return [];
    const between = run.slice(Math.min(at, i) + 1, Math.max(at, i));
    const order = between.filter((item) => VISUAL_KINDS[item.name] !== kind).length;
    const preferred = kind === "table" && note.name.endsWith("caption") ? i > at : i < at;
    return [{ visual, order, edge: edgeDistance(note.region.box, visual.region.box, unit), preferred }];
  });
  candidates.sort((a, b) => {
    if (a.order !== b.order) return a.order - b.order;
    if (Math.abs(a.edge - b.edge) > SAME_DISTANCE) return a.edge - b.edge;
    return Number(b.preferred) - Number(a.preferred);
  });
  return candidates[0]?.visual ?? null;
}
