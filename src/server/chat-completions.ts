/**
 * The OpenAI-compatible door: the one model in the list, and chat completions, whole or as a stream of settled blocks. Says how an answer
 * came about in a field of its own, `diffusion`, which other clients pass over.
 */
import { randomUUID } from "node:crypto";
import type { Context, Hono } from "hono";
import { type RecognitionEvent, type RecognitionResult, type RecognizeOptions, writeReadingProfile } from "../index.ts";
import type { Place } from "./admission.ts";
import { announcedBytes, readBody } from "./body.ts";
import { type ChatQuestion, readChatRequest } from "./chat-request.ts";
import { failureOf, HttpFailure } from "./failure.ts";
import { openaiError, type ServerState } from "./server-state.ts";
import { cutAt, SettledText } from "./settled-text.ts";

/** A comment this often keeps proxies from closing a silent stream. */
const KEEP_ALIVE_MS = 15_000;

const warningsOf = ({ ignored }: ChatQuestion): string[] => [...ignored].map(([name, why]) => `${name} has no effect: ${why}`);

const finishReason = ({ ended }: RecognitionResult, cut: boolean): "stop" | "length" => (cut || ended === "stop" ? "stop" : "length");

function usageOf({ promptTokens, tokens }: RecognitionResult) {
  return { prompt_tokens: promptTokens, completion_tokens: tokens.length, total_tokens: promptTokens + tokens.length };
}

/** How an answer came about; where a recording was asked for, all of it as the library tells it. */
function diffusionOf(result: RecognitionResult, { request }: ChatQuestion) {
  const { ended, steps, forwards, tokensPerForward, stepsOfBlock } = result;
  return {
    ended,
    steps,
    forward_passes: forwards,
    tokens_per_forward: tokensPerForward,
    steps_of_block: stepsOfBlock,
    ...(request.decoding?.record ? { result } : {}),
  };
}

/** Natural logarithms of the confidences tokens were committed with. */
function logprobsOf({ tokens }: RecognitionResult) {
  return {
    content: tokens.map(({ text, confidence }) => ({
      token: text,
      logprob: Math.log(Math.max(confidence, Number.MIN_VALUE)),
      bytes: [...new TextEncoder().encode(text)],
      top_logprobs: [],
    })),
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new HttpFailure(400, "invalid-json", `the body expected JSON: ${(cause as Error).message}`, { cause });
  }
}

export function chatRoutes(app: Hono, state: ServerState): void {
  const { parser, admission, limits, counters } = state;
  const { name, profile } = parser.recognizer.info;
  const began = Math.floor(Date.now() / 1000);
  const model = {
    id: name,
    object: "model",
    created: began,
    owned_by: "mineru-diffusion",
    reading_profile: writeReadingProfile(profile),
  };

  app.get("/v1/models", (c) => c.json({ object: "list", data: [model] }));
  app.get("/v1/models/:id{.+}", (c) => {
    if (c.req.param("id") !== name) throw unknownModel(c.req.param("id"), name);
    return c.json(model);
  });

  const answer = async ({ request }: ChatQuestion, place: Place, onEvent?: RecognizeOptions["onEvent"]) => {
    await place.turn();
    const [result] = await parser.recognize([request], { signal: place.signal, onEvent });
    counters.add("mineru_answer_tokens_total", "Tokens of answers.", {}, result.tokens.length);
    counters.add("mineru_forward_passes_total", "Forward passes that answers took part in.", {}, result.forwards);
    return result;
  };

  const settledBy = (event: RecognitionEvent, writer: SettledText): string => {
    if (event.kind === "line") return writer.line(event.line, event.text);
    return event.kind === "step" && event.line === undefined ? writer.step(event.record) : "";
  };

  const whole = async (c: Context, question: ChatQuestion, place: Place): Promise<Response> => {
    const result = await answer(question, place);
    const { text, cut } = cutAt(result.text, question.stop);
    const warnings = warningsOf(question);
    return c.json({
      id: `chatcmpl-${randomUUID()}`,
      object: "chat.completion",
      created: Math.floor(Date.now() / 1000),
      model: name,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: text, refusal: null },
          logprobs: question.logprobs ? logprobsOf(result) : null,
          finish_reason: finishReason(result, cut),
        },
      ],
      usage: usageOf(result),
      diffusion: diffusionOf(result, question),
      ...(warnings.length > 0 ? { warnings } : {}),
    });
  };

  const stream = (c: Context, question: ChatQuestion, place: Place, leave: () => void): Response => {
    const encoder = new TextEncoder();
    const head = { id: `chatcmpl-${randomUUID()}`, object: "chat.completion.chunk", created: Math.floor(Date.now() / 1000), model: name };
    const writer = new SettledText(state.textOfTokens ?? (() => ""), question.stop);
    const gone = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        const write = (text: string): void => {
          if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
        };
        const data = (value: unknown): void => write(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
        const chunk = (delta: object, finish: string | null, more: object = {}): void =>
          data({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...more });
        const say = (content: string): void => {
          if (content !== "") chunk({ content }, null);
        };
        const timer = setInterval(() => write(": waiting\n\n"), KEEP_ALIVE_MS);
        const warnings = warningsOf(question);
        try {
          chunk({ role: "assistant", content: "" }, null, warnings.length > 0 ? { warnings } : {});
          const result = await answer(question, place, state.textOfTokens && ((event) => say(settledBy(event, writer))));
          say(writer.end(result.text));
          chunk({}, finishReason(result, cutAt(result.text, question.stop).cut), { diffusion: diffusionOf(result, question) });
          if (question.includeUsage) data({ ...head, choices: [], usage: usageOf(result) });
          data("[DONE]");
        } catch (error) {
          const failure = failureOf(place.signal.aborted ? place.signal.reason : error);
          state.onFailure(failure);
          data(openaiError(failure));
        } finally {
          clearInterval(timer);
          leave();
          if (!gone.signal.aborted) controller.close();
        }
      },
      cancel() {
        gone.abort();
        place.abandon();
      },
    });
    return c.body(body, 200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
  };

  app.post("/v1/chat/completions", async (c) => {
    const place = admission.enter(announcedBytes(c.req.raw, limits.uploadBytes), c.req.raw.signal);
    let streaming = false;
    try {
      place.setDeadline(limits.timeoutMs);
      const question = await readChatRequest(
        parseJson(await readBody(c.req.raw, limits.uploadBytes, place.signal)),
        parser.decodeImage.bind(parser),
      );
      if (question.model !== undefined && question.model !== name) throw unknownModel(question.model, name);
      const names = [...question.ignored.keys()].filter((entry) => /^[\w.-]{1,64}$/.test(entry)).slice(0, 32);
      if (names.length > 0) c.header("x-ignored-settings", names.join(", "));
      if (!question.stream) return await whole(c, question, place);
      streaming = true;
      return stream(c, question, place, () => place.leave());
    } catch (error) {
      throw place.signal.aborted ? place.signal.reason : error;
    } finally {
      if (!streaming) place.leave();
    }
  });
}

function unknownModel(asked: string, name: string): HttpFailure {
  return new HttpFailure(404, "model_not_found", `\`model\` expected ${name}, got ${asked.slice(0, 100)}`);
}
