/**
 * RGB to PNG (8-bit truecolour, or grey when the picture has no colour, which crops of print mostly are), compressed by the platform.
 * Pixels are kept exactly; the bytes may differ between platforms, since their zlib differs.
 */
import { deflate } from "./inflate.ts";
import { crc32 } from "./png-crc.ts";
import type { RgbImage } from "./rgb-image.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Encodes `image` as a PNG file. */
export async function encodePng(image: RgbImage): Promise<Uint8Array> {
  const { width, height } = image;
  const grey = isGrey(image.data);
  const channels = grey ? 1 : 3;
  const samples = grey ? everyThird(image.data) : image.data;
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, grey ? 0 : 2, 0, 0, 0], 8);
  const body = await deflate(filterRows(samples, width * channels, height, channels));
  const chunks = [chunk("IHDR", header), chunk("IDAT", body), chunk("IEND", new Uint8Array(0))];
  const file = new Uint8Array(chunks.reduce((sum, part) => sum + part.length, SIGNATURE.length));
  file.set(SIGNATURE);
  let at = SIGNATURE.length;
  for (const part of chunks) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

function isGrey(data: Uint8Array): boolean {
  for (let i = 0; i < data.length; i += 3) if (data[i] !== data[i + 1] || data[i] !== data[i + 2]) return false;
  return true;
}

function everyThird(data: Uint8Array): Uint8Array {
  const grey = new Uint8Array(data.length / 3);
  for (let i = 0; i < grey.length; i++) grey[i] = data[i * 3];
  return grey;
}

/** Each row with the filter, of Sub and Up, whose residue is smallest; the other three gain little on pages and cost time. */
function filterRows(samples: Uint8Array, rowBytes: number, height: number, distance: number): Uint8Array {
  const filtered = new Uint8Array(height * (rowBytes + 1));
  const up = new Uint8Array(rowBytes);
  for (let y = 0; y < height; y++) {
    const from = y * rowBytes;
    const to = y * (rowBytes + 1);
    let costOfSub = 0;
    let costOfUp = 0;
    for (let i = 0; i < rowBytes; i++) {
      const value = samples[from + i];
      const left = (value - (i < distance ? 0 : samples[from + i - distance])) & 0xff;
      const above = (value - (y === 0 ? 0 : samples[from + i - rowBytes])) & 0xff;
      filtered[to + 1 + i] = left;
      up[i] = above;
      costOfSub += left < 128 ? left : 256 - left;
      costOfUp += above < 128 ? above : 256 - above;
    }
    filtered[to] = 1;
    if (costOfUp < costOfSub) {
      filtered[to] = 2;
      filtered.set(up, to + 1);
    }
  }
  return filtered;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const part = new Uint8Array(content.length + 12);
  const view = new DataView(part.buffer);
  view.setUint32(0, content.length);
  for (let i = 0; i < 4; i++) part[4 + i] = type.charCodeAt(i);
  part.set(content, 8);
  view.setUint32(8 + content.length, crc32(part.subarray(4, 8 + content.length)));
  return part;
}
