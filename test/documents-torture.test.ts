/**
 * Every kind of file that breaks document readers, in one folder and one run: each gives the right pages or one clear error, and none of
 * them a hang, a crash or a stack trace.
 */
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { cmykTiff, encryptedPdf, inked, jpegFile, pdfFile, pngBomb, pngFile } from "./document-files.ts";
import { listeningServer } from "./fake-server.ts";
import { type Run, runCli } from "./run-cli.ts";

vi.setConfig({ hookTimeout: 900_000 });

interface Case {
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Pixels of each page; one that could not be read counts as 1 x 1. */
  readonly pages?: readonly (readonly [width: number, height: number])[];
  readonly fails?: { readonly code: string; readonly says: RegExp };
}

const good = pdfFile([{}]);
const rgba16 = pngFile(60, 40, { depth: 16, colour: 6 }, (x, y) => [0x12, 0, 0, 0, 0, 0, inked(x, y) ? 255 : 0, 0]);
const greyAlpha = pngFile(60, 40, { colour: 4 }, (x, y) => [0, inked(x, y) ? 255 : 0]);
const page: readonly [number, number] = [833, 556]; // 300 x 200 points at 200 dots per inch

const cases: readonly Case[] = [
  { file: "good.pdf", bytes: good, pages: [page] },
  { file: "turned-90.pdf", bytes: pdfFile([{ rotate: 90 }, { rotate: 180 }, { rotate: 270 }]), pages: [[556, 833], page, [556, 833]] },
  { file: "a0.pdf", bytes: pdfFile([{ size: [2384, 3370] }]), pages: [[2476, 3500]] },
  { file: "one-point.pdf", bytes: pdfFile([{ size: [1, 1], content: "" }]), pages: [[3, 3]] },
  { file: "ribbon.pdf", bytes: pdfFile([{ size: [20, 14400] }]), pages: [[5, 3500]] },
  { file: "blank.pdf", bytes: pdfFile([{ content: "" }]), pages: [page] },
  { file: "broken-content.pdf", bytes: pdfFile([{ content: "q q q BT (unclosed Tj 1 0 0 0 cm /None Do ET" }]), pages: [page] },
  { file: "one-page-gone.pdf", bytes: pdfFile([{}, { missing: true }, {}]), pages: [page, [1, 1], page] },
  { file: "no-pages.pdf", bytes: pdfFile([]), fails: { code: "file-damaged", says: /at least one page|page tree/ } },
  { file: "cut-off.pdf", bytes: good.subarray(0, 200), fails: { code: "file-damaged", says: /damaged or incomplete/ } },
  { file: "encrypted.pdf", bytes: encryptedPdf("open sesame"), fails: { code: "file-encrypted", says: /needs a password.*--password/ } },
  { file: "empty.pdf", bytes: new Uint8Array(), fails: { code: "file-damaged", says: /empty/ } },
  { file: "words.pdf", bytes: Buffer.from("just words\n"), fails: { code: "file-unsupported", says: /no known format/ } },
  { file: "office.pdf", bytes: Buffer.from("PK\u0003\u0004.."), fails: { code: "file-unsupported", says: /ZIP archive or Office/ } },
  { file: "picture.pdf", bytes: pngFile(60, 40), pages: [[60, 40]] },
  { file: "document.png", bytes: good, pages: [page] },
  { file: "one-pixel.png", bytes: pngFile(1, 1), pages: [[1, 1]] },
  { file: "tall.png", bytes: pngFile(120, 20_000), pages: [[120, 20_000]] },
  { file: "wide.png", bytes: pngFile(20_000, 30), pages: [[20_000, 30]] },
  { file: "rgba-16-bit.png", bytes: rgba16, pages: [[60, 40]] },
  { file: "grey-alpha.png", bytes: greyAlpha, pages: [[60, 40]] },
  { file: "bomb.png", bytes: pngBomb(60_000, 60_000), fails: { code: "file-too-large", says: /the limit is/ } },
  { file: "short.png", bytes: pngBomb(600, 600), fails: { code: "file-damaged", says: /PNG/ } },
  { file: "cut-off.png", bytes: pngFile(60, 40).subarray(0, 70), fails: { code: "file-damaged", says: /PNG/ } },
  { file: "cut-off.jpg", bytes: jpegFile(1).subarray(0, 120), fails: { code: "file-damaged", says: /JPEG/ } },
  { file: "cmyk.tif", bytes: cmykTiff(60, 40), pages: [[60, 40]] },
  ...[1, 2, 3, 4, 5, 6, 7, 8].map(
    (turn): Case => ({ file: `exif-${turn}.jpg`, bytes: jpegFile(turn), pages: [turn < 5 ? [40, 24] : [24, 40]] }),
  ),
  { file: "a b#c?d%41 'é\u0301 – 你好.png", bytes: pngFile(60, 40), pages: [[60, 40]] },
  { file: `${"long".repeat(60)}.png`, bytes: pngFile(60, 40), pages: [[60, 40]] },
];

let root: string;
let run: Run;
let report: {
  counts: Record<string, number>;
  problems: { message: string }[];
  files: { source: string; output: string; status: string; pages?: number; error?: { code: string; message: string } }[];
};
const isRoot = process.getuid?.() === 0;
/** Whom a test runs as that must not be allowed everything. */
const NOBODY = 65534;

beforeAll(async () => {
  const server = await listeningServer();
  root = await mkdtemp(join(tmpdir(), "torture-"));
  const into = join(root, "in");
  await mkdir(join(into, "locked"), { recursive: true });
  for (const { file, bytes } of cases) await writeFile(join(into, file), bytes);
  await writeFile(join(into, "locked/hidden.pdf"), good);
  await symlink("..", join(into, "up.pdf"));
  await symlink("itself.pdf", join(into, "itself.pdf"));
  await symlink("nowhere.pdf", join(into, "nowhere.pdf.link"));
  await chmod(join(into, "locked"), 0o000);
  await mkdir(join(root, "out"), { mode: 0o777 });
  await chmod(root, 0o755);
  await chmod(join(root, "out"), 0o777);
  const args = ["parse", into, "-o", join(root, "out"), "-q", "--server-url", server.url, "--layout-picture", "none"];
  run = await runCli(args, isRoot ? { uid: NOBODY } : {});
  report = JSON.parse(await readFile(join(root, "out/report.json"), "utf8"));
  await server.stop();
});
afterAll(async () => {
  await chmod(join(root, "in/locked"), 0o755);
  await rm(root, { recursive: true, force: true });
});

test("the run ends by itself, with the code for partial failure and no stack trace", () => {
  expect(run.code).toBe(3);
  expect(run.stderr).not.toMatch(/\n\s+at |internal:|undefined/);
  expect(report.files).toHaveLength(cases.length);
});

test("folders that cannot be read and links in circles are told and passed over", () => {
  const said = report.problems.map(({ message }) => message.replace(/^.*: /, "")).sort();
  expect(said).toEqual(["permission is denied", "the link leads nowhere", "the link leads to itself"]);
});

describe("each file", () => {
  test.each(cases.map(({ file, ...expected }) => ({ name: file.slice(0, 40), file, ...expected })))(
    "$name",
    async ({ file, pages, fails }) => {
      const entry = report.files.find(({ source }) => source === join(root, "in", file))!;
      if (fails) {
        expect(entry).toMatchObject({ status: "failed", error: { code: fails.code } });
        expect(entry.error?.message).toMatch(fails.says);
        expect(run.stderr).toContain(entry.error!.message);
        return;
      }
      expect(entry.error).toBeUndefined();
      const stem = entry.output.split("/").at(-1);
      const parsed = JSON.parse(await readFile(join(root, "out", entry.output, `${stem}.json`), "utf8"));
      expect(parsed.pages.map(({ width, height }: { width: number; height: number }) => [width, height])).toEqual(pages);
    },
  );
});

test("an encrypted PDF opens with its password, and with no other", async () => {
  const file = join(root, "in/encrypted.pdf");
  const server = await listeningServer();
  const parse = (password: string) => runCli(["parse", file, "-q", "--server-url", server.url, "--password", password, "--format", "json"]);
  expect((await parse("wrong")).stderr).toMatch(/password given does not open it/);
  const { stdout, code } = await parse("open sesame");
  await server.stop();
  expect(code).toBe(0);
  expect(JSON.parse(stdout).pages).toHaveLength(1);
}, 400_000);
