/** Small benchmark data in the official forms, written by the tests themselves, and a recogniser that knows each picture by its width. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { encodePng } from "../src/image/encode-png.ts";
import { rgbImage } from "../src/image/rgb-image.ts";
import { FakeRecognizer } from "./fake-recognizer.ts";

/** A new folder that is gone after the tests of the file. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mineru-eval-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array | Promise<Uint8Array>>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), await content);
  }
}

/** A striped picture, so that nothing takes it for blank. */
export function picture(width: number, height = 60): Promise<Uint8Array> {
  const image = rgbImage(width, height);
  image.data.forEach((_, i) => {
    image.data[i] = Math.floor(i / 3) % 4 < 2 ? 0 : 255;
  });
  return encodePng(image);
}

export const wholePage = "<|box_start|>000 000 1000 1000<|box_end|><|ref_start|>text<|ref_end|><|rotate_up|>";

/** Finds one text region on every page, and answers crops by the width of their picture. */
export function readerOf(answers: Readonly<Record<number, string>>): FakeRecognizer {
  const recognizer = new FakeRecognizer();
  recognizer.answer = ({ task, image }) => ({ text: task === "layout" ? wholePage : (answers[image!.width] ?? "?") });
  return recognizer;
}
