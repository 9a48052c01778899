import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakeRecognizer } from "../../test/fake-recognizer.ts";
import { eventually, samplePdf, samplePicture } from "../../test/fake-server.ts";
import { parserOf } from "../index.ts";
import { DocumentLibrary } from "./document-library.ts";
import { mcpServers } from "./mcp.ts";

let root: string;
let outside: string;
let recognizer: FakeRecognizer;
beforeAll(async () => {
  const base = await realpath(await mkdtemp(join(tmpdir(), "mineru-mcp-")));
  [root, outside] = [join(base, "root"), join(base, "root-secrets")];
  await mkdir(join(root, "sub"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(root, "a.png"), await samplePicture());
  await writeFile(join(root, "sub", "a.pdf"), await samplePdf());
  await writeFile(join(outside, "b.png"), await samplePicture());
  await symlink(join(outside, "b.png"), join(root, "link.png"));
});
afterAll(() => rm(join(root, ".."), { recursive: true, force: true }));
beforeEach(() => {
  recognizer = new FakeRecognizer();
});

const options = () => ({ roots: [root], version: "1.2.3", parser: async () => parserOf(recognizer) });

/** A connection on which requests are answered and notifications kept. */
async function connect() {
  const [client, transport] = InMemoryTransport.createLinkedPair();
  const server = (await mcpServers(options()))();
  await server.connect(transport);
  // biome-ignore lint/suspicious/noExplicitAny: messages as they came over the wire
  const waiting = new Map<unknown, (message: any) => void>();
  const notifications: unknown[] = [];
  client.onmessage = (message) => {
    if ("id" in message) waiting.get(message.id)?.(message);
    else notifications.push(message);
  };
  await client.start();
  let id = 0;
  // biome-ignore lint/suspicious/noExplicitAny: messages as they came over the wire
  const request = (method: string, params: Record<string, unknown> = {}): Promise<any> => {
    const own = ++id;
    const answered = new Promise((resolve) => waiting.set(own, resolve));
    return client.send({ jsonrpc: "2.0", id: own, method, params }).then(() => answered);
  };
  const initialized = await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  await client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = async (name: string, args: Record<string, unknown>, meta: object = {}) =>
    (await request("tools/call", { name, arguments: args, _meta: meta })).result;
  return { initialized, request, call, notifications, client };
}

describe("the tools", () => {
  test("are listed with what they take", async () => {
    const { initialized, request } = await connect();
    expect(initialized.result).toMatchObject({
      serverInfo: { name: "mineru-diffusion", version: "1.2.3" },
      instructions: expect.stringContaining(root),
    });
    const { tools } = (await request("tools/list")).result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(["parse_document", "read_page", "list_tables"]);
    expect(tools[1].inputSchema).toMatchObject({
      type: "object",
      required: ["path", "page"],
      properties: { page: { type: "integer", minimum: 1 } },
    });
    expect(tools[0].annotations.readOnlyHint).toBe(true);
  });

  test("parse_document gives Markdown, and progress to whoever asked for it", async () => {
    const { call, notifications } = await connect();
    const { content, structuredContent } = await call("parse_document", { path: "a.png" }, { progressToken: "t" });
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(/^# Hällo wörld[\s\S]*<table>/) }]);
    expect(content[0].text).not.toContain("images/");
    expect(structuredContent).toEqual({ page_count: 1, pages: [1] });
    expect(notifications).toMatchObject([{ method: "notifications/progress", params: { progressToken: "t", progress: 1, total: 1 } }]);
  });

  test("read_page gives regions too; list_tables the tables", async () => {
    const { call } = await connect();
    const { structuredContent } = await call("read_page", { path: join(root, "a.png"), page: 1 });
    expect(structuredContent.page_count).toBe(1);
    expect(structuredContent.regions).toMatchObject([
      { type: "title", box: [50, 50, 950, 200], text: "Hällo wörld, read by blocks", confidence: expect.closeTo(0.9) },
      { type: "text" },
      { type: "table", html: expect.stringContaining("<td>1</td>") },
      { type: "image", box: [500, 600, 950, 950] },
    ]);
    const tables = await call("list_tables", { path: "a.png" });
    expect(tables.structuredContent.tables).toMatchObject([
      { page: 1, box: [50, 600, 500, 950], html: expect.stringContaining("<td>b</td>") },
    ]);
    expect(JSON.parse(tables.content[0].text)).toEqual(tables.structuredContent.tables);
  });

  test("what was lost on the way is told", async () => {
    recognizer.answer = ({ task }) => (task === "layout" ? { text: "garbage" } : { text: "words", ended: "length" });
    const { call } = await connect();
    const { content } = await call("parse_document", { path: "a.png" });
    expect(content[1].text).toMatch(/^Page 1: /);
  });

  test.each([
    { name: "a file outside", args: () => ({ path: join(outside, "b.png") }), says: /no such file in/ },
    { name: "a file that is not there", args: () => ({ path: join(root, "none.png") }), says: /no such file in/ },
    { name: "a way out", args: () => ({ path: "../root-secrets/b.png" }), says: /no such file in/ },
    { name: "a link that leads out", args: () => ({ path: "link.png" }), says: /no such file in/ },
    { name: "a folder", args: () => ({ path: "sub" }), says: /it is no file/ },
    { name: "a page that is not there", args: () => ({ path: "a.png", first_page: 2 }), says: /from 1 to 1, got 2/ },
  ])("$name is an error that the assistant can read", async ({ args, says }) => {
    const { call } = await connect();
    expect(await call("parse_document", args())).toEqual({ isError: true, content: [{ type: "text", text: expect.stringMatching(says) }] });
    expect(recognizer.asked).toEqual([]);
  });

  test("arguments that do not fit are refused", async () => {
    const { call } = await connect();
    expect(await call("read_page", { path: "a.png", page: 0 })).toMatchObject({ isError: true });
  });

  test("a call that is cancelled stops the model", async () => {
    recognizer.hold();
    const { request, client } = await connect();
    void request("tools/call", { name: "parse_document", arguments: { path: "a.png" } });
    await eventually(() => recognizer.asked.length).toBe(1);
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2, reason: "enough" } });
    await eventually(() => recognizer.aborted.length).toBe(1);
  });
});

describe("the library", () => {
  const open = (rememberedPages?: number) => DocumentLibrary.open({ ...options(), rememberedPages });
  const layouts = () => recognizer.asked.filter(({ task }) => task === "layout").length;

  test("reads a page once, until its file changes", async () => {
    const library = await open();
    await library.read({ path: "a.png" });
    await library.read({ path: join(root, "a.png"), first: 1, last: 1 });
    expect(layouts()).toBe(1);
    await utimes(join(root, "a.png"), new Date(), new Date(Date.now() + 5000));
    await library.read({ path: "a.png" });
    expect(layouts()).toBe(2);
  });

  test("forgets the page that was not asked for the longest", async () => {
    const library = await open(1);
    await library.read({ path: "a.png" });
    await library.read({ path: "sub/a.pdf" });
    await library.read({ path: "a.png" });
    expect(layouts()).toBe(3);
  });

  test("needs folders", async () => {
    await expect(DocumentLibrary.open({ ...options(), roots: [] })).rejects.toThrow(RangeError);
    for (const path of [join(root, "none"), join(root, "a.png")])
      await expect(DocumentLibrary.open({ ...options(), roots: [path] })).rejects.toMatchObject({ code: "file-unreadable" });
  });
});
