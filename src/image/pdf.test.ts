import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { openPdf, type PdfDocument, type RenderOptions, rasterSize } from "./pdf.ts";
import type { RgbImage } from "./rgb-image.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const locked = new Uint8Array(await readFile(new URL("files/password.pdf", golden)));

/** Writes a PDF of these objects (numbered from 1, the first is the catalogue), with a right cross-reference table. */
function pdf(...objects: string[]): Uint8Array {
  let file = "%PDF-1.7\n";
  const offsets = objects.map((body, i) => {
    const offset = file.length;
    file += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = file.length;
  const lines = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${lines}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`;
  return new TextEncoder().encode(file);
}

function stream(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/** One page; `page` is put into its dictionary, `more` are objects from number 6 on. */
function onePage(content: string, page = "/MediaBox [0 0 200 100]", more: string[] = [], catalogue = ""): Uint8Array {
  return pdf(
    `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R ${page} /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>`,
    stream(content),
    FONT,
    ...more,
  );
}

/** Whether any pixel of a box given in points is darker than half. */
function darkIn(image: RgbImage, dpi: number, [left, top, right, bottom]: readonly number[]): boolean {
  const scale = dpi / 72;
  for (let y = Math.floor(top * scale); y < Math.ceil(bottom * scale); y++)
    for (let x = Math.floor(left * scale); x < Math.ceil(right * scale); x++)
      if (image.data[(y * image.width + x) * 3 + 1] < 128) return true;
  return false;
}

/** Tightest box of everything dark, in points. */
function inkBox(image: RgbImage, dpi: number): number[] {
  let [left, top, right, bottom] = [image.width, image.height, 0, 0];
  for (let y = 0; y < image.height; y++)
    for (let x = 0; x < image.width; x++) {
      if (image.data[(y * image.width + x) * 3 + 1] >= 128) continue;
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), Math.max(bottom, y + 1)];
    }
  return [left, top, right, bottom].map((pixels) => (pixels * 72) / dpi);
}

const render = async (bytes: Uint8Array, options?: RenderOptions): Promise<RgbImage> => {
  const document = await openPdf(bytes);
  try {
    return await document.renderPage(0, options);
  } finally {
    document.close();
  }
};

describe("rendering", () => {
  test("colours, background and size", async () => {
    const image = await render(onePage("1 0 0 rg 0 0 100 50 re f"), { dpi: 72 });
    expect([image.width, image.height]).toEqual([200, 100]);
    const pixel = (x: number, y: number) => Array.from(image.data.subarray((y * 200 + x) * 3, (y * 200 + x) * 3 + 3));
    expect(pixel(10, 90)).toEqual([255, 0, 0]);
    expect(pixel(10, 10)).toEqual([255, 255, 255]);
    expect(pixel(190, 90)).toEqual([255, 255, 255]);
  });

  test("200 dpi unless told otherwise", async () => {
    expect(await render(onePage(""))).toMatchObject({ width: 556, height: 278 });
    expect(await render(onePage(""), { dpi: 100 })).toMatchObject({ width: 278, height: 139 });
  });

  test.each([
    ["an A0 sheet", [2384, 3370], {}, [2476, 3500]],
    ["a box of 20,000 points", [20000, 20000], {}, [3500, 3500]],
    ["a narrow strip", [14400, 1], {}, [3500, 1]],
    ["a bound on pixels", [612, 792], { maxPixels: 1_000_000 }, [879, 1138]],
    ["a bound on the longer edge", [612, 792], { maxEdge: 1100 }, [850, 1100]],
    ["the smallest bound wins", [612, 792], { dpi: 50, maxEdge: 1100, maxPixels: 1e9 }, [425, 550]],
  ] as const)("%s is bounded before it is rasterised", (_name, [width, height], options, [pixelsWide, pixelsHigh]) => {
    expect(rasterSize(width, height, options)).toEqual({ width: pixelsWide, height: pixelsHigh });
  });

  test("a huge page comes out small and whole", async () => {
    const image = await render(onePage("0 g 0 0 7000 7000 re f", "/MediaBox [0 0 14000 14000]"), { maxEdge: 140 });
    expect([image.width, image.height]).toEqual([140, 140]);
    expect(inkBox(image, 72)).toEqual([0, 70, 70, 140]);
  });

  test("bounds must be positive", async () => {
    await expect(render(onePage(""), { dpi: 0 })).rejects.toThrow("`dpi` expected a positive number, got 0");
  });

  test("page rotation and crop box are applied", async () => {
    const corner = "0 g 20 20 10 10 re f"; // bottom left of the cropped area
    const box = async (page: string) => {
      const image = await render(onePage(corner, page), { dpi: 72 });
      return [image.width, image.height, ...inkBox(image, 72)];
    };
    expect(await box("/MediaBox [0 0 200 100] /CropBox [20 20 120 70]")).toEqual([100, 50, 0, 40, 10, 50]);
    expect(await box("/MediaBox [0 0 200 100] /CropBox [20 20 120 70] /Rotate 90")).toEqual([50, 100, 0, 0, 10, 10]);
    expect(await box("/MediaBox [0 0 200 100] /CropBox [20 20 120 70] /Rotate 180")).toEqual([100, 50, 90, 0, 100, 10]);
    expect(await box("/MediaBox [0 0 200 100] /CropBox [20 20 120 70] /Rotate 270")).toEqual([50, 100, 40, 90, 50, 100]);
  });

  test("annotations and filled form fields are drawn", async () => {
    const appearance = (more: string) =>
      `<< /Type /XObject /Subtype /Form /BBox [0 0 40 20] ${more} /Length 20 >>\nstream\n0 g 0 0 40 20 re f  \nendstream`;
    const stamp = onePage("", "/MediaBox [0 0 200 100] /Annots [6 0 R]", [
      "<< /Type /Annot /Subtype /Stamp /Rect [10 10 50 30] /F 4 /AP << /N 7 0 R >> >>",
      appearance(""),
    ]);
    expect(inkBox(await render(stamp, { dpi: 72 }), 72)).toEqual([10, 70, 50, 90]);
    const field = onePage(
      "",
      "/MediaBox [0 0 200 100] /Annots [6 0 R]",
      ["<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (x) /Rect [110 10 150 30] /F 4 /AP << /N 7 0 R >> >>", appearance("")],
      "/AcroForm << /Fields [6 0 R] >>",
    );
    expect(inkBox(await render(field, { dpi: 72 }), 72)).toEqual([110, 70, 150, 90]);
  });
});

describe("text layer", () => {
  const line = "BT /F1 20 Tf 1 0 0 1 30 60 Tm (Hi gx) Tj ET";

  async function charactersOf(bytes: Uint8Array) {
    const document = await openPdf(bytes);
    const characters = await document.pageCharacters(0);
    const image = await document.renderPage(0, { dpi: 288, maxEdge: 100_000 });
    document.close();
    return { characters, image };
  }

  test.each([
    ["upright", "/MediaBox [0 0 200 100]", 0],
    ["in a crop box", "/MediaBox [0 0 200 100] /CropBox [10 20 190 95]", 0],
    ["turned 90", "/MediaBox [0 0 200 100] /CropBox [10 20 190 95] /Rotate 90", 270],
    ["turned 180", "/MediaBox [0 0 200 100] /Rotate 180", 180],
    ["turned 270", "/MediaBox [0 0 200 100] /CropBox [10 20 190 95] /Rotate 270", 90],
  ])("boxes lie on the ink, %s", async (_name, page, angle) => {
    const { characters, image } = await charactersOf(onePage(line, page));
    expect(characters.map(({ text }) => text).join("")).toBe("Hi gx");
    const inked = characters.filter(({ text }) => text !== " ");
    for (const character of inked) {
      expect(darkIn(image, 288, character.box), character.text).toBe(true);
      expect(character.fontSize).toBeCloseTo(20, 4);
      expect(character.angle).toBeCloseTo(angle, 4);
      expect(character.generated).toBe(false);
    }
    const union = [0, 1]
      .map((i) => Math.min(...inked.map(({ box }) => box[i])))
      .concat([2, 3].map((i) => Math.max(...inked.map(({ box }) => box[i]))));
    for (const [i, edge] of inkBox(image, 288).entries()) expect(Math.abs(edge - union[i]), `edge ${i}`).toBeLessThan(0.6);
  });

  test("cells of one line share their height and follow each other", async () => {
    const { characters } = await charactersOf(onePage(line));
    expect(new Set(characters.map(({ cell }) => cell[3].toFixed(3))).size).toBe(1);
    for (let i = 1; i < characters.length; i++) expect(characters[i].cell[0]).toBeCloseTo(characters[i - 1].cell[2], 3);
  });

  test("the size counts the text matrix, the angle the writing direction", async () => {
    const { characters } = await charactersOf(onePage("BT /F1 10 Tf 0 1.5 -1.5 0 60 20 Tm (ab) Tj ET"));
    expect(characters[0].fontSize).toBeCloseTo(15, 4);
    expect(characters[0].angle).toBeCloseTo(90, 4);
  });

  test("lines are broken by line feeds; a page without text has none", async () => {
    const document = await openPdf(onePage("BT /F1 12 Tf 14 TL 10 60 Td (one) Tj T* (two) Tj ET"));
    expect(await document.pageText(0)).toBe("one\ntwo");
    document.close();
    const blank = await openPdf(onePage("0 0 10 10 re f"));
    expect(await blank.pageCharacters(0)).toEqual([]);
    blank.close();
  });
});

describe("opening", () => {
  test("a password opens an encrypted file", async () => {
    const document = await openPdf(locked, { password: "password" });
    expect(document.pageCount).toBe(1);
    expect(await document.pageText(0)).toBe("File with password");
    expect(await document.pageSize(0)).toMatchObject({ width: expect.closeTo(595.3, 1), height: expect.closeTo(841.9, 1) });
    document.close();
  });

  const pageless = pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>");
  test.each([
    ["no password", locked, {}, "file-encrypted", "needs a password. Give it with `--password`"],
    ["a wrong password", locked, { password: "guess" }, "file-encrypted", "the password given does not open it"],
    ["a file cut off", locked.subarray(0, 3000), {}, "file-damaged", "cross-reference table"],
    ["a header alone", new TextEncoder().encode("%PDF-1.7\n"), {}, "file-damaged", "PDF file is damaged"],
    ["no pages", pageless, {}, "file-damaged", "at least one page"],
    ["an empty file", new Uint8Array(0), {}, "file-damaged", "empty (0 bytes)"],
    ["text", new TextEncoder().encode("hello there"), {}, "file-unsupported", "Supported formats: PDF"],
  ] as const)("%s is told plainly", async (_name, bytes, options, code, message) => {
    const failure = await openPdf(bytes, options).catch((error) => error);
    expect(failure).toMatchObject({ name: "MineruError", code });
    expect(failure.message).toContain(message);
  });

  test("a picture is not opened as a PDF", async () => {
    const png = new Uint8Array(await readFile(new URL("files/dot-1x1.png", golden)));
    await expect(openPdf(png)).rejects.toMatchObject({ code: "file-unsupported" });
  });

  test("a lost cross-reference table is rebuilt", async () => {
    const whole = onePage("0 g 0 0 100 50 re f");
    const document = await openPdf(whole.subarray(0, new TextDecoder("latin1").decode(whole).indexOf("startxref")));
    expect(document.pageCount).toBe(1);
    document.close();
  });

  test("aborting throws the signal's reason", async () => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(openPdf(onePage(""), { signal })).rejects.toBe(reason);
    const document = await openPdf(onePage(""));
    await expect(document.renderPage(0, { signal })).rejects.toBe(reason);
    document.close();
  });

  test("pages beyond the last and closed documents are wrong arguments", async () => {
    const document = await openPdf(onePage(""));
    await expect(document.renderPage(1)).rejects.toThrow("`index` expected a page from 0 to 0, got 1");
    await document[Symbol.asyncDispose]();
    document.close();
    await expect(document.pageSize(0)).rejects.toThrow("expected an open PDF document");
  });

  test("many documents at once share one engine", async () => {
    const documents: PdfDocument[] = [];
    for (let i = 0; i < 20; i++) documents.push(await openPdf(onePage(`0 g ${i} 0 5 5 re f`)));
    const images = await Promise.all(documents.map((document) => document.renderPage(0, { dpi: 72 })));
    for (const [i, image] of images.entries()) expect(inkBox(image, 72)[0]).toBe(i);
    for (const document of documents) document.close();
  });
});
