/**
 * `doctor`: whether this machine can read pages, tried and not assumed: what is here, what is missing, and how to mend it. Nothing is
 * changed; files it tries to write are removed.
 */
import { access, constants, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, availableParallelism, cpus, freemem, platform, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { describeCheckpoint, embeddedCheckpoint, hubCacheFolder, load, openSource, weightCacheFolder } from "../index.ts";
import { loadOptionsOf, type ModelFlags } from "./arguments.ts";
import { version } from "./version.ts";

interface Finding {
  readonly name: string;
  /** `failed`: pages cannot be read. `warning`: they can, but something is slower or missing. */
  readonly state: "ok" | "warning" | "failed";
  readonly found: string;
  /** How to mend it. */
  readonly cure?: string;
}

type Check = (flags: ModelFlags) => Promise<Omit<Finding, "name">>;

const OLDEST_NODE = [20, 19] as const;
const LEAST_FREE_BYTES = 1024 ** 3;
/** What ONNX Runtime's kernels make use of, the weakest first. */
const CPU_FEATURES = ["avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "asimddp", "i8mm"];

const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One page of nothing: enough for PDFium to be loaded and asked. */
const EMPTY_PDF =
  "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";

async function cpuFeatures(): Promise<string[]> {
  const text = await readFile("/proc/cpuinfo", "utf8").catch(() => "");
  const flags = new Set((/^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1] ?? "").split(" "));
  return CPU_FEATURES.filter((feature) => flags.has(feature));
}

async function canWrite(folder: string): Promise<Omit<Finding, "name">> {
  try {
    await rm(await mkdtemp(join(folder, ".mineru-diffusion-doctor-")), { recursive: true });
    return { state: "ok", found: `${folder} can be written` };
  } catch (error) {
    return { state: "warning", found: messageOf(error), cure: "change to a folder that can be written, or give parse one with -o" };
  }
}

/** In order: later ones need the earlier ones. */
const checks: Readonly<Record<string, Check>> = {
  node: async () => {
    const [major, minor] = process.versions.node.split(".").map(Number);
    const fits = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
    const found = `Node ${process.versions.node} on ${platform()} ${release()}, ${arch()}`;
    return fits ? { state: "ok", found } : { state: "failed", found, cure: `install Node ${OLDEST_NODE.join(".")} or newer` };
  },
  processor: async () => {
    const features = await cpuFeatures();
    const found = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "unknown"}${features.length > 0 ? ` (${features.join(", ")})` : ""}`;
    if (arch() === "x64" && features.length > 0 && !features.includes("avx2"))
      return { state: "warning", found, cure: "without AVX2 reading is several times slower; use another machine for many pages" };
    return { state: "ok", found };
  },
  memory: async () => {
    const found = `${gigabytes(freemem())} free of ${gigabytes(totalmem())}`;
    return freemem() >= LEAST_FREE_BYTES
      ? { state: "ok", found }
      : { state: "warning", found, cure: "close other programs, or choose --precision int8" };
  },
  checkpoint: async ({ model = embeddedCheckpoint() }) => {
    try {
      const { parameters, bytes, precision, detectsLayout } = await describeCheckpoint(model);
      const found = `${model}: ${(parameters / 1e6).toFixed(1)} million parameters in ${precision}, ${(bytes / 1e6).toFixed(1)} MB, ${detectsLayout ? "detects layout" : "reads text, pages are cut at their white space"}`;
      return { state: "ok", found };
    } catch (error) {
      return { state: "failed", found: messageOf(error), cure: "install the package again, or name a checkpoint folder with --model" };
    }
  },
  runtime: async (flags) => {
    const runtime = `onnxruntime-node ${createRequire(import.meta.url)("onnxruntime-node/package.json").version}`;
    try {
      const began = performance.now();
      await using parser = await load({ device: "auto", ...loadOptionsOf(flags), onWarning: () => {} });
      const loaded = performance.now();
      const image = { width: 112, height: 28, data: new Uint8Array(112 * 28 * 3).fill(255) };
      await parser.recognize([{ task: "text", image, decoding: { maxTokens: 8 } }]);
      const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1);
      const { info } = parser.recognizer;
      const device = "device" in info ? (info.device as { device: string; refused: readonly { device: string; reason: string }[] }) : null;
      const refused = device?.refused.map((entry) => `${entry.device}: ${entry.reason.split("\n")[0].slice(0, 120)}`).join("; ");
      const found = `${runtime}, computes on ${device?.device ?? "a server"}; loaded in ${((loaded - began) / 1000).toFixed(1)} s, answered in ${seconds(loaded)} s`;
      return { state: "ok", found: refused ? `${found} (not on ${refused})` : found };
    } catch (error) {
      return { state: "failed", found: `${runtime}: ${messageOf(error)}`, cure: "npm rebuild onnxruntime-node, or choose --device cpu" };
    }
  },
  pdf: async () => {
    try {
      await using source = await openSource(new TextEncoder().encode(EMPTY_PDF));
      const { width, height } = await source.page(0);
      return { state: "ok", found: `PDFium renders (${width} × ${height} pixels of an empty page)` };
    } catch (error) {
      return { state: "failed", found: messageOf(error), cure: "npm install again: @embedpdf/pdfium is damaged" };
    }
  },
  folder: () => canWrite(process.cwd()),
  temporary: () => canWrite(tmpdir()),
  caches: async () => ({ state: "ok", found: `packed weights in ${weightCacheFolder()}, downloaded checkpoints in ${hubCacheFolder()}` }),
  page: async () => {
    const page = new URL("../web/index.html", import.meta.url).pathname;
    const found = await access(page, constants.R_OK).then(
      () => true,
      () => false,
    );
    return found
      ? { state: "ok", found: `the browser page is at ${page}` }
      : { state: "warning", found: "the browser page is not built", cure: "npm run build:web (only needed for reading in the browser)" };
  },
};

async function doctor(flags: ModelFlags & { readonly json?: boolean }): Promise<number> {
  const findings: Finding[] = [];
  const width = Math.max(...Object.keys(checks).map((name) => name.length));
  for (const [name, check] of Object.entries(checks)) {
    const finding = { name, ...(await check(flags)) };
    findings.push(finding);
    if (flags.json) continue;
    process.stdout.write(`${finding.state.padEnd(7)}  ${name.padEnd(width)}  ${finding.found}\n`);
    if (finding.cure) process.stdout.write(`${" ".repeat(11 + width)}→ ${finding.cure}\n`);
  }
  const failed = findings.filter(({ state }) => state === "failed").length;
  if (flags.json) process.stdout.write(`${JSON.stringify({ version, ok: failed === 0, findings }, null, 2)}\n`);
  else process.stdout.write(failed === 0 ? "pages can be read\n" : `${failed} things keep pages from being read\n`);
  return failed === 0 ? 0 : 1;
}

/** Adds the command. `withModel` adds its flags; the exit code goes to `done`. */
export function addDoctorCommand(program: Command, withModel: (command: Command) => Command, done: (exitCode: number) => void): void {
  withModel(program.command("doctor").description("what this machine has for reading, what is missing and how to mend it"))
    .option("--json", "as JSON")
    .action(async (flags) => done(await doctor(flags)));
}
