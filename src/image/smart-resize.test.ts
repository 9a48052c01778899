import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { roundHalfEven, smartResize } from "./smart-resize.ts";

const golden = new URL("../../test/golden/image/", import.meta.url);
const { rows } = JSON.parse(await readFile(new URL("smart-resize.json", golden), "utf8"));

test.each(rows as (readonly (number | string)[])[])("like the reference: %s x %s within %s..%s gives %s", (...row) => {
  const [height, width, minPixels, maxPixels, expected, expectedWidth] = row;
  const resize = () =>
    smartResize(Number(height), Number(width), { factor: 28, minPixels: Number(minPixels), maxPixels: Number(maxPixels) });
  if (typeof expected === "number") expect(resize()).toEqual({ height: expected, width: expectedWidth });
  else
    expect(resize).toThrow(
      expected.includes("aspect") ? /aspect ratio of at most 200, got [\d.]+$/ : "expected at least 28 (one merged patch)",
    );
});

test("the ratio in the message is the reference's", () => {
  expect(() => smartResize(28, 5601, { factor: 28, minPixels: 3136, maxPixels: 1605632 })).toThrow("got 200.03571428571428");
});

test("halves round to even", () => {
  expect([0.5, 1.5, 2.5, 3.5, 2.4, 2.6].map(roundHalfEven)).toEqual([0, 2, 2, 4, 2, 3]);
});
