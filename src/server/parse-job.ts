/**
 * Uploaded files become what MinerU's clients unpack: per file Markdown, content list, middle JSON, model output and pictures, in one JSON
 * object or one ZIP archive. Pages are read one after the other; their pixels are forgotten as soon as they are read.
 */
import { extname } from "node:path";
import {
  assemble,
  documentToMiddleJson,
  type ParsedPage,
  type Parser,
  parseOtsl,
  tableToHtml,
  writeContentList,
  writeMarkdown,
  type ZipEntry,
  zip,
} from "../index.ts";
import { HttpFailure } from "./failure.ts";
import type { ParseForm } from "./parse-form.ts";

/** What one file gave. Texts are the contents of files as MinerU writes them. */
export interface FileResult {
  readonly stem: string;
  readonly markdown?: string;
  readonly contentList?: string;
  readonly middleJson?: string;
  readonly modelOutput?: string;
  /** PNG files by their name below `images/`. */
  readonly images: ReadonlyMap<string, Uint8Array>;
}

export interface JobContext {
  readonly parser: Parser;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onPage?: () => void;
}

/** Folder below a file's own in an archive: MinerU's name for this kind of engine. */
const METHOD = "vlm";

type File = ParseForm["files"][number];

function pagesWithin(pageCount: number, [first, last]: ParseForm["pages"]): number[] {
  if (first >= pageCount) throw new HttpFailure(400, "no-such-page", `\`start_page_id\` expected a page below ${pageCount}, got ${first}`);
  return Array.from({ length: Math.min(last, pageCount - 1) - first + 1 }, (_, i) => first + i);
}

/** Regions as the model told them, boxes in parts of one. */
function modelOutput(pages: readonly ParsedPage[]) {
  return pages.map(({ regions }) =>
    regions.map(({ class: type, box, angle, content, mergePrev }) => ({
      type,
      bbox: box.map((edge) => edge / 1000),
      angle,
      content:
        content.kind === "text"
          ? content.text
          : content.kind === "table"
            ? tableToHtml(parseOtsl(content.otsl))
            : content.kind === "formula"
              ? content.latex
              : null,
      ...(mergePrev ? { merge_prev: true } : {}),
    })),
  );
}

async function parseFile(file: File, form: ParseForm, { parser, version, signal, onPage }: JobContext): Promise<FileResult> {
  const pages: ParsedPage[] = [];
  const images = new Map<string, Uint8Array>();
  for await (const { page, crops } of parser.parse(file.bytes, {
    choosePages: (pageCount) => pagesWithin(pageCount, form.pages),
    signal,
    readFormulas: form.formulas,
    readTables: form.tables,
  })) {
    pages.push(page);
    if (form.images) for (const [path, crop] of crops) images.set(path.replace(/^images\//, ""), await parser.encodePng(crop));
    onPage?.();
  }
  const options = { unwrap: parser.recognizer.info.profile.printedLineBreaks };
  const blocks = assemble(pages, options);
  return {
    stem: file.stem,
    images,
    ...(form.markdown ? { markdown: writeMarkdown(blocks) } : {}),
    ...(form.contentList ? { contentList: JSON.stringify(writeContentList(blocks), null, 4) } : {}),
    ...(form.middleJson ? { middleJson: JSON.stringify(documentToMiddleJson(pages, version, options)) } : {}),
    ...(form.modelOutput ? { modelOutput: JSON.stringify(modelOutput(pages)) } : {}),
  };
}

/** Parses the files of a form, one after the other. Errors as the library's; the signal's reason. */
export async function runParseJob(form: ParseForm, context: JobContext): Promise<FileResult[]> {
  const results: FileResult[] = [];
  for (const file of form.files) {
    context.signal.throwIfAborted();
    results.push(await parseFile(file, form, context));
  }
  return results;
}

/** The `results` object of MinerU's JSON answers: stem → contents. */
export function resultsJson(results: readonly FileResult[], form: ParseForm): Record<string, unknown> {
  const dataUri = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
  return Object.fromEntries(
    results.map(({ stem, markdown, middleJson, modelOutput, contentList, images }) => [
      stem,
      {
        ...(form.markdown ? { md_content: markdown } : {}),
        ...(form.middleJson ? { middle_json: middleJson } : {}),
        ...(form.modelOutput ? { model_output: modelOutput } : {}),
        ...(form.contentList ? { content_list: contentList } : {}),
        ...(form.images ? { images: Object.fromEntries([...images].map(([name, bytes]) => [name, dataUri(bytes)])) } : {}),
      },
    ]),
  );
}

/** The archive: `<stem>/vlm/<stem>.md` and so on. */
export async function resultsZip(results: readonly FileResult[], form: ParseForm): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const entries: ZipEntry[] = [];
  results.forEach(({ stem, markdown, middleJson, modelOutput, contentList, images }, i) => {
    const folder = `${stem}/${METHOD}`;
    const add = (name: string, content: string | Uint8Array | undefined): void => {
      if (content !== undefined)
        entries.push({ path: `${folder}/${name}`, bytes: typeof content === "string" ? encoder.encode(content) : content });
    };
    add(`${stem}.md`, markdown);
    add(`${stem}_content_list.json`, contentList);
    add(`${stem}_middle.json`, middleJson);
    add(`${stem}_model.json`, modelOutput);
    for (const [name, bytes] of images) add(`images/${name}`, bytes);
    const { name, bytes } = form.files[i];
    if (form.originalFile) add(`${stem}_origin${extname(name).replace(/[^.\w]/g, "")}`, bytes);
  });
  return zip(entries);
}
