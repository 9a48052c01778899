/** Addresses of the WebAssembly binaries that are built into the page's folder. */

import pdfium from "@embedpdf/pdfium/pdfium.wasm?url";
import webp from "@jsquash/webp/codec/dec/webp_dec.wasm?url";
import jspiMjs from "onnxruntime-web/ort-wasm-simd-threaded.jspi.mjs?url";
import jspiWasm from "onnxruntime-web/ort-wasm-simd-threaded.jspi.wasm?url";
import wasmMjs from "onnxruntime-web/ort-wasm-simd-threaded.mjs?url";
import wasmWasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import type { BrowserAssets } from "../browser.ts";

const absolute = (url: string): string => new URL(url, import.meta.url).href;

export const assets: BrowserAssets = {
  pdfium: absolute(pdfium),
  webp: absolute(webp),
  runtime: {
    wasm: { mjs: absolute(wasmMjs), wasm: absolute(wasmWasm) },
    jspi: { mjs: absolute(jspiMjs), wasm: absolute(jspiWasm) },
  },
};
