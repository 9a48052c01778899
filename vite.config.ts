/** Builds the web page into dist/web: code, WebAssembly and the `mini` checkpoint, nothing from elsewhere. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** ONNX Runtime's threads load its own loader file; inside our worker's bundle they would start our worker again. */
const conditions = ["onnxruntime-web-use-extern-wasm", "module", "browser", "development|production"];

export default defineConfig({
  root: here("src/web"),
  base: "./",
  /** Checkpoints: `mini` lies at ./mini. */
  publicDir: here("models"),
  resolve: { conditions },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  worker: { format: "es" },
  build: {
    outDir: here("dist/web"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    license: { fileName: "licenses.md" },
  },
});
