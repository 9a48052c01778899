import { expect, test } from "vitest";
import { readingOrder } from "./reading-order.ts";

const block = (name: string, left: number, top: number, right: number, bottom: number) => ({ name, left, top, right, bottom });
const order = (...blocks: ReturnType<typeof block>[]) =>
  readingOrder(blocks)
    .map(({ name }) => name)
    .join(" ");

test("columns one after the other, a heading over both between their parts", () => {
  expect(
    order(
      block("R2", 52, 40, 100, 90),
      block("L2", 0, 45, 48, 95),
      block("R1", 52, 0, 100, 20),
      block("H", 0, 25, 100, 30),
      block("L1", 0, 0, 48, 20),
    ),
  ).toBe("L1 R1 H L2 R2");
});

test("a narrow heading belongs to its column", () => {
  expect(order(block("R", 52, 0, 100, 90), block("h", 10, 40, 30, 44), block("L2", 0, 46, 48, 90), block("L1", 0, 0, 48, 38))).toBe(
    "L1 h L2 R",
  );
});

test("three columns and a title", () => {
  expect(order(block("C", 70, 10, 100, 90), block("B", 35, 11, 65, 80), block("T", 20, 0, 80, 5), block("A", 0, 12, 30, 90))).toBe(
    "T A B C",
  );
});

test("a picture astride two columns follows both, its caption follows it", () => {
  expect(
    order(
      block("L1", 0, 0, 48, 20),
      block("L2", 0, 21, 25, 60),
      block("L3", 0, 61, 48, 90),
      block("P", 30, 25, 70, 50),
      block("c", 38, 52, 60, 58),
      block("R1", 52, 0, 100, 20),
      block("R2", 75, 21, 100, 60),
      block("R3", 52, 61, 100, 90),
    ),
  ).toBe("L1 L2 L3 R1 R2 P c R3");
});

test("any blocks come out once each", () => {
  const blocks = Array.from({ length: 60 }, (_, i) => {
    const [left, top] = [(i * 37) % 90, (i * 53) % 190];
    return block(`b${i}`, left, top, left + 5 + (i % 30), top + 4 + (i % 17));
  });
  expect(new Set(readingOrder(blocks)).size).toBe(60);
});
