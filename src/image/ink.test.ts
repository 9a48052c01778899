import { describe, expect, test } from "vitest";
import { estimateLineHeight, inkProfile, nearlyEmpty, splitAtLineGaps } from "./ink.ts";
import { openPdf } from "./pdf.ts";
import { crop, pasteOnWhite, type RgbImage, rgbImage, rotateCounterClockwise } from "./rgb-image.ts";

const DPI = 200;
const WORDS = "The quick brown fox jumps over a lazy dog while every page keeps its own marginal glyphs and hopes".split(" ");

/** Print by PDFium: lines of Helvetica at `size` on `leading` points, with the place of every character in pixels. */
async function print(options: {
  lines: number;
  size: number;
  leading: number;
  width?: number;
  text?: (line: number) => string;
  more?: string;
}) {
  const { lines, size, leading, width = 420, more = "" } = options;
  const text = options.text ?? ((line: number) => Array.from({ length: 9 }, (_, i) => WORDS[(line * 7 + i) % WORDS.length]).join(" "));
  const height = Math.ceil(lines * leading + 20);
  const shown = Array.from({ length: lines }, (_, line) => `(${text(line)}) Tj T*`).join("\n");
  const content = `${more}\nBT /F1 ${size} Tf ${leading} TL 20 ${height - 10 - size} Td\n${shown}\nET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>`,
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  const file = `%PDF-1.4\n${objects.map((body, i) => `${i + 1} 0 obj${body}endobj`).join("\n")}\ntrailer<</Root 1 0 R>>`;
  const document = await openPdf(new TextEncoder().encode(file));
  const image = await document.renderPage(0, { dpi: DPI });
  const scale = DPI / 72;
  const characters = (await document.pageCharacters(0)).map((character) => ({
    ...character,
    box: character.box.map((edge) => edge * scale),
  }));
  document.close();
  return { image, characters };
}

/** Letters a cut at row `y` would go through. */
function lettersCut(characters: { box: number[]; text: string }[], y: number): number {
  return characters.filter(({ box, text }) => text.trim() !== "" && box[1] < y - 1 && box[3] > y + 1).length;
}

const heightOf = (characters: { box: number[]; text: string }[], letters: string): number => {
  const { box } = characters.find(({ text }) => letters.includes(text))!;
  return box[3] - box[1];
};

/** A scan of it: one bit, with this share of the pixels turned over at random. */
function scanned(image: RgbImage, noise: number): RgbImage {
  let seed = 11;
  const data = image.data.slice();
  for (let i = 0; i < data.length; i += 3) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const black = data[i] < 128 !== seed / 2 ** 32 < noise;
    data.fill(black ? 0 : 255, i, i + 3);
  }
  return { ...image, data };
}

const inverted = (image: RgbImage): RgbImage => ({ ...image, data: image.data.map((value) => 255 - value) });
const onTint = (image: RgbImage): RgbImage => ({ ...image, data: image.data.map((value) => 90 + (value >> 1)) });

const page = await print({ lines: 40, size: 10, leading: 12 });

describe("cutting between lines", () => {
  const views: [string, (image: RgbImage) => RgbImage][] = [
    ["clean print", (image) => image],
    ["a one-bit scan", (image) => scanned(image, 0)],
    ["a noisy one-bit scan", (image) => scanned(image, 0.004)],
    ["white on black", inverted],
    ["grey print on grey paper", onTint],
  ];
  for (const [name, view] of views)
    test.each([120, 300, 500])(`${name}, bands of at most %i`, (most) => {
      const bands = splitAtLineGaps(view(page.image), most);
      expect(bands[0].top).toBe(0);
      expect(bands.at(-1)!.bottom).toBe(page.image.height);
      for (const [i, { top, bottom }] of bands.entries()) {
        expect(bottom - top).toBeLessThanOrEqual(most);
        if (i > 0) expect(top).toBe(bands[i - 1].bottom);
        if (i > 0) expect(lettersCut(page.characters, top), `cut at ${top}`).toBe(0);
      }
      expect(bands.length).toBeLessThanOrEqual(Math.ceil(page.image.height / most) + 2);
    });

  test("a picture low enough stays whole", () => {
    expect(splitAtLineGaps(page.image, page.image.height)).toEqual([{ top: 0, bottom: page.image.height }]);
  });

  test("upright rules of a frame do not hide the gaps", async () => {
    const framed = await print({ lines: 30, size: 10, leading: 12, more: "2 w 8 4 404 372 re S" });
    const bands = splitAtLineGaps(framed.image, 400);
    expect(bands.length).toBeGreaterThan(2);
    for (const { top } of bands.slice(1)) expect(lettersCut(framed.characters, top)).toBe(0);
  });

  test("without any gap the cut follows the row with the least ink", () => {
    const image = rgbImage(60, 300, new Uint8Array(60 * 300 * 3));
    for (let y = 0; y < 300; y++)
      for (let x = 0; x < (y === 130 ? 45 : 5 + (y % 3)); x++) image.data.fill(255, (y * 60 + x) * 3, (y * 60 + x) * 3 + 3);
    const bands = splitAtLineGaps(inverted(image), 200);
    expect(bands.map(({ bottom }) => bottom)).toContain(300);
    for (const { top, bottom } of bands) expect(bottom - top).toBeLessThanOrEqual(200);
  });

  test("the gap of a fraction is not taken where a line gap is in reach", async () => {
    const odd = await print({ lines: 20, size: 10, leading: 16, text: () => "=== === === === ===" });
    for (const { top } of splitAtLineGaps(odd.image, 180).slice(1)) {
      const inside = odd.characters.filter(({ box, text }) => text === "=" && box[1] < top && box[3] > top);
      expect(inside).toEqual([]);
    }
  });

  test("the bound must be a positive integer", () => {
    expect(() => splitAtLineGaps(page.image, 0)).toThrow("`maxHeightPx` expected a positive integer, got 0");
  });
});

describe("type size", () => {
  test.each([
    [8, 9.6],
    [10, 12],
    [10, 20],
    [18, 22],
  ])("%i points on %i", async (size, leading) => {
    const { image, characters } = await print({
      lines: 14,
      size,
      leading,
      text: (line) => WORDS.slice(line % 5, (line % 5) + 6).join(" "),
    });
    const x = heightOf(characters, "xvz");
    const cap = heightOf(characters, "Tkldb");
    for (const view of [image, scanned(image, 0.002), inverted(image)]) {
      const found = estimateLineHeight(view)!;
      expect(Math.abs(found.pitch - (leading * DPI) / 72)).toBeLessThan(1.5);
      expect(Math.abs(found.xHeight - x)).toBeLessThan(Math.max(1.6, x * 0.12));
      expect(Math.abs(found.capHeight - cap)).toBeLessThan(Math.max(2, cap * 0.12));
      expect(found.lines).toBeGreaterThan(9);
    }
  });

  test("a single line", async () => {
    const { image, characters } = await print({ lines: 1, size: 11, leading: 13, text: () => "over every marginal page" });
    const found = estimateLineHeight(image)!;
    expect(found.lines).toBe(1);
    expect(Math.abs(found.xHeight - heightOf(characters, "vxm"))).toBeLessThan(2);
    expect(found.pitch).toBeGreaterThan(30);
    expect(found.pitch).toBeLessThan(48);
  });

  test("what is no text has no type size", () => {
    const white = rgbImage(200, 100);
    expect(estimateLineHeight(white)).toBeNull();
    const bar = pasteOnWhite(rgbImage(180, 20, new Uint8Array(180 * 20 * 3)), 200, 100, 10, 40);
    expect(estimateLineHeight(bar)).toBeNull();
    const rule = pasteOnWhite(rgbImage(180, 3, new Uint8Array(180 * 3 * 3)), 200, 100, 10, 40);
    expect(estimateLineHeight(rule)).toBeNull();
  });

  test("text on its side does not pass for lines of the right size", () => {
    const found = estimateLineHeight(rotateCounterClockwise(page.image, 90));
    if (found !== null) expect(Math.abs(found.pitch - (12 * DPI) / 72)).toBeGreaterThan(5);
  });
});

describe("blank or not", () => {
  test("white, tinted and speckled paper is blank", () => {
    const white = rgbImage(300, 200);
    expect(nearlyEmpty(white)).toBe(true);
    expect(nearlyEmpty(onTint(white))).toBe(true);
    expect(nearlyEmpty(scanned(white, 0.003))).toBe(true);
    const grain = { ...white, data: white.data.map((_, i) => 225 + ((i * 7919) % 23)) };
    expect(nearlyEmpty(grain)).toBe(true);
  });

  test("a full stop, a page number and a hairline are not", async () => {
    const dot = pasteOnWhite(rgbImage(4, 4, new Uint8Array(48)), 300, 200, 150, 90);
    expect(nearlyEmpty(dot)).toBe(false);
    const number = await print({ lines: 1, size: 9, leading: 12, text: () => "7" });
    expect(nearlyEmpty(number.image)).toBe(false);
    const hairline = pasteOnWhite(rgbImage(100, 1, new Uint8Array(300)), 300, 200, 50, 90);
    expect(nearlyEmpty(hairline)).toBe(false);
  });

  test("the profile counts ink per row and passes over specks", () => {
    const block = pasteOnWhite(rgbImage(30, 10, new Uint8Array(900)), 100, 40, 20, 5);
    block.data.fill(0, (30 * 100 + 50) * 3, (30 * 100 + 51) * 3);
    const profile = inkProfile(block);
    expect(Array.from(profile.subarray(4, 16))).toEqual([0, ...Array(10).fill(30), 0]);
    expect(profile[30]).toBe(0);
  });

  test("a crop of the margin of a page is blank", () => {
    expect(nearlyEmpty(crop(page.image, [0, 0, 50, page.image.height]))).toBe(true);
  });
});
