import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeBatch, openSynth, type SampleRecipe, startSampleStream } from "./index.ts";

/** A sample with its pixels boiled down to a hash: comparing megabytes byte by byte is slow. */
function digest(sample: { readonly image: { readonly data: Uint8Array } }): unknown {
  return { ...sample, image: createHash("sha1").update(sample.image.data).digest("hex") };
}

const recipe: SampleRecipe = { weights: { text: 1 }, text: { cropsPerPage: 5 } };

describe("startSampleStream", () => {
  it("hands out the batches in order, the same with one worker and with two", async () => {
    const sources = await openSynth();
    const expected = [0, 1, 2].flatMap((index) => makeBatch(sources, recipe, 11, index));
    for (const workers of [1, 2]) {
      await using stream = startSampleStream({ seed: 11, recipe, workers });
      expect(stream.batch).toBe(0);
      const samples = await stream.take(15);
      expect(samples.map(digest)).toEqual(expected.map(digest));
      expect(stream.batch).toBe(3);
    }
  });

  it("goes on from a later batch", async () => {
    await using whole = startSampleStream({ seed: 3, recipe });
    const [, , , , , sixth] = await whole.take(6);
    await using tail = startSampleStream({ seed: 3, recipe, firstBatch: 1 });
    expect(digest(await tail.next())).toEqual(digest(sixth));
  });

  it("rejects once closed or aborted, and tells why a worker cannot start", async () => {
    const stream = startSampleStream({ seed: 1, recipe });
    await stream.next();
    await stream.close();
    await expect(stream.take(100)).rejects.toThrow("closed");
    const controller = new AbortController();
    const aborted = startSampleStream({ seed: 1, recipe, signal: controller.signal });
    const waiting = aborted.take(1000);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await using broken = startSampleStream({ seed: 1, recipe: { ...recipe, sources: { corpusFolder: "/nowhere" } } });
    await expect(broken.next()).rejects.toThrow("no training corpus in /nowhere");
  });

  it("refuses counts below one", () => {
    expect(() => startSampleStream({ seed: 1, recipe, workers: 0 })).toThrow("`workers` expected at least 1, got 0");
  });
});
