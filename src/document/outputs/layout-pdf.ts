/**
 * The layout drawn on the pages, as one PDF: every page as it was rendered, over it a tinted box for each region in the colour of its class
 * with number and class (ISO 32000-1; pictures are the data of a PNG file, which PDF reads as they are). Written page by page to whoever
 * takes the bytes, so that a long document needs no more memory than a page. Refuses to know files.
 */
import { encodePng } from "../../image/encode-png.ts";
import type { RgbImage } from "../../image/rgb-image.ts";
import type { LayoutRegion } from "../types.ts";
import { colourOf } from "./layout-overlay.ts";

/** Pages are shown as large as they were rendered at: 200 pixels per inch. */
const POINTS_PER_PIXEL = 72 / 200;
const LINE = 1;
const LABEL = 8;
/** Courier's letters are this part of its size wide. */
const LETTER = 0.6;
const TINT = 0.12;

interface PngParts {
  readonly channels: 1 | 3;
  readonly data: readonly Uint8Array[];
}

/** Colour channels and image data of a PNG that `encodePng` made. */
function pngParts(png: Uint8Array): PngParts {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const data: Uint8Array[] = [];
  for (let at = 8; at < png.length; at += view.getUint32(at) + 12) {
    const start = at + 8;
    if (view.getUint32(at + 4) === IDAT) data.push(png.subarray(start, start + view.getUint32(at)));
  }
  return { channels: png[25] === 0 ? 1 : 3, data };
}

const IDAT = 0x49444154;
const SIGNS_OF_STRINGS = /[()\\]/g;

const rounded = (value: number): string => String(Math.round(value * 100) / 100);

/** Writes the pages of one document. Call `add` for each, then `finish`. */
export class LayoutPdf {
  readonly #write: (part: Uint8Array) => Promise<void>;
  readonly #offsets: number[] = [];
  readonly #pages: number[] = [];
  #length = 0;

  constructor(write: (part: Uint8Array) => Promise<void>) {
    this.#write = write;
    // 1 and 2 are the catalogue and the tree of pages, written last.
    this.#offsets.push(0, 0);
  }

  /** Adds a page with `regions`, boxes in thousandths, drawn in their order. */
  async add(page: RgbImage, regions: readonly Pick<LayoutRegion, "class" | "box" | "angle">[]): Promise<void> {
    if (this.#length === 0) await this.#put("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n");
    const [width, height] = [page.width * POINTS_PER_PIXEL, page.height * POINTS_PER_PIXEL];
    const { channels, data } = pngParts(await encodePng(page));
    const space = channels === 1 ? "/DeviceGray" : "/DeviceRGB";
    const picture = await this.#stream(
      `/Type /XObject /Subtype /Image /Width ${page.width} /Height ${page.height} /ColorSpace ${space} /BitsPerComponent 8 /Filter /FlateDecode ` +
        `/DecodeParms << /Predictor 15 /Colors ${channels} /BitsPerComponent 8 /Columns ${page.width} >>`,
      data,
    );
    const drawing = `q ${rounded(width)} 0 0 ${rounded(height)} 0 0 cm /P Do Q\n${regions.map((region, i) => boxOf(region, i + 1, width, height)).join("")}`;
    const contents = await this.#stream("", [latin(drawing)]);
    const resources = `<< /XObject << /P ${picture} 0 R >> /ExtGState << /T << /ca ${TINT} >> >> /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Courier-Bold >> >> >>`;
    const box = `[0 0 ${rounded(width)} ${rounded(height)}]`;
    this.#pages.push(
      await this.#object(`<< /Type /Page /Parent 2 0 R /MediaBox ${box} /Contents ${contents} 0 R /Resources ${resources} >>`),
    );
  }

  /** Writes what closes the file. Throws `RangeError` if it has no page. */
  async finish(): Promise<void> {
    if (this.#pages.length === 0) throw new RangeError("`LayoutPdf` expected at least one page, got none");
    await this.#object("<< /Type /Catalog /Pages 2 0 R >>", 1);
    const kids = this.#pages.map((number) => `${number} 0 R`).join(" ");
    await this.#object(`<< /Type /Pages /Count ${this.#pages.length} /Kids [${kids}] >>`, 2);
    const entries = this.#offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
    const size = this.#offsets.length + 1;
    const start = this.#length;
    await this.#put(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    );
  }

  async #object(body: string, number = this.#offsets.push(0)): Promise<number> {
    this.#offsets[number - 1] = this.#length;
    await this.#put(`${number} 0 obj\n${body}\nendobj\n`);
    return number;
  }

  async #stream(entries: string, parts: readonly Uint8Array[]): Promise<number> {
    const number = this.#offsets.push(this.#length);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    await this.#put(`${number} 0 obj\n<< ${entries} /Length ${length} >>\nstream\n`);
    for (const part of parts) await this.#put(part);
    await this.#put("\nendstream\nendobj\n");
    return number;
  }

  async #put(part: string | Uint8Array): Promise<void> {
    const bytes = typeof part === "string" ? latin(part) : part;
    this.#length += bytes.length;
    await this.#write(bytes);
  }
}

const latin = (text: string): Uint8Array => Uint8Array.from(text, (sign) => sign.charCodeAt(0));

function boxOf({ class: name, box, angle }: Pick<LayoutRegion, "class" | "box" | "angle">, order: number, width: number, height: number) {
  const colour = colourOf(name)
    .map((channel) => rounded(channel / 255))
    .join(" ");
  const [left, right] = [(box[0] / 1000) * width, (box[2] / 1000) * width];
  const [top, bottom] = [height - (box[1] / 1000) * height, height - (box[3] / 1000) * height];
  const rectangle = [left, bottom, right - left, top - bottom].map(rounded).join(" ");
  const label = `${order} ${name}${angle ? ` ${angle}` : ""}`.replace(/[^ -~]/g, "?");
  const labelWidth = label.length * LETTER * LABEL + 4;
  const x = Math.max(0, Math.min(left, width - labelWidth));
  const y = Math.min(top, height - LABEL - 2);
  const text = label.replace(SIGNS_OF_STRINGS, "\\$&");
  return (
    `q ${colour} rg ${colour} RG ${LINE} w /T gs ${rectangle} re f Q q ${colour} RG ${LINE} w ${rectangle} re S Q\n` +
    `q ${colour} rg ${[x, y, labelWidth, LABEL + 2].map(rounded).join(" ")} re f 1 g BT /F ${LABEL} Tf ${rounded(x + 2)} ${rounded(y + 2.5)} Td (${text}) Tj ET Q\n`
  );
}
