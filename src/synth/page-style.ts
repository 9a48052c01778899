/**
 * The look of one document: fonts, sizes, spacing and colours that its blocks share, drawn once a page. Lengths are in
 * page units (200 to the inch). It refuses to know what is on the page.
 */
import type { FontFamily } from "./fonts.ts";
import type { Random } from "./random.ts";
import { drawFont, type SynthSources } from "./text-samples.ts";
import { typstString } from "./typeset.ts";

export interface PageStyle {
  readonly body: FontFamily;
  readonly head: FontFamily;
  readonly mono: FontFamily;
  readonly math: string;
  /** Body font size. */
  readonly size: number;
  /** White between lines, in font sizes. */
  readonly leading: number;
  readonly justify: boolean;
  readonly hyphenate: boolean;
  /** First-line indent in font sizes; 0 means paragraphs are set apart by space. */
  readonly indent: number;
  /** Space between paragraphs. */
  readonly gap: number;
  readonly headWeight: "bold" | "regular";
  readonly headAlign: "left" | "center";
  readonly headNumbered: boolean;
  readonly accent: string;
}

const MATH_FONTS = ["New Computer Modern Math", "New Computer Modern Math", "Latin Modern Math", "STIX Math", "DejaVu Math TeX Gyre"];

export function drawStyle(sources: SynthSources, random: Random, size: number, mathFonts: readonly string[]): PageStyle {
  const fonts = sources.fonts;
  const proportional = fonts.filter((font) => font.design !== "mono");
  const mono = fonts.filter((font) => font.design === "mono");
  const body = drawFont(random.chance(0.05) || proportional.length === 0 ? fonts : proportional, random);
  const indent = random.chance(0.5) ? random.range(0.8, 2.2) : 0;
  return {
    body,
    head: random.chance(0.6) || proportional.length === 0 ? body : drawFont(proportional, random),
    mono: mono.length > 0 ? drawFont(mono, random) : body,
    math: random.pick(mathFonts),
    size,
    leading: random.chance(0.8) ? random.range(0.1, 0.35) : random.range(0.35, 0.8),
    justify: random.chance(0.65),
    hyphenate: random.chance(0.6),
    indent,
    gap: size * (indent > 0 ? random.range(0, 0.5) : random.range(0.4, 1.1)),
    headWeight: random.chance(0.75) ? "bold" : "regular",
    headAlign: random.chance(0.8) ? "left" : "center",
    headNumbered: random.chance(0.45),
    accent: random.chance(0.7) ? "black" : `rgb(${random.int(0, 160)}, ${random.int(0, 110)}, ${random.int(0, 170)})`,
  };
}

/** The mathematics fonts the engine has. */
export function mathFontsOf(sources: SynthSources): string[] {
  const present = new Set(sources.typesetter.availableFamilies([...new Set(MATH_FONTS)]));
  return MATH_FONTS.filter((font) => present.has(font));
}

export interface TextLook {
  readonly font?: FontFamily;
  /** Size relative to the body. */
  readonly scale?: number;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly align?: "left" | "center" | "right";
  readonly indent?: boolean;
  readonly hanging?: number;
  readonly justify?: boolean;
  readonly fill?: string;
  readonly tracking?: number;
}

/** The Typst settings of a block in `style`. */
export function settings(style: PageStyle, look: TextLook = {}): string {
  const font = look.font ?? style.body;
  const size = style.size * (look.scale ?? 1);
  const align = look.align ?? "left";
  const mono = font.design === "mono";
  return (
    `#set text(font: ${typstString(font.family)}, size: ${size.toFixed(2)}pt, lang: "en", top-edge: 0.8em, bottom-edge: -0.2em, ` +
    `hyphenate: ${style.hyphenate}, weight: "${look.bold ? "bold" : "regular"}", style: "${look.italic ? "italic" : "normal"}", ` +
    `fill: ${look.fill ?? "black"}, tracking: ${(look.tracking ?? 0).toFixed(3)}em${mono ? ", ligatures: false, features: (calt: 0)" : ""})\n` +
    `#set par(leading: ${(style.leading * size).toFixed(2)}pt, justify: ${look.justify ?? (style.justify && align === "left")}` +
    `${look.indent ? `, first-line-indent: (amount: ${style.indent.toFixed(2)}em, all: true)` : ""}` +
    `${look.hanging ? `, hanging-indent: ${look.hanging.toFixed(2)}em` : ""})\n#set align(${align})\n`
  );
}
