/**
 * The directory structure of a TIFF file (TIFF 6.0, section 2): byte order, the chain of directories, and the tag values of each as numbers.
 * Knows where values lie, not what any tag means. Classic TIFF only; BigTIFF is told apart by its signature elsewhere.
 */
import { damaged } from "./image-format.ts";

/** Tag values of one directory. */
export interface TiffDirectory {
  /** All values of a numeric tag, or undefined. */
  values(tag: number): readonly number[] | undefined;
  /** First value of a tag, or `fallback`. */
  first(tag: number, fallback: number): number;
  /** The raw bytes of a tag, or undefined. */
  bytes(tag: number): Uint8Array | undefined;
}

/** A TIFF file opened for reading tags. */
export interface TiffFile {
  readonly file: Uint8Array;
  readonly littleEndian: boolean;
  readonly directories: readonly TiffDirectory[];
}

/** Bytes a value of each field type takes; types without an entry are skipped. */
const TYPE_BYTES: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4 };

const MAX_DIRECTORIES = 65_536;

/** Reads every directory in the chain. Throws `file-damaged` when one lies outside the file or the chain loops. */
export function readTiff(file: Uint8Array): TiffFile {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 8) throw damaged("TIFF", "a header of 8 bytes, the file ends before");
  const littleEndian = view.getUint16(0) === 0x4949;
  const directories: TiffDirectory[] = [];
  const seen = new Set<number>();
  for (let offset = view.getUint32(4, littleEndian); offset !== 0; ) {
    if (seen.has(offset) || seen.size >= MAX_DIRECTORIES) throw damaged("TIFF", "a chain of directories without a loop");
    seen.add(offset);
    if (offset + 2 > file.length) throw damaged("TIFF", `a directory at byte ${offset}, the file has ${file.length} bytes`);
    const entries = view.getUint16(offset, littleEndian);
    const end = offset + 2 + entries * 12;
    if (end > file.length) throw damaged("TIFF", `a directory of ${entries} entries at byte ${offset}, the file ends before`);
    directories.push(readDirectory(file, view, littleEndian, offset + 2, entries));
    offset = end + 4 <= file.length ? view.getUint32(end, littleEndian) : 0;
  }
  if (directories.length === 0) throw damaged("TIFF", "at least one directory");
  return { file, littleEndian, directories };
}

function readDirectory(file: Uint8Array, view: DataView, littleEndian: boolean, start: number, entries: number): TiffDirectory {
  const places = new Map<number, { type: number; count: number; at: number }>();
  for (let i = 0; i < entries; i++) {
    const at = start + i * 12;
    const type = view.getUint16(at + 2, littleEndian);
    const count = view.getUint32(at + 4, littleEndian);
    const size = (TYPE_BYTES[type] ?? 0) * count;
    if (size === 0) continue;
    places.set(view.getUint16(at, littleEndian), { type, count, at: size <= 4 ? at + 8 : view.getUint32(at + 8, littleEndian) });
  }
  const place = (tag: number): { type: number; count: number; at: number } | undefined => {
    const found = places.get(tag);
    if (found && found.at + found.count * TYPE_BYTES[found.type] > file.length)
      throw damaged("TIFF", `${found.count} values of tag ${tag} at byte ${found.at}, the file ends before`);
    return found;
  };
  const readValue = (type: number, at: number): number => {
    switch (type) {
      case 3:
        return view.getUint16(at, littleEndian);
      case 4:
      case 13:
        return view.getUint32(at, littleEndian);
      case 5:
        return view.getUint32(at, littleEndian) / view.getUint32(at + 4, littleEndian);
      case 6:
        return view.getInt8(at);
      case 8:
        return view.getInt16(at, littleEndian);
      case 9:
        return view.getInt32(at, littleEndian);
      case 10:
        return view.getInt32(at, littleEndian) / view.getInt32(at + 4, littleEndian);
      case 11:
        return view.getFloat32(at, littleEndian);
      case 12:
        return view.getFloat64(at, littleEndian);
      default:
        return file[at];
    }
  };
  const values = (tag: number): readonly number[] | undefined => {
    const found = place(tag);
    return found && Array.from({ length: found.count }, (_, i) => readValue(found.type, found.at + i * TYPE_BYTES[found.type]));
  };
  return {
    values,
    first: (tag, fallback) => values(tag)?.[0] ?? fallback,
    bytes: (tag) => {
      const found = place(tag);
      return found && file.subarray(found.at, found.at + found.count * TYPE_BYTES[found.type]);
    },
  };
}
