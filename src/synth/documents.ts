/**
 * Kinds of documents: papers, books, letters, memos, reports, slides, invoices, magazines, pages that are one table or one
 * picture, near-empty pages and small pictures filled with text. Each plan says what stands where, in page units (200 to
 * the inch); it is set and composed elsewhere. It refuses to know pixels.
 */
import type { BlockSpec } from "./blocks.ts";
import type { Band, Fixture, PagePlan } from "./compose.ts";
import { createElements, type Elements } from "./elements.ts";
import { drawStyle, type PageStyle, type TextLook } from "./page-style.ts";
import type { Random } from "./random.ts";
import { date, personName, price, pseudoWord } from "./snippets.ts";
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

interface Desk {
  readonly random: Random;
  readonly style: PageStyle;
  readonly elements: Elements;
}

type Margins = readonly [number, number, number, number];

/** Rough height of a block, enough to know how many fill a column. */
function estimate(spec: BlockSpec, size: number): number {
  const pitch = size * 1.25;
  const characters = spec.text?.length ?? 0;
  const lines = spec.text === undefined ? 3 : Math.ceil((characters * size * 0.47) / spec.width);
  return (spec.height ?? lines * pitch) + spec.space[0] + spec.space[1];
}

/** Draws blocks until they would fill `height`. */
function fill(height: number, size: number, draw: () => readonly BlockSpec[]): BlockSpec[] {
  const blocks: BlockSpec[] = [];
  for (let used = 0, count = 0; used < height && count < 60; count++) {
    for (const block of draw()) {
      blocks.push(block);
      used += estimate(block, size);
    }
  }
  return blocks;
}

function columnWidth(width: number, columns: number, gutter: number): number {
  return (width - gutter * (columns - 1)) / columns;
}

/** What a column of running matter holds: mostly paragraphs, with everything else between them. */
function matter({ random, elements, style }: Desk, width: number, weights: Partial<Record<string, number>> = {}): BlockSpec[] {
  const size = style.size;
  const kind = random.weighted({ text: 62, title: 11, equation: 6, list: 5, figure: 5, table: 5, code: 2, ...weights } as Record<
    string,
    number
  >);
  const characters = () => Math.round(random.range(2, 12) * (width / (size * 0.47)));
  switch (kind) {
    case "title":
      return [elements.title(width, random.pick([1, 2, 2, 3])), elements.paragraph(width, characters())];
    case "equation":
      return [elements.equation(width), ...(random.chance(0.3) ? [elements.equation(width)] : [])];
    case "list":
      return [elements.list(width, random.int(2, 7))];
    case "figure": {
      const figureWidth = width * (random.chance(0.6) ? 1 : random.range(0.5, 0.9));
      return [
        elements.figure(figureWidth, figureWidth * random.range(0.4, 0.8)),
        ...(random.chance(0.8) ? [elements.caption(width, "image")] : []),
      ];
    }
    case "table": {
      const table = elements.table(width, { rows: [2, 9], columns: [2, Math.max(2, Math.min(7, Math.floor(width / (size * 7))))] });
      const parts = [
        ...(random.chance(0.7) ? [elements.caption(width, "table")] : []),
        table,
        ...(random.chance(0.25) ? [elements.tableNote(width)] : []),
      ];
      return parts;
    }
    case "code":
      return [elements.code(width, random.int(3, 14))];
    default:
      return [elements.paragraph(width, characters())];
  }
}

interface Sheet {
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

function portrait(random: Random): Sheet {
  const [width, height] = random.chance(0.5) ? [1654, 2339] : [1700, 2200];
  const [side, top] = [random.range(90, 260), random.range(130, 300)];
  return { width, height, margins: [side, top, side * random.range(0.8, 1.2), random.range(150, 300)] };
}

/** Running head, foot and page number in the margins, each with its chance. */
function furniture(
  { random, elements }: Desk,
  sheet: Sheet,
  chances: { head: number; foot: number; number: number },
): Fixture<BlockSpec>[] {
  const { width, height, margins } = sheet;
  const [left, top, right, bottom] = margins;
  const measure = width - left - right;
  const fixtures: Fixture<BlockSpec>[] = [];
  if (random.chance(chances.head))
    fixtures.push({ block: elements.header(measure), x: left, y: Math.max(30, top - random.range(60, 110)), first: true });
  if (random.chance(chances.foot))
    fixtures.push({ block: elements.footer(measure), x: left, y: height - bottom + random.range(30, 60), first: false });
  if (random.chance(chances.number))
    fixtures.push({ block: elements.pageNumber(measure), x: left, y: height - Math.min(bottom - 70, random.range(70, 130)), first: false });
  return fixtures;
}

function paper(desk: Desk, inner: boolean): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const measure = sheet.width - left - right;
  const columns = random.chance(0.7) ? 2 : 1;
  const gutter = random.range(40, 80);
  const width = columnWidth(measure, columns, gutter);
  const bands: Band<BlockSpec>[] = [];
  const fixtures = furniture(desk, sheet, { head: inner ? 0.5 : 0.3, foot: 0.12, number: 0.7 });
  if (!inner) {
    const centred: TextLook = { align: "center" };
    bands.push({
      columns: 1,
      gutter: 0,
      blocks: [
        elements.title(measure, 0),
        elements.line(measure, Array.from({ length: random.int(1, 5) }, () => personName(random)).join(", "), { ...centred, scale: 1.1 }),
        ...(random.chance(0.7)
          ? [elements.line(measure, `${elements.excerpt(30)}, ${pseudoWord(random)}@${pseudoWord(random)}.edu`, centred)]
          : []),
      ],
    });
    if (columns === 1 || random.chance(0.4))
      bands.push({
        columns: 1,
        gutter: 0,
        blocks: [
          ...(random.chance(0.6) ? [elements.line(measure, "Abstract", { bold: true, align: "center" })] : []),
          elements.paragraph(measure, random.int(300, 900)),
        ],
      });
    if (random.chance(0.15))
      fixtures.push({ block: elements.aside(700), x: random.range(20, 50), y: random.range(600, 1000), first: false });
  }
  const wideAt = inner && columns > 1 && random.chance(0.3) ? random.range(0.25, 0.7) : undefined;
  const room = sheet.height - top - bottom;
  const run = (height: number): BlockSpec[] => fill(height * columns * 1.05, style.size, () => matter(desk, width));
  if (wideAt !== undefined) {
    bands.push({ columns, gutter, blocks: run(room * wideAt), height: room * wideAt });
    const wide = random.chance(0.5)
      ? [elements.figure(measure, measure * random.range(0.2, 0.45)), elements.caption(measure, "image")]
      : [elements.caption(measure, "table"), elements.table(measure, { rows: [3, 9], columns: [4, 9] })];
    bands.push({ columns: 1, gutter: 0, blocks: wide });
  }
  const body = run(room * (1 - (wideAt ?? 0)) * (inner ? 1 : 0.85));
  const notes = random.chance(0.2) ? [elements.footnote(width)] : [];
  bands.push({ columns, gutter, blocks: [...body, ...notes] });
  return { kind: inner ? "paper-inner" : "paper", ...sheet, bands, fixtures };
}

function book(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const measure = sheet.width - left - right;
  const room = sheet.height - top - bottom;
  const opening = random.chance(0.25) ? [elements.title(measure, 0)] : [];
  const body = fill(room * random.range(0.7, 1.1), style.size, () =>
    matter(desk, measure, { equation: 0, table: 1, code: 0, title: 3, figure: 3, list: 2 }),
  );
  const note = random.chance(0.25);
  const fixtures = furniture(desk, sheet, { head: 0.6, foot: 0.05, number: 0.75 });
  const bands: Band<BlockSpec>[] = [{ columns: 1, gutter: 0, blocks: [...opening, ...body], height: note ? room - 130 : undefined }];
  if (note) fixtures.push({ block: elements.footnote(measure), x: left, y: sheet.height - bottom - 110, first: false });
  return { kind: "book", ...sheet, bands, fixtures };
}

function letter(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const sheet = portrait(random);
  const [left, , right] = sheet.margins;
  const measure = sheet.width - left - right;
  const toRight = random.chance(0.4);
  const lines = (count: number, draw: () => string, look: TextLook = {}) =>
    elements.line(measure, Array.from({ length: count }, draw).join(" "), look);
  const place = () => `${random.int(1, 999)} ${pseudoWord(random)} Street, ${pseudoWord(random)}`;
  const blocks = [
    lines(1, () => `${personName(random)}, ${place()}`, toRight ? { align: "right" } : {}),
    elements.line(measure, date(random), toRight ? { align: "right" } : {}),
    lines(1, () => `${personName(random)}, ${place()}`),
    elements.line(measure, `Dear ${personName(random)},`),
    ...Array.from({ length: random.int(1, 5) }, () => elements.paragraph(measure, random.int(120, 700))),
    elements.line(measure, random.pick(["Sincerely,", "Yours faithfully,", "Kind regards,", "Best wishes,"])),
    elements.line(measure, personName(random)),
  ];
  return {
    kind: "letter",
    ...sheet,
    bands: [
      { columns: 1, gutter: 0, blocks: blocks.map((block) => ({ ...block, space: [block.space[0] + 14, block.space[1] + 14] as const })) },
    ],
    fixtures: furniture(desk, sheet, { head: 0.2, foot: 0.3, number: 0.1 }),
  };
}

function memo(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const sheet = portrait(random);
  const [left, , right] = sheet.margins;
  const measure = sheet.width - left - right;
  const label = (name: string, value: string) => elements.line(measure, `${name} ${value}`);
  const blocks = [
    elements.title(measure, 0),
    label("TO:", personName(random)),
    label("FROM:", personName(random)),
    label("DATE:", date(random)),
    label("SUBJECT:", elements.excerpt(40)),
    ...Array.from({ length: random.int(1, 5) }, () => elements.paragraph(measure, random.int(100, 600))),
    ...(random.chance(0.5) ? [elements.list(measure, random.int(2, 6))] : []),
    ...(random.chance(0.4) ? [elements.paragraph(measure, random.int(100, 500))] : []),
  ];
  return {
    kind: "memo",
    ...sheet,
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: furniture(desk, sheet, { head: 0.25, foot: 0.25, number: 0.4 }),
  };
}

function report(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const measure = sheet.width - left - right;
  const room = (sheet.height - top - bottom) * (random.chance(0.25) ? random.range(0.3, 0.8) : 1.05);
  const opening = random.chance(0.3) ? [elements.title(measure, 0)] : [];
  const body = fill(room, style.size, () => matter(desk, measure, { title: 16, list: 10, table: 8, figure: 7, equation: 2, code: 3 }));
  return {
    kind: "report",
    ...sheet,
    bands: [{ columns: 1, gutter: 0, blocks: [...opening, ...body] }],
    fixtures: furniture(desk, sheet, { head: 0.4, foot: 0.35, number: 0.6 }),
  };
}

function slide(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const [width, height] = random.chance(0.5) ? [2000, 1125] : [1600, 1200];
  const side = random.range(80, 180);
  const measure = width - 2 * side;
  const twoColumns = random.chance(0.4);
  const gutter = 60;
  const half = columnWidth(measure, 2, gutter);
  const bands: Band<BlockSpec>[] = [{ columns: 1, gutter: 0, blocks: [elements.title(measure, random.chance(0.5) ? 0 : 1)] }];
  if (twoColumns)
    bands.push({
      columns: 2,
      gutter,
      blocks: [elements.list(half, random.int(2, 5)), elements.figure(half, half * random.range(0.5, 0.7))],
    });
  else
    bands.push({
      columns: 1,
      gutter: 0,
      blocks: random.chance(0.7)
        ? [elements.list(measure, random.int(2, 6))]
        : [elements.paragraph(measure, random.int(60, 200)), elements.figure(measure * 0.6, measure * 0.25)],
    });
  const sheet: Sheet = { width, height, margins: [side, random.range(60, 160), side, 100] };
  return { kind: "slide", ...sheet, bands, fixtures: furniture(desk, sheet, { head: 0, foot: 0.4, number: 0.4 }) };
}

function invoice(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const sheet = portrait(random);
  const [left, , right] = sheet.margins;
  const measure = sheet.width - left - right;
  const right_: TextLook = { align: "right" };
  const blocks = [
    elements.title(measure, 0),
    elements.line(measure, `Invoice No. ${random.int(1000, 99999)}`, right_),
    elements.line(measure, `Date: ${date(random)}`, right_),
    elements.line(measure * 0.5, `Bill to: ${personName(random)}, ${random.int(1, 99)} ${pseudoWord(random)} Road, ${pseudoWord(random)}`),
    elements.table(measure, { rows: [4, 12], columns: [3, 6] }),
    elements.line(measure, `Subtotal: ${price(random)}`, right_),
    elements.line(measure, `Tax: ${price(random)}`, right_),
    elements.line(measure, `Total: ${price(random)}`, { ...right_, bold: true }),
    ...(random.chance(0.6) ? [elements.paragraph(measure, random.int(60, 300))] : []),
  ];
  return {
    kind: "invoice",
    ...sheet,
    bands: [
      { columns: 1, gutter: 0, blocks: blocks.map((block) => ({ ...block, space: [block.space[0] + 8, block.space[1] + 10] as const })) },
    ],
    fixtures: furniture(desk, sheet, { head: 0.1, foot: 0.5, number: 0.2 }),
  };
}

function magazine(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const measure = sheet.width - left - right;
  const columns = random.int(2, 4);
  const gutter = random.range(28, 60);
  const width = columnWidth(measure, columns, gutter);
  const bands: Band<BlockSpec>[] = [];
  if (random.chance(0.6))
    bands.push({
      columns: 1,
      gutter: 0,
      blocks: [
        elements.title(measure, 0),
        ...(random.chance(0.5) ? [elements.line(measure, `By ${personName(random)}`, { italic: true })] : []),
      ],
    });
  if (random.chance(0.45))
    bands.push({
      columns: 1,
      gutter: 0,
      blocks: [
        elements.figure(measure, measure * random.range(0.25, 0.6)),
        ...(random.chance(0.6) ? [elements.caption(measure, "image")] : []),
      ],
    });
  const room = sheet.height - top - bottom;
  bands.push({
    columns,
    gutter,
    ruled: random.chance(0.25),
    blocks: fill(room * columns * 0.95, style.size, () =>
      matter(desk, width, { equation: 0, table: 1, code: 0, list: 2, title: 7, figure: 6 }),
    ),
  });
  return { kind: "magazine", ...sheet, bands, fixtures: furniture(desk, sheet, { head: 0.5, foot: 0.3, number: 0.6 }) };
}

function referencesPage(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const columns = random.chance(0.6) ? 2 : 1;
  const gutter = 60;
  const width = columnWidth(sheet.width - left - right, columns, gutter);
  const room = (sheet.height - top - bottom) * columns * random.range(0.4, 1.05);
  const blocks = [elements.title(width, 1), ...fill(room, style.size, () => [elements.references(width)])];
  return {
    kind: "references",
    ...sheet,
    bands: [{ columns, gutter, blocks }],
    fixtures: furniture(desk, sheet, { head: 0.5, foot: 0.1, number: 0.7 }),
  };
}

function tablesPage(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const small = random.chance(0.5);
  const sheet: Sheet = small
    ? { width: random.int(700, 1700), height: 1800, margins: [random.int(8, 60), random.int(8, 60), random.int(8, 60), random.int(8, 60)] }
    : portrait(random);
  const measure = sheet.width - sheet.margins[0] - sheet.margins[2];
  const table = () => elements.table(measure, { rows: small ? [2, 10] : [5, 24], columns: [2, 9] });
  const one = [...(random.chance(small ? 0.15 : 0.7) ? [elements.caption(measure, "table")] : []), table()];
  const blocks = small
    ? one
    : [...one, ...(random.chance(0.5) ? [elements.paragraph(measure, 300)] : []), ...(random.chance(0.5) ? [table()] : [])];
  return {
    kind: "tables",
    ...sheet,
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: small ? [] : furniture(desk, sheet, { head: 0.4, foot: 0.3, number: 0.5 }),
  };
}

function formulasPage(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const sheet = portrait(random);
  const [left, top, right, bottom] = sheet.margins;
  const measure = sheet.width - left - right;
  const blocks = fill((sheet.height - top - bottom) * random.range(0.4, 1), style.size, () => [
    ...(random.chance(0.6) ? [elements.paragraph(measure, random.int(40, 300))] : []),
    elements.equation(measure),
  ]);
  return {
    kind: "formulas",
    ...sheet,
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: furniture(desk, sheet, { head: 0.3, foot: 0.2, number: 0.6 }),
  };
}

/** A page with very little on it, anywhere. */
function sparse(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const sheet = portrait(random);
  const measure = random.range(500, sheet.width - 200);
  const left = random.range(60, sheet.width - measure - 60);
  const top = random.range(60, sheet.height * 0.7);
  const blocks = random.pick([
    () => [elements.paragraph(measure, random.int(40, 600))],
    () => [elements.title(measure, random.pick([0, 1] as const)), elements.paragraph(measure, random.int(60, 500))],
    () => [elements.title(measure, 0), elements.line(measure, personName(random))],
    () => [elements.paragraph(measure, random.int(40, 400)), elements.paragraph(measure, random.int(40, 400))],
    () => [elements.equation(measure)],
    () => [elements.list(measure, random.int(1, 4))],
  ])();
  return {
    kind: "sparse",
    ...sheet,
    margins: [left, top, sheet.width - left - measure, 60],
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: random.chance(0.2) ? furniture(desk, { ...sheet, margins: [120, 200, 120, 200] }, { head: 0, foot: 0.2, number: 0.8 }) : [],
  };
}

/** A small picture that text fills to its edges, like a screenshot or a hand-cut crop. */
function snippet(desk: Desk): PagePlan {
  const { random, elements, style } = desk;
  const [width, height] = [random.int(500, 1400), random.int(250, 1000)];
  const margin = random.int(10, 70);
  const measure = width - 2 * margin;
  const blocks = random.chance(0.6)
    ? [
        elements.paragraph(
          measure,
          Math.round((measure / (style.size * 0.47)) * ((height - 2 * margin) / (style.size * 1.3)) * random.range(0.4, 0.85)),
        ),
      ]
    : fill((height - 2 * margin) * 0.9, style.size, () => matter(desk, measure, { figure: 1, table: 2, code: 2 }));
  return {
    kind: "snippet",
    width,
    height,
    margins: [margin, margin, margin, margin],
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: [],
  };
}

function picture(desk: Desk): PagePlan {
  const { random, elements } = desk;
  const sheet = portrait(random);
  const measure = sheet.width - 160;
  const blocks = [
    elements.figure(measure, measure * random.range(0.5, 1.1)),
    ...(random.chance(0.6) ? [elements.caption(measure, "image")] : []),
  ];
  return {
    kind: "picture",
    ...sheet,
    margins: [80, random.range(80, 500), 80, 80],
    bands: [{ columns: 1, gutter: 0, blocks }],
    fixtures: [],
  };
}

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
