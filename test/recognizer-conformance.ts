/**
 * What every recogniser must do, wherever it computes: one suite, called with a way to load the tiny checkpoint. Results are compared
 * with decodes of the reference implementation, so any two recognisers that pass agree.
 */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Recognizer } from "../src/engine/recognizer.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult } from "../src/engine/types.ts";
import { decodeImage } from "../src/image/decode-image.ts";
import type { RgbImage } from "../src/image/rgb-image.ts";
import { goldenJson, tinyFolder } from "./tiny.ts";

interface GoldenDecode {
  readonly prompt: string;
  readonly blockLength: number;
  readonly stepsPerBlock: number;
  readonly threshold: number;
  readonly genLength: number;
  readonly stopTokens: readonly number[];
  readonly tokens: readonly number[];
  readonly steps: number;
}

interface GoldenPrompt {
  readonly name: string;
  readonly ids: readonly number[];
  readonly images: readonly string[];
}

const golden = (name: string): URL => new URL(`./golden/${name}`, import.meta.url);

/** Requests with their reference tokens and steps: every fifth golden decode of a named prompt. */
export async function goldenRequests(): Promise<{ request: RecognitionRequest; tokens: readonly number[]; steps: number }[]> {
  const { prompts } = await goldenJson<{ prompts: GoldenPrompt[] }>("prefill.json");
  const { decodes } = JSON.parse(await readFile(golden("diffusion/decode.json"), "utf8")) as { decodes: GoldenDecode[] };
  const images = new Map<string, RgbImage>();
  for (const name of new Set(prompts.flatMap((prompt) => prompt.images)))
    images.set(name, await decodeImage(await readFile(golden(`image/files/${name}`))));
  return decodes
    .filter(({ prompt }, i) => i % 5 === 0 && prompts.some(({ name }) => name === prompt))
    .map(({ prompt: name, tokens, steps, ...decode }) => {
      const prompt = prompts.find((entry) => entry.name === name)!;
      const request: RecognitionRequest = {
        task: "text",
        image: images.get(prompt.images[0]),
        promptIds: Int32Array.from(prompt.ids),
        decoding: {
          blockLength: decode.blockLength,
          stepsPerBlock: decode.stepsPerBlock,
          maxTokens: decode.genLength,
          rule: { threshold: decode.threshold },
          stopTokens: decode.stopTokens,
          fillLastBlock: true,
        },
      };
      return { request, tokens, steps };
    });
}

const tokensOf = ({ tokens }: RecognitionResult): number[] => tokens.map(({ token }) => token);

/** A decode of `maxTokens` forced steps: long enough to be interrupted. */
export const longRequest = (maxTokens: number): RecognitionRequest => ({
  task: "text",
  promptIds: Int32Array.of(369, 298, 309, 274, 258),
  decoding: { blockLength: 1, maxTokens, stopTokens: [] },
});

export function describeRecognizer(name: string, load: (dir: string) => Promise<Recognizer>): void {
  describe(`${name} as a recogniser`, { timeout: 600_000 }, () => {
    let recognizer: Recognizer;
    let cases: Awaited<ReturnType<typeof goldenRequests>>;
    beforeAll(async () => {
      [recognizer, cases] = [await load(tinyFolder()), await goldenRequests()];
    }, 600_000);
    afterAll(() => recognizer.close());

    test("tells what it loaded", () => {
      expect(recognizer.info.dir).toBe(tinyFolder().replace(/\/$/, ""));
      expect(recognizer.info.config.text.layers).toBe(3);
      expect(recognizer.info.device).toMatchObject({ device: "cpu" });
      expect(recognizer.info.precision).toMatchObject({ precision: "float32", linear: null });
    });

    test("gives the reference's tokens in its steps, in the order of the requests", async () => {
      expect(cases.length).toBeGreaterThan(20);
      const results = await recognizer.recognize(
        cases.map(({ request }) => request),
        { batchSize: 4 },
      );
      for (const [i, { tokens, steps }] of cases.entries()) {
        expect(tokensOf(results[i])).toEqual(tokens);
        expect(results[i].steps).toBe(steps);
      }
    });

    test("leaves the caller's pictures and prompts as they were", async () => {
      const { request } = cases.find((entry) => entry.request.image)!;
      const before = { pixels: Uint8Array.from(request.image!.data), ids: Int32Array.from(request.promptIds!) };
      await recognizer.recognize([request, request]);
      expect(Uint8Array.from(request.image!.data)).toEqual(before.pixels);
      expect(request.promptIds).toEqual(before.ids);
    });

    test("reports every step and every result while it works", async () => {
      const events: RecognitionEvent[] = [];
      const chosen = cases.slice(0, 3);
      const results = await recognizer.recognize(
        chosen.map(({ request }) => request),
        { onEvent: (event) => events.push(event) },
      );
      for (const [i, { steps }] of chosen.entries()) {
        const own = events.filter(({ request }) => request === i);
        const seen = own.flatMap((event) => (event.kind === "step" ? [event.record.step] : []));
        expect(seen).toEqual(Array.from({ length: steps }, (_, step) => step + 1));
        expect(own.at(-1)).toEqual({ kind: "result", request: i, result: results[i] });
      }
    });

    test("answers calls that overlap, each with its own result", async () => {
      const chosen = cases.slice(0, 6);
      const answers = await Promise.all(chosen.map(({ request }) => recognizer.recognize([request])));
      for (const [i, [result]] of answers.entries()) expect(tokensOf(result)).toEqual(chosen[i].tokens);
    });

    test("does not let a short call wait for a long one", async () => {
      const finished: string[] = [];
      const long = recognizer.recognize([longRequest(300)]).then(() => finished.push("long"));
      const short = [1, 2].map((i) => recognizer.recognize([longRequest(3)]).then(() => finished.push(`short ${i}`)));
      await Promise.all([long, ...short]);
      expect(finished).toEqual(["short 1", "short 2", "long"]);
    });

    test("an aborted call rejects with the signal's reason, and the next one is answered", async () => {
      const controller = new AbortController();
      const reason = new Error("no longer wanted");
      let steps = 0;
      const call = recognizer.recognize([longRequest(5000)], {
        signal: controller.signal,
        onEvent: () => {
          if (++steps === 3) controller.abort(reason);
        },
      });
      await expect(call).rejects.toBe(reason);
      expect(steps).toBeLessThan(5000);
      expect(tokensOf((await recognizer.recognize([cases[0].request]))[0])).toEqual(cases[0].tokens);
    });

    test("a call that was aborted before it began is not begun", async () => {
      const events: RecognitionEvent[] = [];
      const call = recognizer.recognize([cases[0].request], {
        signal: AbortSignal.abort("too late"),
        onEvent: (event) => events.push(event),
      });
      await expect(call).rejects.toBe("too late");
      expect(events).toEqual([]);
    });

    test("an error of the listener ends the call", async () => {
      const error = new Error("the listener failed");
      const call = recognizer.recognize([longRequest(5000)], {
        onEvent: () => {
          throw error;
        },
      });
      await expect(call).rejects.toBe(error);
    });

    test("wrong arguments keep their class", async () => {
      const call = recognizer.recognize([{ ...cases[0].request, decoding: { blockLength: -1 } }]);
      await expect(call).rejects.toBeInstanceOf(RangeError);
    });

    test("no requests, no results", async () => {
      expect(await recognizer.recognize([])).toEqual([]);
    });

    test("a folder without a checkpoint keeps its code", async () => {
      await expect(load("/nonexistent")).rejects.toMatchObject({ name: "MineruError", code: "checkpoint-missing" });
    });
  });
}
