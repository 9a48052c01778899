import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { tinyConfig, tinyFolder } from "../../test/tiny.ts";
import { parseConfig } from "../checkpoint/config.ts";
import { openCheckpoint } from "../checkpoint/folder.ts";
import { leaves } from "../graph/value.ts";
import { listParameters, modelWeights, parameterShapes } from "./parameters.ts";
import { decodeProgram, encodeImageProgram } from "./programs.ts";
import { gradientName, trainingProgram } from "./training.ts";

const config = await tinyConfig();
const names = [...parameterShapes(config).keys()].sort();

test.each(["tiny", "tiny-bf16", "tiny-f16"])("names and shapes are those of the golden checkpoint %s", async (variant) => {
  await using checkpoint = await openCheckpoint(tinyFolder(variant));
  const shapes = parameterShapes(checkpoint.config);
  expect(Object.fromEntries(shapes)).toEqual(Object.fromEntries([...checkpoint.tensors].map(([name, { shape }]) => [name, shape])));
  checkpoint.verifyTensors(shapes);
});

test("another spelling of the config is the same model", async () => {
  const path = `${tinyFolder("tiny-other-spelling")}config.json`;
  const other = parseConfig(JSON.parse(await readFile(path, "utf8")), path);
  expect(other.text).toEqual(config.text);
  expect(other.vision).toEqual(config.vision);
});

test("a tied head has no tensor of its own", () => {
  const tied = parameterShapes({ ...config, text: { ...config.text, tied: true } });
  expect(names.filter((name) => !tied.has(name))).toEqual(["language_model.lm_head.weight"]);
  const weights = modelWeights({ ...config, text: { ...config.text, tied: true } });
  expect(weights.decoder.head).toBe(weights.decoder.embedding);
  expect(listParameters(weights).filter((value) => value === weights.decoder.embedding)).toHaveLength(1);
});

test("encoder and decoder together use every parameter, each its own", () => {
  const used = [encodeImageProgram(config), decodeProgram(config)].map((program) =>
    leaves(program, "parameter").map(({ attributes }) => attributes.name),
  );
  expect(used.flat().sort()).toEqual(names);
});

test("training has one gradient for every parameter", () => {
  const { program, parameters } = trainingProgram(config);
  expect(parameters.map(({ attributes }) => attributes.name).sort()).toEqual(names);
  for (const { attributes, shape } of parameters) expect(program.outputs[gradientName(attributes.name)].shape).toEqual(shape);
});
