/**
 * Answers on disk: `<id>.md` is what was read, `<id>.json` how. The answer is written last and in one move, so a run that was stopped goes
 * on where it ended, and any folder of Markdown files can be scored. Refuses to know what an answer is worth.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MineruError } from "../error.ts";
import type { EvalItem } from "./benchmark.ts";
import { isObject, parseJson, textIfThere } from "./data-files.ts";

/** How an answer came about. */
export interface ReadingFacts {
  /** Mean probability of the committed tokens; `null` where the model does not tell. */
  readonly confidence: number | null;
  /** Wall time; for crops read side by side, the waiting for each other included. */
  readonly milliseconds: number;
  readonly tokens: number;
  readonly forwards: number;
  /** Why there is no answer. */
  readonly failure?: string;
}

export interface Prediction {
  readonly text: string;
  /** `null` for answers that came from elsewhere. */
  readonly facts: ReadingFacts | null;
}

const RUN_FILE = "run.json";

async function write(path: string, content: string): Promise<void> {
  const building = `${path}.${randomUUID()}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(building, content);
    await rename(building, path);
  } catch (cause) {
    throw new MineruError("output-unwritable", `cannot write ${path}: ${(cause as Error).message}; check the folder and the free space`, {
      cause,
    });
  }
}

export class PredictionFolder {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Notes with which settings the answers of this folder are read.
   * @throws MineruError `data-invalid` if it already holds answers of other settings
   */
  async claim(settings: unknown): Promise<void> {
    const path = join(this.folder, RUN_FILE);
    const wanted = `${JSON.stringify(settings, null, 2)}\n`;
    const found = await textIfThere(path);
    if (found !== null && found !== wanted)
      throw new MineruError("data-invalid", `${path} tells of answers read with other settings; choose another output folder or remove it`);
    if (found === null) await write(path, wanted);
  }

  /** The answer for an item, `null` if there is none. */
  async get({ id, aliases = [] }: EvalItem): Promise<Prediction | null> {
    for (const name of [`${id}.md`, ...aliases]) {
      const text = await textIfThere(join(this.folder, name));
      if (text === null) continue;
      const path = join(this.folder, `${id}.json`);
      const facts = await textIfThere(path);
      if (facts === null) return { text, facts: null };
      const parsed = parseJson(facts, path);
      return { text, facts: isObject(parsed) ? (parsed as unknown as ReadingFacts) : null };
    }
    return null;
  }

  async put(id: string, { text, facts }: Prediction): Promise<void> {
    await write(join(this.folder, `${id}.json`), `${JSON.stringify(facts)}\n`);
    await write(join(this.folder, `${id}.md`), text);
  }
}
