import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { rgbImage } from "../image/rgb-image.ts";
import {
  bestSetting,
  complexityOf,
  type DecodingPolicy,
  decodingBy,
  learnRules,
  type PolicyTrace,
  parsePolicy,
} from "./decoding-policy.ts";

const policy: DecodingPolicy = {
  format: "mineru-diffusion/policy",
  version: 1,
  rules: [
    { task: "text", when: { length: [null, 3] }, threshold: 0.6, blockLength: 32 },
    { task: "text", when: { length: [3, null], inkDensity: [0, 0.5] }, threshold: 0.9, blockLength: 8 },
  ],
};

/** Letters of 6 x 10 in a row. */
function printed(letters: number) {
  const image = rgbImage(200, 30);
  for (let i = 0; i < letters; i++)
    for (let y = 10; y < 20; y++) image.data.fill(0, (y * 200 + 10 + i * 9) * 3, (y * 200 + 16 + i * 9) * 3);
  return image;
}

test("a crop is measured, and the first rule that fits holds", () => {
  expect(complexityOf(printed(5))).toEqual({ inkDensity: (5 * 60) / 6000, length: 5 });
  expect(decodingBy(policy, "text", printed(2))).toEqual({ blockLength: 32, rule: { threshold: 0.6 } });
  expect(decodingBy(policy, "text", printed(9))).toEqual({ blockLength: 8, rule: { threshold: 0.9 } });
  expect(decodingBy(policy, "table", printed(9))).toEqual({});
});

test("a file that does not fit is refused, with the place", () => {
  const schema = JSON.parse(readFileSync(new URL("../../schema/policy.schema.json", import.meta.url), "utf8"));
  const fits = new Ajv2020({ strict: true, strictTuples: false, allowUnionTypes: true }).compile(schema);
  expect(parsePolicy(policy)).toBe(policy);
  expect(fits(policy)).toBe(true);
  for (const [spoilt, says] of [
    [{ ...policy, version: 2 }, /version/],
    [{ ...policy, rules: [{ ...policy.rules[0], threshold: 2 }] }, /`rules\[0\]`.*threshold/],
    [{ ...policy, rules: [{ ...policy.rules[0], when: { colour: [0, 1] } }] }, /inkDensity, length.*colour/],
    [null, /format/],
  ] as const) {
    expect(() => parsePolicy(spoilt)).toThrow(says);
    expect(fits(spoilt)).toBe(false);
  }
});

test("learns to hurry where that costs no errors, and only there", () => {
  const traces = Array.from({ length: 90 }, (_, i) => i).flatMap((length): PolicyTrace[] => {
    const complexity = { inkDensity: 0.1, length };
    const careful = { task: "text" as const, complexity, threshold: 0.95, blockLength: 4, errors: 0, cost: 10 };
    return [careful, { ...careful, threshold: 0.5, errors: length < 30 ? 0 : 5, cost: 3 }];
  });
  expect(bestSetting(traces, 0)).toEqual({ threshold: 0.95, blockLength: 4 });
  const rules = learnRules("text", traces, 0);
  expect(rules.map(({ when, threshold }) => [when.length, threshold])).toEqual([
    [[null, 30], 0.5],
    [[30, 60], 0.95],
    [[60, null], 0.95],
  ]);
  expect(() => learnRules("table", traces, 0)).toThrow(RangeError);
});
