/**
 * Task and image size to prompt tokens: the chat template's text, encoded, with the image placeholder repeated once per image token.
 */
import { type ChatTemplate, expandImageTokens } from "./chat-template.ts";
import { type TaskName, taskMessages } from "./prompts.ts";
import type { Tokenizer } from "./tokenizer.ts";

export type PromptEncoder = (task: TaskName, imageTokens: number, prompt?: string) => Int32Array;

export function createPromptEncoder(tokenizer: Tokenizer, template: ChatTemplate, imageTokenId: number): PromptEncoder {
  const encoded = new Map<string, number[]>();
  return (task, imageTokens, prompt) => {
    const key = `${task} ${prompt ?? ""}`;
    let ids = encoded.get(key);
    if (!ids) {
      ids = tokenizer.encode(template.render(taskMessages(task, prompt)));
      encoded.set(key, ids);
    }
    return Int32Array.from(expandImageTokens(ids, imageTokenId, [imageTokens]));
  };
}
