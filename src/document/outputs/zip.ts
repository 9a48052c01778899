/**
 * ZIP archives (APPNOTE 6.3) of a few files held in memory: deflated where that helps, names in UTF-8, no ZIP64. Writes only, on any
 * platform.
 */
import { deflate } from "../../image/inflate.ts";
import { crc32 } from "../../image/png-crc.ts";

/** A file of an archive. */
export interface ZipEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const DEFLATE = 8;
const STORE = 0;
/** Names are UTF-8. */
const UTF8_FLAG = 0x0800;
const VERSION = 20;
/** 1 January 1980: archives of equal content are equal. */
const DATE = 0x0021;
const MOST_BYTES = 0xffff_ffff;
const MOST_ENTRIES = 0xffff;

type Field = readonly [bytes: 2 | 4, value: number];

function fields(...list: readonly Field[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(list.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of list) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

/** Throws RangeError beyond 65 535 entries or 4 GiB. */
export async function zip(entries: readonly ZipEntry[]): Promise<Uint8Array<ArrayBuffer>> {
  if (entries.length > MOST_ENTRIES) throw new RangeError(`\`entries\` expected at most ${MOST_ENTRIES}, got ${entries.length}`);
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  const push = (bytes: Uint8Array): void => {
    parts.push(bytes);
    at += bytes.length;
    if (at > MOST_BYTES) throw new RangeError(`\`entries\` expected at most ${MOST_BYTES} bytes, got more`);
  };
  for (const { path, bytes } of entries) {
    const name = new TextEncoder().encode(path);
    const deflated = await deflate(bytes, "deflate-raw");
    const [method, data] = deflated.length < bytes.length ? [DEFLATE, deflated] : [STORE, bytes];
    const common: readonly Field[] = [
      [2, VERSION],
      [2, UTF8_FLAG],
      [2, method],
      [2, 0],
      [2, DATE],
      [4, crc32(bytes)],
      [4, data.length],
      [4, bytes.length],
      [2, name.length],
      [2, 0],
    ];
    directory.push(fields([4, 0x0201_4b50], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), name);
    push(fields([4, 0x0403_4b50], ...common));
    push(name);
    push(data);
  }
  const start = at;
  for (const record of directory) push(record);
  const count = entries.length;
  push(fields([4, 0x0605_4b50], [2, 0], [2, 0], [2, count], [2, count], [4, at - start], [4, start], [2, 0]));
  const archive = new Uint8Array(at);
  let end = 0;
  for (const part of parts) {
    archive.set(part, end);
    end += part.length;
  }
  return archive;
}
