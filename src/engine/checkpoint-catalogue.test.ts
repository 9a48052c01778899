import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tinyFolder } from "../../test/tiny.ts";
import { embeddedCheckpoint } from "../checkpoint/embedded.ts";
import { describeCheckpoint, listCheckpoints } from "./checkpoint-catalogue.ts";

test("says what a folder holds", async () => {
  const mini = await describeCheckpoint(embeddedCheckpoint());
  expect(mini.parameters).toBeGreaterThan(1e6);
  expect(mini.bytes).toBeGreaterThan(mini.parameters * 2);
  await expect(describeCheckpoint("/nowhere")).rejects.toMatchObject({ code: "checkpoint-missing" });
});

test("lists what the hub's cache holds of this architecture, by repository and revision", async () => {
  const cache = await mkdtemp(join(tmpdir(), "mineru-catalogue-"));
  const repository = join(cache, "models--someone--reader");
  const [commit, other] = ["a".repeat(40), "b".repeat(40)];
  await mkdir(join(repository, "refs"), { recursive: true });
  await writeFile(join(repository, "refs", "main"), commit);
  for (const snapshot of [commit, other]) await cp(tinyFolder(), join(repository, "snapshots", snapshot), { recursive: true });
  await mkdir(join(cache, "models--someone--else", "snapshots", commit), { recursive: true });
  await writeFile(join(cache, "models--someone--else", "snapshots", commit, "config.json"), '{"model_type":"other"}');
  const found = await listCheckpoints(cache);
  expect(found.map(({ name, where }) => [name, where])).toEqual([
    ["mini", "embedded"],
    ["someone/reader", "hub cache"],
    [`someone/reader@${other}`, "hub cache"],
  ]);
  await rm(cache, { recursive: true });
});
