import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MineruError } from "../error.ts";
import { encodeSafetensors, parseSafetensors, type SafetensorsDtype, type TensorSource } from "./safetensors.ts";
import { openSafetensors, writeSafetensors } from "./safetensors-file.ts";

const golden = new URL("../../test/golden/model/", import.meta.url).pathname;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "safetensors-"));
});
afterAll(() => rm(folder, { recursive: true }));

function file(header: unknown, dataLength: number): Uint8Array {
  const json = typeof header === "string" ? header : JSON.stringify(header);
  const bytes = new Uint8Array(8 + json.length + dataLength);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(new TextEncoder().encode(json), 8);
  return bytes;
}

describe("reading", () => {
  it("gives offsets from the start of the file, by file and by bytes alike", async () => {
    const path = join(golden, "tiny-bf16/model.safetensors");
    const bytes = new Uint8Array(await readFile(path));
    const inMemory = parseSafetensors(bytes, path);
    await using onDisk = await openSafetensors(path);
    expect(onDisk.entries).toEqual(inMemory.entries);
    expect(onDisk.metadata).toEqual(inMemory.metadata);
    expect(onDisk.entries.get("language_model.model.embed_tokens.weight")).toMatchObject({
      dtype: "BF16",
      shape: [576, 64],
      byteLength: 73728,
    });
    for (const [name, { offset, byteLength }] of onDisk.entries) {
      expect(Buffer.compare(await onDisk.readRaw(name), bytes.subarray(offset, offset + byteLength))).toBe(0);
      const [ours, theirs] = [await onDisk.readFloat32(name), inMemory.readFloat32(name)];
      expect(ours.length === theirs.length && ours.every((value, i) => value === theirs[i])).toBe(true);
    }
  });

  it("widens the rounded golden weights to within half a unit of the last place", async () => {
    await using full = await openSafetensors(join(golden, "tiny/model-00001-of-00002.safetensors"));
    for (const [variant, epsilon] of [
      ["tiny-bf16", 2 ** -8],
      ["tiny-f16", 2 ** -11],
    ] as const) {
      await using rounded = await openSafetensors(join(golden, variant, "model.safetensors"));
      for (const name of full.entries.keys()) {
        const exact = await full.readFloat32(name);
        const values = await rounded.readFloat32(name);
        expect(values.length).toBe(exact.length);
        for (let i = 0; i < exact.length; i++) {
          if (Math.abs(values[i] - exact[i]) > Math.abs(exact[i]) * epsilon + 2 ** -25) throw new Error(`${variant} ${name}[${i}]`);
        }
      }
    }
  });

  const malformed: [string, Uint8Array, RegExp][] = [
    ["an empty file", new Uint8Array(0), /begins with an 8-byte header length, got 0 bytes/],
    ["a huge header length", new Uint8Array(16).fill(0xff), /header of at most 100000000 bytes, got 18446744073709551615/],
    ["a header cut off", file({}, 0).slice(0, 9), /expected 10 bytes of header, got a file of 9/],
    ["no JSON", file("{nope", 0), /expected a JSON header/],
    ["a JSON array", file([], 0), /to be a JSON object/],
    ["metadata that are no strings", file({ __metadata__: { a: 1 } }, 0), /`__metadata__` to map strings/],
    ["an entry that is no object", file({ a: 3 }, 0), /tensor `a`: expected an object with dtype/],
    ["an unknown dtype", file({ a: { dtype: "F8_E4M3", shape: [1], data_offsets: [0, 1] } }, 1), /a dtype out of F64, .*, got "F8_E4M3"/],
    ["an inherited name as dtype", file({ a: { dtype: "toString", shape: [1], data_offsets: [0, 1] } }, 1), /a dtype out of/],
    ["a negative edge", file({ a: { dtype: "U8", shape: [-1], data_offsets: [0, 1] } }, 1), /a shape of whole numbers, got \[-1\]/],
    ["a range of one", file({ a: { dtype: "U8", shape: [1], data_offsets: [0] } }, 1), /data_offsets of two whole numbers/],
    [
      "a range of the wrong length",
      file({ a: { dtype: "F32", shape: [2], data_offsets: [0, 4] } }, 4),
      /expected 8 bytes for F32 of shape \[2\], got 4/,
    ],
    ["a range beyond the end", file({ a: { dtype: "U8", shape: [2], data_offsets: [0, 2] } }, 1), /within the 1 bytes of data/],
    ["a gap", file({ a: { dtype: "U8", shape: [1], data_offsets: [1, 2] } }, 2), /`a` to begin at byte 0 of the data, got 1/],
    [
      "an overlap",
      file({ a: { dtype: "U8", shape: [2], data_offsets: [0, 2] }, b: { dtype: "U8", shape: [2], data_offsets: [1, 3] } }, 3),
      /`b` to begin at byte 2 of the data, got 1/,
    ],
    ["bytes left over", file({ a: { dtype: "U8", shape: [1], data_offsets: [0, 1] } }, 2), /bytes in all according to the header/],
  ];
  it.each(malformed)("refuses %s, naming the file", async (what, bytes, expectation) => {
    const path = join(folder, `${what.replaceAll(" ", "-")}.safetensors`);
    await writeFile(path, bytes);
    for (const read of [async () => parseSafetensors(bytes, path), () => openSafetensors(path)]) {
      const error = await read().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(MineruError);
      expect(error).toMatchObject({ code: "checkpoint-invalid", message: expect.stringMatching(expectation) });
      expect((error as Error).message).toContain(path);
    }
  });

  it("tells a missing file and a folder from a damaged one", async () => {
    await expect(openSafetensors(join(folder, "nothing"))).rejects.toMatchObject({ code: "checkpoint-missing" });
    await expect(openSafetensors(folder)).rejects.toMatchObject({ code: "file-unreadable" });
  });

  it("says which tensor is missing and when the file shrank while open", async () => {
    const path = join(folder, "shrinking.safetensors");
    await writeSafetensors(path, new Map([["a", { dtype: "F32", shape: [64], data: new Float32Array(64) }]]));
    await using opened = await openSafetensors(path);
    await expect(opened.readRaw("b")).rejects.toThrow(/a tensor named `b`, got 1 others/);
    await truncate(path, 100);
    await expect(opened.readFloat32("a")).rejects.toMatchObject({ code: "checkpoint-invalid" });
  });
});

describe("writing", () => {
  const sample = new Map<string, TensorSource>([
    ["bytes", { dtype: "U8", shape: [3], data: Uint8Array.of(1, 2, 255) }],
    ["flags", { dtype: "BOOL", shape: [2], data: Uint8Array.of(1, 0) }],
    ["half", { dtype: "F16", shape: [2, 1], data: Float32Array.of(1.5, -2) }],
    ["brain", { dtype: "BF16", shape: [1], data: Float32Array.of(3) }],
    ["small", { dtype: "I8", shape: [1], data: Int8Array.of(-7) }],
    ["ids", { dtype: "I64", shape: [2], data: BigInt64Array.of(7n, -1n) }],
    ["counts", { dtype: "I32", shape: [1], data: Int32Array.of(-5) }],
    ["wide", { dtype: "F64", shape: [1], data: Float64Array.of(0.1) }],
    ["scalar", { dtype: "F32", shape: [], data: Float32Array.of(2.5) }],
    ["empty", { dtype: "F32", shape: [0, 4], data: new Float32Array(0) }],
    ["__proto__", { dtype: "U8", shape: [1], data: Uint8Array.of(9) }],
  ]);

  it("round-trips every dtype, each aligned to its element", async () => {
    const bytes = encodeSafetensors(sample, { format: "pt", note: "ä" });
    const path = join(folder, "sample.safetensors");
    await writeSafetensors(path, sample, { format: "pt", note: "ä" });
    expect(new Uint8Array(await readFile(path))).toEqual(bytes);

    await using opened = await openSafetensors(path);
    expect(opened.metadata).toEqual({ format: "pt", note: "ä" });
    expect([...opened.entries.keys()].sort()).toEqual([...sample.keys()].sort());
    const floats = async (name: string) => [...(await opened.readFloat32(name))];
    expect(await floats("bytes")).toEqual([1, 2, 255]);
    expect(await floats("half")).toEqual([1.5, -2]);
    expect(await floats("brain")).toEqual([3]);
    expect(await floats("small")).toEqual([-7]);
    expect(await floats("ids")).toEqual([7, -1]);
    expect(await floats("wide")).toEqual([Math.fround(0.1)]);
    expect(await floats("scalar")).toEqual([2.5]);
    expect(await floats("empty")).toEqual([]);
    expect([...(await opened.readInt32("ids"))]).toEqual([7, -1]);
    expect([...(await opened.readInt32("flags"))]).toEqual([1, 0]);
    await expect(opened.readInt32("wide")).rejects.toThrow(TypeError);
    const widths: Partial<Record<SafetensorsDtype, number>> = { F64: 8, I64: 8, F32: 4, I32: 4, F16: 2, BF16: 2 };
    for (const { dtype, offset } of opened.entries.values()) expect(offset % (widths[dtype] ?? 1)).toBe(0);
    expect(Math.min(...[...opened.entries.values()].map((entry) => entry.offset)) % 8).toBe(0);
  });

  it("round-trips any float tensors through bytes at any alignment", () => {
    const tensors = fc.dictionary(fc.string(), fc.array(fc.float({ noNaN: true })), { maxKeys: 5 });
    fc.assert(
      fc.property(tensors, fc.nat(7), (record, shift) => {
        const named = Object.entries(record).filter(([name]) => name !== "__metadata__");
        const bytes = encodeSafetensors(
          new Map(named.map(([name, v]) => [name, { dtype: "F32", shape: [v.length], data: Float32Array.from(v) }])),
        );
        const shifted = new Uint8Array(bytes.length + shift);
        shifted.set(bytes, shift);
        const parsed = parseSafetensors(shifted.subarray(shift));
        for (const [name, values] of named) expect([...parsed.readFloat32(name)]).toEqual(values);
      }),
    );
  });

  it("streams pieces and refuses data that do not fit, leaving the old file and no rubbish", async () => {
    const place = await mkdtemp(join(folder, "stream-"));
    const path = join(place, "a.safetensors");
    const pieces = async function* () {
      for (let i = 0; i < 4; i++) yield Uint8Array.of(i, i);
    };
    await writeSafetensors(path, new Map([["a", { dtype: "U8", shape: [8], data: pieces }]]));
    const before = await readFile(path);
    await expect(writeSafetensors(path, new Map([["a", { dtype: "U8", shape: [9], data: pieces }]]))).rejects.toThrow(
      "expected 9 bytes, got 8",
    );
    await expect(writeSafetensors(path, new Map([["a", { dtype: "F32", shape: [2], data: new Float32Array(3) }]]))).rejects.toThrow(
      RangeError,
    );
    expect(await readFile(path)).toEqual(before);
    expect(await readdir(place)).toEqual(["a.safetensors"]);
    await expect(writeSafetensors(join(place, "no/where"), sample)).rejects.toMatchObject({ code: "output-unwritable" });
  });

  it("refuses a whole number that does not fit 32 bits", () => {
    const parsed = parseSafetensors(encodeSafetensors(new Map([["a", { dtype: "I64", shape: [1], data: BigInt64Array.of(2n ** 31n) }]])));
    expect(() => parsed.readInt32("a")).toThrow("32 bits, got 2147483648");
  });
});

it("reads a tensor that lies beyond 4 GiB of a sparse file", async () => {
  const path = join(folder, "large.safetensors");
  const far = 5 * 2 ** 30;
  const header = JSON.stringify({
    hole: { dtype: "U8", shape: [far], data_offsets: [0, far] },
    far: { dtype: "F32", shape: [2], data_offsets: [far, far + 8] },
  });
  await writeFile(path, file(header, 0));
  await truncate(path, 8 + header.length + far + 8);
  await using opened = await openSafetensors(path);
  expect(opened.entries.get("far")?.offset).toBe(8 + header.length + far);
  expect([...(await opened.readFloat32("far"))]).toEqual([0, 0]);
});
