/**
 * A recogniser that computes nothing: it asks a server that speaks the OpenAI chat protocol and holds MinerU-Diffusion weights (SGLang,
 * vLLM, or this project's own). It knows the wire (one picture and one prompt per question, diffusion settings in every spelling that is
 * read somewhere) and patience (bounded concurrency, retries with growing pauses); tokens and steps of an answer are the server's secret,
 * unless it is this project's and a recording is asked for.
 */
import { MineruError } from "../error.ts";
import { resizeByNeed } from "../image/crops.ts";
import { encodePng } from "../image/encode-png.ts";
import { resizeBicubic } from "../image/resample.ts";
import { systemPrompt, tasks } from "../text/prompts.ts";
import { parseReadingProfile } from "./reading-profile.ts";
import type { Recognizer, RecognizerIdentity } from "./recognizer.ts";
import { type ConnectionOptions, ServerConnection } from "./server-connection.ts";
import type { DecodingOptions, RecognitionRequest, RecognitionResult, RecognizeOptions } from "./types.ts";

/** The server that holds the model, and how patiently it is asked. */
export interface OpenaiRecognizerOptions extends ConnectionOptions {
  /** Needed only where the server lists several. */
  readonly model?: string;
}

type Json = Record<string, unknown>;

const record = (value: unknown): Json => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {});
const numberOr = (value: unknown, fallback: number): number => (typeof value === "number" ? value : fallback);

/** Ends of a turn that servers may leave on the text. */
const TURN_END = /(?:<\|im_end\|>|<\|endoftext\|>)+$/;

/** Settings in the spellings of the official client (`extra_body`) and of vLLM (`vllm_xargs`); servers ignore what they do not know. */
function diffusionSettings({ blockLength, stepsPerBlock, rule, record }: DecodingOptions): Json {
  const official: Json = {};
  const vllm: Json = {};
  if (blockLength !== undefined) {
    official.block_length = blockLength;
    if (blockLength !== "answer") vllm.block_size = blockLength;
  }
  if (stepsPerBlock !== undefined) {
    official.denoising_steps = stepsPerBlock;
    vllm.max_denoising_steps = stepsPerBlock;
  }
  if (rule?.strategy !== undefined) official.denoising_strategy = rule.strategy;
  if (rule?.threshold !== undefined) {
    official.dynamic_threshold = rule.threshold;
    vllm.dynamic_threshold = rule.threshold;
  }
  if (rule?.gamma !== undefined) official.gamma = rule.gamma;
  if (rule?.factor !== undefined) official.factor = rule.factor;
  if (record) official.record = record.candidates;
  return {
    ...(Object.keys(official).length > 0 ? { extra_body: official } : {}),
    ...(Object.keys(vllm).length > 0 ? { vllm_xargs: vllm } : {}),
  };
}

/** Bytes given to `String.fromCharCode` at once: engines bound the number of arguments. */
const PIECE = 1 << 15;

function base64Of(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE) binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(binary);
}

async function questionOf(request: RecognitionRequest, model: string, layoutSize: number): Promise<Json> {
  const { task, image, prompt, decoding = {} } = request;
  if (request.promptIds) throw new TypeError("`promptIds` expected nothing at a server, which has its own tokens, got token ids");
  const content: Json[] = [];
  if (image) {
    const picture = task === "layout" ? resizeBicubic(image, layoutSize, layoutSize) : resizeByNeed(image);
    const bytes = await encodePng(picture);
    content.push({ type: "image_url", image_url: { url: `data:image/png;base64,${base64Of(bytes)}` } });
  }
  content.push({ type: "text", text: prompt ?? tasks[task].prompt });
  return {
    model,
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content },
    ],
    max_tokens: decoding.maxTokens ?? tasks[task].maxAnswerTokens,
    temperature: decoding.temperature ?? 0,
    ...(decoding.topP !== undefined ? { top_p: decoding.topP } : {}),
    ...(decoding.topK !== undefined ? { top_k: decoding.topK } : {}),
    ...(decoding.seed !== undefined ? { seed: decoding.seed } : {}),
    // Layout and table tokens are the answer.
    skip_special_tokens: false,
    ...diffusionSettings(decoding),
  };
}

/** A chat message's content: a string, a list of parts, or nothing. */
function textOf(content: unknown): string | null {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content.map((part) => (typeof part === "string" ? part : typeof record(part).text === "string" ? record(part).text : "")).join("");
}

function resultOf(answer: unknown, milliseconds: number): RecognitionResult {
  const body = record(answer);
  const choice = record(Array.isArray(body.choices) ? body.choices[0] : undefined);
  const text = textOf(record(choice.message).content);
  const reason = choice.finish_reason;
  if (text === null || (reason !== "stop" && reason !== "length")) {
    const got = JSON.stringify(answer)?.slice(0, 300);
    throw new MineruError("server-failed", `the server expected to answer with a chat completion that ended in stop or length, got ${got}`);
  }
  const usage = record(body.usage);
  const diffusion = record(body.diffusion);
  // This project's own server tells everything where a recording was asked for.
  if (typeof record(diffusion.result).text === "string") return { ...(diffusion.result as RecognitionResult), milliseconds };
  const steps = numberOr(diffusion.steps, 0);
  return {
    text: text.replace(TURN_END, ""),
    tokens: [],
    ended: diffusion.ended === "repetition" ? "repetition" : reason,
    promptTokens: numberOr(usage.prompt_tokens, 0),
    imageTokens: 0,
    steps,
    forwards: numberOr(diffusion.forward_passes, steps),
    tokensPerForward: numberOr(diffusion.tokens_per_forward, 0),
    stepsOfBlock: Array.isArray(diffusion.steps_of_block) ? diffusion.steps_of_block.filter((n) => typeof n === "number") : [],
    milliseconds,
  };
}

class OpenaiRecognizer implements Recognizer<RecognizerIdentity> {
  readonly info: RecognizerIdentity;
  readonly #connection: ServerConnection;
  readonly #closing = new AbortController();

  constructor(connection: ServerConnection, info: RecognizerIdentity) {
    this.#connection = connection;
    this.info = info;
  }

  /** All questions of a call are asked at once, as far as the connection takes them; `batchSize` is the server's own affair. */
  async recognize(requests: readonly RecognitionRequest[], { signal, onEvent }: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw new TypeError("recogniser expected to be open, got a closed one");
    const failing = new AbortController();
    const ends = AbortSignal.any([failing.signal, this.#closing.signal, ...(signal ? [signal] : [])]);
    const ask = async (request: RecognitionRequest, index: number): Promise<RecognitionResult> => {
      let began = 0;
      const answer = await this.#connection.post("chat/completions", ends, () => {
        began = performance.now();
        return questionOf(request, this.info.name, this.info.profile.layoutSize);
      });
      const result = resultOf(answer, performance.now() - began);
      onEvent?.({ kind: "result", request: index, result });
      return result;
    };
    try {
      return await Promise.all(requests.map(ask));
    } catch (error) {
      failing.abort(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the recogniser was closed", "AbortError"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Connects to a server and chooses its model.
 * @throws MineruError `network-failed` if it cannot be reached, `server-failed` if it refuses or lists no such model; TypeError or
 * RangeError for options that do not fit.
 */
export async function openaiRecognizer(options: OpenaiRecognizerOptions): Promise<Recognizer<RecognizerIdentity>> {
  const { model, signal } = options;
  const connection = new ServerConnection(options);
  const { data } = record(await connection.get("models", signal));
  const models = (Array.isArray(data) ? data : []).map(record).filter(({ id }) => typeof id === "string" && id !== "");
  const names = models.map(({ id }) => id).join(", ") || "none";
  const chosen = model === undefined ? (models.length === 1 ? models[0] : undefined) : models.find(({ id }) => id === model);
  if (!chosen)
    throw new MineruError(
      "server-failed",
      `${connection.base} expected to list ${model === undefined ? "exactly one model" : model}, got ${names}; name one of them as the model`,
    );
  // Only this project's server tells how its weights want their pictures; others hold the published ones.
  return new OpenaiRecognizer(connection, { name: chosen.id as string, profile: parseReadingProfile(chosen.reading_profile) });
}
