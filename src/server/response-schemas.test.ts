import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { fakeServer, samplePicture, uploadForm } from "../../test/fake-server.ts";
import { responseSchemaDocument, responseSchemas } from "./response-schemas.ts";

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });

function expectFits(name: string, value: unknown): void {
  const validate = ajv.compile(responseSchemas[name]);
  expect([validate(value), validate.errors]).toEqual([true, null]);
}

const question = async (more: object = {}) => ({
  messages: [
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: `data:image/png;base64,${(await samplePicture()).toString("base64")}` } },
        { type: "text", text: "Text Recognition:" },
      ],
    },
  ],
  ...more,
});

test("schema/server.schema.json is these schemas", () => {
  const file = readFileSync(new URL("../../schema/server.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(responseSchemaDocument())));
});

describe("answers fit their schemas", () => {
  const server = fakeServer();

  test("models, health and errors", async () => {
    expectFits("ModelList", await (await server.get("/v1/models")).json());
    expectFits("Health", await (await server.get("/health")).json());
    expectFits("Error", await (await server.get("/nowhere")).json());
    expectFits("Error", await (await server.post("/v1/chat/completions", "{")).json());
    expectFits("Error", await (await server.post("/file_parse", new FormData())).json());
  });

  test("chat completions, whole and in chunks", async () => {
    expectFits("ChatCompletion", await (await server.post("/v1/chat/completions", await question({ logprobs: true, seed: 1 }))).json());
    const stream = await server.post("/v1/chat/completions", await question({ stream: true, stream_options: { include_usage: true } }));
    const chunks = [...(await stream.text()).matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data));
    expect(chunks.length).toBeGreaterThan(3);
    for (const chunk of chunks) expectFits("ChatCompletionChunk", chunk);
  });

  test("documents and tasks", async () => {
    const fields = { return_middle_json: "true", return_model_output: "true", return_content_list: "true", return_images: "true" };
    const form = () => uploadForm({ "a.png": new Uint8Array(0) }, fields);
    const files = async () => uploadForm({ "a.png": await samplePicture() }, fields);
    expectFits("ParseResult", await (await server.post("/file_parse", await files())).json());
    expectFits("Task", await (await server.post("/file_parse", form())).json());
    const task = (await (await server.post("/tasks", await files())).json()) as { task_id: string };
    expectFits("Task", task);
    await expect.poll(async () => (await server.get(`/tasks/${task.task_id}/result`)).status, { timeout: 60_000 }).toBe(200);
    expectFits("ParseResult", await (await server.get(`/tasks/${task.task_id}/result`)).json());
  });
});
