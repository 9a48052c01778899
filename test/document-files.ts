/**
 * Small document files for tests, written byte by byte: PDFs of any page size, pictures in the colour models that go wrong, and files that
 * are broken in the ways files are broken.
 */
import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import jpeg from "jpeg-js";

export interface PdfPage {
  /** Points. */
  readonly size?: readonly [width: number, height: number];
  readonly rotate?: number;
  /** Content stream; `(words)` stands for words in Helvetica 18 all over the page. */
  readonly content?: string;
  /** The object is left out: the tree of pages names what is not there. */
  readonly missing?: boolean;
}

function words(text: string, width: number, height: number): string {
  const places = [0.1, 0.55].flatMap((across) => [0.85, 0.45, 0.15].map((up) => `${width * across} ${height * up}`));
  return places.map((place) => `BT /F1 18 Tf ${place} Td (${text}) Tj ET`).join("\n");
}

/** A PDF with these pages; `encrypt` adds entries to the trailer. */
export function pdfFile(pages: readonly PdfPage[], trailer = "", more: readonly string[] = []): Buffer {
  const parts: string[] = ["%PDF-1.7\n"];
  const offsets: number[] = [];
  const object = (body: string): void => {
    offsets.push(parts.join("").length);
    parts.push(`${offsets.length} 0 obj\n${body}\nendobj\n`);
  };
  const missing = 900;
  const first = 4;
  let next = first;
  const kids = pages.map((page) => {
    if (page.missing) return missing;
    next += 2;
    return next - 2;
  });
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object(`<< /Type /Pages /Count ${pages.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`);
  object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const { size: [width, height] = [300, 200], rotate = 0, content = "(some words)", missing: gone } of pages) {
    if (gone) continue;
    const drawn = /^\(([^)]*)\)$/.exec(content);
    const stream = drawn ? words(drawn[1], width, height) : content;
    object(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Contents ${offsets.length + 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    );
    object(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  }
  for (const body of more) object(body);
  const start = parts.join("").length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}`);
  parts.push(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.from(parts.join(""), "latin1");
}

const PADDING = Buffer.from("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A", "hex");
const padded = (password: string): Buffer => Buffer.concat([Buffer.from(password, "latin1"), PADDING]).subarray(0, 32);
const md5 = (...parts: Buffer[]): Buffer => createHash("md5").update(Buffer.concat(parts)).digest();

function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i] + key[i % key.length]) & 255;
    [state[i], state[j]] = [state[j], state[i]];
  }
  let [a, b] = [0, 0];
  const mixed = Uint8Array.from(data, (byte) => {
    a = (a + 1) & 255;
    b = (b + state[a]) & 255;
    [state[a], state[b]] = [state[b], state[a]];
    return byte ^ state[(state[a] + state[b]) & 255];
  });
  return Buffer.from(mixed);
}

/** A PDF of one empty page that opens with `password` only (standard security handler, revision 2). */
export function encryptedPdf(password: string): Buffer {
  const id = md5(Buffer.from("id"));
  const owner = rc4(md5(padded("owner")).subarray(0, 5), padded(password));
  const rights = Buffer.from([0xfc, 0xff, 0xff, 0xff]);
  const key = md5(padded(password), owner, rights, id).subarray(0, 5);
  const user = rc4(key, PADDING);
  const hex = (bytes: Buffer): string => `<${bytes.toString("hex")}>`;
  const handler = `<< /Filter /Standard /V 1 /R 2 /O ${hex(owner)} /U ${hex(user)} /P -4 >>`;
  return pdfFile([{ content: "" }], `/ID [${hex(id)} ${hex(id)}] /Encrypt 6 0 R`, [handler]);
}

function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const part = Buffer.alloc(content.length + 12);
  part.writeUInt32BE(content.length);
  body.copy(part, 4);
  part.writeUInt32BE(crc32(body), content.length + 8);
  return part;
}

/** A PNG; `colour` 0 grey, 2 RGB, 4 grey and alpha, 6 RGBA. `samples(x, y)` gives the bytes of a pixel. */
export function pngFile(
  width: number,
  height: number,
  { depth = 8, colour = 0 }: { depth?: 8 | 16; colour?: 0 | 2 | 4 | 6 } = {},
  samples: (x: number, y: number) => readonly number[] = (x, y) => [inked(x, y) ? 0 : 255],
): Buffer {
  const bytes = { 0: 1, 2: 3, 4: 2, 6: 4 }[colour] * (depth / 8);
  const rows = Buffer.alloc(height * (1 + width * bytes));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (const [i, value] of samples(x, y).entries()) rows[y * (1 + width * bytes) + 1 + x * bytes + i] = value;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A PNG that claims to be of this size and holds next to nothing. */
export function pngBomb(width: number, height: number): Buffer {
  const small = pngFile(1, 1);
  small.writeUInt32BE(width, 16);
  small.writeUInt32BE(height, 20);
  small.writeUInt32BE(crc32(small.subarray(12, 29)), 29);
  return small;
}

/** Bars like a line of print. */
export const inked = (x: number, y: number): boolean => x > 8 && y % 24 > 8 && y % 24 < 20 && x % 7 < 3;

/** A JPEG of 40 x 24 whose EXIF data say how it is to be turned (1..8). */
export function jpegFile(orientation: number): Buffer {
  const [width, height] = [40, 24];
  const data = Buffer.alloc(width * height * 4, 255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (inked(x, y)) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  const plain = jpeg.encode({ data, width, height }, 90).data;
  const tiff = Buffer.from("4d4d002a0000000800010112000300000001000000000000", "hex");
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff, Buffer.alloc(2)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return Buffer.concat([plain.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, exif, plain.subarray(2)]);
}

/** An uncompressed CMYK TIFF, one strip. */
export function cmykTiff(width: number, height: number): Buffer {
  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (inked(x, y)) pixels[(y * width + x) * 4 + 3] = 255;
  const entries: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 4, 8 + pixels.length],
    [259, 3, 1, 1],
    [262, 3, 1, 5],
    [273, 4, 1, 8],
    [277, 3, 1, 4],
    [278, 4, 1, height],
    [279, 4, 1, pixels.length],
  ];
  const directory = Buffer.alloc(8 + 2 + entries.length * 12 + 4);
  for (let i = 0; i < 4; i++) directory.writeUInt16LE(8, i * 2);
  directory.writeUInt16LE(entries.length, 8);
  entries.forEach(([tag, type, count, value], i) => {
    const at = 10 + i * 12;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(count, at + 4);
    directory.writeUInt32LE(value, at + 8);
  });
  const header = Buffer.from("49492a0000000000", "hex");
  header.writeUInt32LE(8 + pixels.length + 8, 4);
  return Buffer.concat([header, pixels, directory]);
}
