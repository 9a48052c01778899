import { crc32, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { zip } from "./zip.ts";

/** Reads an archive by its directory, as unpackers do. */
function unzip(archive: Uint8Array): Map<string, Uint8Array> {
  const file = Buffer.from(archive);
  const end = file.length - 22;
  expect(file.readUInt32LE(end)).toBe(0x06054b50);
  const entries = new Map<string, Uint8Array>();
  let at = file.readUInt32LE(end + 16);
  for (let i = 0; i < file.readUInt16LE(end + 10); i++) {
    expect(file.readUInt32LE(at)).toBe(0x02014b50);
    const [method, packed, size, nameLength, local] = [
      file.readUInt16LE(at + 10),
      file.readUInt32LE(at + 20),
      file.readUInt32LE(at + 24),
      file.readUInt16LE(at + 28),
      file.readUInt32LE(at + 42),
    ];
    const name = file.toString("utf8", at + 46, at + 46 + nameLength);
    expect(file.readUInt32LE(local)).toBe(0x04034b50);
    expect(file.toString("utf8", local + 30, local + 30 + file.readUInt16LE(local + 26))).toBe(name);
    const start = local + 30 + nameLength;
    const data = file.subarray(start, start + packed);
    const bytes = method === 8 ? inflateRawSync(data) : data;
    expect(bytes.length).toBe(size);
    expect(file.readUInt32LE(at + 16)).toBe(crc32(bytes));
    entries.set(name, Uint8Array.from(bytes));
    at += 46 + nameLength;
  }
  expect(at).toBe(end);
  return entries;
}

test("what is packed can be unpacked, whatever it is", async () => {
  const files = fc.uniqueArray(
    fc.record({ path: fc.string({ unit: "grapheme", minLength: 1 }), bytes: fc.uint8Array({ maxLength: 300 }) }),
    {
      selector: ({ path }) => path,
      maxLength: 5,
    },
  );
  await fc.assert(
    fc.asyncProperty(files, async (entries) => {
      const unpacked = unzip(await zip(entries));
      expect([...unpacked]).toEqual(entries.map(({ path, bytes }) => [path, Uint8Array.from(bytes)]));
    }),
    { numRuns: 50 },
  );
});

test("text shrinks", async () => {
  const bytes = new TextEncoder().encode("all work and no play ".repeat(200));
  expect((await zip([{ path: "a.md", bytes }])).length).toBeLessThan(bytes.length / 10);
});
