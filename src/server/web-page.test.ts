import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeServer } from "../../test/fake-server.ts";
import { type WebPage, webPageIn } from "./web-page.ts";

let folder: string;
let webPage: WebPage;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "page-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), '<html data-backend="browser"></html>');
  await writeFile(join(folder, "assets", "code-1a2b.wasm"), Uint8Array.of(0, 97, 115, 109));
  webPage = webPageIn(folder);
});

afterAll(() => rm(folder, { recursive: true }));

describe("the web page", () => {
  test("is told that a server shows it, and may compute in threads and run nothing foreign", async () => {
    const response = await fakeServer({ webPage }).get("/");
    expect(await response.text()).toBe('<html data-backend="server"></html>');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
      "content-security-policy": expect.stringContaining("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"),
    });
  });

  test("is open where a key is wanted, and knows it; what it asks is not", async () => {
    const server = fakeServer({ webPage, apiKey: "secret" });
    expect(await (await server.get("/")).text()).toContain("locked-server");
    expect((await server.get("/assets/code-1a2b.wasm")).status).toBe(200);
    expect((await server.get("/v1/models")).status).toBe(401);
  });

  test("files come as they are, with their type, and are kept where their names tell their contents", async () => {
    const response = await fakeServer({ webPage }).get("/assets/code-1a2b.wasm");
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 97, 115, 109]);
    expect(response.headers.get("content-type")).toBe("application/wasm");
    expect(response.headers.get("cache-control")).toContain("immutable");
  });

  test.each(["/assets/../../secret", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets", "/other.js"])("%s is no file of it", async (path) => {
    expect((await fakeServer({ webPage }).get(path)).status).toBe(404);
  });

  test("where it was not built, the root leads to the description", async () => {
    expect(webPageIn(join(folder, "assets")).size).toBe(0);
    const response = await fakeServer().get("/");
    expect([response.status, response.headers.get("location")]).toEqual([302, "docs"]);
  });
});
