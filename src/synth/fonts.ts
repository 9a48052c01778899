/**
 * The families documents are printed in, each with its design and its side of the training / held-out split. A
 * family is held out together with every digital copy of the same design (C059 with TeX Gyre Schola), so that
 * "unseen font" means an unseen drawing. Families come from Debian packages (scripts/synth-fetch-fonts.sh); the
 * few that the engine carries itself are enough for tests.
 */
import type { Typesetter } from "./typeset.ts";

export type FontDesign = "serif" | "sans" | "mono";
export type Split = "train" | "heldout";

export interface FontFamily {
  readonly family: string;
  readonly design: FontDesign;
  readonly split: Split;
  /** How often it is drawn, relative to others of its design. */
  readonly weight: number;
}

function families(design: FontDesign, split: Split, weight: number, names: string): FontFamily[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .map((family) => ({ family, design, split, weight }));
}

/** Built into the typesetting engine, so always there. */
export const BUILT_IN_FAMILIES: readonly FontFamily[] = [
  ...families("serif", "train", 1, "Libertinus Serif, New Computer Modern"),
  ...families("mono", "train", 1, "DejaVu Sans Mono"),
];

export const FAMILIES: readonly FontFamily[] = [
  ...families("serif", "train", 3, "Liberation Serif, Nimbus Roman, TeX Gyre Termes, CMU Serif, Latin Modern Roman, New Computer Modern"),
  ...families("serif", "train", 2, "STIXGeneral, Libertinus Serif, DejaVu Serif, Noto Serif, PT Serif, Caladea, Linux Libertine O"),
  ...families("serif", "train", 1, "Tinos, FreeSerif, Charis SIL, Gentium Book Basic, Junicode Two Beta, Vollkorn, Quattrocento"),
  ...families(
    "serif",
    "train",
    1,
    "Old Standard TT, GFS Didot, Goudy Bookletter 1911, Century Catalogue, Prociono, Essays1743, CMU Concrete",
  ),
  ...families("sans", "train", 3, "Liberation Sans, Nimbus Sans, TeX Gyre Heros, DejaVu Sans, Roboto, Noto Sans"),
  ...families("sans", "train", 2, "Arimo, Lato, Inter, PT Sans, Cantarell, Latin Modern Sans"),
  ...families("sans", "train", 1, "FreeSans, CMU Sans Serif, Linux Biolinum O, TeX Gyre Adventor, Comic Neue, B612, Go"),
  ...families(
    "mono",
    "train",
    2,
    "Liberation Mono, Nimbus Mono PS, Courier Prime, DejaVu Sans Mono, Latin Modern Mono, CMU Typewriter Text",
  ),
  ...families("mono", "train", 1, "TeX Gyre Cursor, Inconsolata, Fira Code, JetBrains Mono, Anonymous Pro, mononoki, GNUTypewriter, OCR B"),
  ...families(
    "serif",
    "heldout",
    1,
    "EB Garamond 12, EB Garamond 08, C059, TeX Gyre Schola, URW Bookman, TeX Gyre Bonum, P052, TeX Gyre Pagella, Fanwood Text",
  ),
  ...families("sans", "heldout", 1, "Open Sans, Carlito, Cabin, League Spartan"),
  ...families("mono", "heldout", 1, "Go Mono, PT Mono"),
];

/** The families of one side that the engine can print; the built-in ones if it has none of that side. */
export function fontsFor(typesetter: Typesetter, split: Split): readonly FontFamily[] {
  const wanted = FAMILIES.filter((font) => font.split === split);
  const present = new Set(typesetter.availableFamilies(wanted.map((font) => font.family)));
  const found = wanted.filter((font) => present.has(font.family));
  return found.length > 0 ? found : BUILT_IN_FAMILIES;
}
