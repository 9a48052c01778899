/** What the server answers, as JSON Schemas by name: the components of its OpenAPI document, and `schema/server.schema.json`. */

type Json = Readonly<Record<string, unknown>>;

const string = { type: "string" } as const;
const integer = { type: "integer" } as const;
const nullable = (type: string): Json => ({ type: [type, "null"] });
const list = (items: Json): Json => ({ type: "array", items });
const described = (schema: Json, description: string): Json => ({ ...schema, description });

/** An object with these fields; those whose name ends in `?` may be missing. */
function object(fields: Readonly<Record<string, Json>>, more: Json = {}): Json {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ""), schema])),
    required: entries.flatMap(([name]) => (name.endsWith("?") ? [] : [name])),
    ...more,
  };
}

const diffusion = object({
  ended: { enum: ["stop", "length", "repetition", "cancelled"] },
  steps: described(integer, "Denoising steps."),
  forward_passes: described(integer, "Passes the answer took part in."),
  tokens_per_forward: { type: "number" },
  steps_of_block: described(list(integer), "Steps of each block."),
});
const usage = object({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });
const finish = { enum: ["stop", "length"] } as const;
const model = object({ id: string, object: { const: "model" }, created: integer, owned_by: string, reading_profile: { type: "object" } });
const taskFields = {
  task_id: string,
  status: { enum: ["pending", "processing", "completed", "failed"] },
  backend: string,
  file_names: list(string),
  created_at: described(string, "ISO 8601."),
  started_at: nullable("string"),
  completed_at: nullable("string"),
  error: nullable("string"),
  status_url: described(string, "Where to ask for the status."),
  result_url: described(string, "Where to ask for the result."),
  queued_ahead: described(integer, "Places in line before it."),
} as const;
const results = {
  type: "object",
  description: "File name without ending → contents.",
  additionalProperties: object({
    "md_content?": string,
    "middle_json?": described(string, "JSON."),
    "model_output?": described(string, "JSON."),
    "content_list?": described(string, "JSON."),
    "images?": { type: "object", additionalProperties: described(string, "A data URI.") },
  }),
} as const;

export const responseSchemas: Readonly<Record<string, Json>> = {
  Error: object({
    error: object({ message: described(string, "For people."), type: string, code: described(string, "Stable."), "param?": {} }),
    detail: { description: "The message, or what is wrong with a form." },
  }),
  ModelList: object({ object: { const: "list" }, data: { ...list(model), minItems: 1, maxItems: 1 } }),
  ChatCompletion: object({
    id: string,
    object: { const: "chat.completion" },
    created: integer,
    model: string,
    choices: {
      ...list(
        object({
          index: { const: 0 },
          message: object({ role: { const: "assistant" }, content: string, refusal: { type: "null" } }),
          logprobs: nullable("object"),
          finish_reason: finish,
        }),
      ),
      minItems: 1,
      maxItems: 1,
    },
    usage,
    diffusion: described(diffusion, "How the answer came about."),
    "warnings?": described(list(string), "Settings without effect, and why."),
  }),
  ChatCompletionChunk: object({
    id: string,
    object: { const: "chat.completion.chunk" },
    created: integer,
    model: string,
    choices: list(
      object({
        index: { const: 0 },
        delta: { type: "object" },
        logprobs: { type: "null" },
        finish_reason: { enum: [...finish.enum, null] },
      }),
    ),
    "diffusion?": diffusion,
    "usage?": usage,
    "warnings?": list(string),
  }),
  Task: object({ ...taskFields, "message?": string, "detail?": string }),
  ParseResult: object({ "backend?": string, version: string, results }),
  Health: object({
    status: { enum: ["healthy", "unhealthy", "draining"] },
    version: string,
    protocol_version: integer,
    queued_tasks: integer,
    processing_tasks: integer,
    completed_tasks: integer,
    failed_tasks: integer,
    queued_requests: integer,
    processing_requests: integer,
    max_concurrent_requests: integer,
    task_retention_seconds: integer,
    model: string,
    "error?": string,
  }),
};

/** All of them as one JSON Schema document with definitions. */
export const responseSchemaDocument = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Answers of `mineru-diffusion serve`",
  $defs: responseSchemas,
});
