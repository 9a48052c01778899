/**
 * A user's samples: pictures with their answers, from a folder where each picture has a text beside it (`a.png` and `a.txt`; `a.otsl` for a
 * table, `a.tex` for a formula) or from a manifest of JSON lines `{"image": "a.png", "task": "text", "answer": "…"}`, paths being relative
 * to it. What is wrong is told with file and line before anything is computed. It refuses to know what samples are used for.
 */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { parseLayout } from "../document/layout-text.ts";
import { htmlToOtsl, parseOtsl } from "../document/otsl.ts";
import { MineruError } from "../error.ts";
import { type TaskName, taskNames } from "../text/prompts.ts";

/** A picture with its answer. */
export interface OwnSample {
  readonly task: TaskName;
  /** Path of the picture. */
  readonly image: string;
  /** As the model is to write it: tables as OTSL. */
  readonly answer: string;
  /** Where the answer stands, for whoever must mend it: a file, with its line if it is a manifest. */
  readonly source: string;
}

export const MANIFEST = "manifest.jsonl";
const PICTURE = /\.(png|jpe?g|webp|tiff?|gif|bmp)$/i;
const ANSWER_FILES: readonly (readonly [ending: string, task: TaskName])[] = [
  [".txt", "text"],
  [".gt.txt", "text"],
  [".otsl", "table"],
  [".tex", "formula"],
];

const invalid = (source: string, message: string, cause?: unknown): MineruError =>
  new MineruError("data-invalid", `${source}: ${message}`, { cause });

async function readLines(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new MineruError("file-unreadable", `${path}: expected a readable file`, { cause });
  }
}

/** The answer in the model's own form, or what is wrong with it. */
function checkedAnswer(task: TaskName, answer: string, source: string): string {
  const text = answer.replace(/\r\n?/g, "\n").replace(/\s+$/, "");
  if (text.trim() === "") throw invalid(source, "expected an answer, got none");
  if (/<\|(?!box_|ref_|rotate_|txt_contd)[^|]*\|>/.test(text))
    throw invalid(source, "expected an answer without the model's special tokens");
  if (task === "table") {
    const otsl = text.trimStart().startsWith("<table") ? htmlToOtsl(text) : text;
    if (!otsl.includes("<nl>") || parseOtsl(otsl).length === 0) throw invalid(source, "expected a table as OTSL or as an HTML <table>");
    return otsl;
  }
  if (task === "layout") {
    const { regions, warnings } = parseLayout(text, { width: 1000, height: 1000 });
    if (regions.length === 0 || warnings.length > 0) {
      throw invalid(source, `expected a layout answer, a line for each region${warnings[0] ? `; ${warnings[0].message}` : ""}`);
    }
  }
  return text;
}

function manifestSample(line: string, source: string, folder: string): OwnSample {
  let entry: { image?: unknown; task?: unknown; answer?: unknown } | null;
  try {
    entry = JSON.parse(line);
  } catch (cause) {
    throw invalid(source, `expected a JSON object, got ${line.slice(0, 60)}`, cause);
  }
  const { image, task = "text", answer } = entry ?? {};
  if (typeof image !== "string" || image === "")
    throw invalid(source, `\`image\` expected the path of a picture, got ${JSON.stringify(image)}`);
  if (!(taskNames as readonly unknown[]).includes(task)) {
    throw invalid(source, `\`task\` expected one of ${taskNames.join(", ")}, got ${JSON.stringify(task)}`);
  }
  if (typeof answer !== "string") throw invalid(source, `\`answer\` expected a text, got ${JSON.stringify(answer)}`);
  const path = isAbsolute(image) ? image : join(folder, image);
  if (!existsSync(path)) throw invalid(source, `\`image\` expected a file that exists, got ${path}`);
  return { task: task as TaskName, image: path, answer: checkedAnswer(task as TaskName, answer, source), source };
}

async function readManifest(path: string): Promise<OwnSample[]> {
  const lines = (await readLines(path)).split("\n");
  return lines.flatMap((line, i) => (line.trim() === "" ? [] : [manifestSample(line, `${path}:${i + 1}`, dirname(path))]));
}

async function readPairs(folder: string): Promise<OwnSample[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const known = new Set(names);
  return Promise.all(
    names
      .filter((name) => PICTURE.test(name))
      .map(async (name) => {
        const stem = name.replace(PICTURE, "");
        const [found, another] = ANSWER_FILES.filter(([ending]) => known.has(stem + ending));
        const expected = ANSWER_FILES.map(([ending]) => stem + ending).join(", ");
        if (!found) throw invalid(join(folder, name), `expected its answer beside it in one of ${expected}, got none`);
        if (another) throw invalid(join(folder, name), `expected one answer, got ${stem}${found[0]} and ${stem}${another[0]}`);
        const source = join(folder, stem + found[0]);
        return { task: found[1], image: join(folder, name), answer: checkedAnswer(found[1], await readLines(source), source), source };
      }),
  );
}

/**
 * The samples at `path`: a manifest, a folder that holds `manifest.jsonl`, or a folder of pictures with texts; in the order of their names
 * or lines.
 * @throws MineruError `file-unreadable` if there is nothing of these, `data-invalid` naming file and line of what is wrong
 */
export async function readOwnSamples(path: string): Promise<OwnSample[]> {
  const kind = await stat(path).catch(() => null);
  if (!kind) throw new MineruError("file-unreadable", `${path}: expected a folder of pictures and texts, or a manifest; got no such file`);
  const manifest = kind.isDirectory() ? join(path, MANIFEST) : path;
  const samples = kind.isDirectory() && !existsSync(manifest) ? await readPairs(path) : await readManifest(manifest);
  if (samples.length === 0) throw invalid(path, "expected pictures with their answers, got none");
  return samples;
}
