import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeImage, openaiRecognizer } from "../src/index.ts";
import { uploadForm } from "./fake-server.ts";
import { tinyFolder } from "./tiny.ts";

/** Weights of chance: what is read is nonsense, but it takes every step from the command line to the wire and back. */
const main = new URL("../dist/cli/main.js", import.meta.url).pathname;
const samples = new URL("./samples/", import.meta.url).pathname;
const model = ["--model", tinyFolder(), "--threads", "1"];

function start(...args: string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [main, ...args], { stdio: "pipe" });
}

const image = await readFile(`${samples}testocr.png`);
const question = (more: object = {}) =>
  JSON.stringify({
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${image.toString("base64")}` } },
          { type: "text", text: "\nText Recognition:" },
        ],
      },
    ],
    max_tokens: 64,
    extra_body: { block_length: 16, denoising_steps: 4 },
    ...more,
  });

describe("serve", () => {
  let server: ChildProcessWithoutNullStreams;
  let url: string;
  let log = "";
  beforeAll(async () => {
    server = start("serve", "--port", "0", "--timeout", "110", ...model);
    url = await new Promise((resolve, reject) => {
      server.stderr.on("data", (chunk) => {
        log += chunk;
        const address = /on (http:\S+)/.exec(log);
        if (address) resolve(address[1]);
      });
      server.once("close", () => reject(new Error(log)));
    });
  });
  afterAll(() => {
    server.kill("SIGKILL");
  });

  const ask = (body: string) => fetch(`${url}/v1/chat/completions`, { method: "POST", body });

  test("the pieces of a stream are the whole answer", async () => {
    const whole = (await (await ask(question())).json()) as {
      model: string;
      choices: { message: { content: string }; finish_reason: string }[];
      usage: { completion_tokens: number };
      diffusion: { steps: number; steps_of_block: number[] };
    };
    expect(whole.model).toBe("tiny");
    expect(whole.usage.completion_tokens).toBeLessThanOrEqual(64);
    expect(Math.max(...whole.diffusion.steps_of_block)).toBeLessThanOrEqual(4);
    const stream = await (await ask(question({ stream: true }))).text();
    const pieces = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data).choices[0].delta.content ?? "");
    expect(pieces.join("")).toBe(whole.choices[0].message.content);
    expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
  });

  test("a setting that only the model can refuse is the client's fault", async () => {
    const response = await ask(question({ extra_body: { block_length: 4, denoising_steps: 8 } }));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("stepsPerBlock")]);
  });

  test("a prompt that spells special tokens does no harm", async () => {
    const content = "<|image_pad|><|im_end|><|MASK|>";
    const response = await ask(JSON.stringify({ messages: [{ role: "user", content }], max_tokens: 16 }));
    expect([200, 400]).toContain(response.status);
  });

  test("while one question is worked on, others are still let in", async () => {
    const long = ask(question({ max_tokens: 512, extra_body: { block_length: 1 } }));
    const began = performance.now();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const waited = performance.now() - began;
    expect((await long).status).toBe(200);
    expect(waited).toBeLessThan(performance.now() - began);
  });

  test("a document that is given up leaves the model free", async () => {
    const submitted = await fetch(`${url}/tasks`, { method: "POST", body: uploadForm({ "a.png": image }) });
    const { task_id } = (await submitted.json()) as { task_id: string };
    const status = async () => ((await (await fetch(`${url}/tasks/${task_id}`)).json()) as { status: string }).status;
    await expect.poll(status, { timeout: 30_000 }).toBe("processing");
    await fetch(`${url}/tasks/${task_id}`, { method: "DELETE" });
    await expect.poll(status, { timeout: 30_000 }).toBe("failed");
    expect((await ask(question())).status).toBe(200);
  });

  test("this project's own client", async () => {
    await using remote = await openaiRecognizer({ serverUrl: url });
    const [result] = await remote.recognize([{ task: "table", image: await decodeImage(image), decoding: { maxTokens: 32 } }]);
    expect(result.forwards).toBeGreaterThan(0);
    expect(remote.info.name).toBe("tiny");
  });

  test("told to stop, it finishes what it took and ends well", async () => {
    const long = ask(question({ max_tokens: 256, extra_body: { block_length: 1 } }));
    const working = async () => ((await (await fetch(`${url}/health`)).json()) as { processing_requests: number }).processing_requests;
    await expect.poll(working, { timeout: 30_000 }).toBe(1);
    server.kill("SIGTERM");
    expect((await long).status).toBe(200);
    const [code] = await once(server, "close");
    expect(code).toBe(0);
    expect(log).toMatch(/POST \/v1\/chat\/completions 200 \d+ ms/);
    expect(log).not.toMatch(/\n\s+at /);
  });
});

test("mcp answers on standard output and ends when the assistant hangs up", async () => {
  const child = start("mcp", "--root", samples, ...model);
  const closed = once(child, "close");
  // biome-ignore lint/suspicious/noExplicitAny: messages as they came over the wire
  const answers: any[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => answers.push(JSON.parse(line)));
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answered = async (id: number) => {
    await expect.poll(() => answers.some((answer) => answer.id === id), { timeout: 100_000 }).toBe(true);
    return answers.find((answer) => answer.id === id).result;
  };
  const clientInfo = { name: "test", version: "1" };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  expect((await answered(1)).serverInfo.name).toBe("mineru-diffusion");
  send({ method: "notifications/initialized" });
  // Loads the model; a whole page would take weights of chance too long.
  send({ id: 2, method: "tools/call", params: { name: "parse_document", arguments: { path: "testocr.png" } } });
  send({ method: "notifications/cancelled", params: { requestId: 2 } });
  send({ id: 3, method: "tools/call", params: { name: "read_page", arguments: { path: "/etc/passwd", page: 1 } } });
  expect(await answered(3)).toMatchObject({ isError: true });
  child.stdin.end();
  expect((await closed)[0]).toBe(0);
});

describe("wrong use of the server's flags", () => {
  test.each([
    { args: ["serve", "--port", "70000"], says: /from 0 to 65535/ },
    { args: ["mcp"], says: /--root/ },
    { args: ["serve", "--engine", "openai"], says: /--server-url/ },
    { args: ["parse", "x.pdf", "--engine", "local", "--server-url", "http://h"], says: /--engine openai/ },
  ])("$args", async ({ args, says }) => {
    const child = start(...args);
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, "close");
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  });

  test("a server that is not there", async () => {
    const child = start("recognize", `${samples}testocr.png`, "--task", "text", "--server-url", "http://127.0.0.1:9");
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, "close");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/could not be reached/)]);
  });
});
