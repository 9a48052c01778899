/** Whether what a command prints with `--json` fits `schema/cli.schema.json`. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

const schema = JSON.parse(readFileSync(new URL("../schema/cli.schema.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true }).addSchema(schema);

export function expectCliJson(definition: "doctor" | "models" | "submitted" | "queue", value: unknown): void {
  const validate = ajv.getSchema(`${schema.$id}#/$defs/${definition}`)!;
  expect([validate(value), validate.errors ?? null]).toEqual([true, null]);
}
