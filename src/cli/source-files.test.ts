import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { globPattern, sourceFiles } from "./source-files.ts";

let root: string;
const write = async (...names: string[]): Promise<void> => {
  for (const name of names) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), "x");
  }
};
const namesIn = async (args: readonly string[], output?: string) =>
  (await sourceFiles(args.map((arg) => join(root, arg)), output && join(root, output))).files.map(({ name }) => name); // biome-ignore format: short

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "sources-"));
  await write("in/a.pdf", "in/b.PNG", "in/notes.txt", "in/.hidden.pdf", "in/sub/a.pdf", "in/sub/deep/c.tiff", "in/out/old/page.png");
  await symlink("..", join(root, "in/sub/up"));
  await write("same/a.pdf", "same/a.png", "same/a/b.pdf", "same/A.jpg", "x/a.pdf", "y/a.pdf");
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a folder gives the files below it, by name, without hidden ones, other kinds, the output and links back up", async () => {
  expect(await namesIn(["in"], "in/out")).toEqual(["a", "b", "sub/a", "sub/deep/c"]);
});

test("files of one name get places of their own", async () => {
  expect(await namesIn(["same"])).toEqual(["A.jpg", "a/b", "a.pdf", "a.png"]);
  expect(await namesIn(["x/a.pdf", "y/a.pdf", "x/a.pdf"])).toEqual(["a.pdf", "a.pdf-2"]);
  expect(await namesIn(["x", "y"])).toEqual(["a.pdf", "a.pdf-2"]);
});

test("patterns that the shell left alone", async () => {
  expect(await namesIn(["in/**/*.{pdf,tiff}"], "in/out")).toEqual(["a", "sub/a", "sub/deep/c"]);
  expect(await namesIn(["in/*.pdf"])).toEqual(["a"]);
  expect(await namesIn(["in/[ab].*"])).toEqual(["a", "b"]);
});

test("what means no file is told; what cannot be followed is told and passed over", async () => {
  await expect(sourceFiles([join(root, "in/*.docx")])).rejects.toThrow("got none");
  await symlink("itself", join(root, "y/itself"));
  await symlink("gone.pdf", join(root, "y/gone.pdf.lnk"));
  const { files, problems } = await sourceFiles([join(root, "y")]);
  expect(files).toHaveLength(1);
  expect(problems.map(({ message }) => message.replace(/^.*: /, "")).sort()).toEqual([
    "the link leads nowhere",
    "the link leads to itself",
  ]);
});

test("a long name is cut so that its files can be written", async () => {
  const { files } = await sourceFiles([`${"ä".repeat(120)}.pdf`]);
  expect(Buffer.byteLength(files[0].name)).toBeLessThanOrEqual(200);
});

test("no output shares its place with another or lies within it", async () => {
  const segment = fc.constantFrom("a", "A", "b", "a.pdf", "a.png", "b.pdf", "b.pdf-2", "a.pdf-2");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(segment, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }), async (paths) => {
      const { files } = await sourceFiles(paths.map((parts) => join("/none", ...parts)));
      const names = files.map(({ name }) => name.toLowerCase());
      for (const [i, name] of names.entries())
        for (const other of names.slice(i + 1)) {
          expect(name).not.toBe(other);
          expect(`${name}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${name}/`)).toBe(false);
        }
    }),
    { numRuns: 100 },
  );
});

test("patterns", () => {
  expect(globPattern("*.pdf").test("a/b.pdf")).toBe(false);
  expect(globPattern("**/*.pdf").test("a/b/c.pdf")).toBe(true);
  expect(globPattern("**/*.pdf").test("c.pdf")).toBe(true);
  expect(globPattern("a+(1).pdf").test("a+(1).pdf")).toBe(true);
  expect(globPattern("[!a].pdf").test("b.pdf")).toBe(true);
  expect(globPattern("{x,y}?.pdf").test("y1.pdf")).toBe(true);
});
