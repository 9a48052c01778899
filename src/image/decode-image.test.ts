import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { decodeImage, decodeImagePages, openImage } from "./decode-image.ts";
import { deflate } from "./inflate.ts";
import { crc32 } from "./png-crc.ts";
import type { RgbImage } from "./rgb-image.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const load = async (name: string) => new Uint8Array(await readFile(new URL(name, golden)));
const { files } = JSON.parse(await readFile(new URL("decode/decode.json", golden), "utf8"));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("bytes like the reference's image library", () => {
  for (const { file, size, sha256: wanted } of files)
    test(file, async () => {
      const [name, page = "0"] = file.split("#");
      const picture = await openImage(await load(`decode/${name}`)).page(Number(page));
      expect([picture.width, picture.height]).toEqual(size);
      expect(sha256(picture.data)).toBe(wanted);
    });

  test("all pages of a TIFF come one by one", async () => {
    const sizes: number[][] = [];
    for await (const { width, height } of decodeImagePages(await load("decode/three-pages.tif"))) sizes.push([width, height]);
    expect(sizes).toEqual([
      [47, 53],
      [47, 53],
      [20, 10],
    ]);
  });
});

const text = (...parts: (string | number[] | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part)))));

async function png(
  width: number,
  height: number,
  depth: number,
  colourType: number,
  rows: number[],
  extra: { type: string; data: number[] }[] = [],
  interlace = 0,
) {
  const chunk = (type: string, data: Uint8Array) => {
    const body = text(type, data);
    return text(uint32(data.length), body, uint32(crc32(body)));
  };
  const header = text(uint32(width), uint32(height), [depth, colourType, 0, 0, interlace]);
  const middle = extra.map(({ type, data }) => chunk(type, Uint8Array.from(data)));
  const pixels = chunk("IDAT", await deflate(Uint8Array.from(rows)));
  return text("\x89PNG\r\n\x1a\n", chunk("IHDR", header), ...middle, pixels, chunk("IEND", new Uint8Array(0)));
}

const uint32 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** Little-endian TIFF of one uncompressed strip; tags as `[tag, type 3 or 4, value]`. */
function tiff(tags: [tag: number, type: 3 | 4, value: number][], strip: number[]): Uint8Array {
  const all = [
    ...new Map([[273, 4, 8] as const, [279, 4, strip.length] as const, ...tags].map((tag) => [tag[0], tag] as const)).values(),
  ].sort((a, b) => a[0] - b[0]);
  const file = new Uint8Array(8 + strip.length + (strip.length & 1) + 2 + all.length * 12 + 4);
  const view = new DataView(file.buffer);
  const directory = 8 + strip.length + (strip.length & 1);
  file.set([0x49, 0x49, 0x2a, 0]);
  view.setUint32(4, directory, true);
  file.set(strip, 8);
  view.setUint16(directory, all.length, true);
  all.forEach(([tag, type, value], i) => {
    const at = directory + 2 + i * 12;
    view.setUint16(at, tag, true);
    view.setUint16(at + 2, type, true);
    view.setUint32(at + 4, 1, true);
    view.setUint32(at + 8, value, true);
  });
  return file;
}

const rgbTags = (width: number, height: number): [number, 3 | 4, number][] => [
  [256, 3, width],
  [257, 3, height],
  [258, 3, 8],
  [259, 3, 1],
  [262, 3, 2],
  [277, 3, 3],
];

describe("pixels by hand", () => {
  test.each([
    ["16-bit grey scales instead of clipping", () => png(3, 1, 16, 0, [0, 0, 0, 1, 0, 255, 255]), [0, 1, 255]],
    ["16-bit colour scales", () => png(1, 1, 16, 2, [0, 0x80, 0x00, 0xff, 0xff, 0x00, 0x80]), [128, 255, 0]],
    ["2-bit grey", () => png(4, 1, 2, 0, [0, 0b00011011]), [0, 85, 170, 255]],
    ["1-bit grey over a byte border", () => png(9, 1, 1, 0, [0, 0b10101010, 0b10000000]), [255, 0, 255, 0, 255, 0, 255, 0, 255]],
    ["4-bit palette", () => png(2, 1, 4, 3, [0, 0x10], [{ type: "PLTE", data: [1, 2, 3, 4, 5, 6] }]), [4, 5, 6, 1, 2, 3]],
    [
      "palette with transparency lies on white",
      () =>
        png(
          2,
          1,
          8,
          3,
          [0, 0, 1],
          [
            { type: "PLTE", data: [0, 0, 0, 100, 100, 100] },
            { type: "tRNS", data: [0, 128] },
          ],
        ),
      [255, 255, 255, 177, 177, 177],
    ],
    ["grey colour key is white", () => png(2, 1, 8, 0, [0, 7, 8], [{ type: "tRNS", data: [0, 7] }]), [255, 8]],
    [
      "colour key is white",
      () => png(2, 1, 8, 2, [0, 1, 2, 3, 1, 2, 4], [{ type: "tRNS", data: [0, 1, 0, 2, 0, 3] }]),
      [255, 255, 255, 1, 2, 4],
    ],
    ["16-bit colour key compares all bits", () => png(2, 1, 16, 0, [0, 1, 1, 1, 2], [{ type: "tRNS", data: [1, 2] }]), [1, 255]],
    ["grey with alpha on white", () => png(2, 1, 8, 4, [0, 0, 0, 0, 128]), [255, 127]],
    ["one pixel", () => png(1, 1, 8, 2, [0, 9, 8, 7]), [9, 8, 7]],
    ["filters Sub, Up, Average, Paeth", () => png(2, 4, 8, 0, [1, 10, 5, 2, 1, 1, 3, 10, 10, 4, 1, 1]), [10, 15, 11, 16, 15, 25, 16, 26]],
    [
      "Adam7 interlace",
      // 3x3, values 10..18: passes 1 (0,0), 4 (2,0), 5 (row 2: 0 and 2), 6 (column 1 of rows 0, 2), 7 (row 1)
      () => png(3, 3, 8, 0, [0, 10, 0, 12, 0, 16, 18, 0, 11, 0, 17, 0, 13, 14, 15], [], 1),
      [10, 11, 12, 13, 14, 15, 16, 17, 18],
    ],
    [
      "TIFF, alpha not premultiplied",
      () => tiff([...rgbTags(1, 1).slice(0, 5), [277, 3, 4], [338, 3, 2]], [0, 100, 200, 128]),
      [127, 177, 227],
    ],
    ["TIFF, alpha premultiplied", () => tiff([...rgbTags(1, 1).slice(0, 5), [277, 3, 4], [338, 3, 1]], [0, 50, 100, 128]), [127, 177, 227]],
    [
      "TIFF, white is zero",
      () =>
        tiff(
          [
            [256, 3, 2],
            [257, 3, 1],
            [258, 3, 8],
            [262, 3, 0],
          ],
          [0, 255],
        ),
      [255, 0],
    ],
    [
      "TIFF, planes apart",
      () =>
        tiff(
          [
            [256, 3, 1],
            [257, 3, 1],
            [258, 3, 8],
            [262, 3, 1],
            [284, 3, 2],
          ],
          [33],
        ),
      [33],
    ],
    [
      "TIFF, tiles",
      () =>
        tiff(
          [
            [256, 3, 3],
            [257, 3, 1],
            [258, 3, 8],
            [262, 3, 1],
            [322, 3, 16],
            [323, 3, 16],
            [324, 4, 8],
            [325, 4, 256],
          ],
          [1, 2, 3, ...Array(253).fill(9)],
        ),
      [1, 2, 3],
    ],
  ] as [string, () => Uint8Array | Promise<Uint8Array>, number[]][])("%s", async (_name, build, wanted) => {
    const { data } = await decodeImage(await build());
    const grey = wanted.length * 3 === data.length;
    expect(Array.from(data)).toEqual(grey ? wanted.flatMap((value) => [value, value, value]) : wanted);
  });
});

/** Where the pixel seen at (x, y) of the upright picture lies in the stored `width` x `height` picture, by the EXIF definition. */
const STORED_PLACE: Record<number, (x: number, y: number, width: number, height: number) => [number, number]> = {
  1: (x, y) => [x, y],
  2: (x, y, w) => [w - 1 - x, y],
  3: (x, y, w, h) => [w - 1 - x, h - 1 - y],
  4: (x, y, _w, h) => [x, h - 1 - y],
  5: (x, y) => [y, x],
  6: (x, y, _w, h) => [y, h - 1 - x],
  7: (x, y, w, h) => [w - 1 - y, h - 1 - x],
  8: (x, y, w) => [w - 1 - y, x],
};

function upright(stored: RgbImage, orientation: number): RgbImage {
  const turned = orientation > 4;
  const [width, height] = turned ? [stored.height, stored.width] : [stored.width, stored.height];
  const data = new Uint8Array(stored.data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [sx, sy] = STORED_PLACE[orientation](x, y, stored.width, stored.height);
      data.set(stored.data.subarray((sy * stored.width + sx) * 3, (sy * stored.width + sx) * 3 + 3), (y * width + x) * 3);
    }
  return { width, height, data };
}

function exif(orientation: number, littleEndian: boolean): Uint8Array {
  const word = (v: number) => (littleEndian ? [v & 255, v >> 8] : [v >> 8, v & 255]);
  const long = (v: number) => (littleEndian ? [v & 255, v >> 8, 0, 0] : [0, 0, v >> 8, v & 255]);
  return text(littleEndian ? "II" : "MM", word(42), long(8), word(1), word(0x112), word(3), long(1), word(orientation), [0, 0], long(0));
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("EXIF orientation %i is applied once", (orientation) => {
  test("JPEG", async () => {
    const plain = await load("decode/baseline-444.jpg");
    const block = text("Exif\0\0", exif(orientation, orientation % 2 === 0));
    const turned = text(plain.subarray(0, 2), [0xff, 0xe1, 0, block.length + 2], block, plain.subarray(2));
    expect(await decodeImage(turned)).toEqual(upright(await decodeImage(plain), orientation));
  });

  test("PNG", async () => {
    const rows = [0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12];
    const plain = await decodeImage(await png(2, 2, 8, 2, rows));
    const turned = await png(2, 2, 8, 2, rows, [{ type: "eXIf", data: Array.from(exif(orientation, true)) }]);
    expect(await decodeImage(turned)).toEqual(upright(plain, orientation));
  });

  test("TIFF", async () => {
    const strip = [1, 2, 3, 4, 5, 6];
    const plain = await decodeImage(tiff(rgbTags(2, 1), strip));
    expect(await decodeImage(tiff([...rgbTags(2, 1), [274, 3, orientation]], strip))).toEqual(upright(plain, orientation));
  });

  test("WebP", async () => {
    const plain = await load("decode/lossless.webp");
    const block = exif(orientation, false);
    const little = (v: number) => [v & 255, (v >> 8) & 255, (v >> 16) & 255, 0];
    const extended = text("VP8X", little(10), [0x08, 0, 0, 0], little(46).slice(0, 3), little(52).slice(0, 3));
    const body = text("WEBP", extended, plain.subarray(12), "EXIF", little(block.length), block);
    const turned = text("RIFF", little(body.length), body);
    expect(await decodeImage(turned)).toEqual(upright(await decodeImage(plain), orientation));
  });
});

const cut = async (name: string, part: number) => {
  const bytes = await load(name);
  return bytes.subarray(0, Math.trunc(bytes.length * part));
};

describe("files that cannot be read say so", () => {
  test.each([
    ["empty file", () => new Uint8Array(0), "file-damaged", "empty (0 bytes)"],
    ["text in a .png", () => text("Dear Sir or Madam"), "file-unsupported", "Supported formats: PDF, PNG, JPEG, WebP, TIFF, GIF, BMP"],
    ["text that begins like a bitmap", () => text("BMW announced today that its new"), "file-unsupported", "no known format"],
    ["HEIC photo", () => text("\0\0\0\x18ftypheic\0\0\0\0"), "file-unsupported", "is HEIC, which is not read"],
    ["Office document", () => text("PK\x03\x04\x14\0"), "file-unsupported", "ZIP archive or Office document"],
    ["a PDF", () => text("%PDF-1.7\n"), "file-unsupported", "PDF was given where a picture was expected"],
    ["PNG signature alone", () => text("\x89PNG\r\n\x1a\n"), "file-damaged", "IHDR"],
    ["PNG cut in the middle", () => cut("files/page-600x800.png", 0.5), "file-damaged", "bytes of pixel data"],
    [
      "PNG with a flipped bit",
      () => load("files/text-84x56.png").then((b) => b.with(100, b[100] ^ 1)),
      "file-damaged",
      "match its checksum",
    ],
    ["PNG with too few rows", () => png(1, 3, 8, 0, [0, 1, 0, 2]), "file-damaged", "expected 6 bytes of pixel data, got 4"],
    [
      "PNG with a palette index too many",
      () => png(1, 1, 8, 3, [0, 2], [{ type: "PLTE", data: [1, 2, 3, 4, 5, 6] }]),
      "file-damaged",
      "palette indices below 2, got 2",
    ],
    ["PNG of an illegal depth", () => png(1, 1, 3, 0, [0, 0]), "file-damaged", "legal colour type and depth"],
    ["JPEG cut in the middle", () => cut("decode/baseline-420.jpg", 0.7), "file-damaged", "end-of-image marker"],
    ["JPEG header alone", () => text([0xff, 0xd8, 0xff, 0xe0, 0, 2]), "file-damaged", "end-of-image marker"],
    ["JPEG whose scan stops early", () => cut("decode/baseline-444.jpg", 0.8).then((b) => text(b, [0xff, 0xd9])), "file-damaged", "JPEG"],
    ["JPEG without a frame", () => text([0xff, 0xd8, 0xff, 0xd9]), "file-damaged", "start-of-frame"],
    ["WebP cut in the middle", () => cut("decode/lossy.webp", 0.5), "file-damaged", "the file ends before"],
    ["GIF cut in the middle", () => cut("decode/palette.gif", 0.8), "file-damaged", "pixels, got"],
    ["BMP cut in the middle", () => cut("decode/rgb.bmp", 0.5), "file-damaged", "the file ends before"],
    ["TIFF cut before its directory", () => cut("decode/rgb-raw.tif", 0.05), "file-damaged", "TIFF"],
    ["TIFF strip beyond the file", () => tiff([...rgbTags(1, 1), [273, 4, 4000]], [1, 2, 3]), "file-damaged", "strip 0 at bytes 4000"],
    ["TIFF with too little in a strip", () => tiff(rgbTags(2, 2), [1, 2, 3, 4, 5, 6]), "file-damaged", "2 rows in a strip, got 1"],
    [
      "TIFF of floats",
      () =>
        tiff(
          [
            [256, 3, 1],
            [257, 3, 1],
            [258, 3, 32],
            [262, 3, 1],
            [339, 3, 3],
          ],
          [0, 0, 0, 0],
        ),
      "file-unsupported",
      "32 bits a sample",
    ],
    [
      "TIFF of an unknown compression",
      () =>
        tiff(
          [
            [256, 3, 1],
            [257, 3, 1],
            [258, 3, 8],
            [259, 3, 50000],
            [262, 3, 1],
          ],
          [0],
        ),
      "file-unsupported",
      "compression 50000",
    ],
    [
      "a decompression bomb",
      () => png(60_000, 60_000, 8, 2, [0]),
      "file-too-large",
      "60000x60000 = 3600000000 pixels; the limit is 180000000",
    ],
  ] as [string, () => Uint8Array | Promise<Uint8Array>, string, string][])("%s", async (_name, build, code, message) => {
    const bytes = await build();
    const failure = await (async () => decodeImage(bytes))().catch((error) => error);
    expect(failure).toMatchObject({ name: "MineruError", code });
    expect(failure.message).toContain(message);
  });

  test("every cut of every format is damage or a whole picture, never anything else", async () => {
    for (const { file } of files.filter(({ file }: { file: string }) => !file.includes("#"))) {
      const bytes = await load(`decode/${file}`);
      for (const part of [0.1, 0.33, 0.6, 0.9, 0.99]) {
        const outcome = await (async () => decodeImage(bytes.subarray(0, Math.trunc(bytes.length * part))))().catch((error) => error);
        if (!(outcome.data instanceof Uint8Array))
          expect(outcome).toMatchObject({ name: "MineruError", code: expect.stringMatching(/^file-/) });
      }
    }
  });

  test("flipped bytes are damage or a picture, never anything else", async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return seed % below;
    };
    for (const { file } of files.filter(({ file }: { file: string }) => !file.includes("#")))
      for (let round = 0; round < 8; round++) {
        const bytes = await load(`decode/${file}`);
        for (let i = 0; i < 3; i++) bytes[8 + random(bytes.length - 8)] = random(256);
        const outcome = await (async () => decodeImage(bytes, { maxPixels: 1_000_000 }))().catch((error) => error);
        if (!(outcome.data instanceof Uint8Array)) expect(outcome, `${file}: ${outcome.stack}`).toMatchObject({ name: "MineruError" });
      }
  });

  test("the pixel bound can be set", async () => {
    const bytes = await load("files/page-600x800.png");
    await expect(decodeImage(bytes, { maxPixels: 479_999 })).rejects.toMatchObject({ code: "file-too-large" });
    expect((await decodeImage(bytes, { maxPixels: 480_000 })).width).toBe(600);
  });

  test("a page beyond the last is a wrong argument", async () => {
    await expect(openImage(await load("decode/three-pages.tif")).page(3)).rejects.toThrow("`index` expected a page from 0 to 2, got 3");
  });
});

test("the bytes handed in are never changed, not even of a Node Buffer", async () => {
  const buffer = await readFile(new URL("decode/rgb-deflate-predictor.tif", golden));
  const raw = Buffer.from(tiff([...rgbTags(2, 1), [317, 3, 2]], [1, 2, 3, 1, 1, 1]));
  for (const bytes of [buffer, raw]) {
    const before = sha256(bytes);
    await decodeImage(bytes);
    expect(sha256(bytes)).toBe(before);
  }
  expect(Array.from((await decodeImage(raw)).data)).toEqual([1, 2, 3, 2, 3, 4]);
});
