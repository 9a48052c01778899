import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { MineruError } from "../../error.ts";
import { assemble } from "../assembly.ts";
import type { ParsedDocument } from "../types.ts";
import { documentFromJson, documentToJson, pageToJson } from "./document-json.ts";
import { readNdjson, writeNdjson } from "./ndjson.ts";

const schema = JSON.parse(readFileSync(new URL("../../../schema/document.schema.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: true, allErrors: true });
const validate = ajv.compile(schema);

const sample = readFileSync(new URL("../../../test/golden/documents/sample-document.json", import.meta.url), "utf8");
const sampleDocument = (): ParsedDocument => JSON.parse(sample);

describe("our JSON", () => {
  test("fits its schema", () => {
    const valid = validate(documentToJson(sampleDocument()));
    expect(validate.errors).toBeNull();
    expect(valid).toBe(true);
  });

  test.each([
    ["a box outside the page", (region: Record<string, unknown>) => Object.assign(region, { box: [0, 0, 1001, 5] })],
    ["no provenance", (region: Record<string, unknown>) => Object.assign(region, { provenance: undefined })],
    ["an unknown field", (region: Record<string, unknown>) => Object.assign(region, { colour: "red" })],
    ["content of no kind", (region: Record<string, unknown>) => Object.assign(region, { content: { text: "a" } })],
    ["a confidence above one", (region: Record<string, unknown>) => Object.assign(region, { confidence: 1.2 })],
  ])("the schema refuses %s", (_what, spoil) => {
    const data = JSON.parse(JSON.stringify(documentToJson(sampleDocument())));
    spoil(data.pages[0].regions[0]);
    expect(validate(JSON.parse(JSON.stringify(data)))).toBe(false);
  });

  test("every region names its page and place; tables come as HTML too", () => {
    const page = pageToJson(sampleDocument().pages[0]);
    expect(page.regions.map((region) => [region.page, region.order])).toEqual(page.regions.map((_, i) => [0, i]));
    expect(page.regions[5].content).toMatchObject({
      html: '<table><tr><td>\\(v\\)</td><td>a&amp;b</td></tr><tr><td colspan="2">1</td></tr></table>',
    });
  });

  test("is read back whole and assembles to the same", () => {
    const document = sampleDocument();
    const again = documentFromJson(JSON.parse(JSON.stringify(documentToJson(document))));
    expect(again).toEqual(document);
    expect(assemble(again.pages)).toEqual(assemble(document.pages));
  });

  test.each([[null], [{}], [{ format: "mineru-diffusion/document", version: 2 }], [{ format: "mineru-diffusion/document", version: 1 }]])(
    "anything else is refused: %j",
    (data) => {
      expect(() => documentFromJson(data)).toThrow(MineruError);
      expect(() => documentFromJson(data)).toThrow(/not a parsed document/);
    },
  );
});

describe("page by page", () => {
  async function lines(): Promise<string[]> {
    const { pages, source } = sampleDocument();
    const written: string[] = [];
    for await (const line of writeNdjson(pages, source)) written.push(line);
    return written;
  }

  test("one line a page between head and end, read back whole", async () => {
    const written = await lines();
    expect(written).toHaveLength(4);
    expect(written.every((line) => line.endsWith("\n") && line.indexOf("\n") === line.length - 1)).toBe(true);
    expect(readNdjson(written)).toEqual({ ...sampleDocument(), complete: true });
  });

  test("a file cut short is read as far as it goes and says so", async () => {
    const written = await lines();
    const read = readNdjson(written.slice(0, 2));
    expect(read.complete).toBe(false);
    expect(read.pages).toHaveLength(1);
    expect(() => readNdjson([...written.slice(0, 2), written[2].slice(0, 40)])).toThrow("line 3 is not JSON");
    expect(() => readNdjson([])).toThrow("expected a head line");
    expect(() => readNdjson([written[0], '{"kind":"other"}'])).toThrow('got kind "other"');
  });
});
