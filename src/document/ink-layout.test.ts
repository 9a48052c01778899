import { describe, expect, test } from "vitest";
import { bookTable, DrawnPage } from "../../test/drawn-page.ts";
import { type RgbImage, rgbImage, rotateCounterClockwise } from "../image/rgb-image.ts";
import { turnCounterClockwise } from "../image/turn.ts";
import { inkLayout, setUpright } from "./ink-layout.ts";

const found = (image: RgbImage) => inkLayout(image).map(({ class: name, pixelBox: [left, top] }) => [name, left, top] as const);
/** Places are right to a few pixels of paper. */
const near = (expected: readonly (readonly [string, number, number])[]) =>
  expected.map(([name, left, top]) => [name, expect.closeTo(left, -1.2), expect.closeTo(top, -1.2)]);

const columns = () => new DrawnPage(900, 900).text(60, 60, 360, 12).text(450, 60, 360, 12);

describe("columns", () => {
  test("are read one after the other, however narrow the white between them", () => {
    expect(found(columns().image)).toEqual(near([["text", 60, 60], ["text", 450, 60]])); // biome-ignore format: rows
  });

  test("a heading over both stands between what is above it and below", () => {
    const page = columns().text(60, 500, 360, 8).text(450, 500, 360, 8);
    page.line(200, 450, [9, 9, 9, 9, 9]);
    expect(found(page.image).map(([, left, top]) => (top > 480 ? 2 : top > 400 ? 1 : 0) * 10 + (left > 400 ? 1 : 0))).toEqual([
      0, 1, 10, 20, 21,
    ]);
  });

  test("wide spaces between words part nothing", () => {
    const page = new DrawnPage(900, 400);
    for (let i = 0; i < 9; i++) page.line(60, 60 + 26 * i, [2 + ((i * 7) % 5), 3 + (i % 4), 6, 4 + ((i * 3) % 5), 5], { space: 27 });
    expect(inkLayout(page.image).every(({ pixelBox }) => pixelBox[0] < 70)).toBe(true);
  });

  test("a paragraph that runs around a picture goes on in a second box", () => {
    const page = new DrawnPage(900, 700).text(60, 60, 760, 3).fill(400, 150, 400, 300, 40);
    for (let i = 3; i < 14; i++) page.line(60, 75 + 26 * i, [6, 7, 6, 6]);
    const regions = inkLayout(page.image);
    const [picture] = regions.filter(({ class: name }) => name === "image");
    expect(picture.pixelBox[0]).toBeGreaterThan(390);
    for (const { class: name, pixelBox } of regions) if (name === "text") expect(pixelBox[2] <= 400 || pixelBox[3] <= 155).toBe(true);
  });
});

describe("paragraphs and titles", () => {
  test("white, an indented line and a short last line part paragraphs", () => {
    const page = new DrawnPage(900, 900)
      .text(60, 60, 700, 4)
      .text(60, 60 + 4 * 26, 700, 4)
      .text(60, 400, 700, 4);
    expect(inkLayout(page.image)).toHaveLength(3);
  });

  test("a blank page and a page of dust have none", () => {
    expect(inkLayout(rgbImage(300, 300))).toEqual([]);
    expect(inkLayout(new DrawnPage(300, 300).fill(50, 50, 2, 2).fill(200, 90, 2, 1).image)).toEqual([]);
  });

  test("a number alone at the lower edge is a page number, a line there a footer, if the page has text", () => {
    const page = new DrawnPage(900, 1200).text(60, 100, 700, 20);
    page.line(440, 1160, [2]);
    expect(inkLayout(page.image).at(-1)).toMatchObject({ class: "page_number" });
    const other = new DrawnPage(900, 1200).text(60, 100, 700, 20);
    other.line(60, 1160, [8, 5, 7]);
    expect(inkLayout(other.image).at(-1)).toMatchObject({ class: "footer" });
    const alone = new DrawnPage(900, 1200);
    alone.line(440, 1160, [2, 5, 6]);
    expect(inkLayout(alone.image)).toMatchObject([{ class: "text" }]);
  });
});

describe("tables", () => {
  const namesOf = (page: DrawnPage) => inkLayout(page.image).map(({ class: name }) => name);

  test("rows of short pieces are one", () => {
    const page = new DrawnPage(900, 600).text(60, 40, 700, 4);
    for (let row = 0; row < 5; row++) for (const left of [60, 300, 520]) page.line(left, 250 + 40 * row, [4 + (row % 3)]);
    expect(namesOf(page)).toEqual(["text", "table"]);
  });

  test("a grid of rules is one", () => {
    const page = new DrawnPage(900, 300).fill(60, 50, 642, 2).fill(60, 100, 642, 2).fill(60, 150, 642, 2);
    for (const x of [60, 380, 700]) page.fill(x, 50, 2, 102);
    for (const foot of [82, 132]) for (const left of [80, 400]) page.line(left, foot, [5, 4]);
    expect(namesOf(page)).toEqual(["table"]);
  });

  test("running text between two rules is text, and so are two columns of it", () => {
    const rules = (page: DrawnPage) => page.fill(60, 50, 760, 2).fill(60, 480, 760, 2);
    for (const page of [
      new DrawnPage(900, 540).text(60, 80, 760, 14),
      new DrawnPage(900, 540).text(60, 80, 360, 14).text(460, 80, 360, 14),
    ])
      expect(inkLayout(rules(page).image).some(({ class: name }) => name === "table")).toBe(false);
  });

  test("two tables of one width with a paragraph between are two", () => {
    const page = new DrawnPage(700, 900);
    bookTable(page, 60);
    page.text(60, 300, 560, 9);
    bookTable(page, 560);
    expect(inkLayout(page.image).map(({ class: name }) => name)).toEqual(["table", "text", "table"]);
  });

  test("a frame around text is no table", () => {
    const page = new DrawnPage(900, 500).text(80, 80, 600, 8);
    page.fill(60, 50, 662, 2).fill(60, 320, 662, 2).fill(60, 50, 2, 272).fill(720, 50, 2, 272);
    expect(inkLayout(page.image).map(({ class: name }) => name)).toEqual(["text"]);
  });

  test("two columns of text are none", () => {
    expect(inkLayout(columns().image).some(({ class: name }) => name === "table")).toBe(false);
  });
});

describe("light and ground", () => {
  test("a shadow over the page changes nothing", () => {
    const plain = new DrawnPage(900, 900).text(60, 60, 360, 12).text(450, 60, 360, 12).image;
    const data = plain.data.map((value, at) => Math.round(value * (0.45 + (0.55 * (Math.floor(at / 3) % 900)) / 900)));
    expect(found({ ...plain, data })).toEqual(near(found(plain)));
  });

  test("light print on a dark ground is text, a dark picture is a picture", () => {
    const page = new DrawnPage(900, 700).text(60, 60, 700, 5).fill(60, 300, 700, 80, 30);
    page.line(90, 350, [7, 6, 9, 5], { grey: 255 });
    expect(inkLayout(page.image).map(({ class: name }) => name)).toEqual(["text", "text"]);
    const picture = new DrawnPage(900, 700).text(60, 60, 700, 5).fill(60, 300, 400, 300, 30);
    expect(inkLayout(picture.image).map(({ class: name }) => name)).toEqual(["text", "image"]);
  });
});

describe("posture", () => {
  const page = new DrawnPage(900, 1100).text(60, 60, 700, 30).image;

  test.each([0, 90, 180, 270] as const)("a page turned by %i degrees is turned back", (degrees) => {
    const { turn, image } = setUpright(rotateCounterClockwise(page, degrees));
    expect(turn).toBe((360 - degrees) % 360);
    expect(Buffer.compare(image.data, page.data)).toBe(0);
  });

  test.each([-4, -1, 1.5, 5])("a page that lies crooked by %f degrees is made level", (degrees) => {
    const { turn, skew } = setUpright(turnCounterClockwise(page, -degrees));
    expect(turn).toBe(0);
    expect(Math.abs(skew - degrees)).toBeLessThan(0.2);
  });

  test("figures, with heads and feet alike, turn nothing", () => {
    const page = new DrawnPage(700, 700);
    for (let row = 0; row < 20; row++)
      for (let i = 0; i < 50; i++) page.fill(40 + 12 * i, 40 + 30 * row, 8, row % 5 === 0 && i % 10 === 0 ? 12 : 15);
    expect(setUpright(page.image).turn).toBe(0);
  });

  test("a page with little on it stays as it is", () => {
    const few = new DrawnPage(300, 300);
    few.line(20, 100, [5, 4]);
    expect(setUpright(few.image)).toMatchObject({ turn: 0, skew: 0 });
  });
});
