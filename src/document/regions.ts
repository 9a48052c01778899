/**
 * Which task reads which region: tables and formulas have their own, pictures and equation blocks are not read (paper section 4),
 * everything else is text. Decides only; refuses to run anything.
 */
import { isParatext } from "./assembly/blocks.ts";
import { shareInside } from "./boxes.ts";
import type { LayoutRegion, Provenance, RecognitionTask } from "./types.ts";

/** Which regions are read. */
export interface RegionPolicy {
  /** Read the words in charts and image blocks as text, as the reference script does. Default false: they are pictures. */
  readonly readPictures?: boolean;
  /** Read headers, footers, page numbers and the like. Default true: they stay in the data even where Markdown leaves them out. */
  readonly readParatext?: boolean;
  readonly readTables?: boolean;
  readonly readFormulas?: boolean;
}

/** What is to be done with one region. */
export interface RegionPlan {
  /** Place in the layout. */
  readonly region: number;
  readonly task: RecognitionTask | null;
  readonly skipped?: Provenance["skipped"];
}

const LIST_MEMBER = 0.8;
const LIST_MEMBERS = new Set(["text", "ref_text", "list_item"]);

/** The task that reads a class, whatever the policy; null for pictures and equation blocks. */
export function taskOf(name: string): RecognitionTask | null {
  switch (name) {
    case "image":
    case "equation_block":
      return null;
    case "table":
      return "table";
    case "equation":
      return "formula";
    default:
      return "text";
  }
}

/** Plans the reading of a page. A list is read only if no region within it is. */
export function planRegions(regions: readonly Pick<LayoutRegion, "class" | "box">[], policy: RegionPolicy = {}): RegionPlan[] {
  return regions.map(({ class: name, box }, region): RegionPlan => {
    const task = taskOf(name);
    if (name === "image" || (!policy.readPictures && (name === "chart" || name === "image_block")))
      return { region, task: null, skipped: "picture" };
    if (task === null) return { region, task, skipped: "container" };
    const isContainer = name === "list" && regions.some((r) => LIST_MEMBERS.has(r.class) && shareInside(r.box, box) >= LIST_MEMBER);
    if (isContainer) return { region, task: null, skipped: "container" };
    const off =
      (task === "table" && policy.readTables === false) ||
      (task === "formula" && policy.readFormulas === false) ||
      (isParatext(name) && policy.readParatext === false);
    return off ? { region, task: null, skipped: "switched-off" } : { region, task };
  });
}
