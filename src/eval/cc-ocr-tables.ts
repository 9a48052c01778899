/**
 * The table subset of CC-OCR: a folder for each of its four sets (or one of them alone) with `label.json`, picture name to HTML, and
 * `images/`. Every picture is read as one table. A missing answer counts 0; the track's score is the mean of the sets.
 */
import { basename, join } from "node:path";
import { MineruError } from "../error.ts";
import { scoreCcOcrTable } from "../metrics/cc-ocr.ts";
import { type EvalItem, meanOf, type OpenBenchmark } from "./benchmark.ts";
import { isObject, namesIn, parseJson, picturesOf, textIfThere } from "./data-files.ts";

const LABELS = "label.json";

interface TableSet {
  readonly name: string;
  readonly folder: string;
  /** Picture name to HTML. */
  readonly labels: Readonly<Record<string, string>>;
}

async function setIn(folder: string): Promise<TableSet | null> {
  const path = join(folder, LABELS);
  const text = await textIfThere(path);
  if (text === null) return null;
  const labels = parseJson(text, path);
  if (!isObject(labels) || !Object.values(labels).every((html) => typeof html === "string"))
    throw new MineruError("data-invalid", `${path} expected picture names with HTML texts; fetch the data again`);
  return { name: basename(folder), folder, labels: labels as Record<string, string> };
}

async function setsIn(folder: string): Promise<TableSet[]> {
  const own = await setIn(folder);
  if (own) return [own];
  const found = await Promise.all(((await namesIn(folder)) ?? []).map((name) => setIn(join(folder, name))));
  const sets = found.filter((set) => set !== null);
  if (sets.length === 0) throw new MineruError("file-unreadable", `${folder} expected ${LABELS}, or folders that hold one; check --data`);
  return sets;
}

const idOf = (set: TableSet, image: string): string => `${set.name}/${image.replace(/\.[^.]*$/, "")}`;

export const openCcOcrTables: OpenBenchmark = async (folder) => {
  const sets = await setsIn(folder);
  return {
    name: "CC-OCR, tables",
    items: sets.flatMap((set) =>
      Object.keys(set.labels).map(
        (image): EvalItem => ({
          id: idOf(set, image),
          aliases: [`${idOf(set, image)}.html`],
          reading: { kind: "crop", task: "table" },
          pictures: () => picturesOf(join(set.folder, "images", image)),
        }),
      ),
    ),
    judge: async (answers, mode) => {
      const scored = sets.flatMap((set) =>
        Object.entries(set.labels)
          .map(([image, truth]) => ({ set, id: idOf(set, image), truth }))
          .filter(({ id }) => answers.has(id))
          .map(({ set, id, truth }) => {
            const answer = answers.get(id) ?? null;
            const score = (structureOnly: boolean) => (answer === null ? 0 : scoreCcOcrTable(answer, truth, { mode, structureOnly }));
            return { set, id, truth, teds: score(false), tedsS: score(true) };
          }),
      );
      const rows = sets
        .map((set) => ({ set, members: scored.filter((entry) => entry.set === set) }))
        .filter(({ members }) => members.length > 0)
        .map(({ set, members }) => ({
          name: set.name,
          count: members.length,
          values: [meanOf(members.map(({ teds }) => teds)), meanOf(members.map(({ tedsS }) => tedsS))],
        }));
      return {
        scores: [
          { name: "TEDS", value: meanOf(rows.map(({ values }) => values[0])), better: "higher" },
          { name: "TEDS-S", value: meanOf(rows.map(({ values }) => values[1])), better: "higher" },
        ],
        groups: [{ title: "By set", columns: ["TEDS", "TEDS-S"], rows }],
        cases: scored.map(({ id, truth, teds, tedsS }) => ({ id, score: teds, truth, details: { TEDS: teds, "TEDS-S": tedsS } })),
        notes: ["TEDS-S is not part of the official code"],
      };
    },
  };
};
