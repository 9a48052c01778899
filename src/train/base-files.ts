/**
 * The parts of a checkpoint folder that training needs before there are weights: tokenizer, chat template, image processor, special ids.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MineruError } from "../error.ts";
import { type ImageProcessorConfig, parseProcessorConfig } from "../image/processor-config.ts";
import { loadChatTemplate } from "../text/chat-template.ts";
import { createPromptEncoder, type PromptEncoder } from "../text/prompt-encoder.ts";
import { loadTokenizer, type Tokenizer } from "../text/tokenizer.ts";

export interface BaseFiles {
  readonly tokenizer: Tokenizer;
  readonly processor: ImageProcessorConfig;
  readonly prompt: PromptEncoder;
  readonly endToken: number;
  /** Stands behind the end of an answer. */
  readonly fillToken: number;
  readonly imageTokenId: number;
  readonly visionStartTokenId: number;
  readonly visionEndTokenId: number;
  readonly maskTokenId: number;
}

async function json(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new MineruError("checkpoint-missing", `${path}: expected a JSON file of a checkpoint folder`, { cause });
  }
}

export async function openCheckpointFiles(folder: string): Promise<BaseFiles> {
  const [tokenizerJson, tokenizerConfig, preprocessor] = await Promise.all(
    ["tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"].map((name) => json(join(folder, name))),
  );
  const chatTemplate = await readFile(join(folder, "chat_template.jinja"), "utf8").catch(() => undefined);
  const tokenizer = loadTokenizer({ tokenizerJson, tokenizerConfig });
  const imageTokenId = tokenizer.idOf("<|image_pad|>");
  return {
    tokenizer,
    processor: parseProcessorConfig(preprocessor),
    prompt: createPromptEncoder(tokenizer, loadChatTemplate({ chatTemplate, tokenizerConfig }), imageTokenId),
    endToken: tokenizer.idOf("<|im_end|>"),
    fillToken: tokenizer.idOf("<|endoftext|>"),
    imageTokenId,
    visionStartTokenId: tokenizer.idOf("<|vision_start|>"),
    visionEndTokenId: tokenizer.idOf("<|vision_end|>"),
    maskTokenId: tokenizer.idOf("<|MASK|>"),
  };
}
