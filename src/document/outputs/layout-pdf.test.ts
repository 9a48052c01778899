import { expect, test } from "vitest";
import { openPdf } from "../../image/pdf.ts";
import { type RgbImage, rgbImage } from "../../image/rgb-image.ts";
import { LayoutPdf } from "./layout-pdf.ts";

async function written(pages: readonly RgbImage[], name = "text") {
  const parts: Uint8Array[] = [];
  const pdf = new LayoutPdf(async (part) => void parts.push(part.slice()));
  for (const page of pages) await pdf.add(page, [{ class: name, box: [100, 200, 600, 700], angle: 90 }]);
  await pdf.finish();
  return Buffer.concat(parts);
}

test("pages, boxes and labels are where they belong", async () => {
  const coloured = rgbImage(400, 200);
  coloured.data.fill(200, 0, 300);
  await using pdf = await openPdf(await written([coloured, rgbImage(100, 300)]));
  expect(pdf.pageCount).toBe(2);
  expect(await pdf.pageSize(1)).toEqual({ width: 36, height: 108 });
  const shown = await pdf.renderPage(0, { dpi: 200 });
  expect([shown.width, shown.height]).toEqual([400, 200]);
  const at = (x: number, y: number) => [...shown.data.subarray((y * 400 + x) * 3, (y * 400 + x) * 3 + 3)];
  expect(at(50, 0)).toEqual([200, 200, 200]);
  expect(at(300, 100)).toEqual([255, 255, 255]);
  expect(at(200, 120)[1]).toBeLessThan(240); // tinted
  expect(at(40, 100)[1]).toBeLessThan(120); // its left edge
  expect((await pdf.pageText(0)).trim()).toBe("1 text 90");
});

test("a class may be called anything", async () => {
  await using pdf = await openPdf(await written([rgbImage(600, 600)], "a(b\\ü"));
  expect((await pdf.pageText(0)).trim()).toBe("1 a(b\\? 90");
});

test("a document without pages is refused", async () => {
  await expect(written([])).rejects.toThrow(RangeError);
});
