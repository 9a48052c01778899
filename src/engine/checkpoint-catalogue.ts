/** The checkpoints of this machine – the embedded one and those of the hub's cache – and what each one is, told without loading weights. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { embeddedCheckpoint } from "../checkpoint/embedded.ts";
import { openCheckpoint } from "../checkpoint/folder.ts";
import { cacheFolder } from "../checkpoint/hub.ts";
import { MineruError } from "../error.ts";
import { parseReadingProfile } from "./reading-profile.ts";

/** What a checkpoint folder holds. */
export interface CheckpointDescription {
  readonly dir: string;
  /** Numbers in its tensors. */
  readonly parameters: number;
  /** Of its weight files. */
  readonly bytes: number;
  /** As stored: `float32`, `float16`, `bfloat16`, several divided by commas. */
  readonly precision: string;
  /** Whether it has learnt layout; otherwise pages are cut at their white space. */
  readonly detectsLayout: boolean;
}

/** A checkpoint of this machine. */
export interface FoundCheckpoint extends CheckpointDescription {
  /** `mini`, or the repository it came from, with its revision unless that is `main`. */
  readonly name: string;
  readonly where: "embedded" | "hub cache";
}

const precisions: Readonly<Record<string, string>> = { F32: "float32", F16: "float16", BF16: "bfloat16" };

/**
 * What a checkpoint folder holds.
 * @throws MineruError `checkpoint-missing`, `checkpoint-invalid`, `file-unreadable`
 */
export async function describeCheckpoint(dir: string): Promise<CheckpointDescription> {
  await using checkpoint = await openCheckpoint(dir);
  const tensors = [...checkpoint.tensors.values()];
  const files = [...new Set(tensors.map(({ file }) => file))];
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return {
    dir: checkpoint.dir,
    parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((product, edge) => product * edge, 1), 0),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    precision: [...new Set(tensors.map(({ dtype }) => precisions[dtype] ?? dtype))].sort().join(", "),
    detectsLayout: parseReadingProfile(checkpoint.preprocessor).detectsLayout,
  };
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Snapshot folders of the hub's cache with the names they go by. */
async function* cachedSnapshots(cache: string): AsyncGenerator<{ name: string; dir: string }> {
  for (const folder of (await namesIn(cache)).filter((name) => name.startsWith("models--")).sort()) {
    const repository = folder.slice("models--".length).replace("--", "/");
    const revisions = new Map<string, string>();
    for (const ref of await namesIn(join(cache, folder, "refs")))
      revisions.set((await readFile(join(cache, folder, "refs", ref), "utf8").catch(() => "")).trim(), ref);
    for (const commit of (await namesIn(join(cache, folder, "snapshots"))).sort()) {
      const revision = revisions.get(commit) ?? commit;
      yield { name: revision === "main" ? repository : `${repository}@${revision}`, dir: join(cache, folder, "snapshots", commit) };
    }
  }
}

/** The embedded checkpoint, if it is there, and what the hub's cache (`cache`, else as the environment says) holds of this architecture. */
export async function listCheckpoints(cache: string = cacheFolder()): Promise<FoundCheckpoint[]> {
  const found: FoundCheckpoint[] = [];
  const add = async (name: string, where: FoundCheckpoint["where"], dir: string): Promise<void> => {
    try {
      found.push({ name, where, ...(await describeCheckpoint(dir)) });
    } catch (error) {
      // The hub's cache is shared with programs that have models of other kinds.
      if (!(error instanceof MineruError)) throw error;
    }
  };
  await add(basename(embeddedCheckpoint()), "embedded", embeddedCheckpoint());
  for await (const { name, dir } of cachedSnapshots(cache)) await add(name, "hub cache", dir);
  return found;
}
