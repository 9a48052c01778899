/** A user's samples in pools: every one in every epoch, the same pool for the same seed, texts cut into the lines their answers have. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drawPicture } from "../../test/drawn-pictures.ts";
import { tinyFolder } from "../../test/tiny.ts";
import { encodePng } from "../image/encode-png.ts";
import { rgbImage } from "../image/rgb-image.ts";
import { openCheckpointFiles } from "./base-files.ts";
import { ownPool, prepareOwn } from "./own-pools.ts";
import type { OwnSample } from "./own-samples.ts";
import type { PreparationConfig } from "./sample.ts";

const base = await openCheckpointFiles(tinyFolder());
const config: PreparationConfig = {
  tokenizer: base.tokenizer,
  processor: { ...base.processor, minPixels: 784 },
  layoutSize: 56,
  endToken: base.endToken,
  slotEndToken: base.fillToken,
  characterSlots: 0,
};

let folder: string;
let samples: OwnSample[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "own-pools-"));
  samples = [];
  for (let i = 0; i < 5; i++) {
    const image = join(folder, `${i}.png`);
    await writeFile(image, await encodePng(drawPicture(i)));
    samples.push({ task: "text", image, answer: `answer ${i}`, source: `${i}.txt` });
  }
});
afterAll(() => rm(folder, { recursive: true }));

const pixelsOf = (pool: readonly { readonly patches: Float32Array }[]) =>
  pool.map(({ patches }) =>
    createHash("sha256")
      .update(new Uint8Array(patches.buffer, patches.byteOffset, patches.byteLength))
      .digest("hex"),
  );
const answersOf = (pool: readonly { readonly answer: Int32Array }[]) => pool.map(({ answer }) => base.tokenizer.decode(answer));

describe("pools", () => {
  const pool = (number: number, seed = 1, augmentation = 0.5) => ownPool({ samples, config, mostTokens: 64, seed, augmentation }, number);

  test("go on through the epochs, every sample once in each, in another order", async () => {
    const answers = [...answersOf(await pool(0)), ...answersOf(await pool(1))];
    const epochs = Array.from({ length: 25 }, (_, i) => answers.slice(i * 5, i * 5 + 5));
    for (const epoch of epochs) expect(new Set(epoch).size).toBe(5);
    expect(new Set(epochs.map((epoch) => epoch.join())).size).toBeGreaterThan(10);
  });

  test("are a function of seed and number", async () => {
    const [once, again, other] = [await pool(3), await pool(3), await pool(3, 2)];
    expect(answersOf(again)).toEqual(answersOf(once));
    expect(pixelsOf(again)).toEqual(pixelsOf(once));
    expect(answersOf(other)).not.toEqual(answersOf(once));
    expect(pixelsOf(await pool(3, 1, 0))).not.toEqual(pixelsOf(once));
  });
});

describe("a text that weights read line by line", () => {
  /** Two lines of strokes, 14 px high, 30 px apart. */
  function twoLines() {
    const image = rgbImage(120, 70);
    for (const top of [10, 40]) {
      for (let x = 10; x < 110; x++) {
        for (let y = top; y < top + 14; y++) if (x % 5 < 3) image.data.fill(0, (y * 120 + x) * 3, (y * 120 + x) * 3 + 3);
      }
    }
    return image;
  }
  const byLine = { ...config, linePixels: 28 };
  const sample = (answer: string): OwnSample => ({ task: "text", image: "lines.png", answer, source: "lines.txt" });

  test("is as many samples as it has lines, each with its own", () => {
    const prepared = prepareOwn(sample("first line\nsecond line"), twoLines(), byLine, 64)!;
    expect(answersOf(prepared)).toEqual(["first line<|im_end|>", "second line<|im_end|>"]);
    for (const { rows } of prepared) expect(rows).toBe(2);
  });

  test("with another number of lines in its answer is none, nor is what is too large", () => {
    expect(prepareOwn(sample("only one line"), twoLines(), byLine, 64)).toBeNull();
    expect(prepareOwn(sample("first line\nsecond line"), twoLines(), config, 2)).toBeNull();
    expect(prepareOwn(sample("first line\nsecond line"), twoLines(), config, 64)).toHaveLength(1);
  });

  test("a formula of such weights is fitted to their rows, as reading fits it", () => {
    const sample = { task: "formula", answer: "x", source: "x.txt", image: "x.png" } as const;
    const [fittedSample] = prepareOwn(sample, twoLines(), { ...config, linePixels: 28 }, 64)!;
    const [plain] = prepareOwn(sample, twoLines(), config, 64)!;
    expect(fittedSample.rows % 2).toBe(0);
    expect([fittedSample.rows, fittedSample.columns]).not.toEqual([plain.rows, plain.columns]);
  });
});
