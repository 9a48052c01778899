import { describe, expect, test } from "vitest";
import { decodeImage } from "../image/decode-image.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { openaiRecognizer } from "./openai-recognizer.ts";
import type { RecognitionEvent } from "./types.ts";

interface Asked {
  readonly url: string;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a body as it came over the wire
  readonly body: any;
}

type Reply = Response | Error | ((asked: Asked, signal: AbortSignal) => Promise<Response>);

const completion = (content: unknown, more: object = {}): Response =>
  Response.json({ choices: [{ message: { role: "assistant", content }, finish_reason: "stop", ...more }], usage: { prompt_tokens: 7 } });
const models = (...ids: string[]): Response => Response.json({ data: ids.map((id) => ({ id })) });

/** A server that gives these replies in turn, the last one for ever. */
function server(...replies: Reply[]) {
  const asked: Asked[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted();
    const body = init.body === undefined ? undefined : JSON.parse(init.body as string);
    const question = { url: String(url), headers: new Headers(init.headers), body };
    asked.push(question);
    const reply = replies.length > 1 ? replies.shift()! : replies[0];
    if (reply instanceof Error) throw reply;
    return typeof reply === "function" ? reply(question, init.signal!) : reply.clone();
  };
  return { asked, fetch: fetch as typeof globalThis.fetch };
}

const picture = (width: number, height: number): RgbImage => ({ width, height, data: new Uint8Array(width * height * 3).fill(200) });
const base = { serverUrl: "http://host:30000/", retryDelayMs: 1 };

describe("the questions", () => {
  test("picture first, then the prompt as the model was trained on it; settings in both spellings", async () => {
    const { asked, fetch } = server(models("mineru"), completion("Hello<|im_end|>"));
    await using recognizer = await openaiRecognizer({ ...base, fetch, apiKey: "secret" });
    const [result] = await recognizer.recognize([
      {
        task: "text",
        image: picture(60, 40),
        decoding: { blockLength: 16, stepsPerBlock: 8, rule: { strategy: "low_confidence_dynamic", threshold: 0.9 }, maxTokens: 64 },
      },
    ]);
    expect(result).toMatchObject({ text: "Hello", ended: "stop", promptTokens: 7, tokens: [] });
    expect(asked.map(({ url }) => url)).toEqual(["http://host:30000/v1/models", "http://host:30000/v1/chat/completions"]);
    expect(asked[1].headers.get("authorization")).toBe("Bearer secret");
    const { messages, ...settings } = asked[1].body;
    expect(settings).toEqual({
      model: "mineru",
      max_tokens: 64,
      temperature: 0,
      skip_special_tokens: false,
      extra_body: { block_length: 16, denoising_steps: 8, denoising_strategy: "low_confidence_dynamic", dynamic_threshold: 0.9 },
      vllm_xargs: { block_size: 16, max_denoising_steps: 8, dynamic_threshold: 0.9 },
    });
    expect(messages[0]).toEqual({ role: "system", content: "You are a helpful assistant." });
    const [image, text] = messages[1].content;
    expect(text).toEqual({ type: "text", text: "\nText Recognition:" });
    const sent = await decodeImage(Buffer.from(image.image_url.url.replace("data:image/png;base64,", ""), "base64"));
    expect([sent.width, sent.height]).toEqual([60, 40]);
  });

  test("a page for layout is sent as the square the model expects, a low crop at a readable height", async () => {
    const { asked, fetch } = server(Response.json({ data: [{ id: "m", reading_profile: { layout_image_size: 56 } }] }), completion(""));
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    await recognizer.recognize([{ task: "layout", image: picture(80, 100) }]);
    await recognizer.recognize([{ task: "formula", image: picture(40, 14) }]);
    const sizes = await Promise.all(
      asked.slice(1).map(async ({ body }) => {
        const image = await decodeImage(Buffer.from(body.messages[1].content[0].image_url.url.split(",")[1], "base64"));
        return [image.width, image.height];
      }),
    );
    expect(sizes).toEqual([
      [56, 56],
      [80, 28],
    ]);
  });

  test("a version at the end of the address is kept", async () => {
    const { asked, fetch } = server(models("m"));
    await openaiRecognizer({ ...base, fetch, serverUrl: "https://host/proxy/v1/" });
    expect(asked[0].url).toBe("https://host/proxy/v1/models");
  });

  test("what a server cannot do is refused here", async () => {
    const { fetch } = server(models("m"), completion(""));
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    await expect(recognizer.recognize([{ task: "text", promptIds: Int32Array.of(1) }])).rejects.toThrow(TypeError);
  });

  test("a recording is asked for, and handed on where the server gives one", async () => {
    const result = { text: "ab", tokens: [], ended: "stop", recording: { options: {}, answers: [] } };
    const choices = [{ message: { role: "assistant", content: "ab" }, finish_reason: "stop" }];
    const tellingAll = Response.json({ choices, diffusion: { steps: 2, result } });
    const { asked, fetch } = server(models("m"), tellingAll, completion("ab"));
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    const requests = [{ task: "text" as const, decoding: { record: { candidates: 2 } } }];
    expect(await recognizer.recognize(requests)).toMatchObject([result]);
    expect(asked[1].body).toMatchObject({ extra_body: { record: 2 } });
    expect((await recognizer.recognize(requests))[0].recording).toBeUndefined();
  });
});

describe("the answers", () => {
  const ask = async (reply: Reply) => {
    const { fetch } = server(models("m"), reply);
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    return (await recognizer.recognize([{ task: "text" }]))[0];
  };

  test.each([
    { name: "a list of parts", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }, { type: "audio" }], text: "ab" },
    { name: "nothing", content: null, text: "" },
    { name: "layout tokens", content: "<|box_start|>001 002 003 004<|box_end|>", text: "<|box_start|>001 002 003 004<|box_end|>" },
  ])("$name", async ({ content, text }) => {
    expect((await ask(completion(content))).text).toBe(text);
  });

  test("the token limit and repetition are told apart", async () => {
    expect((await ask(completion("x", { finish_reason: "length" }))).ended).toBe("length");
    const own = Response.json({
      choices: [{ message: { content: "x" }, finish_reason: "length" }],
      diffusion: { ended: "repetition", steps: 5, forward_passes: 6, tokens_per_forward: 2.5, steps_of_block: [3, 2] },
    });
    expect(await ask(own)).toMatchObject({ ended: "repetition", steps: 5, forwards: 6, tokensPerForward: 2.5, stepsOfBlock: [3, 2] });
  });

  test.each([
    { name: "no choice", reply: Response.json({ object: "error", message: "model crashed" }), says: /model crashed/ },
    { name: "an unknown end", reply: completion("x", { finish_reason: "abort" }), says: /stop or length/ },
    { name: "no JSON", reply: new Response("<html>"), says: /expected JSON, got <html>/ },
    { name: "a refused key", reply: new Response("no", { status: 401 }), says: /401.*API key/ },
  ])("$name is a failure of the server", async ({ reply, says }) => {
    await expect(ask(reply)).rejects.toMatchObject({ name: "MineruError", code: "server-failed", message: expect.stringMatching(says) });
  });
});

describe("patience", () => {
  test("asks again while the server is busy or out of reach", async () => {
    const busy = new Response("busy", { status: 503, headers: { "retry-after": "0" } });
    const { asked, fetch } = server(
      models("m"),
      busy,
      new TypeError("fetch failed", { cause: new Error("ECONNRESET") }),
      completion("at last"),
    );
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    expect((await recognizer.recognize([{ task: "text" }]))[0].text).toBe("at last");
    expect(asked).toHaveLength(4);
  });

  test("waits as long as the server says", async () => {
    const { fetch } = server(models("m"), new Response("", { status: 429, headers: { "retry-after": "1" } }), completion(""));
    await using recognizer = await openaiRecognizer({ ...base, fetch });
    const began = performance.now();
    await recognizer.recognize([{ task: "text" }]);
    expect(performance.now() - began).toBeGreaterThan(950);
  });

  test("gives up after the retries, and at once where asking again is useless", async () => {
    const down = server(models("m"), new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }));
    await using recognizer = await openaiRecognizer({ ...base, fetch: down.fetch, retries: 2 });
    await expect(recognizer.recognize([{ task: "text" }])).rejects.toMatchObject({
      code: "network-failed",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(down.asked).toHaveLength(4);
    const wrong = server(models("m"), new Response("bad", { status: 400 }));
    await using other = await openaiRecognizer({ ...base, fetch: wrong.fetch });
    await expect(other.recognize([{ task: "text" }])).rejects.toMatchObject({ code: "server-failed" });
    expect(wrong.asked).toHaveLength(2);
  });

  test("asks no more at once than it may, and answers in order", async () => {
    let [inFlight, most] = [0, 0];
    const slow: Reply = async ({ body }) => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return completion(body.messages[1].content[0].text);
    };
    const { fetch } = server(models("m"), slow);
    await using recognizer = await openaiRecognizer({ ...base, fetch, concurrency: 3 });
    const events: RecognitionEvent[] = [];
    const prompts = Array.from({ length: 10 }, (_, i) => `question ${i}`);
    const results = await recognizer.recognize(
      prompts.map((prompt) => ({ task: "text", prompt })),
      { onEvent: (event) => events.push(event) },
    );
    expect(results.map(({ text }) => text)).toEqual(prompts);
    expect(most).toBe(3);
    expect(events.map(({ request }) => request).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("a call ends with its signal, its first failure, or the recogniser", async () => {
    const forever: Reply = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const { fetch } = server(models("m"), forever);
    const recognizer = await openaiRecognizer({ ...base, fetch });
    const controller = new AbortController();
    const reason = new Error("no longer wanted");
    const call = recognizer.recognize([{ task: "text" }, { task: "text" }], { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 5);
    await expect(call).rejects.toBe(reason);
    const open = recognizer.recognize([{ task: "text" }]);
    await recognizer.close();
    await expect(open).rejects.toThrow(/closed/);
    await expect(recognizer.recognize([{ task: "text" }])).rejects.toThrow(TypeError);

    let others = 0;
    const oneFails: Reply = async (asked, signal) => {
      if (asked.body.messages[1].content[0].text === "bad") return new Response("bad", { status: 400 });
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(++others), { once: true }));
    };
    const failing = server(models("m"), oneFails);
    await using half = await openaiRecognizer({ ...base, fetch: failing.fetch });
    await expect(half.recognize([{ task: "text" }, { task: "text", prompt: "bad" }])).rejects.toMatchObject({ code: "server-failed" });
    expect(others).toBe(1);
  });

  test("an answer that takes too long is given up without asking again", async () => {
    const forever: Reply = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const { asked, fetch } = server(models("m"), forever);
    await using recognizer = await openaiRecognizer({ ...base, fetch, timeoutMs: 20 });
    await expect(recognizer.recognize([{ task: "text" }])).rejects.toMatchObject({ code: "network-failed", message: /no answer within/ });
    expect(asked).toHaveLength(2);
  });
});

describe("connecting", () => {
  test.each([
    { name: "several models and no name", ids: ["a", "b"], model: undefined, says: /exactly one model, got a, b/ },
    { name: "a name the server does not list", ids: ["a"], model: "c", says: /list c, got a/ },
    { name: "no model", ids: [], model: undefined, says: /got none/ },
  ])("$name", async ({ ids, model, says }) => {
    const { fetch } = server(models(...ids));
    await expect(openaiRecognizer({ ...base, fetch, model })).rejects.toMatchObject({
      code: "server-failed",
      message: expect.stringMatching(says),
    });
  });

  test.each([
    { options: { serverUrl: "host" }, error: TypeError },
    { options: { serverUrl: "file:///etc" }, error: TypeError },
    { options: { concurrency: 0 }, error: RangeError },
    { options: { retries: -1 }, error: RangeError },
  ])("$options is refused", async ({ options, error }) => {
    await expect(openaiRecognizer({ ...base, ...options })).rejects.toThrow(error);
  });
});
