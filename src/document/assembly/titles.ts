/**
 * The level of a title, from its class, its number and its place: the model knows none. A document title is level 1; a section number
 * gives its depth plus one; an unnumbered title is level 1 if it is the first on the first page, else 2. Never deeper than 4.
 */

const DEEPEST = 4;
const TITLE_CLASSES = new Set(["title", "doc_title", "paragraph_title"]);

/** Whether a class is that of a title. */
export function isTitle(name: string): boolean {
  return TITLE_CLASSES.has(name);
}

/** Level of a title, 1..4. `opensDocument`: it is the first title of the document and stands on its first page. */
export function titleLevel(name: string, text: string, opensDocument: boolean): number {
  if (name === "doc_title") return 1;
  const number = /^(\d{1,2}(?:\.\d{1,2})*)\.?\s/.exec(text)?.[1];
  if (number !== undefined) return Math.min(DEEPEST, number.split(".").length + 1);
  const word = /^第[\p{Nd}〇零一二三四五六七八九十百千两]+([章节])/u.exec(text)?.[1];
  if (word !== undefined) return word === "章" ? 2 : 3;
  return name === "title" && opensDocument ? 1 : 2;
}
