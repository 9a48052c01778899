/**
 * Truth by agreement: walks the text that was asked for beside the characters that were printed and accepts only
 * if they are the same, up to hyphens the engine set at line ends. Line breaks come from where the characters
 * stand, spaces from the text. It refuses to guess: any other difference is `undefined`, and the sample is dropped.
 */
import type { Glyph } from "./rasterise.ts";

/** One character of the truth with its place in the image; x and y are the centre of its box. */
export interface SynthCharacter {
  readonly char: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A glyph as a placed character, with (left, top) of the picture's origin taken off. */
export function placeGlyph(glyph: Glyph, left: number, top: number): SynthCharacter {
  return {
    char: glyph.char,
    x: (glyph.left + glyph.right) / 2 - left,
    y: (glyph.top + glyph.bottom) / 2 - top,
    width: glyph.right - glyph.left,
    height: glyph.bottom - glyph.top,
  };
}

export interface AlignedText {
  /** Lines as printed, joined by "\n"; a hyphen at a line end stays. */
  readonly text: string;
  /** One per non-space character of `text`, in reading order. */
  readonly glyphs: readonly Glyph[];
  readonly lineCount: number;
}

const HYPHENS = new Set(["-", "\u2010", "\u00ad"]);

/** True if `next` starts a new line after `previous`: its baseline fell by a whole line, or by half a line and back to the left. */
function startsLine(previous: Glyph, next: Glyph): boolean {
  const drop = (next.baseline - previous.baseline) / Math.min(previous.size, next.size);
  return drop > 0.8 || (drop > 0.45 && next.left < previous.left);
}

/**
 * Aligns `glyphs` (content order) with `source`.
 * @param source the text as given to the engine; runs of white space count as one space.
 * @returns the printed text, or `undefined` if the page does not say what `source` says.
 */
export function alignGlyphs(source: string, glyphs: readonly Glyph[]): AlignedText | undefined {
  const wanted = [...source];
  let at = 0;
  let text = "";
  let lineCount = glyphs.length > 0 ? 1 : 0;
  for (let i = 0; i < glyphs.length; i++) {
    const glyph = glyphs[i];
    let space = false;
    while (at < wanted.length && wanted[at].trim() === "") {
      space = true;
      at++;
    }
    const breaks = i > 0 && startsLine(glyphs[i - 1], glyph);
    if (breaks) {
      text += "\n";
      lineCount++;
    } else if (space && i > 0) text += " ";
    if (sameCharacter(wanted[at], glyph.char)) {
      text += wanted[at];
      at++;
    } else if (!space && HYPHENS.has(glyph.char) && i + 1 < glyphs.length && startsLine(glyph, glyphs[i + 1])) {
      text += "-";
    } else return undefined;
  }
  for (; at < wanted.length; at++) if (wanted[at].trim() !== "") return undefined;
  return { text, glyphs, lineCount };
}

/** Characters that are the same ink in most fonts and that PDFs confuse freely. */
function sameCharacter(wanted: string | undefined, printed: string): boolean {
  if (wanted === printed) return true;
  if (wanted === undefined) return false;
  if (HYPHENS.has(wanted) && HYPHENS.has(printed)) return true;
  return (wanted === "µ" && printed === "μ") || (wanted === "·" && printed === "∙");
}
