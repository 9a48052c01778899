/**
 * Places of a formula's tokens on paper, from MathJax's SVG instead of LaTeX and an image: every token is drawn in a group of its own,
 * and the exact extremes of its outlines are its box, at the size CDM renders (12 pt, 200 dpi). The geometry is MathJax's with New
 * Computer Modern, so scores are a variant of their own. Characters the font lacks (CJK) get an em box. It refuses to know how boxes
 * are compared.
 */
import type { LiteElement } from "@mathjax/src/js/adaptors/lite/Element.js";
import type { LiteText } from "@mathjax/src/js/adaptors/lite/Text.js";
import { MineruError } from "../error.ts";
import type { CdmVariant, FormulaImage, TokenBox } from "./cdm-match.ts";
import { FormulaError, prepareFormula } from "./formula-normalise.ts";
import { bounds, common, type Extent, join, type Placement, pathExtent, placed, placement } from "./svg-extent.ts";

/** Draws a formula. @throws FormulaError if it cannot be drawn */
export type FormulaRenderer = (latex: string, variant?: CdmVariant) => Promise<FormulaImage>;

/** 12 pt at 200 dpi. */
const PIXELS_PER_EM = 33.2;
const UNITS_PER_EM = 1000;
const MARGIN = 8;
/** The official boxes are a pixel larger than the ink on each side. */
const BOX_MARGIN = 1;
const PACKAGES = ["base", "ams", "html", "boldsymbol", "cancel", "mathtools", "noundefined"];

/**
 * Starts MathJax (about 0.4 s, once per renderer).
 * @throws MineruError `runtime-unavailable` if the package `@mathjax/src` is not installed
 */
export async function mathjaxRenderer(): Promise<FormulaRenderer> {
  const draw = await startMathJax();
  return async (latex, variant = "odb15") => {
    const { visible, text } = prepareFormula(latex, variant, (index) => `\\class{t${index}}{`);
    return imageOf(await draw(drawable(text)), visible);
  };
}

async function startMathJax(): Promise<(latex: string) => Promise<LiteElement>> {
  try {
    const [{ mathjax }, { TeX }, { SVG }, { liteAdaptor }, { RegisterHTMLHandler }, { default: TexError }, { MathJaxNewcmFont }] =
      await Promise.all([
        import("@mathjax/src/js/mathjax.js"),
        import("@mathjax/src/js/input/tex.js"),
        import("@mathjax/src/js/output/svg.js"),
        import("@mathjax/src/js/adaptors/liteAdaptor.js"),
        import("@mathjax/src/js/handlers/html.js"),
        import("@mathjax/src/js/input/tex/TexError.js"),
        import("@mathjax/mathjax-newcm-font/js/svg.js"),
        import("@mathjax/src/js/util/asyncLoad/esm.js"),
        import("@mathjax/src/js/input/tex/base/BaseConfiguration.js"),
        import("@mathjax/src/js/input/tex/ams/AmsConfiguration.js"),
        import("@mathjax/src/js/input/tex/html/HtmlConfiguration.js"),
        import("@mathjax/src/js/input/tex/boldsymbol/BoldsymbolConfiguration.js"),
        import("@mathjax/src/js/input/tex/cancel/CancelConfiguration.js"),
        import("@mathjax/src/js/input/tex/mathtools/MathtoolsConfiguration.js"),
        import("@mathjax/src/js/input/tex/noundefined/NoUndefinedConfiguration.js"),
      ]);
    RegisterHTMLHandler(liteAdaptor());
    const input = new TeX({
      packages: PACKAGES,
      formatError: (_: unknown, error: Error) => {
        throw error;
      },
    });
    const document = mathjax.document("", { InputJax: input, OutputJax: new SVG({ fontCache: "none", fontData: MathJaxNewcmFont }) });
    return async (latex) => {
      try {
        return (await document.convertPromise(latex, { display: true })) as LiteElement;
      } catch (error) {
        if (error instanceof TexError) throw new FormulaError(`the formula cannot be drawn: ${error.message}`);
        throw error;
      }
    };
  } catch (cause) {
    throw new MineruError(
      "runtime-unavailable",
      "formula boxes expected the package @mathjax/src, which could not be loaded. Install it: npm install @mathjax/src@4.1.3",
      { cause },
    );
  }
}

const ONE_ARGUMENT =
  "overbrace|over(?:left|right|leftright)arrow|under(?:left|right|leftright)arrow|[bx]?cancel|boxed|math(?:scr|sf|tt|it|normal)|bm|bold|widecheck";
const BARE_COMMAND = new RegExp(`\\\\class\\{t(\\d+)\\}\\{(\\\\(?:${ONE_ARGUMENT}))\\}\\s*\\{`);

/** The marked formula as MathJax takes it: halves of a delimiter pair stand alone, commands have their arguments inside their mark. */
function drawable(marked: string): string {
  let text = marked
    .replace(/\\(?:left|right) ?\.\}/g, "}")
    .replace(/\\class\{(t\d+)\}\{\\(?:left|right) ?/g, "\\class{$1}{")
    .replace(/\\hline(?![a-zA-Z])/g, "")
    .replace(/\\text \{/g, "\\mathrm {");
  for (let match = BARE_COMMAND.exec(text); match; match = BARE_COMMAND.exec(text)) {
    const start = match.index + match[0].length;
    const end = closingBrace(text, start);
    text = `${text.slice(0, match.index)}\\class{t${match[1]}}{${match[2]}{${text.slice(start, end)}}${text.slice(end)}`;
  }
  return `${text} `;
}

function closingBrace(text: string, start: number): number {
  const braces = /\\[\s\S]|[{}]/g;
  braces.lastIndex = start;
  let depth = 1;
  for (let match = braces.exec(text); match; match = braces.exec(text)) {
    if (match[0] === "{") depth++;
    else if (match[0] === "}" && --depth === 0) return match.index;
  }
  throw new FormulaError("an argument has no end");
}

function imageOf(root: LiteElement, visible: readonly string[]): FormulaImage {
  const inkOf = new Map<number, Extent>();
  let all: Extent | null = null;
  const walk = (node: LiteElement | LiteText, outer: Placement, token: number, clip: Extent | null) => {
    if (node.kind === "#text" || node.kind === "#comment") return;
    const element = node as LiteElement;
    const attribute = (name: string) => (element.attributes[name] === undefined ? undefined : String(element.attributes[name]));
    const own = /(?:^| )t(\d+)(?: |$)/.exec(attribute("class") ?? "");
    const owner = own ? Number(own[1]) : token;
    const inner = placement(outer, attribute("transform") ?? "");
    const ink = inkOfElement(element, attribute);
    if (ink) {
      const extent = clip ? common(placed(inner, ink), clip) : placed(inner, ink);
      if (extent === null) return;
      all = join(all, extent);
      if (owner >= 0) inkOf.set(owner, join(inkOf.get(owner) ?? null, extent));
      return;
    }
    const view = element.kind === "svg" ? windowOf(attribute) : null;
    const within = view ? placement(inner, `translate(${view.shiftX}, ${view.shiftY})`) : inner;
    const seen = view ? placed(within, view.part) : clip;
    for (const child of element.children) walk(child as LiteElement | LiteText, within, owner, seen);
  };
  walk(root, placement(null, ""), -1, null);
  if (all === null) return { size: [2 * MARGIN, 2 * MARGIN], boxes: [] };
  const { x0, y0, x1, y1 }: Extent = all;
  const pixels = (units: number) => (units * PIXELS_PER_EM) / UNITS_PER_EM;
  const boxes = visible.flatMap((token, index): TokenBox[] => {
    const ink = inkOf.get(index);
    if (!ink) return [];
    const bbox = [
      pixels(ink.x0 - x0) + MARGIN - BOX_MARGIN,
      pixels(ink.y0 - y0) + MARGIN - BOX_MARGIN,
      pixels(ink.x1 - x0) + MARGIN + BOX_MARGIN,
      pixels(ink.y1 - y0) + MARGIN + BOX_MARGIN,
    ] as const;
    return [{ token, bbox }];
  });
  return { size: [pixels(x1 - x0) + 2 * MARGIN, pixels(y1 - y0) + 2 * MARGIN], boxes };
}

type AttributeOf = (name: string) => string | undefined;

function numberOf(attribute: AttributeOf, name: string): number {
  return Number.parseFloat(attribute(name) ?? "0");
}

/** What an element itself draws, before its transform; null if nothing. */
function inkOfElement(element: LiteElement, attribute: AttributeOf): Extent | null {
  const value = (name: string) => numberOf(attribute, name);
  switch (element.kind) {
    case "path":
      return pathExtent(attribute("d") ?? "");
    case "rect": {
      const isDrawn = (attribute("fill") !== "none" || value("stroke-width") > 0) && value("width") > 0 && value("height") > 0;
      return isDrawn ? bounds([value("x"), value("x") + value("width")], [value("y"), value("y") + value("height")]) : null;
    }
    case "line":
      return bounds([value("x1"), value("x2")], [value("y1"), value("y2")]);
    case "text": {
      const text = element.children.map((child) => ("value" in child ? String(child.value) : "")).join("");
      const size = value("font-size");
      const width = [...text].reduce((sum, character) => sum + (/[\u1100-\uffef]/.test(character) ? size : size / 2), 0);
      return text.trim() === "" ? null : bounds([0, width], [-0.88 * size, 0.12 * size]);
    }
    default:
      return null;
  }
}

/** The part of a stretched character that is seen, in its own coordinates, and how far it is shifted. */
function windowOf(attribute: AttributeOf): { part: Extent; shiftX: number; shiftY: number } | null {
  const [x, y, width, height] = (attribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  const isStretched = attribute("x") !== undefined && Number(attribute("width")) === width && height > 0;
  return isStretched
    ? { part: bounds([x, x + width], [y, y + height]), shiftX: numberOf(attribute, "x") - x, shiftY: numberOf(attribute, "y") - y }
    : null;
}
