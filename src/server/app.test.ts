import { describe, expect, test } from "vitest";
import { eventually, fakeServer } from "../../test/fake-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: a body as it came over the wire
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

describe("who may ask", () => {
  test("with a key, whoever has it; probes and credential checks pass without", async () => {
    const server = fakeServer({ apiKey: "secret" });
    const status = async (path: string, authorization?: string) =>
      (await server.get(path, authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await status("/v1/models")).toBe(401);
    expect(await status("/v1/models", "Bearer wrong")).toBe(401);
    expect(await status("/v1/models", "Bearer secret")).toBe(200);
    expect(await status("/v1/models", "bearer secret")).toBe(200);
    for (const path of ["/tasks/x", "/metrics", "/nothing"]) expect(await status(path)).toBe(401);
    for (const path of ["/health", "/docs", "/openapi.json"]) expect(await status(path)).toBe(200);
    const refused = await server.post("/file_parse", "");
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await refused.json()).error).toMatchObject({ type: "authentication_error", code: "unauthorized" });
    expect(() => fakeServer({ apiKey: "" })).toThrow(TypeError);
  });

  test("on a loopback address, no foreign page and no foreign name", async () => {
    const server = fakeServer({ loopback: true });
    const status = async (headers: Record<string, string>) => (await server.get("/v1/models", { headers })).status;
    expect(await status({})).toBe(200);
    for (const host of ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "localhost"]) expect(await status({ host })).toBe(200);
    for (const host of ["evil.example", "localhost.evil.example", "10.0.0.1:8000"]) expect(await status({ host })).toBe(403);
    expect(await status({ host: "localhost:8000", origin: "http://localhost:8000" })).toBe(200);
    for (const origin of ["https://evil.example", "null", "http://localhost:3000"])
      expect(await status({ host: "localhost:8000", origin })).toBe(403);
    const keyed = fakeServer({ loopback: true, apiKey: "k" });
    const headers = { host: "proxy.example", origin: "https://page.example", authorization: "Bearer k" };
    expect((await keyed.get("/v1/models", { headers })).status).toBe(200);
  });
});

describe("what is told about the server", () => {
  test("an OpenAPI document that names every path, and RAGFlow's HEAD request for it", async () => {
    const server = fakeServer({ apiKey: "k" });
    const document = await json(server.get("/openapi.json"));
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" }, security: [{ key: [] }] });
    expect(Object.keys(document.paths)).toEqual([
      "/v1/models",
      "/v1/chat/completions",
      "/file_parse",
      "/tasks",
      "/tasks/{id}",
      "/tasks/{id}/result",
      "/health",
      "/metrics",
    ]);
    const chat = document.paths["/v1/chat/completions"].post.requestBody.content["application/json"].schema;
    expect(chat).toMatchObject({ required: ["messages"], properties: { extra_body: {}, stream: {} } });
    expect((await server.get("/openapi.json", { method: "HEAD" })).status).toBe(200);
  });

  test("a page that loads nothing from elsewhere", async () => {
    const response = await fakeServer().get("/docs");
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain("POST /file_parse");
    expect(page).toContain("<code>return_content_list</code>");
    expect(page).not.toMatch(/<script|https?:\/\//);
  });

  test("counters in Prometheus' form", async () => {
    const server = fakeServer();
    await server.get("/v1/models");
    await server.get("/v1/models/none");
    await server.get("/tasks/made-up-1");
    await server.get("/made-up");
    const message = { messages: [{ role: "user", content: "Text Recognition:" }] };
    await server.post("/v1/chat/completions", message);
    const text = await (await server.get("/metrics")).text();
    expect(text).toContain('mineru_http_requests_total{method="GET",path="/v1/models",status="200"} 1\n');
    expect(text).toContain('mineru_http_requests_total{method="GET",path="/tasks/{id}",status="404"} 1\n');
    expect(text).toContain('mineru_http_requests_total{method="GET",path="other",status="404"} 1\n');
    expect(text).toContain('mineru_http_request_seconds_bucket{method="POST",path="/v1/chat/completions",le="+Inf"} 1\n');
    expect(text).toContain("mineru_answer_tokens_total 29\n");
    expect(text).toContain('mineru_failures_total{code="model_not_found"} 1\n');
    expect(text).toContain("# TYPE mineru_requests_working gauge\nmineru_requests_working 0\n");
    for (const line of text.trim().split("\n")) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+=".*"\})? [\d.e+-]+)$/);
  });

  test("one line per request, without what the client wrote", async () => {
    const lines: string[] = [];
    const server = fakeServer({ onRequest: (line) => lines.push(line) });
    await server.get("/v1/models");
    await server.get("/secret-path?q=1");
    expect(lines).toEqual([expect.stringMatching(/^GET \/v1\/models 200 \d+ ms$/), expect.stringMatching(/^GET other 404 \d+ ms$/)]);
  });
});

test("limits that do not fit are refused", () => {
  for (const options of [{ atOnce: 0 }, { queue: -1 }, { uploadBytes: 0.5 }, { timeoutMs: Number.NaN }])
    expect(() => fakeServer(options)).toThrow(RangeError);
});

test("draining takes nothing new and ends when all is done", async () => {
  const server = fakeServer();
  const message = { messages: [{ role: "user", content: "Text Recognition:" }] };
  server.recognizer.hold();
  const taken = server.post("/v1/chat/completions", message);
  await eventually(() => server.recognizer.asked.length).toBe(1);
  let drained = false;
  const draining = server.app.drain(1000).then(() => {
    drained = true;
  });
  const refused = await server.post("/v1/chat/completions", message);
  expect([refused.status, refused.headers.has("retry-after")]).toEqual([503, true]);
  expect([(await server.get("/health")).status, drained]).toEqual([503, false]);
  server.recognizer.release();
  expect((await taken).status).toBe(200);
  await draining;
});
