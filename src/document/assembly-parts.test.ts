import { describe, expect, test } from "vitest";
import { writeContentList } from "./assembly/content-list.ts";
import { type MarkdownOptions, writeMarkdown } from "./assembly/markdown.ts";
import { compoundsIn, joinTexts, mendBrokenWords } from "./assembly/seams.ts";
import { type AssemblyOptions, assemble } from "./assembly.ts";
import type { Box, ReadPage, ReadRegion, RegionContent } from "./types.ts";

type Row = readonly [name: string, box: Box, content?: string | RegionContent, more?: Partial<ReadRegion>];

function pageOf(rows: readonly Row[], index = 0): ReadPage {
  const regions = rows.map(([name, box, content, more]): ReadRegion => {
    const read: RegionContent =
      content === undefined ? { kind: "none" } : typeof content === "string" ? { kind: "text", text: content } : content;
    return { class: name, box, angle: 0, content: read, ...more };
  });
  return { index, width: 1000, height: 1400, regions };
}

function markdown(rows: readonly Row[], options: AssemblyOptions & MarkdownOptions = {}): string {
  return writeMarkdown(assemble([pageOf(rows)], options), options);
}

const formula = (latex: string): RegionContent => ({ kind: "formula", latex });
const table = (otsl: string): RegionContent => ({ kind: "table", otsl });

describe("captions", () => {
  test("side by side: of two equally near the one whose edge is nearer", () => {
    const rows: Row[] = [
      ["image", [100, 100, 450, 300], undefined, { image: "a.png" }],
      ["image", [550, 100, 900, 300], undefined, { image: "b.png" }],
      ["image_caption", [100, 310, 450, 330], "(a) left"],
      ["image_caption", [550, 310, 900, 330], "(b) right"],
    ];
    expect(markdown(rows)).toBe("![](a.png)  \n(a) left\n\n![](b.png)  \n(b) right");
  });

  test("between two tables at the same distance: a caption goes down, a footnote up", () => {
    const rows = (note: string): Row[] => [
      ["table", [100, 100, 900, 300], table("<fcel>1<nl>")],
      [note, [100, 310, 900, 330], "N"],
      ["table", [100, 340, 900, 500], table("<fcel>2<nl>")],
    ];
    const html = (cell: string) => `<table><tr><td>${cell}</td></tr></table>`;
    expect(markdown(rows("table_caption"))).toBe(`${html("1")}\n\nN\n\n${html("2")}`);
    expect(assemble([pageOf(rows("table_caption"))]).map((block) => block.sources.length)).toEqual([1, 2]);
    expect(assemble([pageOf(rows("table_footnote"))]).map((block) => block.sources.length)).toEqual([2, 1]);
  });

  test("text between parts them", () => {
    const rows: Row[] = [
      ["image", [100, 100, 900, 300], undefined, { image: "a.png" }],
      ["text", [100, 310, 900, 330], "Between."],
      ["image_caption", [100, 340, 900, 360], "Fig. 1"],
    ];
    expect(markdown(rows)).toBe("![](a.png)\n\nBetween.\n\nFig. 1");
  });
});

describe("equations", () => {
  const equation: Row = ["equation", [200, 100, 700, 200], formula("a = b")];

  test.each([
    ["（3）", "a = b \\tag{3}"],
    ["[2.1]", "a = b \\tag{2.1}"],
    ["\\((4)\\)", "a = b \\tag{4}"],
    ["(A_1)", "a = b \\tag{A\\_1}"],
  ])("number %s", (number, latex) => {
    expect(markdown([equation, ["formula_number", [800, 140, 900, 160], number]])).toBe(`$$\n${latex}\n$$`);
  });

  test("what cannot be a tag, or finds another, is kept as text", () => {
    expect(markdown([equation, ["formula_number", [800, 140, 900, 160], "(\\alpha)"]])).toBe("$$\na = b\n$$\n\n(\\alpha)");
    expect(markdown([equation, ["formula_number", [800, 240, 900, 260], "(3)"]])).toBe("$$\na = b\n$$\n\n(3)");
    const tagged: Row = ["equation", [200, 100, 700, 200], formula("a = b \\tag{2}")];
    expect(markdown([tagged, ["formula_number", [800, 140, 900, 160], "(3)"]])).toBe("$$\na = b \\tag{2}\n$$\n\n(3)");
  });

  test("of two columns the nearer equation takes the number", () => {
    const rows: Row[] = [
      ["equation", [50, 100, 400, 200], formula("x")],
      ["formula_number", [420, 140, 460, 160], "(1)"],
      ["equation", [550, 100, 900, 200], formula("y")],
    ];
    expect(markdown(rows)).toBe("$$\nx \\tag{1}\n$$\n\n$$\ny\n$$");
  });

  test("a picture stands in for a formula that was not read; blank lines inside go", () => {
    expect(markdown([["equation", [0, 0, 900, 100], undefined, { image: "e.png" }]])).toBe("![](e.png)");
    expect(markdown([["equation", [0, 0, 900, 100], formula("a\n\n= b")]])).toBe("$$\na\n= b\n$$");
  });
});

describe("lists", () => {
  test("a line the list read itself and no member holds is kept", () => {
    const rows: Row[] = [
      ["list", [100, 100, 900, 400], "1. one\n2. two\n3. three"],
      ["text", [110, 110, 890, 150], "1. one"],
      ["text", [110, 160, 890, 200], "2. two"],
    ];
    expect(markdown(rows)).toBe("1. one  \n2. two  \n3. three");
  });
});

describe("tables", () => {
  const next = (caption: string) => [
    pageOf([["table", [100, 100, 900, 900], table("<fcel>k<fcel>v<nl><fcel>a<fcel>1<nl>")]]),
    pageOf(
      [
        ["table_caption", [100, 40, 900, 60], caption],
        ["table", [100, 60, 900, 200], table("<fcel>k<fcel>v<nl><fcel>b<fcel>2<nl>")],
      ],
      1,
    ),
  ];

  test.each(["Table 1 (continued)", "(cont.)", "Table 2, continued", "Continued", "续表", "表1（续上表）"])("%s goes on", (caption) => {
    expect(assemble(next(caption))).toHaveLength(1);
  });

  test.each(["Continued fractions", "Table 2. How it continued there"])("%s is a caption of its own", (caption) => {
    expect(assemble(next(caption))).toHaveLength(2);
  });

  test("a header cell that reaches below the repeated rows keeps them", () => {
    const pages = [
      pageOf([["table", [100, 100, 900, 900], table("<fcel>k<fcel>v<nl><ucel><fcel>1<nl>")]]),
      pageOf([["table", [100, 60, 900, 200], table("<fcel>k<fcel>v<nl><ucel><fcel>2<nl>")]], 1),
    ];
    const [block] = assemble(pages);
    expect(writeMarkdown([block]).match(/<tr>/g)).toHaveLength(4);
  });

  test("a gap in the page numbers parts them", () => {
    const [first, second] = next("续表");
    expect(assemble([first, { ...second, index: 2 }])).toHaveLength(2);
  });

  test("blank lines in a cell do not end the HTML", () => {
    expect(markdown([["table", [0, 0, 900, 900], table("<fcel>a\n\nb<nl>")]])).toBe("<table><tr><td>a\nb</td></tr></table>");
  });
});

describe("seams", () => {
  const none = compoundsIn([]);

  test.each([
    ["recog-", "nition", "recognition"],
    ["e\u0301-", "tat", "e\u0301-tat"],
    ["re\u0301-", "gion", "re\u0301gion"],
    ["non\u2011", "stop", "non\u2011stop"],
    ["the year 2020-", "2021", "the year 2020- 2021"],
    ["他说：", "hello", "他说：hello"],
    ["模型", "is good", "模型 is good"],
  ])("%s + %s", (before, after, right) => expect(joinTexts(before, after, none)).toBe(right));

  test("compounds are known whatever their case and place in a chain", () => {
    const compounds = compoundsIn(["A State-of-the-Art model"]);
    expect([...compounds]).toEqual(["state-of", "of-the", "the-art"]);
    expect(joinTexts("with the-", "art", compounds)).toBe("with the-art");
  });

  test("a list sign after a hyphen does not join lines", () => {
    expect(mendBrokenWords("see below-\n- item", none)).toBe("see below-\n- item");
  });
});

describe("Markdown", () => {
  test("a picture in a chart region shows its words folded", () => {
    const rows: Row[] = [["chart", [0, 0, 900, 900], "2020: 5", { image: "my chart.png" }]];
    expect(markdown(rows)).toBe("![](<my chart.png>)\n\n<details>\n<summary>chart content</summary>\n\n2020: 5\n\n</details>");
    expect(writeContentList(assemble([pageOf(rows)]))[0].content).toBe("2020: 5");
  });

  test("dollars inside a formula do not end it", () => {
    expect(markdown([["text", [0, 0, 900, 900], "\\(\\text{if $x$}\\) and \\(\\$5\\)"]])).toBe("$\\text{if \\(x\\)}$ and $\\$5$");
  });

  test("a title that ends in hashes keeps them; breaks at hyphens are mended", () => {
    expect(markdown([["title", [0, 0, 900, 90], "Notes on C #"]])).toBe("# Notes on C \\#");
    expect(markdown([["title", [0, 0, 900, 90], "On recog-\nnition of\npages"]])).toBe("# On recognition of pages");
  });

  test("printed lines run on when asked", () => {
    const text = "The river rises in the hills and flows\nslowly to the sea.";
    expect(markdown([["text", [0, 0, 900, 900], text]], { unwrap: true })).toBe(text.replace("\n", " "));
    expect(markdown([["text", [0, 0, 900, 900], text]])).toBe(text);
  });
});
