import { afterEach, expect, test, vi } from "vitest";
import { setWasmSource, wasmBinary } from "./wasm-binaries.ts";

afterEach(() => vi.unstubAllGlobals());

test("in Node both binaries come from the installed packages", async () => {
  for (const name of ["pdfium", "webp"] as const)
    expect(Array.from((await wasmBinary(name)).subarray(0, 4))).toEqual([0, 0x61, 0x73, 0x6d]);
});

test("a set source wins: bytes, a fetched address, a file address", async () => {
  setWasmSource("webp", Uint8Array.of(1, 2));
  expect(await wasmBinary("webp")).toEqual(Uint8Array.of(1, 2));
  vi.stubGlobal("fetch", async (url: unknown) => new Response(String(url) === "https://cdn.example/w.wasm" ? Uint8Array.of(3) : null));
  setWasmSource("webp", "https://cdn.example/w.wasm");
  expect(await wasmBinary("webp")).toEqual(Uint8Array.of(3));
  setWasmSource("webp", new URL(import.meta.url));
  expect(new TextDecoder().decode(await wasmBinary("webp"))).toContain("a file address");
});

test("a failure names the cure and can be mended", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 404 }));
  setWasmSource("webp", "https://cdn.example/gone.wasm");
  await expect(wasmBinary("webp")).rejects.toMatchObject({
    code: "runtime-unavailable",
    message: expect.stringContaining('setWasmSource("webp", url)'),
  });
  setWasmSource("webp", Uint8Array.of(4));
  expect(await wasmBinary("webp")).toEqual(Uint8Array.of(4));
});

test("names are checked", () => {
  expect(() => setWasmSource("png" as "webp", "x")).toThrow("`name` expected one of pdfium, webp, got png");
});
