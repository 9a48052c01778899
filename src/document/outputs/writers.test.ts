import { readFileSync } from "node:fs";
import { parse } from "parse5";
import { describe, expect, test } from "vitest";
import { writeMarkdown } from "../assembly/markdown.ts";
import { assemble } from "../assembly.ts";
import type { ParsedDocument, ReadPage } from "../types.ts";
import { documentHtml } from "./html.ts";
import { documentToMiddleJson } from "./middle-json.ts";

const sample = readFileSync(new URL("../../../test/golden/documents/sample-document.json", import.meta.url), "utf8");
const sampleDocument = (): ParsedDocument => JSON.parse(sample);

describe("HTML", () => {
  const html = documentHtml(sampleDocument().pages, { title: "R & S" });

  test("is well-formed, holds no script and needs nothing from elsewhere", () => {
    const errors: string[] = [];
    parse(html, { onParseError: (error) => errors.push(error.code) });
    expect(errors).toEqual([]);
    expect(html).not.toContain("<script");
    expect(html).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//);
    expect(html).toContain("default-src 'none'");
    expect(html).toContain("<title>R &amp; S</title>");
  });

  test("shows titles, formulas as MathML, tables, lists, figures and escaped text", () => {
    expect(html).toContain("<h1>On &lt;Rivers&gt; &amp; Seas</h1>");
    expect(html).toContain("<math ");
    expect(html).toContain("<td>a&amp;b</td>");
    expect(html).toContain("<ul><li>• one</li><li>• two</li></ul>");
    expect(html).toContain('<figure><img alt="" src="images/i.png"><div class="caption">Fig. 1: A river.</div></figure>');
    expect(html).toContain("<pre><code>x = 1 &lt; 2</code></pre>");
    expect(html).toContain('<code class="unrendered">\\frobnicate{&lt;a&gt;}</code>');
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).not.toContain('class="paratext"');
    expect(documentHtml(sampleDocument().pages, { keepParatext: true })).toContain('<p class="paratext">1</p>');
  });

  test("takes pictures as data and refuses other addresses", () => {
    const data = "data:image/png;base64,AAAA";
    expect(documentHtml(sampleDocument().pages, { images: () => data })).toContain(`src="${data}"`);
    expect(documentHtml(sampleDocument().pages, { images: () => "javascript:alert(1)" })).toContain('src="images/i.png"');
    const evil = (image: string): ReadPage => ({
      index: 0,
      width: 9,
      height: 9,
      regions: [{ class: "image", box: [0, 0, 9, 9], angle: 0, image, content: { kind: "none" } }],
    });
    for (const path of ["javascript:alert(1)", "//x.org/a.png", " https://x.org/a.png", "\\\\host\\a"])
      expect(documentHtml([evil(path)])).not.toContain("<img");
    expect(documentHtml([evil('a"onerror="x')])).toContain('src="a&quot;onerror=&quot;x"');
  });

  test("KaTeX commands that load or link are not followed", () => {
    const page: ReadPage = {
      index: 0,
      width: 9,
      height: 9,
      regions: [
        {
          class: "equation",
          box: [0, 0, 9, 9],
          angle: 0,
          content: { kind: "formula", latex: "\\href{javascript:alert(1)}{x}\\includegraphics{http://x.org/a.png}" },
        },
      ],
    };
    expect(documentHtml([page])).not.toMatch(/<(?:a|img)\b/);
  });
});

describe("doubtful passages", () => {
  test("are marked by token confidence, in Markdown and HTML", () => {
    const blocks = assemble(sampleDocument().pages, { markBelow: 0.5 });
    expect(writeMarkdown(blocks)).toContain("Let $v<1$ be <mark>the speed</mark>\nof the river.");
    expect(writeMarkdown(blocks, { doubt: ["==", "=="] })).toContain("==the speed==");
    expect(documentHtml(sampleDocument().pages, { markBelow: 0.5 })).toContain("<mark>the speed</mark><br>of");
  });

  test("widen to whole formulas and part at line ends", () => {
    const tokens = ["see \\(a", "+b\\) and\nmore", " text"].map((text, i) => ({ text, confidence: i === 1 ? 0.1 : 0.9, step: 0 }));
    const region = {
      class: "text",
      box: [0, 0, 900, 90] as const,
      angle: 0 as const,
      content: { kind: "text" as const, text: "see \\(a+b\\) and\nmore text" },
    };
    const page = { index: 0, width: 9, height: 9, regions: [{ ...region, tokens }] };
    expect(writeMarkdown(assemble([page], { markBelow: 0.5 }))).toBe("see <mark>$a+b$ and</mark>\n<mark>more</mark> text");
  });
});

describe("middle.json", () => {
  const middle = documentToMiddleJson(sampleDocument().pages, "0.1.0");
  const [first, second] = middle.pdf_info;

  test("has MinerU's frame, sizes in points", () => {
    expect(middle).toMatchObject({ _backend: "vlm", _version_name: "0.1.0" });
    expect(first.page_size).toEqual([500, 1000]);
    expect(second.page_size).toEqual([360, 720]);
    expect(first.para_blocks.map((block) => block.type)).toEqual(["title", "text", "interline_equation", "table", "list", "image"]);
    expect(first.discarded_blocks.map((block) => block.type)).toEqual(["page_number"]);
    expect(first.para_blocks[0].bbox).toEqual([50, 50, 450, 90]);
  });

  test("text is parted into spans, formulas stand apart", () => {
    expect(first.para_blocks[1].lines?.[0].spans.map((span) => [span.type, span.content])).toEqual([
      ["text", "Let "],
      ["inline_equation", "v<1"],
      ["text", " be the speed\nof the river."],
    ]);
    expect(first.para_blocks[2].lines?.[0].spans[0]).toMatchObject({ type: "interline_equation", content: "v = \\frac{Q}{A} \\tag{1}" });
  });

  test("visuals and lists hold blocks, with the index and angle of their regions", () => {
    const [, , , table, list, image] = first.para_blocks;
    expect(table.blocks?.map((block) => [block.type, block.index])).toEqual([
      ["table_caption", 4],
      ["table_body", 5],
    ]);
    expect(table.blocks?.[1].lines?.[0].spans[0].html).toContain("<td><eq>v</eq></td>");
    expect(list.blocks?.map((block) => block.index)).toEqual([7, 8]);
    expect(image.blocks?.[1]).toMatchObject({ type: "image_caption", angle: 90 });
    expect(second.para_blocks[0]).toMatchObject({ type: "code", sub_type: "code" });
  });
});
