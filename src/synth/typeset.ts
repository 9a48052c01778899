/**
 * The typesetting engine: Typst source in, PDF bytes out. It is the only file of the room that speaks to the
 * Typst compiler (a development dependency, so it is loaded when first asked for). Text enters pages as string
 * literals, never as markup: nothing is made curly, joined or interpreted, so what was asked for is what is
 * printed.
 */
import type { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";
import { MineruError } from "../error.ts";

export interface TypesetterOptions {
  /** Folders searched for fonts, besides those built into the engine. */
  readonly fontPaths?: readonly string[];
}

export interface Typesetter {
  /** Typesets a document. A mistake in `source` is a broken invariant of the caller. */
  pdf(source: string): Uint8Array;
  /** The values of all `metadata` elements labelled `label`, in document order, with the typeset PDF. */
  pdfWithMetadata(source: string, label: string): { pdf: Uint8Array; values: unknown[] };
  /** Which of `families` the engine can print. */
  availableFamilies(families: readonly string[]): string[];
}

/** Spells `text` as a Typst string literal. */
export function typstString(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** How many compilations the engine's memory of earlier results may span before it is dropped. */
const MEMO_AGE = 2;
/** The engine keeps about 0.4 MB of every document it prints (measured over 400); a new one every so often, 70 ms, frees them. */
const DOCUMENTS_PER_ENGINE = 50;

export async function openTypesetter(options: TypesetterOptions = {}): Promise<Typesetter> {
  let engine: typeof import("@myriaddreamin/typst-ts-node-compiler");
  try {
    engine = await import("@myriaddreamin/typst-ts-node-compiler");
  } catch (cause) {
    throw new MineruError(
      "runtime-unavailable",
      "synthetic documents need the typesetting engine: npm install --save-dev @myriaddreamin/typst-ts-node-compiler",
      { cause },
    );
  }
  const fontArgs = options.fontPaths?.length ? [{ fontPaths: [...options.fontPaths] }] : [];
  let compiler: NodeCompiler = engine.NodeCompiler.create({ fontArgs });
  let documents = 0;

  const compile = (source: string) => {
    if (++documents % DOCUMENTS_PER_ENGINE === 0) compiler = engine.NodeCompiler.create({ fontArgs });
    const result = compiler.compile({ mainFileContent: source });
    const document = result.result;
    if (!document) {
      const error = result.takeError();
      const detail = error ? JSON.stringify(compiler.fetchDiagnostics(error)) : "no diagnostics";
      throw new Error(`internal: the typesetting engine refused generated source: ${detail.slice(0, 2000)}`);
    }
    return { result, document };
  };
  const print = (document: Parameters<NodeCompiler["pdf"]>[0]): Uint8Array =>
    compiler.pdf(document, { pdfTags: false, creationTimestamp: 0 });

  return {
    pdf(source) {
      const { document } = compile(source);
      const bytes = print(document);
      compiler.evictCache(MEMO_AGE);
      return bytes;
    },
    pdfWithMetadata(source, label) {
      const { document } = compile(source);
      const values = compiler.query(document, { selector: `<${label}>`, field: "value" }) as unknown[];
      const bytes = print(document);
      compiler.evictCache(MEMO_AGE);
      return { pdf: bytes, values };
    },
    availableFamilies(families) {
      return families.filter((family) => {
        const { result } = compile(`#set text(font: ${typstString(family)})\n#text("a")`);
        return !result.takeWarnings();
      });
    },
  };
}
