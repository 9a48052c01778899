/**
 * Documents of one page: letters, memos, invoices, slides, pages that are one table or one picture, near-empty pages and small
 * pictures filled with text. Each function draws the plan of one page. It refuses to know pixels.
 */
import type { BlockSpec } from "./blocks.ts";
import type { Band, PagePlan } from "./compose.ts";
import { columnWidth, type Desk, fill, furniture, matter, portrait, type Sheet } from "./desk.ts";
import type { TextLook } from "./page-style.ts";
import { date, personName, price, pseudoWord } from "./snippets.ts";

export function letter(desk: Desk): PagePlan {
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

export function memo(desk: Desk): PagePlan {
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

export function invoice(desk: Desk): PagePlan {
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

export function slide(desk: Desk): PagePlan {
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

export function tablesPage(desk: Desk): PagePlan {
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

/** A page with very little on it, anywhere. */
export function sparse(desk: Desk): PagePlan {
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
export function snippet(desk: Desk): PagePlan {
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

export function picture(desk: Desk): PagePlan {
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
