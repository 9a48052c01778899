import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { parseLayout } from "../document/layout-text.ts";
import { parseOtsl, writeOtsl } from "../document/otsl.ts";
import {
  DOCUMENT_WEIGHTS,
  type DocumentKind,
  formulaPage,
  type LayoutSample,
  makeBatch,
  openSynth,
  pageSample,
  type SynthSources,
  tablePage,
} from "./index.ts";

/** A sample with its pixels boiled down to a hash: comparing megabytes byte by byte is slow. */
function digest(sample: { readonly image: { readonly data: Uint8Array } }): unknown {
  return { ...sample, image: createHash("sha1").update(sample.image.data).digest("hex") };
}

let sources: SynthSources;
let pages: LayoutSample[];
beforeAll(async () => {
  sources = await openSynth();
  const kinds = Object.keys(DOCUMENT_WEIGHTS) as DocumentKind[];
  pages = kinds.flatMap((kind) =>
    [0, 1].map((index) => pageSample(sources, 5, index, { kinds: { [kind]: 1 }, longEdgePx: [800, 900], augmentation: 0, turned: 0 })),
  );
}, 120_000);

/** Rows and columns of the box that hold ink at its very edges. */
function touchesInk({ image }: LayoutSample, [left, top, right, bottom]: readonly number[]): boolean {
  const paper = Math.min(...image.data.subarray(0, 3)) - 8;
  const x0 = Math.max(0, Math.floor((left * image.width) / 1000) - 1);
  const x1 = Math.min(image.width, Math.ceil((right * image.width) / 1000) + 1);
  const y0 = Math.max(0, Math.floor((top * image.height) / 1000) - 1);
  const y1 = Math.min(image.height, Math.ceil((bottom * image.height) / 1000) + 1);
  const isInk = (x: number, y: number) =>
    Math.min(...image.data.subarray((y * image.width + x) * 3, (y * image.width + x) * 3 + 3)) < paper;
  let [l, t, r, b] = [x1, y1, x0, y0];
  for (let y = y0; y < y1; y++)
    for (let x = x0; x < x1; x++)
      if (isInk(x, y)) {
        [l, r] = [Math.min(l, x), Math.max(r, x)];
        [t, b] = [Math.min(t, y), Math.max(b, y)];
      }
  return Math.max(l - x0, x1 - r, t - y0, y1 - b) <= 4;
}

describe("page samples", () => {
  it("are the same for the same seed and index", () => {
    expect(digest(pageSample(sources, 9, 4))).toEqual(digest(pageSample(sources, 9, 4)));
  });

  it("say their layout in the published form, boxes and classes as given", () => {
    for (const page of pages) {
      if (page.meta.kind === "blank") expect(page.text).toBe("");
      else {
        expect(page.regions.length, page.meta.kind).toBeGreaterThan(0);
        const reading = parseLayout(page.text, page.image);
        expect(reading.warnings.filter((warning) => warning.kind !== "duplicate")).toEqual([]);
        expect(reading.regions.map(({ class: name, box, angle }) => ({ class: name, box, angle }))).toEqual(
          page.regions.map(({ class: name, box, angle }) => ({ class: name, box, angle })),
        );
      }
    }
  });

  it("box the ink tightly", () => {
    const boxes = pages.flatMap((page) => page.regions.filter((region) => region.class !== "image").map((region) => ({ page, region })));
    const tight = boxes.filter(({ page, region }) => touchesInk(page, region.box));
    expect(tight.length / boxes.length).toBeGreaterThan(0.97);
  });

  it("keep regions of running matter apart and characters inside them", () => {
    for (const page of pages) {
      const upright = page.regions.filter((region) => region.angle === 0);
      for (const { x, y } of page.characters) {
        const [px, py] = [(x * 1000) / page.image.width, (y * 1000) / page.image.height];
        expect(upright.some(({ box }) => px >= box[0] - 3 && px <= box[2] + 3 && py >= box[1] - 3 && py <= box[3] + 3)).toBe(true);
      }
    }
  });

  it("turn with their boxes", () => {
    const options = { kinds: { report: 1 }, longEdgePx: [800, 800] as const, augmentation: 0 };
    const turned = Array.from({ length: 6 }, (_, i) => pageSample(sources, 2, i, { ...options, turned: 1 }));
    expect(new Set(turned.flatMap((page) => page.regions.map((region) => region.angle))).size).toBeGreaterThan(1);
    for (const page of turned) {
      const tight = page.regions.filter((region) => region.class === "image" || touchesInk(page, region.box));
      expect(tight.length).toBe(page.regions.length);
    }
  });
});

describe("region samples", () => {
  it("give tables whose truth is a sound grid, the same every time", () => {
    const samples = tablePage(sources, 1, 0, { cropsPerPage: 12 });
    expect(samples).toHaveLength(12);
    expect(tablePage(sources, 1, 0, { cropsPerPage: 12 }).map(digest)).toEqual(samples.map(digest));
    for (const { text, characters } of samples) {
      expect(writeOtsl(parseOtsl(text))).toBe(text);
      const letters = parseOtsl(text)
        .flat()
        .map((cell) => cell?.text ?? "")
        .join("")
        .replace(/\s/g, "");
      expect(characters).toHaveLength([...letters].length);
    }
  });

  it("keep to the sizes asked for", () => {
    for (const { image, text } of formulaPage(sources, 1, 0, { maxPixels: 60_000, maxCharacters: 80, augmentation: 0 })) {
      expect(image.width * image.height).toBeLessThanOrEqual(60_000);
      expect(text.length).toBeLessThanOrEqual(80);
    }
  });
});

describe("makeBatch", () => {
  it("draws each task by its weight and refuses a recipe without one", () => {
    const recipe = {
      weights: { text: 1, layout: 1, table: 1, formula: 1 },
      pagesPerBatch: 1,
      text: { cropsPerPage: 1 },
      table: { cropsPerPage: 1 },
      formula: { cropsPerPage: 1 },
    };
    const tasks = new Set(Array.from({ length: 20 }, (_, i) => makeBatch(sources, recipe, 1, i)[0].task));
    expect([...tasks].sort()).toEqual(["formula", "layout", "table", "text"]);
    expect(() => makeBatch(sources, { weights: {} }, 1, 0)).toThrow("`weights` expected a task with a positive weight, got none");
  });
});
