/**
 * OmniDocBench v1.5's normal forms: what is compared of text, formulas and tables. Strict follows the official functions letter by
 * letter; sound keeps `/t` and `/n` in running text, keeps combining marks, and removes LaTeX commands only as whole names, so that
 * `\leftarrow` stays an arrow. It refuses to know how blocks are matched.
 */
import { EndlessLatexError, LatexTextError } from "./latex-nodes.ts";
import { latexToText } from "./latex-text.ts";
import type { MetricMode } from "./mode.ts";
import { PYTHON_SPACE, strip, stripCharacters } from "./python-text.ts";
import { findTags, parseSoup, renderSoup, replaceTags, type SoupNode, unescapeHtml } from "./soup-html.ts";

const INLINE_FORMULA = /\$([^\n]*?)\$|\\\(([^\n]*?)\\\)/g;

/** Letters, digits and `_` of a text; everything else goes. */
export function cleanString(text: string, mode: MetricMode = "sound"): string {
  if (mode === "sound") return text.replace(/\\[tn](?![a-zA-Z])|[^\p{L}\p{N}\p{M}_]|[\ufe00-\ufe0f]/gu, "");
  const joined = ["\\t", "\\n", "\t", "\n", "/t", "/n"].reduce((rest, part) => rest.split(part).join(""), text);
  return joined.replace(/[^\p{L}\p{N}_]/gu, "");
}

/** Replaces inline formulas that hold a command, a superscript or a subscript by their characters. */
export function inlineFormulasToText(text: string): string {
  return text.replace(INLINE_FORMULA, (formula, dollar: string | undefined, parenthesis: string | undefined) => {
    let content = (dollar ?? parenthesis ?? "").replace(/\\[\\_&%^]/g, "");
    if (!/[\\^_]/.test(content)) return formula;
    if (content.endsWith("\\")) content += " ";
    try {
      return strip(latexToText(content));
    } catch (error) {
      if (error instanceof LatexTextError || error instanceof EndlessLatexError) return formula;
      throw error;
    }
  });
}

/** The form in which text is matched and scored. */
export function normaliseText(text: string, mode: MetricMode = "sound"): string {
  return cleanString(inlineFormulasToText(text), mode);
}

/** Text in which inline formulas have their formula normal form. */
export function inlineFormulasNormalised(text: string, mode: MetricMode = "sound"): string {
  return text.replace(INLINE_FORMULA, (_, dollar: string | undefined, parenthesis: string | undefined) =>
    strip(normaliseFormula(dollar ?? parenthesis ?? "", mode)),
  );
}

/** Deleted from formulas, in this order: an earlier name may be the beginning of a later one. */
const DELETED_FROM_FORMULAS = [
  ..."mathbf mathrm mathnormal mathit mathbb mathcal mathscr mathfrak mathsf mathtt textbf text boldmath boldsymbol operatorname bm".split(
    " ",
  ),
  ..."symbfit mathbfcal symbf scriptscriptstyle notag setlength coloneqq space thickspace thinspace medspace nobreakspace".split(" "),
  ..."negmedspace quad qquad enspace substackw".split(" "),
]
  .map((name) => `\\${name}`)
  .concat([" ", "$$", "\\left", "\\right", "\\displaystyle", "\\text"]);

const DELETED_NAMES = new RegExp(
  `\\\\(?:${DELETED_FROM_FORMULAS.filter((part) => part.startsWith("\\"))
    .map((part) => part.slice(1))
    .join("|")})(?![a-zA-Z])`,
  "g",
);

/** The form in which formulas are matched and scored by edit distance. */
export function normaliseFormula(formula: string, mode: MetricMode = "sound"): string {
  let text = stripCharacters(stripCharacters(strip(formula), "$"), "\n");
  const display = (mode === "sound" ? /\\\[(.+?)(?<!\\)\\\]/s : /\\\[([^\n]+?)(?<!\\)\\\]/).exec(text);
  if (display) text = strip(display[1]);
  for (const command of ["tag", "hspace", "begin", "end"]) text = text.replace(new RegExp(`\\\\${command}\\{[^\\n]*?\\}`, "g"), "");
  text = stripCharacters(text.replace(/\\arraycolsep[^\n]*?\}/g, ""), ".");
  if (mode === "sound") text = text.replace(DELETED_NAMES, "").replace(/ |\$\$/g, "");
  else for (const part of DELETED_FROM_FORMULAS) text = text.split(part).join("");
  return text.toLowerCase();
}

/**
 * The form in which tables are compared by TEDS, a whole document, or `""` if there is no table. Strict decodes entities into live
 * markup and looks for `<table` in lower case; sound keeps decoded `<` and `&` as text and finds tables however they are written.
 */
export function normaliseHtmlTable(html: string, mode: MetricMode = "sound"): string {
  const compact = html.replaceAll(" ", "");
  if (!(mode === "strict" ? compact.includes("<table") : /<table/i.test(compact))) return "";
  const root = parseSoup(html);
  for (const cell of findTags(root, "th")) cell.name = "td";
  replaceTags(root, (tag): SoupNode[] | null => {
    if (tag.name === "thead" || tag.name === "span") return tag.children;
    if (tag.name === "math") return [{ kind: "text", text: `$${tag.attributes.get("alttext") ?? ""}$` }];
    return null;
  });
  const rendered = renderSoup(root);
  let text = strip((mode === "strict" ? unescapeHtml(rendered) : rendered).replaceAll("\n", "").normalize("NFKC"));
  text = [...text.matchAll(/<table(?![\p{L}\p{N}_])[^>]*>(.*)<\/table>/gisu)].map((match) => match[1]).join("");
  for (const attribute of ["style", "height", "width", "align", "class"]) {
    text =
      mode === "strict"
        ? text.replace(new RegExp(` ${attribute}="[^\\n]*?"`, "g"), "")
        : text.replace(/<[^<>]*>/g, (tag) => tag.replace(new RegExp(` ${attribute}="[^"]*"`, "g"), ""));
  }
  text = text.replace(/<\/?tbody>/g, "").replace(new RegExp(`[${PYTHON_SPACE}]+`, "g"), " ");
  text = `<html><body><table border="1" >${text}</table></body></html>`;
  text = text.replace(/<\/?(?:sup|sub|span|div|p)>/g, "").replaceAll('<spandata-span-identity="">', "");
  return text.replace(/<colgroup>[^\n]*?<\/colgroup>/g, "");
}

/** Full-width ASCII and the ideographic space to their half-width forms. */
export function toHalfWidth(text: string): string {
  return text.replace(/[\u3000\uff01-\uff5e]/g, (character) =>
    character === "\u3000" ? " " : String.fromCharCode(character.charCodeAt(0) - 0xfee0),
  );
}
