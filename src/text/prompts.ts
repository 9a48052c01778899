/**
 * What the model is asked: one table of the four tasks it was trained on, their exact prompt text and how long an answer may grow
 * (paper section 4 and the defaults of the official page pipeline). Other prompts are possible, but nothing was trained on them.
 */

import type { ChatMessage } from "./chat-template.ts";

/** What a picture can be read for. */
export type TaskName = "layout" | "text" | "table" | "formula";

export interface Task {
  /** The user's text; it follows the image and begins with a line feed. */
  readonly prompt: string;
  /** Other wordings in official use, for weights that answer them better. */
  readonly alternatePrompts: readonly string[];
  /** Longest answer in tokens; a multiple of the block length 32. */
  readonly maxAnswerTokens: number;
}

/** The table of tasks: prompts and how long answers may become. */
export const tasks: Readonly<Record<TaskName, Task>> = {
  // The page pipeline says "Detection", the single-image engines say "Analysis"; the weights do not tell which they learnt.
  layout: { prompt: "\nLayout Detection:", alternatePrompts: ["\nLayout Analysis:"], maxAnswerTokens: 2048 },
  text: { prompt: "\nText Recognition:", alternatePrompts: [], maxAnswerTokens: 1024 },
  table: { prompt: "\nTable Recognition:", alternatePrompts: [], maxAnswerTokens: 2048 },
  formula: { prompt: "\nFormula Recognition:", alternatePrompts: [], maxAnswerTokens: 1024 },
};

/** All tasks, layout first. */
export const taskNames = Object.keys(tasks) as readonly TaskName[];

export const systemPrompt = "You are a helpful assistant.";

/** Longest prompt in tokens, image tokens included, that the official code takes. */
export const maxPromptTokens = 4096;

/** The conversation that asks for one task about one image: image first, then the prompt (`prompt` replaces the table's). */
export function taskMessages(task: TaskName, prompt: string = tasks[task].prompt): ChatMessage[] {
  return [
    { role: "system", content: [{ type: "text", text: systemPrompt }] },
    { role: "user", content: [{ type: "image" }, { type: "text", text: prompt }] },
  ];
}

/** The task whose prompt `text` is, surrounding white space aside; undefined for any other text. */
export function taskOfPrompt(text: string): TaskName | undefined {
  const wanted = text.trim();
  return taskNames.find((name) => [tasks[name].prompt, ...tasks[name].alternatePrompts].some((prompt) => prompt.trim() === wanted));
}
