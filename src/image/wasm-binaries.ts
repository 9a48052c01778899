/**
 * Where the WebAssembly binaries of this room come from: in Node from the installed packages, in a browser from an address the page names.
 * The only place in the room that knows the two worlds apart. Loads each binary once; compiles and runs none.
 */
import { MineruError } from "../error.ts";

/** The binaries this room uses. */
export type WasmName = "pdfium" | "webp";

const PACKAGE_PATHS: Record<WasmName, string> = {
  pdfium: "@embedpdf/pdfium/pdfium.wasm",
  webp: "@jsquash/webp/codec/dec/webp_dec.wasm",
};

const sources = new Map<WasmName, URL | string | Uint8Array>();
const loaded = new Map<WasmName, Promise<Uint8Array>>();

/** Names the address or the bytes of a binary. Needed once in a browser, before the first PDF or WebP; in Node it is optional. */
export function setWasmSource(name: WasmName, source: URL | string | Uint8Array): void {
  if (!(name in PACKAGE_PATHS)) throw new TypeError(`\`name\` expected one of ${Object.keys(PACKAGE_PATHS).join(", ")}, got ${name}`);
  sources.set(name, source);
  loaded.delete(name);
}

/** The bytes of a binary. Error: `runtime-unavailable` with the cure. */
export function wasmBinary(name: WasmName): Promise<Uint8Array> {
  let binary = loaded.get(name);
  if (binary === undefined) {
    binary = load(name).catch((cause) => {
      loaded.delete(name);
      throw new MineruError(
        "runtime-unavailable",
        `The ${name} WebAssembly binary could not be loaded. In Node, install the package (npm install); in a browser, call setWasmSource("${name}", url) with the address of ${PACKAGE_PATHS[name]}.`,
        { cause },
      );
    });
    loaded.set(name, binary);
  }
  return binary;
}

async function load(name: WasmName): Promise<Uint8Array> {
  const source = sources.get(name);
  if (source instanceof Uint8Array) return source;
  if (source !== undefined && !String(source).startsWith("file:")) return fetchBytes(source);
  const node = globalThis.process?.getBuiltinModule;
  if (node === undefined) throw new Error(`no source was set for ${name}`);
  const path =
    source ??
    node("node:module")
      .createRequire(import.meta.url)
      .resolve(PACKAGE_PATHS[name]);
  return new Uint8Array(await node("node:fs/promises").readFile(source === undefined ? path : new URL(path)));
}

async function fetchBytes(source: URL | string): Promise<Uint8Array> {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`expected status 200 from ${source}, got ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
