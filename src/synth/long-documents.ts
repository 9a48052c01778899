/**
 * Pages of documents that run on: papers, books, reports, magazines, reference lists, pages of formulas. Each function draws
 * the plan of one page. It refuses to know pixels.
 */
import type { BlockSpec } from "./blocks.ts";
import type { Band, PagePlan } from "./compose.ts";
import { columnWidth, type Desk, fill, furniture, matter, portrait } from "./desk.ts";
import type { TextLook } from "./page-style.ts";
import { personName, pseudoWord } from "./snippets.ts";

export function paper(desk: Desk, inner: boolean): PagePlan {
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

export function book(desk: Desk): PagePlan {
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

export function report(desk: Desk): PagePlan {
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

export function magazine(desk: Desk): PagePlan {
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

export function referencesPage(desk: Desk): PagePlan {
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

export function formulasPage(desk: Desk): PagePlan {
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
