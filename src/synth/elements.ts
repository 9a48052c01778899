/**
 * The elements of documents as blocks: each builder gives the block of one class in the style of its page. It refuses to
 * know which elements a document has and where they go (documents.ts, compose.ts).
 */
import type { BlockSpec } from "./blocks.ts";
import { typewritten, typographic } from "./content.ts";
import { type Corpus, cleanText, excerpt } from "./corpus.ts";
import { drawChart, drawPhotograph } from "./figures.ts";
import { displayFormula } from "./formulas.ts";
import { type PageStyle, settings, type TextLook } from "./page-style.ts";
import type { Random } from "./random.ts";
import { date, personName, pseudoProse, pseudoWord, randomStrings, reference, shortLabel } from "./snippets.ts";
import { drawTable, printsTable, type TableLimits } from "./tables.ts";
import { typstString } from "./typeset.ts";

export interface Elements {
  paragraph(width: number, characters: number, look?: TextLook): BlockSpec;
  title(width: number, level: 0 | 1 | 2 | 3): BlockSpec;
  list(width: number, items: number): BlockSpec;
  caption(width: number, of: "image" | "table"): BlockSpec;
  tableNote(width: number): BlockSpec;
  table(width: number, limits: Omit<TableLimits, "measure">): BlockSpec;
  equation(width: number): BlockSpec;
  figure(width: number, height: number): BlockSpec;
  code(width: number, lines: number): BlockSpec;
  references(width: number): BlockSpec;
  footnote(width: number): BlockSpec;
  header(width: number): BlockSpec;
  footer(width: number): BlockSpec;
  pageNumber(width: number): BlockSpec;
  aside(width: number): BlockSpec;
  /** Any short line of text: a name, an address, a date. */
  line(width: number, text: string, look?: TextLook): BlockSpec;
  excerpt(characters: number): string;
}

const KEYWORDS = ["const", "let", "if", "return", "for", "while", "def", "import", "class", "print", "await", "new", "function", "else"];

/** Lines of invented source code, indented by two or four spaces. */
function codeLines(random: Random, count: number): string[] {
  const name = () => (random.chance(0.5) ? pseudoWord(random) : `${pseudoWord(random)}_${pseudoWord(random).slice(0, 4)}`);
  const step = random.pick([2, 4]);
  let depth = 0;
  return Array.from({ length: count }, () => {
    const indent = " ".repeat(step * depth);
    const kind = random.int(0, 6);
    if (kind === 0 && depth < 3) {
      depth++;
      return `${indent}${random.pick(["if", "for", "while"])} (${name()} < ${random.int(0, 99)}) {`;
    }
    if (kind === 1 && depth > 0) {
      depth--;
      return `${" ".repeat(step * depth)}}`;
    }
    if (kind === 2) return `${indent}${random.pick(["//", "#"])} ${name()} ${name()}`;
    if (kind === 3) return `${indent}return ${name()}(${name()}, ${random.int(0, 9)});`;
    if (kind === 4) return `${indent}${name()}.${name()}("${pseudoWord(random)}");`;
    return `${indent}${random.pick(KEYWORDS)} ${name()} = ${random.chance(0.5) ? random.int(0, 999) : `${name()}[${random.int(0, 9)}]`};`;
  });
}

export function createElements(corpus: Corpus, random: Random, style: PageStyle): Elements {
  const punctuate = random.chance(0.6) ? typographic : typewritten;
  const words = (characters: number): string => {
    const roll = random.next();
    const raw =
      roll < 0.72
        ? excerpt(corpus, random, characters)
        : roll < 0.88
          ? random.shuffled(excerpt(corpus, random, characters).split(" ")).join(" ")
          : roll < 0.96
            ? pseudoProse(random, characters)
            : randomStrings(random, characters);
    return cleanText(punctuate(raw));
  };
  const headline = (characters: number) => {
    const text = words(characters).replace(/[.,;:]+$/, "");
    const upper = text.charAt(0).toUpperCase() + text.slice(1);
    return random.chance(0.12) ? upper.toUpperCase() : upper;
  };
  const printed = (
    cls: BlockSpec["class"],
    width: number,
    text: string,
    look: TextLook,
    space: BlockSpec["space"],
    extra: Partial<BlockSpec> = {},
  ): BlockSpec => ({
    class: cls,
    width,
    text,
    body: `${settings(style, look)}#par(text(${typstString(text)}))`,
    space,
    ...extra,
  });
  const em = style.size;
  let section = random.int(1, 6);
  let figureNumber = random.int(1, 12);

  return {
    excerpt: words,
    line: (width, text, look = {}) => printed("text", width, text, { justify: false, ...look }, [em * 0.2, em * 0.2]),
    paragraph: (width, characters, look = {}) =>
      printed("text", width, words(characters), { indent: style.indent > 0, ...look }, [0, style.gap], { splits: true }),
    title(width, level) {
      const scale = [random.range(1.6, 2.6), random.range(1.2, 1.6), random.range(1.05, 1.3), 1][level];
      const number =
        style.headNumbered && level > 0 ? `${section++}${level > 1 ? `.${random.int(1, 6)}` : ""}${random.chance(0.5) ? "." : ""} ` : "";
      const text = cleanText(number + headline(random.int(level === 0 ? 20 : 8, level === 0 ? 80 : 45)));
      const bold = level === 3 || style.headWeight === "bold";
      const align = level === 0 ? random.pick(["center", "center", "left"] as const) : style.headAlign;
      return printed(
        "title",
        width,
        text,
        { font: style.head, scale, bold, italic: level === 3 && random.chance(0.4), align, justify: false, fill: style.accent },
        [em * (level === 0 ? 0.5 : 0.9), em * (level === 0 ? 0.9 : 0.45)],
        {
          keepsWithNext: true,
        },
      );
    },
    list(width, items) {
      const kind = random.int(0, 3);
      const marker = random.pick(["•", "–", "-", "*", "·"]);
      const texts = Array.from({ length: items }, (_, i) => {
        const mark = kind <= 1 ? marker : kind === 2 ? `${i + 1}.` : `(${String.fromCharCode(97 + (i % 26))})`;
        return { mark, body: words(random.int(10, Math.max(12, Math.min(140, (width / em) * 3)))) };
      });
      const rows = texts.map(({ mark, body }) => `text(${typstString(mark)}), par(text(${typstString(body)}))`).join(", ");
      const gutter = (style.leading * em + (random.chance(0.5) ? 0 : em * 0.4)).toFixed(1);
      return {
        class: "list",
        width,
        text: texts.map(({ mark, body }) => `${mark} ${body}`).join(" "),
        body: `${settings(style)}#pad(left: ${random.range(0, 1.5).toFixed(2)}em, grid(columns: (${random.range(1.1, 1.9).toFixed(2)}em, 1fr), row-gutter: ${gutter}pt, ${rows}))`,
        space: [em * 0.3, em * 0.6],
      };
    },
    caption(width, of) {
      const label = of === "image" ? random.pick(["Figure", "Fig.", "FIGURE"]) : random.pick(["Table", "TABLE", "Tab."]);
      const text = cleanText(`${label} ${figureNumber++}${random.pick([".", ":", " –"])} ${words(random.int(15, 130))}`);
      return printed(
        of === "image" ? "image_caption" : "table_caption",
        width,
        text,
        { scale: random.range(0.8, 0.95), align: random.pick(["left", "center"]), italic: random.chance(0.15) },
        [em * 0.3, em * 0.6],
        {
          keepsWithNext: of === "table",
        },
      );
    },
    tableNote: (width) =>
      printed(
        "table_footnote",
        width,
        cleanText(`${random.pick(["Note:", "*", "a", "Source:"])} ${words(random.int(20, 90))}`),
        { scale: 0.75 },
        [em * 0.2, em * 0.7],
      ),
    table(width, limits) {
      const scale = random.range(0.72, 1);
      const table = drawTable(corpus, random, { ...limits, measure: width / (em * scale) });
      return {
        class: "table",
        width,
        truth: table.otsl,
        accepts: (glyphs) => printsTable(table, glyphs),
        body: `${settings(style, { scale, justify: false })}#set text(hyphenate: false)\n#align(center, ${table.typst})`,
        space: [em * 0.4, em * 0.8],
      };
    },
    equation(width) {
      const formula = displayFormula(random, width > 30 * em ? random.pick([1, 2, 3] as const) : random.pick([1, 1, 2] as const));
      const tag = random.chance(0.3) ? `${random.chance(0.3) ? `${random.int(1, 9)}.` : ""}${random.int(1, 40)}` : undefined;
      const display = `#show math.equation: set text(font: ${typstString(style.math)})\n`;
      const mathematics = `math.equation(block: true, $ ${formula.typst} $)`;
      const line =
        tag === undefined
          ? `#${mathematics}`
          : `#grid(columns: (3em, 1fr, 3em), align: (left, center, right + horizon), [], ${mathematics}, text(${typstString(`(${tag})`)}))`;
      return {
        class: "equation",
        width,
        truth: formula.latex + (tag === undefined ? "" : `\\tag{${tag}}`),
        body: `${settings(style, { justify: false, align: "center" })}#set text(top-edge: "cap-height", bottom-edge: "baseline")\n${display}${line}`,
        space: [em * 0.7, em * 0.7],
      };
    },
    figure: (width, height) =>
      random.chance(0.5)
        ? { class: "image", width, height, body: "", draw: drawPhotograph(random), space: [em * 0.6, em * 0.5] }
        : {
            class: "image",
            width,
            body: `${settings(style, { justify: false })}${drawChart(random, width, height)}`,
            space: [em * 0.6, em * 0.5],
          },
    code(width, lines) {
      const scale = random.range(0.78, 0.95);
      const room = Math.floor(width / (em * scale * 0.62)) - 3;
      const text = codeLines(random, lines).map((line) => line.slice(0, room));
      const filled = random.chance(0.4) ? `, fill: luma(${random.int(228, 245)}), inset: 0.6em` : "";
      return {
        class: "code",
        width,
        text: text.join("\n"),
        body: `${settings(style, { font: style.mono, scale, justify: false })}#block(width: 100%${filled}, ${text.map((line) => `text(${typstString(line.replace(/^ +/, (indent) => "\u00a0".repeat(indent.length)))})`).join(" + linebreak() + ")})`,
        space: [em * 0.5, em * 0.8],
      };
    },
    references: (width) =>
      printed(
        "ref_text",
        width,
        cleanText(reference(random, words(random.int(25, 70)).replace(/[.,;:]+$/, ""))),
        { scale: 0.9, hanging: 1.4 },
        [0, em * 0.25],
      ),
    footnote: (width) =>
      printed("page_footnote", width, cleanText(`${random.pick(["1", "2", "*", "†"])} ${words(random.int(30, 140))}`), { scale: 0.78 }, [
        em * 0.3,
        em * 0.1,
      ]),
    header: (width) =>
      printed(
        "header",
        width,
        headline(random.int(8, 50)),
        { scale: random.range(0.75, 0.95), align: random.pick(["left", "center", "right"]), italic: random.chance(0.4), justify: false },
        [0, 0],
      ),
    footer: (width) =>
      printed(
        "footer",
        width,
        random.pick([
          () => `© ${random.int(1990, 2030)} ${personName(random)}`,
          () => headline(random.int(8, 40)),
          () => `${headline(12)} • ${date(random)}`,
        ])(),
        { scale: 0.8, align: random.pick(["left", "center"]), justify: false },
        [0, 0],
      ),
    pageNumber(width) {
      const number = random.int(1, 420);
      return printed(
        "page_number",
        width,
        random.pick([`${number}`, `${number}`, `- ${number} -`, `Page ${number}`, `${number} of ${number + 7}`]),
        { scale: 0.9, align: "center", justify: false },
        [0, 0],
      );
    },
    aside: (width) =>
      printed(
        "aside_text",
        width,
        random.chance(0.5)
          ? `arXiv:${random.int(1001, 2612)}.${random.int(10000, 99999)}v${random.int(1, 5)} [cs.${random.pick(["CL", "CV", "LG"])}] ${date(random)}`
          : shortLabel(random) + words(14),
        { fill: "luma(110)", justify: false },
        [0, 0],
        { turned: random.chance(0.8) },
      ),
  };
}
