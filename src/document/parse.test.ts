import { expect, test } from "vitest";
import { DrawnPage } from "../../test/drawn-page.ts";
import { FakeRecognizer } from "../../test/fake-recognizer.ts";
import type { RecognitionResult } from "../engine/types.ts";
import { rotateCounterClockwise } from "../image/rgb-image.ts";
import type { DecodingPolicy } from "./decoding-policy.ts";
import { parsePage } from "./parse.ts";

/** A recogniser without layout: what white space finds is read. */
function withoutLayout(answer: (call: number) => Partial<RecognitionResult> = (call) => ({ text: `t${call}` })) {
  const recognizer = new FakeRecognizer();
  Object.assign(recognizer.info.profile, { detectsLayout: false });
  let call = 0;
  recognizer.answer = () => answer(call++);
  return recognizer;
}

test("a table found by its white space is one question", async () => {
  const page = new DrawnPage(900, 300);
  for (let row = 0; row < 4; row++) for (const left of [60, 400]) if (row !== 1 || left === 60) page.line(left, 60 + 40 * row, [5]);
  const recognizer = withoutLayout(() => ({ text: "<fcel>a<fcel>b<nl>" }));
  const { page: parsed } = await parsePage(page.image, 0, recognizer);
  expect(parsed.regions).toMatchObject([{ class: "table", content: { kind: "table", otsl: "<fcel>a<fcel>b<nl>" } }]);
});

test("a page that lies on its side is turned, and everything lies on the turned page", async () => {
  const upright = new DrawnPage(700, 900).text(60, 60, 560, 24).image;
  const { page, image } = await parsePage(rotateCounterClockwise(upright, 90), 0, withoutLayout());
  expect(page).toMatchObject({ turn: 270, width: 700, height: 900 });
  expect(Buffer.compare(image.data, upright.data)).toBe(0);
});

test("a page number that says something else is text", async () => {
  const page = new DrawnPage(900, 1200).text(60, 100, 700, 20);
  page.line(440, 1160, [2]);
  const classOfLast = async (text: string) =>
    (
      await parsePage(
        page.image,
        0,
        withoutLayout(() => ({ text })),
      )
    ).page.regions.at(-1)?.class;
  expect(await classOfLast("– 12 –")).toBe("page_number");
  expect(await classOfLast("Fin")).toBe("text");
});

test("an answer that runs away is cut; one that repeats itself and comes to its end is kept", async () => {
  const { image } = new DrawnPage(900, 300).text(60, 60, 700, 4);
  const read = async (ended: "stop" | "length") => {
    const { page } = await parsePage(
      image,
      0,
      withoutLayout(() => ({ text: `total ${"0 ".repeat(40)}`.trim(), ended })),
    );
    return [page.regions[0].content, page.warnings.map(({ kind }) => kind)];
  };
  expect(await read("stop")).toEqual([{ kind: "text", text: `total ${"0 ".repeat(40)}`.trim() }, []]);
  expect(await read("length")).toEqual([{ kind: "text", text: "total 0" }, ["runaway"]]);
});

test("an answer may be as long as its crop can hold; a policy gives settings, the caller's own come first", async () => {
  const { image } = new DrawnPage(900, 300).text(60, 60, 700, 4);
  const policy: DecodingPolicy = {
    format: "mineru-diffusion/policy",
    version: 1,
    rules: [{ task: "text", when: { length: [10, null] }, threshold: 0.7, blockLength: 8 }],
  };
  const asked = async (decoding?: { blockLength: number }) => {
    const recognizer = withoutLayout();
    await parsePage(image, 0, recognizer, { policy, decoding });
    return recognizer.asked[0].decoding;
  };
  expect(await asked()).toMatchObject({ blockLength: 8, rule: { threshold: 0.7 }, maxTokens: expect.any(Number) });
  expect(await asked({ blockLength: 16 })).toMatchObject({ blockLength: 16 });
});
