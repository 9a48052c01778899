import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { describeRecognizer, goldenRequests, longRequest } from "../../test/recognizer-conformance.ts";
import { tinyFolder } from "../../test/tiny.ts";
import { nodeRuntime } from "../runtime/onnxruntime.node.ts";
import { loadRecognizer } from "./recognizer.ts";
import { loadWorkerRecognizer } from "./worker-recognizer.ts";

describeRecognizer("in a worker thread", (dir) => loadWorkerRecognizer(dir));

const untimed = <T extends { milliseconds: number }>(results: readonly T[]) => results.map(({ milliseconds, ...rest }) => rest);

test("gives what the recogniser in this process gives, to the last bit", { timeout: 600_000 }, async () => {
  const requests = (await goldenRequests()).slice(0, 8).map(({ request }) => ({
    ...request,
    decoding: { ...request.decoding, record: { candidates: 2 } },
  }));
  await using worker = await loadWorkerRecognizer(tinyFolder());
  await using local = await loadRecognizer(tinyFolder(), nodeRuntime);
  expect(untimed(await worker.recognize(requests))).toEqual(untimed(await local.recognize(requests)));
});

test("timers go on while it decodes", { timeout: 600_000 }, async () => {
  await using worker = await loadWorkerRecognizer(tinyFolder());
  let decoding = true;
  const call = worker.recognize([longRequest(400)]).then(() => (decoding = false));
  let ticks = 0;
  while (decoding) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    ticks++;
  }
  await call;
  expect(ticks).toBeGreaterThan(10);
});

test("closing rejects what is under way, and later calls", { timeout: 600_000 }, async () => {
  const worker = await loadWorkerRecognizer(tinyFolder());
  const call = worker.recognize([longRequest(5000)]);
  const [outcome] = await Promise.allSettled([call, worker.close()]);
  expect(outcome).toMatchObject({ status: "rejected", reason: { name: "AbortError", message: "the recogniser was closed" } });
  await expect(worker.recognize([])).rejects.toThrow("recogniser expected to be open, got a closed one");
  await worker.close();
});

test("more calls than take turns are all answered; one that waits can be aborted", { timeout: 600_000 }, async () => {
  await using worker = await loadWorkerRecognizer(tinyFolder());
  const controller = new AbortController();
  const calls = Array.from({ length: 7 }, (_, i) => worker.recognize([longRequest(20 + i)], i === 5 ? { signal: controller.signal } : {}));
  controller.abort("not this one");
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value[0].tokens.length : outcome.reason))).toEqual([
    20,
    21,
    22,
    23,
    24,
    "not this one",
    26,
  ]);
});

test("a thread that dies is `runtime-failed`, for calls under way and later", { timeout: 600_000 }, async () => {
  const started: Worker[] = [];
  const post = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, ...message) {
    started.push(this);
    post.mockRestore();
    this.postMessage(...message);
  });
  const worker = await loadWorkerRecognizer(tinyFolder());
  const call = worker.recognize([longRequest(5000)]);
  const expectation = expect(call).rejects.toMatchObject({ name: "MineruError", code: "runtime-failed" });
  await started[0].terminate();
  await expectation;
  await expect(worker.recognize([longRequest(1)])).rejects.toThrow(
    /^the recogniser's thread expected to live until it is closed, got: exit code \d+; load it again$/,
  );
  await worker.close();
});

test("warnings of loading reach the caller, and precision and threads the thread", { timeout: 600_000 }, async () => {
  const warnings: string[] = [];
  await using worker = await loadWorkerRecognizer(tinyFolder(), {
    precision: "int8",
    threads: 1,
    cacheDir: "/dev/null",
    onWarning: (message) => warnings.push(message),
  });
  expect(worker.info.precision).toMatchObject({ precision: "int8", why: expect.stringContaining("asked for") });
  expect(warnings).toEqual([expect.stringContaining("packed weights are kept in memory")]);
});

test("a program that forgets to close it still ends", { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "forgetful-"));
  const script = `
    const { loadWorkerRecognizer } = await import(${JSON.stringify(new URL("../../dist/engine/worker-recognizer.js", import.meta.url).href)});
    const recognizer = await loadWorkerRecognizer(${JSON.stringify(tinyFolder())});
    const [{ tokens }] = await recognizer.recognize([{ task: "text", promptIds: Int32Array.of(369, 298), decoding: { maxTokens: 3, stopTokens: [] } }]);
    console.log(tokens.length);`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
    expect(stdout).toBe("3\n");
  } finally {
    await rm(folder, { recursive: true });
  }
});
