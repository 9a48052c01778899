import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openPdf } from "../src/image/pdf.ts";
import { pdfFile, pngFile } from "./document-files.ts";
import { fakeAnswers } from "./fake-recognizer.ts";
import { listeningServer } from "./fake-server.ts";
import { runCli } from "./run-cli.ts";

// Every test starts processes of its own, which a busy machine makes wait.
vi.setConfig({ testTimeout: 400_000 });

const schema = JSON.parse(readFileSync(new URL("../schema/report.schema.json", import.meta.url), "utf8"));
const fitsReport = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true }).compile(schema);
type Server = Awaited<ReturnType<typeof listeningServer>>;

let server: Server;
let root: string;
beforeAll(async () => {
  server = await listeningServer();
  root = await mkdtemp(join(tmpdir(), "cli-parse-"));
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});
afterEach(() => {
  server.recognizer.release();
  server.recognizer.answer = ({ task }) => ({ text: fakeAnswers[task] });
});

/** Files below a folder of its own: path → content. */
async function folder(name: string, files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name, path)), { recursive: true });
    await writeFile(join(root, name, path), content);
  }
  return join(root, name);
}

const parse = (args: readonly string[], options?: Parameters<typeof runCli>[1]) =>
  runCli(["parse", ...args, "--server-url", server.url, "-q"], options);

async function reportIn(out: string) {
  const report = JSON.parse(await readFile(join(out, "report.json"), "utf8"));
  fitsReport(report);
  expect(fitsReport.errors).toBeNull();
  return { ...report, files: Object.fromEntries(report.files.map((file: { output: string }) => [file.output, file])) };
}

/** Every file below `out` with its content, the report aside. */
async function tree(out: string): Promise<Record<string, string>> {
  const names = (await readdir(out, { recursive: true })).filter((name) => name !== "report.json").sort();
  const found: Record<string, string> = {};
  for (const name of names) if ((await stat(join(out, name))).isFile()) found[name] = (await readFile(join(out, name))).toString("base64");
  return found;
}

test("a folder: files of one name keep apart, bad ones are reported, what is finished and unchanged is skipped", async () => {
  const into = await folder("many", {
    "a.pdf": pdfFile([{}, {}]),
    "a.png": pngFile(60, 40),
    "sub/a.pdf": pdfFile([{}]),
    "sub/bad.png": Buffer.from("no picture"),
    "two/gone.pdf": pdfFile([{}, { missing: true }, {}]),
  });
  const out = join(into, "out");
  const first = await parse([into, "-o", out, "--jobs", "3"]);
  expect(first.stderr).toMatch(/^5 files: 3 parsed, 1 incomplete, 1 failed \(7 pages, [\d.]+ s\)\n/);
  expect(first.stderr).toMatch(/bad\.png: The file is of no known format/);
  expect(first.stderr).toMatch(/gone\.pdf: without page 2\n/);
  expect(first.code).toBe(3);
  const report = await reportIn(out);
  expect(Object.keys(report.files)).toEqual(["a.pdf", "a.png", "sub/a", "sub/bad", "two/gone"]);
  expect(report.files["two/gone"]).toMatchObject({ status: "incomplete", pages: 3, failedPages: [2], warnings: { "page-failed": 1 } });
  expect(report.files["sub/bad"].error.code).toBe("file-unsupported");
  expect((await readdir(join(out, "sub/a"))).sort()).toEqual([
    "a.html",
    "a.json",
    "a.md",
    "a_content_list.json",
    "a_middle.json",
    "images",
    "source.json",
  ]);
  const html = await readFile(join(out, "sub/a/a.html"), "utf8");
  expect(html).toContain('src="data:image/png;base64,');
  expect(html).not.toContain('src="images/');

  await writeFile(join(into, "sub/a.pdf"), pdfFile([{}, {}]));
  await rm(join(into, "sub/bad.png"));
  const again = await parse([into, "-o", out]);
  expect((await reportIn(out)).counts).toEqual({ parsed: 1, incomplete: 0, skipped: 3, failed: 0, interrupted: 0 });
  expect(again.code).toBe(3); // a page is still missing
  expect(JSON.parse(await readFile(join(out, "sub/a/a.json"), "utf8")).pages).toHaveLength(2);
  // Other settings, other output; the same with --force.
  for (const more of [[], ["--force"]]) {
    await parse([into, "-o", out, "--pages", "1-9", ...more]);
    expect((await reportIn(out)).counts).toMatchObject({ parsed: 3, incomplete: 1, skipped: 0 });
  }
});

test("killed in the middle and started again: the same outputs as a run that nobody disturbed", async () => {
  const into = await folder("killed", {
    "a.pdf": pdfFile([{ size: [200, 100] }]),
    "b.pdf": pdfFile([{ size: [220, 100] }, { size: [230, 100] }, {}]),
    "c.png": pngFile(60, 40),
  });
  const [out, undisturbed] = [join(root, "killed-out"), join(root, "killed-not")];
  const answers = server.recognizer.answer;
  let begun = false;
  server.recognizer.answer = (request) => {
    // The second file's second page is asked about: nothing is answered any more.
    if (!begun && request.task === "layout" && readdirSync(out).includes("a")) {
      begun = true;
      server.recognizer.hold();
    }
    return answers(request);
  };
  const isBuilding = () => begun && readdirSync(out).some((name) => name.endsWith(".part"));
  const killed = await parse([into, "-o", out], { killWhen: isBuilding, kill: "SIGKILL" });
  expect(killed.signal).toBe("SIGKILL");
  expect(readdirSync(out).filter((name) => !name.startsWith("."))).toEqual(["a"]);
  server.recognizer.release();

  expect((await parse([into, "-o", out])).code).toBe(0);
  expect((await reportIn(out)).counts).toMatchObject({ parsed: 2, skipped: 1 });
  expect((await parse([into, "-o", undisturbed])).code).toBe(0);
  expect(await tree(out)).toEqual(await tree(undisturbed));
  expect(readdirSync(out).sort()).toEqual(["a", "b", "c", "report.json"]);
});

test("interrupted: code 130, nothing half-written, the report says what is missing", async () => {
  const into = await folder("interrupted", { "a.pdf": pdfFile([{}]), "b.pdf": pdfFile([{}]) });
  const out = join(root, "interrupted-out");
  server.recognizer.hold();
  const before = server.recognizer.asked.length;
  const { code } = await parse([into, "-o", out], { killWhen: () => server.recognizer.asked.length > before });
  expect(code).toBe(130);
  expect(readdirSync(out)).toEqual(["report.json"]);
  expect((await reportIn(out)).counts.interrupted).toBe(2);
});

test("a folder that this program did not write is not replaced", async () => {
  const into = await folder("foreign", { "in/a.pdf": pdfFile([{}]), "out/a/thesis.tex": Buffer.from("years of work") });
  const { code, stderr } = await parse([join(into, "in/a.pdf"), "-o", join(into, "out")]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/something else stands there/);
  expect(existsSync(join(into, "out/a/thesis.tex"))).toBe(true);
});

test("pages, formulas, tables and layout pictures as asked", async () => {
  const into = await folder("asked", { "a.pdf": pdfFile([{}, {}, {}]) });
  server.recognizer.answer = ({ task }) => ({
    text: { ...fakeAnswers, text: "the word \\(x\\)", table: "<fcel>a<lcel><nl><fcel>1<fcel>2<nl>" }[task],
  });
  const out = join(root, "asked-out");
  const flags = ["--pages", "2-", "--tables", "markdown", "--formulas", "fences", "--layout-picture", "pdf"];
  const { stderr, code } = await runCli(["parse", join(into, "a.pdf"), "-o", out, ...flags, "--server-url", server.url]);
  expect(stderr).toMatch(/page 2: one cell spans several places of a table/);
  expect(code).toBe(0);
  const markdown = await readFile(join(out, "a/a.md"), "utf8");
  expect(markdown).toContain("the word $`x`$");
  expect(markdown).toContain("| a |  |\n| --- | --- |\n| 1 | 2 |");
  await using layout = await openPdf(await readFile(join(out, "a/a_layout.pdf")));
  expect(layout.pageCount).toBe(2);
  expect(await layout.pageText(0)).toMatch(/1 title[\s\S]*4 image/);
  expect(readdirSync(join(out, "a/images")).some((name) => name.includes("layout"))).toBe(false);
  expect(JSON.parse(await readFile(join(out, "a/a.json"), "utf8")).source.pageCount).toBe(3);
});

test("standard output takes one file", async () => {
  const into = await folder("single", { "a.pdf": pdfFile([{}]), "b.pdf": pdfFile([{}]) });
  expect(await parse([into])).toMatchObject({ code: 2, stderr: expect.stringContaining("-o DIR") });
  expect(await parse([join(into, "[a].pdf"), "--pages", "9"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("up to 1, got 9"),
  });
  const { stdout } = await parse([join(into, "[a].pdf"), "--format", "ndjson"]);
  expect(stdout.trim().split("\n").map((line) => JSON.parse(line).kind)).toEqual(["document", "page", "end"]); // biome-ignore format: short
});
