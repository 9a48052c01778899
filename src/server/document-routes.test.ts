import { describe, expect, test, vi } from "vitest";
import { eventually, fakeServer, samplePdf, samplePicture, uploadForm } from "../../test/fake-server.ts";
import { stemOf } from "./parse-form.ts";

const [picture, pdf] = [await samplePicture(), await samplePdf()];

// biome-ignore lint/suspicious/noExplicitAny: a body as it came over the wire
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

/** Paths of the local headers, in order. */
function pathsOf(archive: Uint8Array): string[] {
  const file = Buffer.from(archive);
  const paths: string[] = [];
  for (let at = file.indexOf("PK\x01\x02"); at >= 0; at = file.indexOf("PK\x01\x02", at + 4))
    paths.push(file.toString("utf8", at + 46, at + 46 + file.readUInt16LE(at + 28)));
  return paths;
}

describe("/file_parse", () => {
  test("gives Dify what it reads: Markdown, content list as a string, pictures as data URIs", async () => {
    const server = fakeServer();
    const form = uploadForm({ "a page.png": picture }, { return_content_list: "true", return_images: "true", backend: "pipeline" });
    const response = await server.post("/file_parse", form);
    expect(response.status).toBe(200);
    const { results, ...status } = await response.json();
    expect(status).toMatchObject({ status: "completed", backend: "pipeline", version: "1.2.3", file_names: ["a page"], error: null });
    const { md_content, content_list, images, ...others } = results["a page"];
    expect(others).toEqual({});
    expect(md_content).toMatch(/^# Hällo wörld, read by blocks\n\nHällo/);
    const entries = JSON.parse(content_list);
    expect(entries.map(({ type }: { type: string }) => type)).toEqual(["text", "text", "table", "image"]);
    expect(entries[2].table_body).toContain("<td>1</td>");
    expect(Object.keys(images)).toEqual(["page-1-region-3.png", "page-1-region-4.png"]);
    expect(images["page-1-region-3.png"]).toMatch(/^data:image\/png;base64,iVBOR/);
    expect(md_content).toContain("images/page-1-region-4.png");
    expect(response.headers.get("x-mineru-task-id")).toBe(status.task_id);
    expect(await json(server.get(new URL(status.status_url).pathname))).toMatchObject({ status: "completed" });
  });

  test("gives RAGFlow what it unpacks", async () => {
    const form = uploadForm(
      { "bericht.v2.png": picture, "bericht.v2.PNG": picture },
      {
        response_format_zip: "True",
        return_content_list: "1",
        return_middle_json: "true",
        return_model_output: "true",
        return_images: "true",
        return_original_file: "true",
      },
    );
    const response = await fakeServer().post("/file_parse", form);
    expect(response.headers.get("content-type")).toBe("application/zip");
    const paths = pathsOf(new Uint8Array(await response.arrayBuffer()));
    const of = (stem: string, origin: string) =>
      [
        `${stem}.md`,
        `${stem}_content_list.json`,
        `${stem}_middle.json`,
        `${stem}_model.json`,
        "images/page-1-region-3.png",
        "images/page-1-region-4.png",
        `${stem}_origin${origin}`,
      ].map((name) => `${stem}/vlm/${name}`);
    expect(paths).toEqual([...of("bericht.v2", ".png"), ...of("bericht.v2_2", ".PNG")]);
  });

  test("reads the pages asked for, as far as there are any", async () => {
    const server = fakeServer();
    const form = uploadForm({ "a.pdf": pdf }, { start_page_id: "0", end_page_id: "99999", return_model_output: "true" });
    const { results } = await json(server.post("/file_parse", form));
    expect(JSON.parse(results.a.model_output)).toMatchObject([
      [{ type: "title", bbox: [0.05, 0.05, 0.95, 0.2] }, {}, {}, { type: "image", content: null }],
    ]);
    const beyond = await server.post("/file_parse", uploadForm({ "a.pdf": pdf }, { start_page_id: "3" }));
    expect(beyond.status).toBe(409);
    expect(await json(beyond)).toMatchObject({ status: "failed", error: expect.stringMatching(/below 1, got 3/) });
  });

  test("leaves tables unread when told so", async () => {
    const server = fakeServer();
    await server.post("/file_parse", uploadForm({ "a.png": picture }, { table_enable: "false" }));
    expect(server.recognizer.asked.map(({ task }) => task)).toEqual(["layout", "text", "text"]);
  });

  test("a server named in the form is not asked", async () => {
    const server = fakeServer();
    const fields = { backend: "vlm-http-client", server_url: "http://169.254.169.254/" };
    expect((await server.post("/file_parse", uploadForm({ "a.png": picture }, fields))).status).toBe(200);
    expect(server.recognizer.asked[0].task).toBe("layout");
  });

  test.each([
    { name: "no file, as MinerU's clients expect it", form: uploadForm({}, { return_md: "true" }), field: "files" },
    { name: "a flag that is none", form: uploadForm({ "a.png": picture }, { return_md: "perhaps" }), field: "return_md" },
    { name: "a page that is none", form: uploadForm({ "a.png": picture }, { start_page_id: "-1" }), field: "start_page_id" },
    { name: "pages backwards", form: uploadForm({ "a.png": picture }, { start_page_id: "5", end_page_id: "2" }), field: "end_page_id" },
  ])("$name is told by the field", async ({ form, field }) => {
    const response = await fakeServer().post("/file_parse", form);
    expect(response.status).toBe(422);
    expect((await response.json()).detail).toMatchObject([{ loc: ["body", field], msg: expect.any(String), type: expect.any(String) }]);
  });

  test("a body that is no form", async () => {
    const server = fakeServer();
    expect((await server.post("/file_parse", {})).status).toBe(422);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await server.post("/file_parse", "nonsense", { headers })).status).toBe(400);
  });

  test.each([
    { name: "no document", bytes: Buffer.from("just words"), says: /PDF/ },
    { name: "a damaged PDF", bytes: pdf.subarray(0, 900), says: /./ },
  ])("$name is a conflict, as MinerU calls it", async ({ bytes, says }) => {
    const server = fakeServer();
    const response = await server.post("/file_parse", uploadForm({ "a.pdf": bytes }));
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      status: "failed",
      error: expect.stringMatching(says),
      detail: expect.stringMatching(says),
    });
    expect(server.errors).toEqual([]);
  });

  test("a client that leaves ends the work", async () => {
    const server = fakeServer();
    server.recognizer.hold();
    const client = new AbortController();
    const gone = server.post("/file_parse", uploadForm({ "a.png": picture }), { signal: client.signal });
    await eventually(() => server.recognizer.asked.length).toBe(1);
    client.abort();
    expect((await gone).status).toBe(499);
    expect(server.recognizer.aborted).toHaveLength(1);
    expect(await json(server.get("/health"))).toMatchObject({ processing_requests: 0, failed_tasks: 1 });
  });
});

describe("tasks", () => {
  test("wait, are worked on, and give their result more than once", async () => {
    const server = fakeServer({ atOnce: 1 });
    server.recognizer.hold();
    const submit = (name: string) => server.post("/tasks", uploadForm({ [name]: picture }, { return_md: "true" }));
    const [first, second, third] = [await submit("a.png"), await submit("b.png"), await submit("c.png")];
    expect([first.status, second.status]).toEqual([202, 202]);
    const [a, b, c] = [await json(first), await json(second), await json(third)];
    expect([b.status, b.queued_ahead, c.queued_ahead]).toEqual(["pending", 0, 1]);
    const path = (url: string) => new URL(url).pathname;
    expect(await json(server.get(path(a.status_url)))).toMatchObject({ status: "processing", completed_at: null });
    const early = await server.get(path(b.result_url));
    expect([early.status, (await early.json()).message]).toEqual([202, "Task result is not ready yet"]);
    expect(await json(server.get("/health"))).toMatchObject({
      status: "healthy",
      queued_tasks: 2,
      processing_tasks: 1,
      completed_tasks: 0,
    });
    server.recognizer.release();
    await eventually(async () => (await json(server.get(path(c.status_url)))).status).toBe("completed");
    for (let i = 0; i < 2; i++) {
      const result = await json(server.get(path(b.result_url)));
      expect(result).toMatchObject({
        backend: "vlm-engine",
        version: "1.2.3",
        results: { b: { md_content: expect.stringContaining("Hällo") } },
      });
    }
  });

  test("that fail say why", async () => {
    const server = fakeServer();
    const { status_url, result_url } = await json(server.post("/tasks", uploadForm({ "a.pdf": Buffer.from("words") })));
    await eventually(async () => (await json(server.get(new URL(status_url).pathname))).status).toBe("failed");
    const response = await server.get(new URL(result_url).pathname);
    expect([response.status, (await response.json()).error]).toEqual([409, expect.stringMatching(/PDF/)]);
  });

  test("can be given up", async () => {
    const server = fakeServer();
    server.recognizer.hold();
    const { task_id } = await json(server.post("/tasks", uploadForm({ "a.png": picture })));
    await eventually(() => server.recognizer.asked.length).toBe(1);
    expect((await server.get(`/tasks/${task_id}`, { method: "DELETE" })).status).toBe(202);
    await eventually(async () => (await json(server.get(`/tasks/${task_id}`))).status).toBe("failed");
    expect(server.recognizer.aborted).toHaveLength(1);
  });

  test("go on when their client has left, but not beyond their time", async () => {
    const server = fakeServer({ timeoutMs: 1500 });
    server.recognizer.hold();
    const client = new AbortController();
    const { task_id } = await json(server.post("/tasks", uploadForm({ "a.png": picture }), { signal: client.signal }));
    client.abort();
    await eventually(async () => (await json(server.get(`/tasks/${task_id}`))).status).toBe("failed");
    expect((await json(server.get(`/tasks/${task_id}`))).error).toBe("the answer was not ready within 1.5 s");
  });

  test("that nobody knows", async () => {
    const server = fakeServer();
    for (const path of ["/tasks/none", "/tasks/none/result"]) expect((await server.get(path)).status).toBe(404);
  });

  test("are forgotten when they are old", async () => {
    const server = fakeServer({ retentionSeconds: 3600 });
    const { task_id } = await json(server.post("/file_parse", uploadForm({ "a.png": picture })));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_500_000 });
    try {
      expect((await server.get(`/tasks/${task_id}`)).status).toBe(200);
      vi.setSystemTime(Date.now() + 200_000);
      expect((await server.get(`/tasks/${task_id}`)).status).toBe(404);
    } finally {
      vi.useRealTimers();
    }
  });
});

test.each([
  ["report.pdf", "report"],
  ["../../etc/passwd", "passwd"],
  ["C:\\temp\\scan 1.PNG", "scan 1"],
  ["..", "file"],
  ["", "file"],
  [".hidden.pdf", "hidden"],
  ["报告\u0000\n.pdf", "报告__"],
  [`${"é".repeat(150)}.pdf`, "é".repeat(100)],
])("%j is called %j", (name, stem) => {
  expect(stemOf(name)).toBe(stem);
});
