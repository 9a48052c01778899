import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ChatMessage, defaultChatTemplate, expandImageTokens, imageTokenCount, loadChatTemplate } from "./chat-template.ts";
import { maxPromptTokens, systemPrompt, taskMessages, taskNames, taskOfPrompt, tasks } from "./prompts.ts";
import { loadTokenizer } from "./tokenizer.ts";

const golden = new URL("../../test/golden/model/", import.meta.url);
const text = (name: string) => readFileSync(new URL(name, golden), "utf8");
const json = (name: string) => JSON.parse(text(name));
const vectors = json("chat-template.json");
const tokenizerConfig = json("tiny/tokenizer_config.json");
const tokenizer = loadTokenizer({ tokenizerJson: json("tiny/tokenizer.json"), tokenizerConfig });

describe.each([
  ["chat_template.jinja", loadChatTemplate({ chatTemplate: text("tiny/chat_template.jinja"), tokenizerConfig })],
  ["tokenizer_config.json", loadChatTemplate({ tokenizerConfig })],
  [
    "several named templates",
    loadChatTemplate({
      tokenizerConfig: {
        chat_template: [
          { name: "tool", template: "x" },
          { name: "default", template: defaultChatTemplate },
        ],
      },
    }),
  ],
  ["no template at all", loadChatTemplate()],
])("the template of %s", (_, template) => {
  it("gives the golden prompts and ids", () => {
    expect(vectors.cases.length).toBeGreaterThan(10);
    for (const { messages, addGenerationPrompt, text, gridThw, imageTokens, ids, length, idsSha256 } of vectors.cases) {
      expect(template.render(messages, { addGenerationPrompt })).toBe(text);
      if (length === undefined) continue;
      expect(imageTokenCount(gridThw)).toBe(imageTokens);
      const expanded = expandImageTokens(tokenizer.encode(text), tokenizer.idOf("<|image_pad|>"), [imageTokens]);
      expect(expanded.length).toBe(length);
      if (ids) expect(expanded).toEqual(ids);
      expect(createHash("sha256").update(Int32Array.from(expanded)).digest("hex")).toBe(idsSha256);
    }
  });

  it("leaves the assistant's turn closed when told to", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ];
    const open = "<|im_start|>assistant\n";
    expect(template.render(messages, { addGenerationPrompt: false })).toBe(
      `<|im_start|>system\n${systemPrompt}<|im_end|>\n<|im_start|>user\na<|im_end|>\n${open}b<|im_end|>\n`,
    );
    expect(template.render(messages).endsWith(`b<|im_end|>\n${open}`)).toBe(true);
  });
});

it("renders the golden prompt of each task from the table", () => {
  const template = loadChatTemplate();
  for (const task of taskNames) {
    const { text } = vectors.cases.find((one: { task: string }) => one.task === task);
    expect(template.render(taskMessages(task))).toBe(text);
    expect(tasks[task].maxAnswerTokens % 32).toBe(0);
    for (const prompt of [tasks[task].prompt, ...tasks[task].alternatePrompts]) expect(taskOfPrompt(`${prompt} `)).toBe(task);
  }
  expect(template.render(taskMessages("layout", "\nLayout Analysis:"))).toContain("<|vision_end|>\nLayout Analysis:<|im_end|>");
  expect(taskOfPrompt("Text Recognition")).toBeUndefined();
  expect(maxPromptTokens).toBeGreaterThan(37 * 37);
});

it("expands several images each to its own number and refuses a mismatch", () => {
  expect(imageTokenCount([1, 74, 74])).toBe(1369);
  expect(expandImageTokens([1, 9, 2, 9], 9, [3, 1])).toEqual([1, 9, 9, 9, 2, 9]);
  expect(() => expandImageTokens([1, 9], 9, [])).toThrow("`counts` expected one number for each of 1 images, got 0");
  expect(() => expandImageTokens([1], 9, [2])).toThrow("each of 0 images, got 1");
  expect(() => imageTokenCount([1, 3, 4])).toThrow(RangeError);
  expect(() => imageTokenCount([0, 2, 2])).toThrow(RangeError);
});

it("names a template that cannot be used", () => {
  expect(() => loadChatTemplate({ chatTemplate: "{% for %}" })).toThrow(/^chat template: expected a Jinja template/);
  expect(() => loadChatTemplate({ chatTemplate: "{{ raise_exception('no images') }}" }).render([])).toThrow(/no images/);
});
