/**
 * Lists: a list region takes the items that lie within it; without such, its own lines are the items. Lines the region read itself and no
 * item holds are kept as further items, so nothing read is lost. Item signs stay as printed.
 */
import { filledLines, withoutWhite } from "../answer-text.ts";
import { absorb, containerOf, type Item } from "./items.ts";
import { withoutDoubt } from "./scripts.ts";

const MEMBER = 0.8;
const MEMBER_CLASSES = new Set(["text", "ref_text", "list_item"]);

/** A list with its items' texts. */
export interface ListParts {
  readonly subType: "text" | "ref_text";
  readonly texts: readonly string[];
}

/** Gathers the parts of every list on a page and marks the members as used. A list region without any text is not in the answer. */
export function gatherLists(items: readonly Item[]): Map<Item, ListParts> {
  const lists = items.filter((item) => item.name === "list" && !item.used);
  const members = new Map<Item, Item[]>(lists.map((list) => [list, []]));
  for (const item of items) {
    if (item.used || !MEMBER_CLASSES.has(item.name)) continue;
    const list = containerOf(item, lists, MEMBER);
    if (list === undefined) continue;
    members.get(list)?.push(item);
    absorb(list, item);
  }
  const parts = new Map<Item, ListParts>();
  for (const [list, found] of members) {
    const references = found.filter((item) => item.name === "ref_text").length;
    const texts = [...found.map((item) => item.text), ...ownLines(list, found)];
    if (texts.length > 0) parts.set(list, { subType: references * 2 > found.length ? "ref_text" : "text", texts });
  }
  return parts;
}

function ownLines(list: Item, members: readonly Item[]): string[] {
  const held = withoutWhite(withoutDoubt(members.map((item) => item.text).join("")));
  return filledLines(list.text).filter((line) => members.length === 0 || !held.includes(withoutWhite(withoutDoubt(line))));
}
