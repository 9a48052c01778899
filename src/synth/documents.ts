/**
 * The kinds of documents and how often each is drawn. A plan says what stands where, in page units (200 to the inch); it is
 * set and composed elsewhere. It refuses to know pixels.
 */
import type { PagePlan } from "./compose.ts";
import { type Desk, portrait } from "./desk.ts";
import { createElements } from "./elements.ts";
import { book, formulasPage, magazine, paper, referencesPage, report } from "./long-documents.ts";
import { drawStyle } from "./page-style.ts";
import type { Random } from "./random.ts";
import { invoice, letter, memo, picture, slide, snippet, sparse, tablesPage } from "./single-pages.ts";
import type { SynthSources } from "./text-samples.ts";

export type DocumentKind =
  | "paper"
  | "paper-inner"
  | "book"
  | "letter"
  | "memo"
  | "report"
  | "slide"
  | "invoice"
  | "magazine"
  | "references"
  | "tables"
  | "formulas"
  | "sparse"
  | "snippet"
  | "picture"
  | "blank";

export const DOCUMENT_WEIGHTS: Readonly<Record<DocumentKind, number>> = {
  paper: 12,
  "paper-inner": 16,
  book: 11,
  letter: 6,
  memo: 5,
  report: 14,
  slide: 5,
  invoice: 4,
  magazine: 8,
  references: 3,
  tables: 5,
  formulas: 3,
  sparse: 6,
  snippet: 7,
  picture: 1.5,
  blank: 0.5,
};

/** Draws a document page of `kind`. */
export function planPage(kind: DocumentKind, sources: SynthSources, random: Random, mathFonts: readonly string[]): PagePlan {
  const size =
    kind === "slide"
      ? random.range(38, 62)
      : kind === "magazine"
        ? random.range(22, 30)
        : kind === "snippet"
          ? random.range(22, 46)
          : random.range(22, 36);
  const style = drawStyle(sources, random, size, mathFonts);
  const desk: Desk = { random, style, elements: createElements(sources.corpus, random, style) };
  switch (kind) {
    case "paper":
      return paper(desk, false);
    case "paper-inner":
      return paper(desk, true);
    case "book":
      return book(desk);
    case "letter":
      return letter(desk);
    case "memo":
      return memo(desk);
    case "report":
      return report(desk);
    case "slide":
      return slide(desk);
    case "invoice":
      return invoice(desk);
    case "magazine":
      return magazine(desk);
    case "references":
      return referencesPage(desk);
    case "tables":
      return tablesPage(desk);
    case "formulas":
      return formulasPage(desk);
    case "sparse":
      return sparse(desk);
    case "snippet":
      return snippet(desk);
    case "picture":
      return picture(desk);
    case "blank": {
      const sheet = portrait(random);
      return { kind: "blank", ...sheet, bands: [], fixtures: [] };
    }
  }
}
