import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadChatTemplate } from "./chat-template.ts";
import { latexCommands, miniCharacters, miniFileText, miniTokenizerFiles, paddedVocabSize, promptPieces } from "./mini-tokenizer.ts";
import { systemPrompt, taskMessages } from "./prompts.ts";
import { loadTokenizer } from "./tokenizer.ts";

const folder = new URL("../../models/mini/", import.meta.url);
const files = miniTokenizerFiles();
const read = (name: string) => readFileSync(new URL(name, folder), "utf8");
const tokenizer = loadTokenizer({
  tokenizerJson: JSON.parse(read("tokenizer.json")),
  tokenizerConfig: JSON.parse(read("tokenizer_config.json")),
});
const published = JSON.parse(readFileSync(new URL("../../test/golden/model/tiny/tokenizer.json", import.meta.url), "utf8"));

it("lies in models/mini as this source says (else run scripts/make-mini-tokenizer.ts)", () => {
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(Object.keys(files)));
  for (const [name, content] of Object.entries(files)) expect(read(name)).toBe(miniFileText(content));
});

describe("the vocabulary", () => {
  it("has the published byte alphabet first, then characters, then added tokens", () => {
    const published256 = Object.entries<number>(published.model.vocab).filter(([, id]) => id < 256);
    expect(published256.length).toBe(256);
    for (const [letter, id] of published256) expect(tokenizer.idOf(letter)).toBe(id);
    expect(tokenizer.vocabSize).toBe(811);
    expect(paddedVocabSize(tokenizer.vocabSize)).toBe(816);
    expect(paddedVocabSize(816)).toBe(816);
  });

  it("gives each listed character one token, alone and in words, and merges nothing else", () => {
    expect(new Set(miniCharacters).size).toBe(miniCharacters.length);
    for (const character of miniCharacters) {
      expect([character, character.normalize("NFC")]).toEqual([character, character]);
      expect([character, tokenizer.encode(character).length]).toEqual([character, 1]);
    }
    const single = fc.constantFrom(...miniCharacters, ...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)), "\n");
    fc.assert(
      fc.property(fc.array(single, { maxLength: 60 }), (letters) => {
        const text = letters.join("").normalize("NFC");
        fc.pre(!/<\||<\w+>|\\|user\n|assistant\n/.test(text));
        const ids = tokenizer.encode(text);
        expect(ids.length).toBe([...text].length);
        expect(tokenizer.decode(ids)).toBe(text);
      }),
    );
    for (const text of [
      "  the  quick\n\n",
      "don't 12345",
      "“naïve” façade – 5 ≤ x ≤ 7…",
      "Größe: 3 µm ± 2 %",
      "Kraków, Győr, İstanbul, Plzeň, Ιθάκη",
    ]) {
      expect(tokenizer.encode(text).length).toBe([...text].length + (text.includes("ά") ? 1 : 0));
    }
  });

  it("reads and writes every other text by its bytes", () => {
    expect(tokenizer.encode("中").length).toBeGreaterThan(1);
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (any) => tokenizer.decode(tokenizer.encode(any)) === any.normalize("NFC")));
  });

  it("has the published added tokens that pages need, with the published flags", () => {
    const flags = new Map<string, boolean>(
      published.added_tokens.map((token: { content: string; special: boolean }) => [token.content, token.special]),
    );
    const unused = /tool_|fim_|repo_name|file_sep|think/;
    const { added_tokens } = files["tokenizer.json"] as { added_tokens: { id: number; content: string; special: boolean }[] };
    for (const content of flags.keys()) if (!unused.test(content)) expect(tokenizer.has(content)).toBe(true);
    for (const { id, content, special } of added_tokens) {
      expect([content, special]).toEqual([content, flags.get(content) ?? false]);
      expect(tokenizer.isSpecial(id)).toBe(special);
      expect(tokenizer.encode(content)).toEqual([id]);
    }
    expect(added_tokens.map(({ content }) => content).filter((content) => !flags.has(content))).toEqual([
      "<|txt_contd_tgt|>",
      ...promptPieces,
      ...latexCommands,
    ]);
  });
});

it("spells a formula with its commands, longest first, and letters", () => {
  const formula = "\\int_{0}^{\\infty}\\left(\\frac{a}{b}\\right)\\leftrightarrow\\unknown";
  const spelt = Array.from(tokenizer.encode(formula), (id) => tokenizer.decode([id]));
  expect(spelt.filter((piece) => piece.length > 1)).toEqual(["\\int", "\\infty", "\\left", "\\frac", "\\right", "\\leftrightarrow"]);
  expect(spelt.join("")).toBe(formula);
});

it("asks without a system message, in 9 tokens and the image's", () => {
  const template = loadChatTemplate({ chatTemplate: read("chat_template.jinja") });
  const prompt = template.render(taskMessages("text"));
  expect(prompt).toBe(
    "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>\nText Recognition:<|im_end|>\n<|im_start|>assistant\n",
  );
  expect(prompt).not.toContain(systemPrompt);
  expect(tokenizer.encode(prompt).length).toBe(10);
  expect(template.render([{ role: "user", content: " a\n" }], { addGenerationPrompt: false })).toBe("<|im_start|>user\n a\n<|im_end|>\n");
});

it("states stop tokens and the limits of 1 to 512 image tokens", () => {
  expect(files["generation_config.json"]).toEqual({
    eos_token_id: [tokenizer.idOf("<|im_end|>"), tokenizer.idOf("<|endoftext|>")],
    pad_token_id: tokenizer.idOf("<|endoftext|>"),
  });
  expect(files["preprocessor_config.json"]).toMatchObject({ min_pixels: 784, max_pixels: 401408, patch_size: 14, merge_size: 2 });
});
