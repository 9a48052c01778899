import { expect, test } from "vitest";
import { crop, mirror, padWithWhite, pasteOnWhite, type RgbImage, rgbImage, rotateCounterClockwise, transpose } from "./rgb-image.ts";

/** 3 wide, 2 high; red is x, green is y. */
const picture = numbered(3, 2);

function numbered(width: number, height: number): RgbImage {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set([x, y, 7], (y * width + x) * 3);
  return { width, height, data };
}

/** `"x,y"` of the source pixel seen at every place, row by row; "w" for white. */
function seen(image: RgbImage): string[] {
  return Array.from({ length: image.height }, (_, y) =>
    Array.from({ length: image.width }, (_, x) => {
      const [red, green, blue] = image.data.subarray((y * image.width + x) * 3);
      return blue === 255 ? "w" : `${red}${green}`;
    }).join(" "),
  );
}

test("turns are counter-clockwise and the canvas turns along", () => {
  expect(seen(rotateCounterClockwise(picture, 0))).toEqual(["00 10 20", "01 11 21"]);
  expect(seen(rotateCounterClockwise(picture, 90))).toEqual(["20 21", "10 11", "00 01"]);
  expect(seen(rotateCounterClockwise(picture, 180))).toEqual(["21 11 01", "20 10 00"]);
  expect(seen(rotateCounterClockwise(picture, 270))).toEqual(["01 00", "11 10", "21 20"]);
  expect(() => rotateCounterClockwise(picture, 45 as 90)).toThrow("`degrees` expected 0, 90, 180 or 270, got 45");
});

test("mirror and transpose", () => {
  expect(seen(mirror(picture))).toEqual(["20 10 00", "21 11 01"]);
  expect(seen(transpose(picture))).toEqual(["00 01", "10 11", "20 21"]);
});

test("crop keeps the pixels of the box and refuses boxes that leave the picture", () => {
  expect(seen(crop(picture, [1, 0, 3, 2]))).toEqual(["10 20", "11 21"]);
  for (const box of [
    [0, 0, 4, 2],
    [-1, 0, 2, 2],
    [1, 1, 1, 2],
    [0, 0, 1.5, 2],
  ] as const)
    expect(() => crop(picture, box)).toThrow("`box` expected whole pixels inside 3x2");
});

test("pasting cuts what lies outside and leaves the rest white", () => {
  expect(seen(pasteOnWhite(picture, 4, 3, 2, 1))).toEqual(["w w w w", "w w 00 10", "w w 01 11"]);
  expect(seen(pasteOnWhite(picture, 2, 2, -2, -1))).toEqual(["21 w", "w w"]);
  expect(seen(pasteOnWhite(picture, 2, 1, 5, 0))).toEqual(["w w"]);
});

test("padding adds a white border", () => {
  expect(seen(padWithWhite(picture, { left: 1, bottom: 1 }))).toEqual(["w 00 10 20", "w 01 11 21", "w w w w"]);
  expect(() => padWithWhite(picture, { top: -1 })).toThrow("non-negative");
});

test("a picture must have the bytes its edges promise", () => {
  expect(() => rgbImage(2, 2, new Uint8Array(11))).toThrow("`data` expected 12 bytes for 2x2 RGB, got 11");
  expect(() => rgbImage(0, 2)).toThrow("`width` expected a positive integer, got 0");
  expect(rgbImage(1, 1).data).toEqual(Uint8Array.of(255, 255, 255));
});
