/**
 * Clients of other people, unmodified, against the server. They are no dependencies: where one is not installed, its test is skipped and
 * says so. `MINERU_TEST_PYTHON` names a Python that has mineru-vl-utils, `MINERU_TEST_OPENAI` the main file of the openai package.
 */
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../src/server/listen.ts";
import { fakeAnswers } from "./fake-recognizer.ts";
import { fakeServer, samplePicture } from "./fake-server.ts";

const python = process.env.MINERU_TEST_PYTHON ?? "python3";
const script = new URL("./scripts/mineru_vl_utils_client.py", import.meta.url).pathname;
const page = new URL("./samples/testocr.png", import.meta.url).pathname;

function hasOfficialClient(): boolean {
  try {
    execFileSync(python, ["-c", "import mineru_vl_utils, httpx"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a package that need not be there has no types
const openai: any = await import(process.env.MINERU_TEST_OPENAI ?? "openai").catch(() => null);
const official = hasOfficialClient();

const server = fakeServer();
const stop = new AbortController();
let url: string;
let done: Promise<void>;
beforeAll(async () => {
  url = await new Promise((resolve, reject) => {
    done = listen(server.app, { host: "127.0.0.1", port: 0, signal: stop.signal, onListening: resolve });
    done.catch(reject);
  });
});
afterAll(async () => {
  stop.abort();
  await done;
});

describe.skipIf(!official)(`mineru-vl-utils${official ? "" : " (not installed: pip install mineru-vl-utils)"}`, () => {
  test("reads a page in two steps", async () => {
    const { stdout } = await promisify(execFile)(python, [script, url, page]);
    const blocks = JSON.parse(stdout);
    expect(blocks.map(({ type }: { type: string }) => type)).toEqual(["title", "text", "table", "image"]);
    expect(blocks[0]).toMatchObject({ bbox: [0.05, 0.05, 0.95, 0.2], content: fakeAnswers.text });
    expect(blocks[2].content).toContain("<td>1</td>");
    expect(server.recognizer.asked[0]).toMatchObject({ task: "layout", image: { width: 1036, height: 1036 } });
    expect(server.recognizer.asked.map(({ task }) => task).sort()).toEqual(["layout", "table", "text", "text"]);
  });
});

describe.skipIf(openai === null)(`openai${openai ? "" : " (not installed: npm install --no-save openai)"}`, () => {
  const client = () => new openai.OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  const question = async () => ({
    model: "fake",
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${(await samplePicture()).toString("base64")}` } },
          { type: "text", text: "Text Recognition:" },
        ],
      },
    ],
  });

  test("lists the model and reads a crop, whole and as a stream", async () => {
    expect((await client().models.list()).data[0].id).toBe("fake");
    const whole = await client().chat.completions.create({ ...(await question()), dynamic_threshold: 0.9 });
    expect(whole.choices[0].message.content).toBe(fakeAnswers.text);
    expect(server.recognizer.asked.at(-1)?.decoding).toEqual({ rule: { threshold: 0.9 } });
    let text = "";
    for await (const chunk of await client().chat.completions.create({ ...(await question()), stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe(fakeAnswers.text);
  });

  test("throws its own error for what does not fit", async () => {
    const call = client().chat.completions.create({ ...(await question()), model: "gpt-4" });
    await expect(call).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});
