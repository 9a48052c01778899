import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fakeAnswers } from "../../test/fake-recognizer.ts";
import { eventually, type FakeServer, fakeServer, samplePicture } from "../../test/fake-server.ts";
import { decodeImage, encodePng, MineruError, openaiRecognizer } from "../index.ts";

const picture = await encodePng({ width: 30, height: 20, data: new Uint8Array(1800).fill(120) });
const dataUri = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
const image = { type: "image_url", image_url: { url: dataUri } };
const text = (value: string) => ({ type: "text", text: value });

/** The official client's request. */
const question = (prompt = "\nText Recognition:", more: object = {}) => ({
  model: "fake",
  messages: [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: [image, text(prompt)] },
  ],
  ...more,
});

const ask = (server: FakeServer, body: unknown, init?: RequestInit) => server.post("/v1/chat/completions", body, init);

// biome-ignore lint/suspicious/noExplicitAny: a body as it came over the wire
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

/** The data of a stream's events. */
async function events(response: Response): Promise<string[]> {
  const body = await response.text();
  return body
    .split("\n\n")
    .filter((part) => part.startsWith("data: "))
    .map((part) => part.slice(6));
}

describe("models", () => {
  test("exactly one is listed, as the official client wants it, with the sizes its pictures should have", async () => {
    const server = fakeServer();
    const { data } = await json(server.get("/v1/models"));
    expect(data).toMatchObject([{ id: "fake", object: "model", reading_profile: { layout_image_size: 56, region_max_tokens: 2048 } }]);
    expect(await json(server.get("/v1/models/fake"))).toEqual(data[0]);
    expect((await server.get("/v1/models/other")).status).toBe(404);
  });
});

describe("a chat completion", () => {
  test("tells all of it where a recording is asked for", async () => {
    const server = fakeServer();
    const { diffusion } = await json(ask(server, question(undefined, { extra_body: { record: 3 } })));
    expect(server.recognizer.asked[0].decoding?.record).toEqual({ candidates: 3 });
    expect(diffusion.result.tokens[0]).toEqual({ token: 72, text: "H", confidence: 0.9, step: 1 });
    expect((await json(ask(server, question()))).diffusion.result).toBeUndefined();
  });

  test("answers the official client's request", async () => {
    const server = fakeServer();
    const response = await ask(server, question());
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      model: "fake",
      choices: [
        { index: 0, message: { role: "assistant", content: "Hällo wörld, read by blocks" }, finish_reason: "stop", logprobs: null },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 29, total_tokens: 49 },
      diffusion: { ended: "stop", steps: 8, forward_passes: 9 },
    });
    const [{ task, prompt, image: read }] = server.recognizer.asked;
    expect({ task, prompt }).toEqual({ task: "text", prompt: undefined });
    expect([read?.width, read?.height]).toEqual([30, 20]);
  });

  test.each([
    { name: "text before the picture", content: [text("\nTable Recognition:"), image], task: "table" },
    { name: "no line feed", content: [image, text("Formula Recognition:")], task: "formula" },
    { name: "the older layout wording", content: [image, text("Layout Analysis: ")], task: "layout", prompt: "\nLayout Analysis:" },
    { name: "another wording", content: [image, text("\nWhat is written here?")], task: "text", prompt: "\nWhat is written here?" },
    { name: "a prompt in parts", content: [text("\nText "), image, text("Recognition:")], task: "text" },
    { name: "an address as a string", content: [{ type: "image_url", image_url: dataUri }, text("Text Recognition:")], task: "text" },
    { name: "no picture", content: "Merge these: a, b", task: "text", prompt: "Merge these: a, b" },
  ])("$name", async ({ content, task, prompt }) => {
    const server = fakeServer();
    const response = await ask(server, { messages: [{ role: "user", content }] });
    expect(response.status).toBe(200);
    expect(server.recognizer.asked).toMatchObject([{ task }]);
    expect(server.recognizer.asked[0].prompt).toBe(prompt);
  });

  test("special tokens of the answer are left in", async () => {
    const { choices } = await json(ask(fakeServer(), question("\nLayout Detection:")));
    expect(choices[0].message.content).toContain("<|box_start|>050 050 950 200<|box_end|><|ref_start|>title<|ref_end|>");
  });

  test.each([
    { ended: "length", finish: "length" },
    { ended: "repetition", finish: "length" },
    { ended: "stop", finish: "stop" },
  ] as const)("an answer that ended by $ended says $finish", async ({ ended, finish }) => {
    const server = fakeServer();
    server.recognizer.answer = () => ({ text: "x", ended });
    const { choices, diffusion } = await json(ask(server, question()));
    expect([choices[0].finish_reason, diffusion.ended]).toEqual([finish, ended]);
  });

  test("stop strings cut the answer", async () => {
    const { choices } = await json(ask(fakeServer(), question(undefined, { stop: ["wörld", "zzz"] })));
    expect(choices[0]).toMatchObject({ message: { content: "Hällo " }, finish_reason: "stop" });
  });

  test("confidences as logarithms, when asked for", async () => {
    const { choices } = await json(ask(fakeServer(), question(undefined, { logprobs: true })));
    expect(choices[0].logprobs.content).toHaveLength(29);
    expect(choices[0].logprobs.content[0]).toMatchObject({ token: "H", logprob: Math.log(0.9), bytes: [72] });
  });
});

describe("diffusion settings", () => {
  const official = { denoising_steps: 16, block_length: 32, denoising_strategy: "low_confidence_dynamic", dynamic_threshold: 0.9 };
  const understood = { blockLength: 32, stepsPerBlock: 16, rule: { strategy: "low_confidence_dynamic", threshold: 0.9 } };
  test.each([
    { name: "nested, as the official client writes them", more: { extra_body: official }, decoding: understood },
    { name: "flat, as the openai package writes them", more: official, decoding: understood },
    {
      name: "as vLLM's extra arguments",
      more: { vllm_xargs: { block_size: 16, dynamic_threshold: 0.8, max_denoising_steps: 4 } },
      decoding: { blockLength: 16, stepsPerBlock: 4, rule: { threshold: 0.8 } },
    },
    { name: "the particular place wins", more: { threshold: 0.5, extra_body: { threshold: 0.7 } }, decoding: { rule: { threshold: 0.7 } } },
    {
      name: "other strategies",
      more: { strategy: "entropy_bounded", gamma: 0.2 },
      decoding: { rule: { strategy: "entropy_bounded", gamma: 0.2 } },
    },
    { name: "token limits", more: { max_tokens: 50, max_completion_tokens: 70 }, decoding: { maxTokens: 70 } },
    { name: "a token limit beyond reason", more: { max_tokens: 1_000_000 }, decoding: { maxTokens: 16_384 } },
    { name: "none", more: {}, decoding: {} },
  ])("$name", async ({ more, decoding }) => {
    const server = fakeServer();
    expect((await ask(server, question(undefined, more))).status).toBe(200);
    expect(server.recognizer.asked[0].decoding).toEqual(decoding);
  });

  test("a task may be named for another wording", async () => {
    const server = fakeServer();
    await ask(server, question("Where is what?", { extra_body: { task: "layout" } }));
    expect(server.recognizer.asked[0]).toMatchObject({ task: "layout", prompt: "Where is what?" });
  });

  test("what has no effect is named in the answer and in a header", async () => {
    const sampling = { temperature: 1, top_p: 0.01, top_k: 1, presence_penalty: 1, repetition_penalty: 1, skip_special_tokens: false };
    const response = await ask(
      fakeServer(),
      question(undefined, {
        ...sampling,
        vllm_xargs: { no_repeat_ngram_size: 100, debug: false },
        extra_body: { strategy: "sequential", threshold: 0.9 },
      }),
    );
    expect(response.headers.get("x-ignored-settings")).toBe("temperature, top_p, presence_penalty, no_repeat_ngram_size, threshold");
    const { warnings } = await response.json();
    expect(warnings).toHaveLength(5);
    expect(warnings.at(-1)).toMatch(/^threshold has no effect: only the strategy low_confidence_dynamic/);
    expect((await json(ask(fakeServer(), question(undefined, { temperature: 0 })))).warnings).toBeUndefined();
  });
});

describe("refused with a reason", () => {
  const one = (content: unknown) => ({ messages: [{ role: "user", content }] });
  const link = (url: string) => one([{ type: "image_url", image_url: { url } }, text("Text Recognition:")]);
  test.each([
    { name: "no JSON", body: "{", status: 400, says: /expected JSON/ },
    { name: "no messages", body: {}, status: 400, says: /`messages`/ },
    { name: "no user", body: { messages: [{ role: "system", content: "x" }] }, status: 400, says: /role user/ },
    { name: "no prompt", body: one([image]), status: 400, says: /expected a prompt/ },
    { name: "two pictures", body: one([image, image, text("x")]), status: 400, says: /one picture, got 2/ },
    { name: "a web address", body: link("http://169.254.169.254/latest"), status: 400, says: /opens no files and no addresses/ },
    { name: "a file", body: link("file:///etc/passwd"), status: 400, says: /opens no files/ },
    { name: "a path", body: link("/etc/passwd"), status: 400, says: /opens no files/ },
    { name: "no base64", body: link("data:image/png;base64,%%%"), status: 400, says: /base64/ },
    { name: "no picture", body: link(`data:image/png;base64,${Buffer.from("just words").toString("base64")}`), status: 400, says: /PNG/ },
    { name: "a damaged picture", body: link(dataUri.slice(0, 80)), status: 400, says: /./ },
    { name: "an unknown part", body: one([{ type: "input_audio", input_audio: {} }, text("x")]), status: 400, says: /`messages.0.content/ },
    { name: "another model", body: question(undefined, { model: "gpt-4" }), status: 404, says: /expected fake, got gpt-4/ },
    { name: "several answers", body: question(undefined, { n: 2 }), status: 400, says: /`n` expected 1/ },
    {
      name: "a threshold out of range",
      body: question(undefined, { extra_body: { dynamic_threshold: 2 } }),
      status: 400,
      says: /`dynamic_threshold`/,
    },
    { name: "an unknown strategy", body: question(undefined, { denoising_strategy: "best" }), status: 400, says: /`denoising_strategy`/ },
    { name: "no tokens", body: question(undefined, { max_tokens: 0 }), status: 400, says: /`max_tokens`/ },
  ])("$name", async ({ body, status, says }) => {
    const server = fakeServer();
    const response = await ask(server, body);
    expect(response.status).toBe(status);
    const { error, detail } = await response.json();
    expect(error).toMatchObject({ type: "invalid_request_error", code: expect.any(String), message: expect.stringMatching(says) });
    expect(detail).toBe(error.message);
    expect(server.recognizer.asked).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  test("a picture of too many pixels", async () => {
    const bomb = Buffer.from(picture);
    bomb.writeUInt32BE(1_000_000, 16);
    bomb.writeUInt32BE(1_000_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    const response = await ask(fakeServer(), link(`data:image/png;base64,${bomb.toString("base64")}`));
    expect(response.status).toBe(413);
  });

  test("a value that only the model finds wrong", async () => {
    const server = fakeServer();
    server.recognizer.answer = () => {
      throw new RangeError("`stepsPerBlock` expected an integer from 1 to 4, got 32");
    };
    const response = await ask(server, question());
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      "`stepsPerBlock` expected an integer from 1 to 4, got 32",
    ]);
  });

  test("a fault of ours tells nothing of the inside, but the log all; a broken model is reported to probes", async () => {
    const server = fakeServer();
    server.recognizer.answer = () => {
      throw new Error("internal: secret path /home/me");
    };
    const response = await ask(server, question());
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("secret")]);
    expect(server.errors).toMatchObject([{ message: "internal: secret path /home/me" }]);
    expect((await server.get("/health")).status).toBe(200);
    server.recognizer.answer = () => {
      throw new MineruError("runtime-failed", "the thread died");
    };
    expect((await ask(server, question())).status).toBe(500);
    expect(await json(server.get("/health"))).toMatchObject({ status: "unhealthy", error: "the thread died" });
  });
});

describe("a stream", () => {
  const streamed = (more: object = {}) => question(undefined, { stream: true, ...more });

  test("says each block when it is settled, then the end", async () => {
    const response = await ask(fakeServer(), streamed({ stream_options: { include_usage: true } }));
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const data = await events(response);
    expect(data.pop()).toBe("[DONE]");
    const chunks = data.map((part) => JSON.parse(part));
    expect(new Set(chunks.map(({ id, object, model }) => `${id} ${object} ${model}`)).size).toBe(1);
    expect(chunks[0].choices[0].delta).toEqual({ role: "assistant", content: "" });
    expect(chunks.slice(1, -2).map(({ choices }) => choices[0].delta.content)).toEqual(["Hällo w", "örld, r", "ead by b", "locks"]);
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "stop" }], diffusion: { steps: 8 } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 29 } });
  });

  test("without a way to read tokens says all at the end", async () => {
    const chunks = (await events(await ask(fakeServer({ textOfTokens: undefined }), streamed())))
      .slice(0, -1)
      .map((part) => JSON.parse(part));
    expect(chunks.map(({ choices }) => choices[0].delta.content)).toEqual(["", "Hällo wörld, read by blocks", undefined]);
  });

  test("ends with the failure if there is one", async () => {
    const server = fakeServer();
    server.recognizer.answer = () => {
      throw new RangeError("`blockLength` expected something else");
    };
    const data = await events(await ask(server, streamed()));
    expect(JSON.parse(data.at(-1)!)).toMatchObject({ error: { message: "`blockLength` expected something else" } });
  });

  test("a reader that leaves frees the place", async () => {
    const server = fakeServer({ atOnce: 1, queue: 0 });
    server.recognizer.hold();
    const reader = (await ask(server, streamed())).body!.getReader();
    await reader.read();
    expect((await ask(server, question())).status).toBe(429);
    await reader.cancel();
    await eventually(() => server.recognizer.aborted).toMatchObject([{ status: 499 }]);
    server.recognizer.release();
    expect((await ask(server, question())).status).toBe(200);
  });
});

describe("under load", () => {
  test("those who find no place are told when to come back", async () => {
    const server = fakeServer({ atOnce: 1, queue: 1 });
    server.recognizer.hold();
    const taken = [ask(server, question()), ask(server, question())];
    const refused = await ask(server, question());
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await refused.json()).error).toMatchObject({ type: "rate_limit_error", code: "queue-full" });
    server.recognizer.release();
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test("an answer that is not ready in time is given up", async () => {
    const server = fakeServer({ timeoutMs: 400 });
    server.recognizer.hold();
    const response = await ask(server, question());
    expect([response.status, (await response.json()).error.code]).toEqual([504, "deadline"]);
    expect(server.recognizer.aborted).toHaveLength(server.recognizer.asked.length);
  });

  test("a client that leaves ends its work and frees its place", async () => {
    const server = fakeServer({ atOnce: 1, queue: 0 });
    server.recognizer.hold();
    const client = new AbortController();
    const gone = ask(server, question(), { signal: client.signal });
    await eventually(() => server.recognizer.asked.length).toBe(1);
    client.abort();
    expect((await gone).status).toBe(499);
    expect(server.recognizer.aborted).toMatchObject([{ code: "client-gone" }]);
    server.recognizer.release();
    expect((await ask(server, question())).status).toBe(200);
  });

  test("an upload beyond the limit is refused before and while it comes", async () => {
    const server = fakeServer({ uploadBytes: 1000 });
    const announced = await ask(server, "x".repeat(2000), { headers: { "content-length": "2000" } });
    expect(announced.status).toBe(413);
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(400));
      },
    });
    const endless = await server.get("/v1/chat/completions", { method: "POST", body, duplex: "half" } as RequestInit);
    expect(endless.status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect(await json(server.get("/health"))).toMatchObject({ processing_requests: 0, queued_requests: 0 });
  });
});

test("this project's own client reads pages through the server as it does without", async () => {
  const server = fakeServer();
  await using remote = await openaiRecognizer({
    serverUrl: "http://127.0.0.1:8000",
    fetch: ((input, init) => server.get(String(input), init)) as typeof fetch,
  });
  expect(remote.info.profile).toEqual(server.recognizer.info.profile);
  const page = await decodeImage(await samplePicture());
  const [result] = await remote.recognize([{ task: "layout", image: page, decoding: { rule: { threshold: 0.8 }, maxTokens: 100 } }]);
  expect(result).toMatchObject({ text: fakeAnswers.layout, ended: "stop", steps: 82, forwards: 83 });
  const [{ task, image: read, decoding }] = server.recognizer.asked;
  expect([task, read?.width, read?.height]).toEqual(["layout", 56, 56]);
  expect(decoding).toEqual({ rule: { threshold: 0.8 }, maxTokens: 100 });
});
