/**
 * From messages to the exact prompt: the checkpoint's Jinja chat template rendered to a string, and the one `<|image_pad|>` token of
 * each image repeated once per image token (paper section 4). Images themselves, and how their grid comes about, are not known here.
 */

import { Template } from "@huggingface/jinja";
import { MineruError } from "../error.ts";

export type ChatPart = { readonly type: "text"; readonly text: string } | { readonly type: "image" };

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly ChatPart[];
}

/**
 * The template used when a checkpoint brings none: the strings of Qwen2-VL, with its default system message put before a conversation
 * that does not begin with one.
 */
export const defaultChatTemplate = [
  "{% for message in messages %}",
  "{% if loop.first and message.role != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}",
  "{{ '<|im_start|>' + message.role + '\\n' }}",
  "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}",
  "{% if part.type == 'text' %}{{ part.text }}{% elif part.type == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}{% endif %}",
  "{% endfor %}{% endif %}{{ '<|im_end|>\\n' }}",
  "{% endfor %}",
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
].join("");

export interface ChatTemplate {
  /** The prompt text; `addGenerationPrompt` (true unless told otherwise) opens the assistant's turn. */
  render(messages: readonly ChatMessage[], options?: { readonly addGenerationPrompt?: boolean }): string;
}

/**
 * Compiles the template of a checkpoint: chat_template.jinja, else `chat_template` of the tokenizer config, else `defaultChatTemplate`.
 * Throws `checkpoint-invalid` for a template that does not parse or does not render.
 */
export function loadChatTemplate(files: { readonly chatTemplate?: string; readonly tokenizerConfig?: unknown } = {}): ChatTemplate {
  const config = (files.tokenizerConfig ?? {}) as Record<string, unknown>;
  const source = files.chatTemplate ?? templateOf(config.chat_template) ?? defaultChatTemplate;
  const template = guarded(() => new Template(source));
  const named: Record<string, unknown> = {};
  for (const key of ["bos_token", "eos_token", "pad_token", "unk_token"]) named[key] = contentOf(config[key]);
  return {
    render: (messages, { addGenerationPrompt = true } = {}) =>
      guarded(() => template.render({ ...named, messages, add_generation_prompt: addGenerationPrompt })),
  };
}

/** Some tokenizer configs hold several named templates; the one called "default" is for conversations. */
function templateOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  return (value as { name: string; template: string }[]).find(({ name }) => name === "default")?.template;
}

function contentOf(token: unknown): string {
  if (typeof token === "string") return token;
  return (token as { content?: string } | null | undefined)?.content ?? "";
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const said = (cause as Error).message;
    throw new MineruError(
      "checkpoint-invalid",
      `chat template: expected a Jinja template of conversations, got an error: ${said}; use the published template`,
      {
        cause,
      },
    );
  }
}

/** Image tokens for a grid [time, height, width] in patches: squares of `mergeSize` patches become one. */
export function imageTokenCount(grid: readonly [number, number, number], mergeSize = 2): number {
  const count = (grid[0] * grid[1] * grid[2]) / (mergeSize * mergeSize);
  if (!Number.isInteger(count) || count <= 0 || grid[1] % mergeSize !== 0 || grid[2] % mergeSize !== 0) {
    throw new RangeError(`\`grid\` expected edges that are multiples of ${mergeSize}, got [${grid.join(", ")}]`);
  }
  return count;
}

/**
 * Repeats the nth image token of `ids` `counts[n]` times. RangeError when ids and counts do not speak of the same number of images.
 */
export function expandImageTokens(ids: readonly number[], imageTokenId: number, counts: readonly number[]): number[] {
  const expanded: number[] = [];
  let image = 0;
  for (const id of ids) {
    if (id !== imageTokenId) {
      expanded.push(id);
      continue;
    }
    const count = counts[image++];
    for (let i = 0; i < count; i++) expanded.push(id);
  }
  if (image !== counts.length) throw new RangeError(`\`counts\` expected one number for each of ${image} images, got ${counts.length}`);
  return expanded;
}
