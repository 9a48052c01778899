/**
 * A chat completion request, as OpenAI clients, the official MinerU clients and vLLM users write it, becomes one question to the model.
 * Diffusion settings are read from `extra_body`, `vllm_xargs` and the top level. What has no meaning here is not refused but named, so
 * that clients made for autoregressive servers work and their users still learn what had no effect. Pictures come as data URIs and no
 * other way: nothing a client writes makes the server open a file or a connection.
 */
import { z } from "zod";
import {
  type CommitRuleOptions,
  commitStrategies,
  type DecodingOptions,
  type Parser,
  type RecognitionRequest,
  type TaskName,
  taskNames,
  taskOfPrompt,
  tasks,
} from "../index.ts";
import { HttpFailure } from "./failure.ts";

const part = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image_url"), image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) }),
]);

const message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part)]).nullish() });

const settings = z.record(z.string(), z.unknown()).nullish();

export const chatRequest = z.looseObject({
  model: z.string().nullish(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  logprobs: z.boolean().nullish(),
  n: z.literal(1, "expected 1, since an answer is decided, not drawn").nullish(),
  extra_body: settings,
  vllm_xargs: settings,
});

export type ChatRequest = z.infer<typeof chatRequest>;

/** One question, and how its answer is wanted. */
export interface ChatQuestion {
  readonly request: RecognitionRequest;
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
  readonly stop: readonly string[];
  /** Settings without effect, by name, and why. */
  readonly ignored: ReadonlyMap<string, string>;
}

/** Answers longer than this are not begun, whatever a client asks for. */
const MOST_TOKENS = 16_384;

/** Values of top-level settings that say what is done anyway. */
const honoured: Readonly<Record<string, (value: unknown) => boolean>> = {
  temperature: (value) => value === 0,
  top_p: (value) => value === 1,
  top_k: (value) => value === 1 || value === -1 || value === 0,
  presence_penalty: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  skip_special_tokens: (value) => value === false,
  top_logprobs: (value) => value === 0,
  response_format: (value) => (value as { type?: unknown }).type === "text",
  debug: (value) => value === false,
  // Whoever asks, it is the same answer.
  user: () => true,
  metadata: () => true,
  store: () => true,
};

const own = new Set(Object.keys(chatRequest.shape));

const fraction = z.number().min(0).max(1);
const count = z.number().int().min(1).max(4096);
const positive = z.number().min(0).max(1000);

const diffusion = {
  blockLength: { names: ["block_length", "block_size"], type: z.union([count, z.literal("answer")]) },
  steps: { names: ["denoising_steps", "max_denoising_steps"], type: count },
  strategy: { names: ["denoising_strategy", "strategy"], type: z.enum(commitStrategies) },
  threshold: { names: ["dynamic_threshold", "threshold"], type: fraction },
  gamma: { names: ["gamma"], type: positive },
  factor: { names: ["factor"], type: positive },
  record: { names: ["record"], type: z.number().int().min(1).max(8) },
  task: { names: ["task"], type: z.enum(taskNames as readonly [TaskName, ...TaskName[]]) },
} as const;

type Setting = keyof typeof diffusion;
type Settings = { [S in Setting]?: z.infer<(typeof diffusion)[S]["type"]> };

/** Which strategy reads which number; the others have no use for it. */
const readBy = { threshold: "low_confidence_dynamic", gamma: "entropy_bounded", factor: "factor" } as const;

/** Why a request does not fit, naming the place. */
export function issuesOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `\`${path.join(".") || "body"}\` ${message[0].toLowerCase()}${message.slice(1)}`)
    .join("; ");
}

const invalid = (message: string): HttpFailure => new HttpFailure(400, "invalid-value", message);

/** Settings by our names; the more particular place wins. Unknown ones are left to `ignore`. */
function diffusionSettings(body: ChatRequest, ignore: (name: string, value: unknown) => void): Settings {
  const found: Record<string, unknown> = {};
  const names = new Map((Object.keys(diffusion) as Setting[]).flatMap((key) => diffusion[key].names.map((name) => [name as string, key])));
  const topLevel = Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name)));
  for (const place of [topLevel, body.vllm_xargs ?? {}, body.extra_body ?? {}])
    for (const [name, value] of Object.entries(place)) {
      const key = names.get(name);
      if (value === null) continue;
      if (!key) {
        ignore(name, value);
        continue;
      }
      const { success, data, error } = diffusion[key as Setting].type.safeParse(value);
      if (!success) throw invalid(`\`${name}\` ${issuesOf(error).replace(/^`\w*` /, "")}`);
      found[key] = data;
    }
  return found as Settings;
}

function decodingOf(given: Settings, maxTokens: number | undefined, ignore: (name: string, why: string) => void): DecodingOptions {
  const rule: { -readonly [K in keyof CommitRuleOptions]: CommitRuleOptions[K] } = {};
  if (given.strategy) rule.strategy = given.strategy;
  for (const key of ["threshold", "gamma", "factor"] as const) {
    if (given[key] === undefined) continue;
    if ((given.strategy ?? "low_confidence_dynamic") === readBy[key]) rule[key] = given[key];
    else ignore(key, `only the strategy ${readBy[key]} reads it`);
  }
  return {
    ...(given.blockLength !== undefined ? { blockLength: given.blockLength } : {}),
    ...(given.steps !== undefined ? { stepsPerBlock: given.steps } : {}),
    ...(Object.keys(rule).length > 0 ? { rule } : {}),
    ...(given.record !== undefined ? { record: { candidates: given.record } } : {}),
    ...(maxTokens !== undefined ? { maxTokens } : {}),
  };
}

/** Bytes of a data URI that holds a picture. */
function pictureBytes(url: string): Uint8Array {
  const match = /^data:image\/[\w.+-]+(?:;[\w-]+=[^;,]*)*;base64,/i.exec(url.slice(0, 200));
  if (!match) {
    const got = url.startsWith("data:") ? `${url.slice(0, 40)}…` : "another address";
    throw invalid(`\`image_url\` expected data:image/…;base64,…, got ${got}; this server opens no files and no addresses`);
  }
  const text = url.slice(match[0].length);
  if (!/^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(text)) throw invalid("`image_url` expected base64 after the comma");
  return Buffer.from(text, "base64");
}

/** The table's wording of a known prompt, so that white space around it does not matter. */
function wordingOf(prompt: string): { readonly task?: TaskName; readonly prompt?: string } {
  const task = taskOfPrompt(prompt);
  if (!task) return { prompt };
  const wording = [tasks[task].prompt, ...tasks[task].alternatePrompts].find((known) => known.trim() === prompt.trim())!;
  return wording === tasks[task].prompt ? { task } : { task, prompt: wording };
}

/**
 * Reads a request's JSON; `decode` makes pixels of its picture.
 * @throws HttpFailure 400 naming what does not fit; MineruError if the picture cannot be decoded.
 */
export async function readChatRequest(json: unknown, decode: Parser["decodeImage"]): Promise<ChatQuestion> {
  const parsed = chatRequest.safeParse(json);
  if (!parsed.success) throw invalid(issuesOf(parsed.error));
  const body = parsed.data;
  const ignored = new Map<string, string>();
  const given = diffusionSettings(body, (name, value) => {
    if (!honoured[name]?.(value)) ignored.set(name, "it has no meaning for this server, which decodes greedily by block diffusion");
  });

  const place = body.messages.findLastIndex(({ role }) => role === "user");
  if (place < 0) throw invalid("`messages` expected one of the role user, got none");
  if (body.messages.some(({ role }, i) => i !== place && role !== "system" && role !== "developer"))
    ignored.set("messages", "only the last message of the role user is read");
  const { content } = body.messages[place];
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  const prompt = parts.flatMap((entry) => (entry.type === "text" ? [entry.text] : [])).join("");
  const urls = parts.flatMap(({ type, ...entry }) => (type === "image_url" ? [entry.image_url as string | { url: string }] : []));
  if (urls.length > 1) throw invalid(`\`messages\` expected one picture, got ${urls.length}`);
  if (prompt.trim() === "") throw invalid('`messages` expected a prompt, such as "Text Recognition:", got none');

  const asked = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  if (asked !== undefined && asked > MOST_TOKENS) ignored.set("max_tokens", `answers grow to ${MOST_TOKENS} tokens at most`);
  if (body.stream && body.logprobs) ignored.set("logprobs", "a stream tells none");
  const decoding = decodingOf(given, asked === undefined ? undefined : Math.min(asked, MOST_TOKENS), (name, why) => ignored.set(name, why));
  const wording = wordingOf(prompt);
  const url = urls.at(0);
  const image = url === undefined ? undefined : await decode(pictureBytes(typeof url === "string" ? url : url.url));
  return {
    request: { ...wording, task: given.task ?? wording.task ?? "text", ...(image ? { image } : {}), decoding },
    model: body.model || undefined,
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    logprobs: body.logprobs === true && !body.stream,
    stop: (typeof body.stop === "string" ? [body.stop] : (body.stop ?? [])).filter((text) => text !== ""),
    ignored,
  };
}
