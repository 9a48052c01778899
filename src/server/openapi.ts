/** What the server can do, as an OpenAPI 3.1 document and as a page for people that needs nothing from elsewhere. */
import { z } from "zod";
import { chatRequest } from "./chat-request.ts";
import { responseSchemas } from "./response-schemas.ts";

type Json = Record<string, unknown>;

const text = (description: string): Json => ({ type: "string", description });
const flag = (description: string, fallback: boolean): Json => ({ type: "boolean", default: fallback, description });
const page = (description: string, fallback: number): Json => ({ type: "integer", minimum: 0, default: fallback, description });
const noEffect = "Taken for MinerU's sake; without effect.";

const parseForm: Json = {
  type: "object",
  required: ["files"],
  properties: {
    files: { type: "array", items: { type: "string", format: "binary" }, description: "PDF, PNG, JPEG, WebP, TIFF, GIF or BMP." },
    return_md: flag("Markdown, as `md_content`.", true),
    return_content_list: flag("MinerU's content list, as a JSON string.", false),
    return_middle_json: flag("MinerU's middle.json, as a JSON string.", false),
    return_model_output: flag("Regions as the model told them, as a JSON string.", false),
    return_images: flag("Pictures, as data URIs by name.", false),
    response_format_zip: flag("A ZIP archive instead of JSON.", false),
    return_original_file: flag("The upload too, in the archive.", false),
    formula_enable: flag("Read formulas.", true),
    table_enable: flag("Read tables.", true),
    start_page_id: page("First page, from 0.", 0),
    end_page_id: page("Last page, from 0.", 99_999),
    backend: text(`${noEffect} Told back.`),
    lang_list: { type: "array", items: { type: "string" }, description: noEffect },
    parse_method: text(noEffect),
    server_url: text(`${noEffect} The server opens no addresses.`),
  },
};

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const failure = ref("Error");
const taskStatus = ref("Task");
const parsed = ref("ParseResult");

const json = (schema: Json, description: string): Json => ({ description, content: { "application/json": { schema } } });
const refusals: Json = Object.fromEntries(
  Object.entries({
    400: "Something does not fit.",
    401: "The API key is missing or wrong.",
    413: "The upload is too large.",
    429: "The queue is full; `Retry-After` says when to come back.",
    503: "The server is shutting down.",
    504: "The deadline passed.",
  }).map(([status, description]) => [status, json(failure, description)]),
);
const parseBody: Json = { required: true, content: { "multipart/form-data": { schema: parseForm } } };
const taskId: Json = { name: "id", in: "path", required: true, schema: { type: "string" } };
const archive: Json = {
  description: "The results.",
  content: { "application/json": { schema: parsed }, "application/zip": { schema: { type: "string", format: "binary" } } },
};

/** The document. `secured` adds the API key. */
export function openapiDocument(version: string, secured: boolean): Json {
  const { $schema: _, ...request } = z.toJSONSchema(chatRequest, { io: "input" }) as Json;
  return {
    openapi: "3.1.0",
    info: { title: "mineru-diffusion", version, description: "Reads document pages by block-wise diffusion decoding." },
    components: { schemas: responseSchemas, ...(secured ? { securitySchemes: { key: { type: "http", scheme: "bearer" } } } : {}) },
    ...(secured ? { security: [{ key: [] }] } : {}),
    paths: {
      "/v1/models": { get: { summary: "The one model (OpenAI)", responses: { 200: json(ref("ModelList"), "A list of one.") } } },
      "/v1/chat/completions": {
        post: {
          summary: "One picture and one prompt to text (OpenAI); `stream` sends blocks as they settle",
          requestBody: { required: true, content: { "application/json": { schema: request } } },
          responses: {
            200: {
              description: "The answer.",
              content: {
                "application/json": { schema: ref("ChatCompletion") },
                "text/event-stream": { schema: ref("ChatCompletionChunk") },
              },
            },
            ...refusals,
          },
        },
      },
      "/file_parse": {
        post: {
          summary: "Documents to Markdown and data, at once (MinerU)",
          requestBody: parseBody,
          responses: {
            200: archive,
            409: json(failure, "A document could not be read."),
            422: json(failure, "The form does not fit."),
            ...refusals,
          },
        },
      },
      "/tasks": {
        post: {
          summary: "Documents to Markdown and data, as a task (MinerU)",
          requestBody: parseBody,
          responses: { 202: json(taskStatus, "The task is taken."), 422: json(failure, "The form does not fit."), ...refusals },
        },
      },
      "/tasks/{id}": {
        get: {
          summary: "How a task stands",
          parameters: [taskId],
          responses: { 200: json(taskStatus, "Its status."), 404: json(failure, "Unknown.") },
        },
        delete: {
          summary: "Give a task up",
          parameters: [taskId],
          responses: { 202: json(taskStatus, "It will end."), 404: json(failure, "Unknown.") },
        },
      },
      "/tasks/{id}/result": {
        get: {
          summary: "What a task gave",
          parameters: [taskId],
          responses: {
            200: archive,
            202: json(taskStatus, "Not ready yet."),
            404: json(failure, "Unknown."),
            409: json(taskStatus, "It failed."),
          },
        },
      },
      "/health": {
        get: {
          summary: "Whether the server can work, and its queue",
          responses: { 200: json(ref("Health"), "It can."), 503: json(ref("Health"), "It cannot.") },
        },
      },
      "/metrics": {
        get: {
          summary: "Counters for Prometheus",
          responses: { 200: { description: "Text.", content: { "text/plain": { schema: { type: "string" } } } } },
        },
      },
    },
  };
}

const escaped = (value: unknown): string => String(value).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const formatted = (value: string): string => escaped(value).replace(/`([^`]+)`/g, "<code>$1</code>");

function fieldsTable(schema: Json | undefined): string {
  const rows = Object.entries((schema?.properties ?? {}) as Record<string, Json>)
    .filter(([, field]) => field.description)
    .map(
      ([name, field]) =>
        `<tr><td><code>${escaped(name)}</code><td>${formatted(String(field.description))}${field.default === undefined ? "" : ` Default <code>${escaped(field.default)}</code>.`}`,
    );
  return rows.length === 0 ? "" : `<table>${rows.join("")}</table>`;
}

/** The document as a page. */
export function openapiPage(document: Json): string {
  const { info, paths } = document as {
    info: { title: string; version: string; description: string };
    paths: Record<string, Record<string, Json>>;
  };
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, requestBody, responses }]) => {
      const content = (requestBody as { content?: Record<string, { schema: Json }> } | undefined)?.content;
      const answers = Object.entries(responses as Record<string, { description: string }>).map(
        ([status, { description }]) => `<li><code>${status}</code> ${formatted(description)}`,
      );
      return `<section><h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2><p>${formatted(String(summary))}</p>${fieldsTable(content?.["multipart/form-data"]?.schema)}<ul>${answers.join("")}</ul></section>`;
    }),
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(info.title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}h2{font-size:1rem;margin-top:2rem;border-top:1px solid #8884;padding-top:1rem}td{vertical-align:top;padding:.1rem 1rem .1rem 0}code{font-size:.9em}</style>
<h1>${escaped(info.title)} ${escaped(info.version)}</h1><p>${escaped(info.description)} For programs: <a href="openapi.json">openapi.json</a>.</p>
${sections.join("\n")}</html>
`;
}
