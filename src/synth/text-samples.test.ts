import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { augment, type Picture } from "./augment.ts";
import { splitOf } from "./corpus.ts";
import { warp } from "./damage.ts";
import { createRandom, openSynth, SYNTH_ALPHABET, type SynthSources, textPage } from "./index.ts";

/** A sample with its pixels boiled down to a hash: comparing megabytes byte by byte is slow. */
function digest(sample: { readonly image: { readonly data: Uint8Array } }): unknown {
  return { ...sample, image: createHash("sha1").update(sample.image.data).digest("hex") };
}

let sources: SynthSources;
beforeAll(async () => {
  sources = await openSynth();
}, 120_000);

/** Mean darkness of the box around a character, 0 white to 1 black. */
function darkness(
  image: { width: number; height: number; data: Uint8Array },
  box: { x: number; y: number; width: number; height: number },
): number {
  let sum = 0;
  let count = 0;
  for (let y = Math.max(0, Math.floor(box.y - box.height / 2)); y < Math.min(image.height, Math.ceil(box.y + box.height / 2)); y++)
    for (let x = Math.max(0, Math.floor(box.x - box.width / 2)); x < Math.min(image.width, Math.ceil(box.x + box.width / 2)); x++) {
      sum += 255 - image.data[(y * image.width + x) * 3 + 1];
      count++;
    }
  return sum / count / 255;
}

describe("text samples", () => {
  it("are the same for the same seed and index, and others for another", () => {
    const options = { cropsPerPage: 4 };
    const once = textPage(sources, 7, 3, options);
    const again = textPage(sources, 7, 3, options);
    expect(again.map(digest)).toEqual(once.map(digest));
    expect(textPage(sources, 8, 3, options).map((sample) => sample.text)).not.toEqual(once.map((sample) => sample.text));
  });

  it("give one placed character for each printed one, inside the crop, in the alphabet, where the ink is", () => {
    const samples = [0, 1].flatMap((index) => textPage(sources, 1, index, { augmentation: 0, cropsPerPage: 24 }));
    expect(samples).toHaveLength(48);
    for (const { image, text, characters } of samples) {
      expect(characters.map((character) => character.char).join("")).toBe(text.replace(/\s/g, ""));
      for (const char of text) expect(`${SYNTH_ALPHABET}\n`).toContain(char);
      for (const { x, y } of characters) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(image.width);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(image.height);
      }
    }
    const plain = samples.filter((sample) => darkness(sample.image, { x: 0, y: 0, width: 2, height: 2 }) < 0.02);
    expect(plain.length).toBeGreaterThan(20);
    for (const { image, characters } of plain) {
      const mean = characters.reduce((sum, character) => sum + darkness(image, character), 0) / characters.length;
      expect(mean).toBeGreaterThan(0.12);
    }
  });

  it("place the last character of a long line where its ink ends", () => {
    const options = {
      augmentation: 0,
      cropsPerPage: 20,
      lines: [1, 1],
      widthPx: [900, 1300],
      sizePx: [14, 20],
      content: { prose: 1 },
    } as const;
    for (const { image, characters } of textPage(sources, 6, 0, options)) {
      const paper = image.data.slice(0, 3);
      let last = image.width - 1;
      const isInk = (x: number) => {
        for (let y = 0; y < image.height; y++)
          for (let c = 0; c < 3; c++) if (Math.abs(image.data[(y * image.width + x) * 3 + c] - paper[c]) > 60) return true;
        return false;
      };
      while (last > 0 && !isInk(last)) last--;
      const { x, width } = characters[characters.length - 1];
      expect(Math.abs(x + width / 2 - (last + 1))).toBeLessThan(2.5);
    }
  });

  it("keep to the line, length and content limits asked for", () => {
    const samples = textPage(sources, 2, 0, { lines: [1, 2], maxCharacters: 40, widthPx: [200, 400], content: { strings: 1, prose: 1 } });
    for (const { text, meta } of samples) {
      expect(text.split("\n").length).toBeLessThanOrEqual(2);
      expect(text.length).toBeLessThanOrEqual(40);
      expect(["strings", "prose"]).toContain(meta.kind);
    }
  });

  it("never share a paragraph between training and held-out text", async () => {
    const held = await openSynth({ split: "heldout" });
    expect(held.corpus.paragraphs.length).toBeGreaterThan(5);
    for (const paragraph of held.corpus.paragraphs) {
      expect(splitOf(paragraph)).toBe("heldout");
      expect(sources.corpus.paragraphs).not.toContain(paragraph);
    }
  });
});

describe("augment", () => {
  it("moves characters with the ink", () => {
    const samples = textPage(sources, 4, 0, { augmentation: 0, cropsPerPage: 24, content: { prose: 1 }, lines: [2, 5] });
    const black = samples.filter((sample) => darkness(sample.image, { x: 0, y: 0, width: 2, height: 2 }) < 0.02);
    expect(black.length).toBeGreaterThan(8);
    const inkAt = (image: Picture["image"], characters: Picture["characters"]) =>
      characters.reduce((sum, character) => sum + darkness(image, character), 0) / characters.length;
    for (const [i, { image, characters }] of black.entries()) {
      const { image: warped, move } = warp(image, createRandom("warp", i), i % 2 ? 0.03 : -0.03, 2.5);
      const moved = characters.map((character) => {
        const [x, y] = move([character.x, character.y]);
        return { ...character, x, y };
      });
      expect(inkAt(warped, moved)).toBeGreaterThan(0.85 * inkAt(image, characters));
    }
  });

  it("leaves boxes true when only light may change", () => {
    const [sample] = textPage(sources, 5, 0, { augmentation: 0, cropsPerPage: 1 });
    for (let seed = 0; seed < 30; seed++) {
      const damaged = augment(sample, createRandom("light", seed), 1, { photometricOnly: true });
      expect(damaged.characters).toEqual(sample.characters);
      expect([damaged.image.width, damaged.image.height]).toEqual([sample.image.width, sample.image.height]);
    }
  });

  it("refuses a strength outside 0..1", () => {
    const [sample] = textPage(sources, 5, 0, { augmentation: 0, cropsPerPage: 1 });
    expect(() => augment(sample, createRandom(1), 1.5)).toThrow("`strength` expected 0..1, got 1.5");
  });
});
