/**
 * The multipart form of MinerU's `/file_parse` and `/tasks`, field by field. Fields that choose among MinerU's engines are taken and have
 * no effect, since there is one model here; `server_url` above all, since no request makes this server open a connection.
 */
import { HttpFailure } from "./failure.ts";

export interface ParseForm {
  readonly files: readonly { readonly stem: string; readonly name: string; readonly bytes: Uint8Array }[];
  readonly backend: string;
  readonly formulas: boolean;
  readonly tables: boolean;
  readonly markdown: boolean;
  readonly middleJson: boolean;
  readonly modelOutput: boolean;
  readonly contentList: boolean;
  readonly images: boolean;
  readonly asZip: boolean;
  readonly originalFile: boolean;
  /** First and last page, from 0. */
  readonly pages: readonly [first: number, last: number];
}

const LONGEST_STEM_BYTES = 200;
const TRUE = new Set(["true", "1", "yes", "on", "t", "y"]);
const FALSE = new Set(["false", "0", "no", "off", "f", "n", ""]);

/** In the form that MinerU's clients look into: they tell by `body.files` which version they talk to. */
export class FormFailure extends HttpFailure {
  readonly detail: readonly { readonly type: string; readonly loc: readonly string[]; readonly msg: string }[];

  constructor(field: string, type: string, message: string) {
    super(422, "invalid-form", `\`${field}\` ${message}`);
    this.detail = [{ type, loc: ["body", field], msg: message }];
  }
}

/** A name that is safe as a folder and a file, whatever the client called its file. */
export function stemOf(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1)!;
  const stem = base
    .replace(/(.)\.[^.]*$/s, "$1")
    .replace(/[\p{Cc}\p{Cf}\ufffd:*?"<>|]/gu, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  let end = stem.length;
  while (Buffer.byteLength(stem.slice(0, end)) > LONGEST_STEM_BYTES) end--;
  return stem.slice(0, end).replace(/[\ud800-\udbff]$/, "") || "file";
}

/** Equal stems get `_2`, `_3`, … */
function distinct(stems: readonly string[]): string[] {
  const taken = new Set<string>();
  return stems.map((stem) => {
    let name = stem;
    for (let i = 2; taken.has(name); i++) name = `${stem}_${i}`;
    taken.add(name);
    return name;
  });
}

/**
 * Reads the body of a form.
 * @throws FormFailure (422) naming the field.
 */
export async function readParseForm(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<ParseForm> {
  if (!/^multipart\/form-data\b/i.test(contentType)) throw new FormFailure("files", "missing", "expected a multipart form with files");
  let form: FormData;
  try {
    form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  } catch (cause) {
    throw new HttpFailure(400, "invalid-form", `the body expected a multipart form: ${(cause as Error).message}`, { cause });
  }
  const files = [...form.getAll("files"), ...form.getAll("files[]")].filter((entry) => typeof entry !== "string");
  if (files.length === 0) throw new FormFailure("files", "missing", "expected at least one file");

  const text = (name: string): string | undefined => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : undefined;
  };
  const flag = (name: string, fallback: boolean): boolean => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (TRUE.has(value)) return true;
    if (FALSE.has(value)) return false;
    throw new FormFailure(name, "bool_parsing", `expected true or false, got ${value.slice(0, 40)}`);
  };
  const page = (name: string, fallback: number): number => {
    const value = text(name);
    if (value === undefined || value === "") return fallback;
    if (!/^\d{1,9}$/.test(value)) throw new FormFailure(name, "int_parsing", `expected a page from 0, got ${value.slice(0, 40)}`);
    return Number(value);
  };
  const pages = [page("start_page_id", 0), page("end_page_id", 99_999)] as const;
  if (pages[1] < pages[0]) throw new FormFailure("end_page_id", "value_error", `expected a page from ${pages[0]}, got ${pages[1]}`);
  const stems = distinct(files.map(({ name }) => stemOf(name)));
  const asZip = flag("response_format_zip", false);
  return {
    files: await Promise.all(
      files.map(async (file, i) => ({ stem: stems[i], name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })),
    ),
    backend: text("backend")?.slice(0, 64) || "vlm-engine",
    formulas: flag("formula_enable", true),
    tables: flag("table_enable", true),
    markdown: flag("return_md", true),
    middleJson: flag("return_middle_json", false),
    modelOutput: flag("return_model_output", false),
    contentList: flag("return_content_list", false),
    images: flag("return_images", false),
    asZip,
    originalFile: asZip && flag("return_original_file", false),
    pages,
  };
}
