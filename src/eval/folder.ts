/**
 * A plain folder: pictures or PDFs, each with its text beside it (`x.png` and `x.txt`, `x.gt.txt`, `x.gold.txt` or `x.md`). Character and
 * word error rates, white space folded and Markdown's escapes undone, for each file and over all. Files without a text are left out; a missing answer counts as empty.
 */
import { join } from "node:path";
import { MineruError } from "../error.ts";
import { countEdits, wordErrorRate } from "../metrics/edit-distance.ts";
import { codePointLength, splitWords } from "../metrics/python-text.ts";
import type { EvalItem, OpenBenchmark, ScoredCase } from "./benchmark.ts";
import { namesBelow, PICTURE_ENDING, picturesOf, textOf } from "./data-files.ts";
import { plainText } from "./plain-text.ts";

const TEXT_ENDINGS = [".txt", ".gt.txt", ".gold.txt", ".md"];

export interface FileWithText {
  /** Path below the folder without ending. */
  readonly id: string;
  /** Path of the picture or PDF. */
  readonly path: string;
  readonly truth: string;
}

/** Pictures and PDFs below a folder that have a text. @throws MineruError `file-unreadable` if there are none, `data-invalid` */
export async function filesWithTexts(folder: string): Promise<FileWithText[]> {
  const names = await namesBelow(folder);
  const known = new Set(names);
  const files = names
    .filter((name) => PICTURE_ENDING.test(name) || /\.pdf$/i.test(name))
    .flatMap((file) => {
      const id = file.replace(/\.[^.]*$/, "");
      const text = TEXT_ENDINGS.map((ending) => id + ending).find((name) => known.has(name));
      return text === undefined ? [] : [{ file, id, text }];
    });
  if (files.length === 0)
    throw new MineruError(
      "file-unreadable",
      `${folder} expected pictures with texts beside them, such as page.png and page.txt; check the folder`,
    );
  const twice = files.find(({ id }, i) => files.findIndex((other) => other.id === id) !== i);
  if (twice) throw new MineruError("data-invalid", `${folder} expected one picture for ${twice.text}, got several; rename one`);
  return Promise.all(
    files.map(async ({ file, id, text }) => ({ id, path: join(folder, file), truth: plainText(await textOf(join(folder, text))) })),
  );
}

export const openFolder: OpenBenchmark = async (folder) => {
  const files = await filesWithTexts(folder);
  const truths = new Map(files.map(({ id, truth }) => [id, truth]));
  return {
    name: "folder",
    items: files.map(
      ({ id, path }): EvalItem => ({
        id,
        aliases: [`${id}.txt`],
        reading: { kind: "page" },
        pictures: () => picturesOf(path),
      }),
    ),
    judge: async (answers) => {
      const rows = [...answers].map(([id, answer]) => {
        const [pred, truth] = [plainText(answer ?? ""), truths.get(id)!];
        const words = splitWords(truth).length;
        const rate = wordErrorRate(pred, truth);
        return { id, truth, pred, edits: countEdits(pred, truth).distance, characters: codePointLength(truth), words, wer: rate };
      });
      const total = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((sum, row) => sum + pick(row), 0);
      const [characters, words] = [total((row) => row.characters), total((row) => row.words)];
      const cases = rows.map((row): ScoredCase => {
        const cer = row.characters > 0 ? row.edits / row.characters : row.pred === "" ? 0 : null;
        return {
          id: row.id,
          score: Math.max(0, 1 - (cer ?? 1)),
          truth: row.truth,
          details: { CER: cer, WER: row.wer, characters: row.characters },
        };
      });
      return {
        scores: [
          { name: "character error rate", value: characters > 0 ? total((row) => row.edits) / characters : null, better: "lower" },
          {
            name: "word error rate",
            value: words > 0 ? total((row) => Math.round((row.wer ?? 0) * row.words)) / words : null,
            better: "lower",
          },
        ],
        groups: [
          {
            title: "By file",
            columns: ["CER", "WER"],
            rows: rows.map((row, i) => ({ name: row.id, count: row.characters, values: [cases[i].details.CER as number | null, row.wer] })),
          },
        ],
        cases,
        notes: ["rates over all files are edits / characters (words) of the truth; counts are characters"],
      };
    },
  };
};
