import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { eventually, type FakeServer, fakeServer, samplePicture, uploadForm } from "../../test/fake-server.ts";
import { listen } from "./listen.ts";

/** A fake server on a port of its own. */
async function listening(server: FakeServer) {
  const stop = new AbortController();
  let done: Promise<void> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    done = listen(server.app, { host: "127.0.0.1", port: 0, signal: stop.signal, graceMs: 20_000, onListening: resolve });
    done.catch(reject);
  });
  return { url, stop: () => stop.abort(), done: done! };
}

const message = JSON.stringify({ messages: [{ role: "user", content: "Text Recognition:" }] });
const streamed = JSON.stringify({ ...JSON.parse(message), stream: true });
const post = (url: string, body: string, signal?: AbortSignal) =>
  fetch(`${url}/v1/chat/completions`, { method: "POST", body, headers: { "content-type": "application/json" }, signal });

describe("on a port", () => {
  test.each([
    { name: "a client that hangs up", body: message },
    { name: "a client that hangs up while it listens to a stream", body: streamed },
  ])("$name frees its place", async ({ body }) => {
    const server = fakeServer({ atOnce: 1, queue: 0 });
    const { url, stop, done } = await listening(server);
    server.recognizer.hold();
    const client = new AbortController();
    const call = post(url, body, client.signal).then((response) => response.text());
    await eventually(() => server.recognizer.asked.length).toBe(1);
    client.abort();
    await expect(call).rejects.toThrow();
    await eventually(() => server.recognizer.aborted).toMatchObject([{ code: "client-gone" }]);
    server.recognizer.release();
    expect((await post(url, message)).status).toBe(200);
    stop();
    await done;
  });

  test("a client that hangs up in the middle of its upload frees its place", async () => {
    const server = fakeServer({ atOnce: 1, queue: 0 });
    const { url, stop, done } = await listening(server);
    const waiting = async () => (await server.get("/health").then((response) => response.json())).queued_requests;
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /tasks HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 5000\r\n\r\n--b\r\n");
    await eventually(waiting).toBe(1);
    socket.destroy();
    await eventually(waiting).toBe(0);
    stop();
    await done;
  });

  test("a stream comes block by block", async () => {
    const server = fakeServer();
    const { url, stop, done } = await listening(server);
    const text = await (await post(url, streamed)).text();
    expect(text.match(/"content":"[^"]+"/g)).toHaveLength(4);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    stop();
    await done;
  });

  test("told to stop, it finishes what it took and takes nothing new", async () => {
    const server = fakeServer();
    const { url, stop, done } = await listening(server);
    server.recognizer.hold();
    const taken = post(url, message);
    const stream = await post(url, streamed);
    await eventually(() => server.recognizer.asked.length).toBe(2);
    stop();
    expect((await post(url, message)).status).toBe(503);
    server.recognizer.release();
    expect((await taken).status).toBe(200);
    expect(await stream.text()).toMatch(/\[DONE\]/);
    await done;
    await expect(post(url, message)).rejects.toThrow();
  });

  test("told to stop, it waits until the results of tasks are fetched", async () => {
    const server = fakeServer();
    const { url, stop, done } = await listening(server);
    server.recognizer.hold();
    const form = uploadForm({ "a.png": await samplePicture() });
    const { task_id } = (await (await fetch(`${url}/tasks`, { method: "POST", body: form })).json()) as { task_id: string };
    stop();
    server.recognizer.release();
    const result = () => fetch(`${url}/tasks/${task_id}/result`);
    await eventually(async () => (await result()).status).toBe(200);
    const began = performance.now();
    await done;
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test("a port that is taken is told", async () => {
    const { url, stop, done } = await listening(fakeServer());
    const port = Number(new URL(url).port);
    const second = listen(fakeServer().app, { host: "127.0.0.1", port, signal: new AbortController().signal });
    await expect(second).rejects.toMatchObject({ code: "server-failed", message: expect.stringContaining("--port") });
    stop();
    await done;
  });

  test("told to stop before it began, it does not begin", async () => {
    await listen(fakeServer().app, { host: "127.0.0.1", port: 0, signal: AbortSignal.abort() });
  });
});
