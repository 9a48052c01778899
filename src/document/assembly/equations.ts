/**
 * Display formulas: a number printed beside a formula becomes its tag, and the members of an equation block become one array. Refuses to
 * judge LaTeX.
 */

import { area, shareInside } from "../boxes.ts";
import { repairTags } from "../formula/environments.ts";
import { endOfGroup, skipSpace, sourceOf, tokenise } from "../formula/latex-tokens.ts";
import { absorb, type Item } from "./items.ts";
import { withoutDoubt } from "./scripts.ts";

/** Share of an equation that must lie within an equation block. */
const MEMBER = 0.9;

/** Turns formula numbers into tags of the formulas at their height; those that find none, or cannot be a tag, stay as they are. */
export function attachNumbers(items: readonly Item[]): void {
  const equations = items.filter((item) => item.name === "equation" && !item.used && item.text !== "");
  for (const number of items) {
    if (number.name !== "formula_number" || number.used) continue;
    const tag = tagText(withoutDoubt(number.text));
    const [left, top, right, bottom] = number.region.box;
    const middle = (top + bottom) / 2;
    const gap = ({ region: { box } }: Item) => Math.max(0, left - box[2], box[0] - right);
    const beside = equations.filter(({ region: { box } }) => box[1] <= middle && middle <= box[3]).sort((a, b) => gap(a) - gap(b))[0];
    if (tag === null || beside === undefined) continue;
    const there = tagsOf(beside.text);
    if (there.length > 0 && !there.includes(tag)) continue;
    if (there.length === 0) beside.text = `${beside.text} \\tag{${tag}}`;
    absorb(beside, number);
  }
}

/** Makes one formula of the members of each equation block and gives those blocks; one with fewer than two members leaves no trace. */
export function groupEquations(items: readonly Item[]): ReadonlySet<Item> {
  const grouped = new Set<Item>();
  const blocks = items.filter((item) => item.name === "equation_block").sort((a, b) => area(a.region.box) - area(b.region.box));
  for (const block of blocks) {
    const members = items.filter(
      (item) => item.name === "equation" && !item.used && item.text !== "" && shareInside(item.region.box, block.region.box) > MEMBER,
    );
    if (members.length < 2) {
      if (block.text === "") block.used = true;
      continue;
    }
    const rows = `\\begin{array}{l} ${members.map((member) => member.text).join(" \\\\ ")} \\\\ \\end{array}`;
    block.text = repairTags(rows);
    for (const member of members) absorb(block, member);
    grouped.add(block);
  }
  return grouped;
}

/** What goes into `\tag{}`: the number without its brackets; null if it holds what a tag cannot print. */
function tagText(number: string): string | null {
  const bare = /^\\\((.*)\\\)$/s.exec(number)?.[1].trim() ?? number;
  const inner = /^[(（[【]\s*(.*?)\s*[)）\]】]$/s.exec(bare)?.[1] ?? bare;
  if (inner === "" || /[\\{}$^~\n]/.test(inner)) return null;
  return inner.replace(/[_&#%]/g, "\\$&");
}

function tagsOf(latex: string): string[] {
  const tokens = tokenise(latex);
  return tokens.flatMap((token, i) => {
    if (token.name !== "\\tag" && token.name !== "\\tag*") return [];
    const start = skipSpace(tokens, i + 1);
    return [sourceOf(tokens.slice(start + 1, endOfGroup(tokens, start) - 1)).trim()];
  });
}
