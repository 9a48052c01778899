/**
 * Writes the tokenizer, template, preprocessor and generation files of the small checkpoint into models/mini. Run it after changing
 * src/text/mini-tokenizer.ts; a test compares the folder with what that file says. Weights trained before a change of the vocabulary
 * no longer fit it. On Node 22.18 and newer: `node scripts/make-mini-tokenizer.ts`; on Node 20:
 * `node -e 'import("vite").then((vite) => vite.runnerImport("./scripts/make-mini-tokenizer.ts"))'`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { miniFileText, miniTokenizerFiles } from "../src/text/mini-tokenizer.ts";

const folder = new URL("../models/mini/", import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, content] of Object.entries(miniTokenizerFiles())) writeFileSync(new URL(name, folder), miniFileText(content));
