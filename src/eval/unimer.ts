/**
 * UniMER-Test: `spe.txt`, `cpe.txt`, `sce.txt`, `hwe.txt` with one formula a line, and beside each a folder of pictures `0000000.png`,
 * numbered by line. Lines that are blank or have no picture are passed over, as in the official script. CDM in UniMERNet's variant; a
 * missing answer counts as an empty one.
 */
import { join } from "node:path";
import { MineruError } from "../error.ts";
import { scoreUnimer } from "../metrics/unimer.ts";
import { type EvalItem, meanOf, type OpenBenchmark } from "./benchmark.ts";
import { namesIn, picturesOf, textIfThere } from "./data-files.ts";
import { scoreFormulas } from "./formula-scores.ts";

const SUBSETS = { spe: "simple printed", cpe: "complex printed", sce: "screen-captured", hwe: "handwritten" } as const;

interface Formula {
  readonly subset: keyof typeof SUBSETS;
  readonly id: string;
  readonly image: string;
  readonly truth: string;
}

async function formulasOf(folder: string, subset: Formula["subset"]): Promise<Formula[]> {
  const lines = (await textIfThere(join(folder, `${subset}.txt`)))?.split(/\r?\n/) ?? [];
  const pictures = new Set(await namesIn(join(folder, subset)));
  return lines
    .map((truth, index) => ({ truth: truth.trim(), name: String(index).padStart(7, "0") }))
    .filter(({ truth, name }) => truth !== "" && pictures.has(`${name}.png`))
    .map(({ truth, name }) => ({ subset, id: `${subset}/${name}`, image: join(folder, subset, `${name}.png`), truth }));
}

export const openUnimer: OpenBenchmark = async (folder) => {
  const subsets = Object.keys(SUBSETS) as Formula["subset"][];
  const formulas = (await Promise.all(subsets.map((subset) => formulasOf(folder, subset)))).flat();
  if (formulas.length === 0)
    throw new MineruError("file-unreadable", `${folder} expected spe.txt and spe/0000000.png, or another subset; check --data`);
  return {
    name: "UniMER-Test",
    items: formulas.map(
      ({ id, image }): EvalItem => ({
        id,
        aliases: [`${id}.tex`, `${id}.txt`],
        reading: { kind: "crop", task: "formula" },
        pictures: () => picturesOf(image),
      }),
    ),
    judge: async (answers, mode) => {
      const asked = formulas.filter(({ id }) => answers.has(id));
      const pairs = asked.map(({ id, truth }) => ({ pred: answers.get(id) ?? "", truth }));
      const { f1, notes } = await scoreFormulas(pairs, "unimer2509", mode);
      const isExact = (value: number | null) => (value === null ? null : Number(value === 1));
      const rows = subsets
        .map((subset) => ({ subset, at: asked.flatMap((formula, i) => (formula.subset === subset ? [i] : [])) }))
        .filter(({ at }) => at.length > 0)
        .map(({ subset, at }) => {
          const own = scoreUnimer(
            at.map((i) => pairs[i]),
            mode,
          );
          const cdm = at.map((i) => f1[i]);
          return {
            name: `${subset.toUpperCase()}, ${SUBSETS[subset]}`,
            count: at.length,
            values: [meanOf(cdm), meanOf(cdm.map(isExact)), own.edit, own.bleu],
          };
        });
      const column = (index: number) => meanOf(rows.map(({ values }) => values[index]));
      return {
        scores: [
          { name: "CDM, mean of the subsets", value: column(0), better: "higher" },
          { name: "share with CDM 1", value: column(1), better: "higher" },
          { name: "edit distance", value: column(2), better: "lower" },
          { name: "BLEU", value: column(3), better: "higher" },
        ],
        groups: [{ title: "By subset", columns: ["CDM", "share with CDM 1", "edit distance", "BLEU"], rows }],
        cases: asked.map(({ id, truth }, i) => {
          const { edit } = scoreUnimer([pairs[i]], mode);
          return { id, score: f1[i] ?? 1 - edit, truth, details: { CDM: f1[i], "edit distance": edit } };
        }),
        notes,
      };
    },
  };
};
