/**
 * The guides, run as a reader would: the blocks marked `run` of each page are one shell session in a folder of its own, into which the built
 * package is linked and some scans are laid. Every line of a `text` block stands in the output of the block before it; `…` is anything.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { postgresPrograms, startPostgres } from "./postgres.ts";

const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
const guides = (await readdir(join(root, "docs/guides"))).filter((name) => name.endsWith(".md")).sort();

interface Block {
  readonly language: string;
  readonly info: string;
  readonly code: string;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, language, info, code]) => ({
    language,
    info: info.trim(),
    code,
  }));
}

/** A port nobody has: several guides may run at once. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** A reader's folder: the package in node_modules, a scan, a folder of scans, lines of print with their texts. */
async function readersFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "mineru-guide-"));
  const samples = join(root, "test/samples");
  const links = {
    "mineru-diffusion": root,
    ".bin/mineru-diffusion": `${root}/dist/cli/main.js`,
    ".bin/tsx": `${root}/node_modules/.bin/tsx`,
  };
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, "node_modules", name));
  await chmod(join(root, "dist/cli/main.js"), 0o755);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  await copyFile(join(samples, "testocr.png"), join(folder, "scan.png"));
  await mkdir(join(folder, "scans"));
  await copyFile(join(samples, "phototest.tif"), join(folder, "scans/phototest.tif"));
  await copyFile(join(samples, "ocr_test.pdf"), join(folder, "scans/letter.pdf"));
  await mkdir(join(folder, "lines"));
  for (const name of ["png", "txt"]) await copyFile(join(samples, `testocr.${name}`), join(folder, `lines/1.${name}`));
  return {
    folder,
    async remove() {
      for (const name of Object.keys(links)) await unlink(join(folder, "node_modules", name));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const SEPARATOR = "=== the next block ===";

/** The blocks as one script; what each printed. */
async function session(blocks: readonly Block[], folder: string, env: Record<string, string>): Promise<string[]> {
  const port = String(await freePort());
  const steps: string[] = [];
  for (const { language, info, code } of blocks) {
    if (language === "ts") {
      const name = info.split(" ")[1] ?? "snippet.ts";
      await writeFile(join(folder, name), code);
      steps.push(`npx tsx ${name}`);
    } else steps.push(code.replaceAll("8000", port));
  }
  const script = `set -eo pipefail\n${steps.join(`\necho '${SEPARATOR}'\n`)}`;
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, npm_config_update_notifier: "false", ...env },
  });
  let [stdout, all] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    all += chunk;
  });
  child.stderr.on("data", (chunk) => {
    all += chunk;
  });
  const closed = once(child, "close");
  const [code] = await once(child, "exit");
  // Servers that the session left in the background.
  try {
    process.kill(-child.pid!, "SIGTERM");
  } catch {
    // It left none.
  }
  await closed;
  expect([code, all]).toEqual([0, all]);
  return stdout.split(`${SEPARATOR}\n`);
}

const asPattern = (line: string): RegExp =>
  new RegExp(
    line
      .split("…")
      .map((part) =>
        part
          .trim()
          .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
          .replace(/\s+/g, "\\s+"),
      )
      .join("[\\s\\S]*"),
  );

test("there is a guide for each of a reader's questions", () => {
  expect(guides).toEqual([
    "a-folder.md",
    "browser.md",
    "first-page.md",
    "queue.md",
    "server.md",
    "your-own-model.md",
    "your-own-training.md",
  ]);
});

describe("guides", () => {
  const programs = postgresPrograms();
  for (const guide of guides) {
    const needsDatabase = guide === "queue.md";
    const skipped = needsDatabase && programs === null;
    test.skipIf(skipped)(
      `${guide}${skipped ? " (no PostgreSQL here: apt-get install postgresql)" : ""}`,
      { timeout: 600_000 },
      async () => {
        const blocks = blocksOf(await readFile(join(root, "docs/guides", guide), "utf8"));
        const run = blocks.filter(({ info }) => info.split(" ")[0] === "run");
        expect(run.length).toBeGreaterThan(0);
        const { folder, remove } = await readersFolder();
        await using postgres = needsDatabase ? await startPostgres(programs!) : null;
        const env: Record<string, string> = postgres ? { MINERU_DIFFUSION_DATABASE: await postgres.createDatabase() } : {};
        try {
          const outputs = await session(run, folder, env);
          expect(outputs).toHaveLength(run.length);
          run.forEach((block, i) => {
            const next = blocks[blocks.indexOf(block) + 1];
            if (next?.language !== "text") return;
            for (const line of next.code.split("\n").filter(Boolean)) expect(outputs[i]).toMatch(asPattern(line));
          });
        } finally {
          await remove();
        }
      },
    );
  }
});
