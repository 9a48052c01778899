/**
 * generation_config.json: which tokens end an answer and what decoding settings a checkpoint asks for (paper section 4, generation
 * defaults). Gives only what the file says; the defaults for what it does not say belong to the decoder.
 */

import { MineruError } from "../error.ts";

export interface GenerationSettings {
  /** Ids that end an answer; empty when no file names any. */
  readonly stopTokenIds: readonly number[];
  readonly padTokenId?: number;
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly blockLength?: number;
  readonly stepsPerBlock?: number;
  /** Confidence above which a position is committed. */
  readonly threshold?: number;
  readonly maxAnswerTokens?: number;
}

type NumberSetting = Exclude<keyof GenerationSettings, "stopTokenIds">;

/** Accepted spellings and ranges (from, to, whole). */
const settings: Record<NumberSetting, { keys: readonly string[]; from: number; to: number; whole: boolean }> = {
  padTokenId: { keys: ["pad_token_id"], from: 0, to: Infinity, whole: true },
  temperature: { keys: ["temperature"], from: 0, to: Infinity, whole: false },
  topK: { keys: ["top_k"], from: 0, to: Infinity, whole: true },
  topP: { keys: ["top_p"], from: 0, to: 1, whole: false },
  blockLength: { keys: ["block_length"], from: 1, to: Infinity, whole: true },
  stepsPerBlock: { keys: ["denoising_steps"], from: 1, to: Infinity, whole: true },
  threshold: { keys: ["dynamic_threshold", "confidence_threshold"], from: 0, to: 1, whole: false },
  maxAnswerTokens: { keys: ["gen_length", "max_new_tokens"], from: 1, to: Infinity, whole: true },
};

/**
 * Reads a parsed generation_config.json; `undefined` when the folder has none. `textEos` is `eos_token_id` of the text config, used
 * when the generation config names no stop token. Throws `checkpoint-invalid` listing every malformed value.
 */
export function parseGeneration(json: unknown, textEos?: unknown, label = "generation_config.json"): GenerationSettings {
  const problems: string[] = [];
  if (json !== undefined && (typeof json !== "object" || json === null || Array.isArray(json))) {
    throw new MineruError("checkpoint-invalid", `${label}: expected a JSON object, got ${JSON.stringify(json)}`);
  }
  const source = (json ?? {}) as Record<string, unknown>;
  const found: Partial<Record<NumberSetting, number>> = {};
  for (const [name, { keys, from, to, whole }] of Object.entries(settings) as [NumberSetting, (typeof settings)[NumberSetting]][]) {
    const key = keys.find((spelling) => source[spelling] !== undefined && source[spelling] !== null);
    if (key === undefined) continue;
    const value = source[key];
    const fits = typeof value === "number" && value >= from && value <= to && Number.isFinite(value) && (!whole || Number.isInteger(value));
    if (fits) found[name] = value;
    else problems.push(`\`${key}\` expected a ${whole ? "whole " : ""}number from ${from} to ${to}, got ${JSON.stringify(value)}`);
  }
  const eos = source.eos_token_id ?? textEos ?? [];
  const stopTokenIds = [...new Set(Array.isArray(eos) ? eos : [eos])];
  if (!stopTokenIds.every((id) => Number.isSafeInteger(id) && id >= 0)) {
    problems.push(`\`eos_token_id\` expected token ids, got ${JSON.stringify(eos)}`);
  }
  if (problems.length > 0) throw new MineruError("checkpoint-invalid", `${label}: ${problems.join("; ")}`);
  return { stopTokenIds, ...found };
}
