import { describe, expect, test } from "vitest";
import { Admission, type AdmissionLimits } from "./admission.ts";

const admission = (limits: Partial<AdmissionLimits> = {}) => new Admission({ atOnce: 1, waiting: 2, heldBytes: 100, ...limits });
const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Takes a place and notes when its turn comes. */
function enter(from: Admission, order: string[], name: string, client?: AbortSignal) {
  const place = from.enter(0, client);
  const turn = place.turn().then(
    () => order.push(name),
    ({ code }) => order.push(`${name}: ${code}`),
  );
  return { place, turn };
}

describe("places", () => {
  test("are given in the order of turns, so many at once", async () => {
    const queue = admission({ atOnce: 2 });
    const order: string[] = [];
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => enter(queue, order, name));
    await soon();
    expect(order).toEqual(["a", "b"]);
    expect([queue.working, queue.waiting, c.place.ahead, d.place.ahead]).toEqual([2, 2, 0, 1]);
    b.place.leave();
    await c.turn;
    expect(order).toEqual(["a", "b", "c"]);
    a.place.leave();
    await d.turn;
    c.place.leave();
    d.place.leave();
    expect([queue.working, queue.waiting]).toEqual([0, 0]);
  });

  test("beyond the line there is none, and the time to come back is told", () => {
    const queue = admission();
    for (let i = 0; i < 3; i++) queue.enter(0);
    expect(() => queue.enter(0)).toThrow(expect.objectContaining({ status: 429, code: "queue-full", retryAfter: expect.any(Number) }));
  });

  test("given back twice is given back once", () => {
    const queue = admission();
    const place = queue.enter(10);
    place.leave();
    place.leave();
    queue.enter(0);
    expect(queue.waiting).toBe(1);
  });

  test("hold bytes together, but one alone any number", () => {
    const queue = admission();
    const big = queue.enter(1000);
    expect(() => queue.enter(1)).toThrow(expect.objectContaining({ status: 429, code: "memory-full" }));
    big.leave();
    queue.enter(60);
    queue.enter(40);
    expect(() => queue.enter(1)).toThrow(/memory/);
  });
});

describe("a place ends", () => {
  test("with its client, in line or at work", async () => {
    const queue = admission();
    const order: string[] = [];
    const [working, waiting] = [new AbortController(), new AbortController()];
    const a = enter(queue, order, "a", working.signal);
    const b = enter(queue, order, "b", waiting.signal);
    const c = enter(queue, order, "c");
    waiting.abort();
    await b.turn;
    expect(order).toEqual(["a", "b: client-gone"]);
    b.place.leave();
    working.abort();
    expect(a.place.signal.reason).toMatchObject({ status: 499 });
    a.place.leave();
    await c.turn;
    expect(order.at(-1)).toBe("c");
  });

  test("with its deadline", async () => {
    const queue = admission();
    const place = queue.enter(0);
    place.setDeadline(5);
    const order: string[] = [];
    const { turn, place: second } = enter(queue, order, "second");
    second.setDeadline(5);
    second.clearDeadline();
    await turn;
    const third = enter(queue, order, "third");
    third.place.setDeadline(5);
    await third.turn;
    expect(order).toEqual(["second", "third: deadline"]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(place.signal.reason).toMatchObject({ status: 504, code: "deadline", message: expect.stringContaining("0.005 s") });
    expect(second.signal.aborted).toBe(false);
  });

  test("a client that left before it was let in gets no turn", async () => {
    const order: string[] = [];
    await enter(admission(), order, "late", AbortSignal.abort()).turn;
    expect(order).toEqual(["late: client-gone"]);
  });
});

test("closing lets the last one out and nobody in", async () => {
  const queue = admission();
  const place = queue.enter(0);
  let closed = false;
  const closing = queue.close().then(() => {
    closed = true;
  });
  expect(() => queue.enter(0)).toThrow(expect.objectContaining({ status: 503, retryAfter: expect.any(Number) }));
  await soon();
  expect(closed).toBe(false);
  place.leave();
  await closing;
  await admission().close();
});
