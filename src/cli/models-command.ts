/** `models`: the checkpoints that are here – the embedded one and those in the hub's cache – and fetching more of them. */
import type { Command } from "commander";
import { downloadCheckpoint, embeddedCheckpoint, type HubSource, listCheckpoints } from "../index.ts";
import { oneOf } from "./arguments.ts";
import { UsageError } from "./errors.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function list({ json }: { readonly json?: boolean }): Promise<number> {
  const checkpoints = await listCheckpoints();
  if (json) {
    print(JSON.stringify(checkpoints, null, 2));
    return 0;
  }
  for (const { name, where, dir, parameters, bytes, precision, detectsLayout } of checkpoints) {
    const layout = detectsLayout ? "detects layout" : "pages are cut at their white space";
    print(
      `${name}  (${where}) ${(parameters / 1e6).toFixed(1)} M parameters, ${precision}, ${(bytes / 1e6).toFixed(1)} MB, ${layout}\n  ${dir}`,
    );
  }
  return 0;
}

async function pathOf(name: string | undefined): Promise<number> {
  if (name === undefined) {
    print(embeddedCheckpoint());
    return 0;
  }
  const checkpoints = await listCheckpoints();
  const found = checkpoints.find((checkpoint) => checkpoint.name === name);
  if (!found) throw new UsageError(`expected one of ${checkpoints.map((entry) => entry.name).join(", ")}, got ${name}`);
  print(found.dir);
  return 0;
}

async function fetchModel(
  repo: string,
  { source, revision, quiet }: { readonly source?: HubSource; readonly revision?: string; readonly quiet?: boolean },
  signal: AbortSignal,
): Promise<number> {
  let told = 0;
  const dir = await downloadCheckpoint(repo, {
    source,
    revision,
    signal,
    onProgress: ({ file, bytes, totalBytes }) => {
      const percent = totalBytes === 0 ? 100 : Math.floor((100 * bytes) / totalBytes);
      if (quiet || (percent < told + 5 && percent < 100)) return;
      told = percent;
      process.stderr.write(`${percent} % of ${(totalBytes / 1e6).toFixed(1)} MB (${file})\n`);
    },
  });
  print(dir);
  return 0;
}

/** Adds the commands. The exit code goes to `done`. */
export function addModelsCommand(program: Command, signal: AbortSignal, done: (exitCode: number) => void): void {
  const models = program.command("models").description("checkpoints that are here, and fetching more");
  models
    .command("list")
    .description("the embedded checkpoint and those in the hub's cache, with size and place")
    .option("--json", "as JSON")
    .action(async (flags) => done(await list(flags)));
  models
    .command("path")
    .description("where a checkpoint lies, for --model; the embedded one if no name is given")
    .argument("[name]", "as models list tells it")
    .action(async (name: string | undefined) => done(await pathOf(name)));
  models
    .command("fetch")
    .description("downloads a checkpoint into the hub's cache ($HF_HOME) and prints its folder")
    .argument("<repository>", "owner/name")
    .option("--source <hub>", "huggingface or modelscope", oneOf("huggingface", "modelscope"))
    .option("--revision <name>", "branch, tag or commit")
    .option("-q, --quiet", "no progress")
    .action(async (repo: string, flags) => done(await fetchModel(repo, flags, signal)));
}
