import { expect, test } from "vitest";
import { openPdf } from "./pdf.ts";
import { pdfEngine } from "./pdf-engine.ts";

const PAGE = new TextEncoder().encode(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 20 10]>>endobj\ntrailer<</Root 1 0 R>>",
);

test("a trap spoils the engine, not the documents: they go on in a fresh one", async () => {
  const document = await openPdf(PAGE);
  const before = await pdfEngine();
  const trap = () =>
    before.guard("page 7", () => {
      throw new WebAssembly.RuntimeError("unreachable");
    });
  expect(trap).toThrow(expect.objectContaining({ code: "file-damaged", message: expect.stringContaining("PDFium broke off at page 7") }));
  expect(before.healthy).toBe(false);
  const [image, size] = await Promise.all([document.renderPage(0, { dpi: 72 }), document.pageSize(0)]);
  expect([image.width, image.height, size.width]).toEqual([20, 10, 20]);
  expect(await pdfEngine()).not.toBe(before);
  document.close();
});

test("wrong arguments and told failures do not spoil it", async () => {
  const engine = await pdfEngine();
  const wrong = () =>
    engine.guard("anything", () => {
      throw new RangeError("`dpi` expected a positive number");
    });
  expect(wrong).toThrow(RangeError);
  expect(engine.healthy).toBe(true);
});
