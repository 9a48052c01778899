/**
 * Paragraphs that a column or page break has cut: the second part is joined to the first when the layout says so, or when the first does
 * not end its sentence and the second begins like its middle. Pictures, tables and listings may lie between; titles, equations, lists and
 * references may not.
 */
import { widthOf } from "../boxes.ts";
import type { Block, ParagraphBlock } from "./blocks.ts";
import { joinRunning } from "./running-text.ts";
import { kindOf } from "./scripts.ts";
import type { Compounds } from "./seams.ts";

const SENTENCE_END = /[.!?。！？)）"”:：;；]$/u;
const MOST_WIDER = 2;

/** Joins the parts of paragraphs; the joined paragraph stands where its first part stood. */
export function mergeParagraphs(blocks: readonly Block[], compounds: Compounds): Block[] {
  const merged: Block[] = [];
  let open: ParagraphBlock | null = null;
  for (const block of blocks) {
    if (block.kind === "visual" || block.kind === "paratext") {
      merged.push(block);
      continue;
    }
    if (block.kind === "paragraph" && open !== null && runsOn(open, block)) {
      open.text = joinRunning(open.text, block.text, compounds);
      open.pieces.push(...block.pieces);
      open.sources.push(...block.sources);
      continue;
    }
    open = block.kind === "paragraph" && block.pieces[0].joins ? block : null;
    merged.push(block);
  }
  return merged;
}

function runsOn(before: ParagraphBlock, after: ParagraphBlock): boolean {
  const [last, first] = [before.pieces[before.pieces.length - 1], after.pieces[0]];
  if (!last.joins || !first.joins) return false;
  if (first.mergePrev) return true;
  if (SENTENCE_END.test(last.plain)) return false;
  const opening = String.fromCodePoint(first.plain.codePointAt(0) ?? 0);
  if (!/^\p{Ll}/u.test(opening) && kindOf(opening) !== "cjk-letter") return false;
  const widths = [widthOf(last.source.box), widthOf(first.source.box)];
  if (Math.max(...widths) >= MOST_WIDER * Math.min(...widths)) return false;
  if (first.source.page === last.source.page) return first.source.box[1] < last.source.box[3];
  return first.source.page === last.source.page + 1;
}
