import { expect, test } from "vitest";
import { MineruError } from "../error.ts";
import { chooseDevice } from "./device.ts";
import { nodeRuntime } from "./onnxruntime.node.ts";
import type { Device, Runtime, Session } from "./session.ts";

interface Behaviour {
  /** Milliseconds a run takes; the device cannot be had if absent. */
  readonly ms?: number;
  readonly wrong?: boolean;
}

/** Devices played by the processor, on a clock of their own. Counts the sessions that are open. */
function playedRuntime(devices: Partial<Record<Device, Behaviour>>): Runtime & { open: number; now: () => number } {
  let time = 0;
  const runtime = {
    open: 0,
    now: () => time,
    async load(...[program, options = {}]: Parameters<Runtime["load"]>): Promise<Session> {
      const { ms, wrong } = devices[options.device ?? "cpu"] ?? {};
      if (ms === undefined) throw new MineruError("runtime-unavailable", `no ${options.device} here`);
      const session = await nodeRuntime.load(program, { ...options, device: "cpu" });
      runtime.open++;
      return {
        async run(feeds, outputs) {
          const found = await session.run(feeds, outputs);
          time += ms;
          if (wrong) (found.y.data as Float32Array)[7] += 100;
          return found;
        },
        async release() {
          runtime.open--;
          await session.release();
        },
      };
    },
  };
  return runtime;
}

test("auto takes the first device that is faster than the processor", async () => {
  const runtime = playedRuntime({ cpu: { ms: 20 }, webgpu: { ms: 1 } });
  const chosen = await chooseDevice(runtime, "auto", runtime.now);
  expect(chosen).toMatchObject({ device: "webgpu", refused: [{ device: "cuda", reason: "no cuda here" }] });
  expect(chosen.why).toBe("1.0 ms for a product that takes the processor 20.0 ms");
  expect(runtime.open).toBe(0);
});

test("auto leaves a device that is slow or wrong, and says why", async () => {
  const runtime = playedRuntime({ cpu: { ms: 1 }, cuda: { ms: 20 }, webgpu: { ms: 0, wrong: true } });
  const chosen = await chooseDevice(runtime, "auto", runtime.now);
  expect(chosen).toMatchObject({ device: "cpu", why: "no faster device can be used" });
  expect(chosen.refused.map(({ device }) => device)).toEqual(["cuda", "webgpu"]);
  expect(chosen.refused[0].reason).toBe("no faster than the processor: 20.0 ms for a product that takes the processor 1.0 ms");
  expect(chosen.refused[1].reason).toBe("its products are wrong");
  expect(runtime.open).toBe(0);
});

test("a device asked for by name is used however slow it is", async () => {
  const runtime = playedRuntime({ cpu: { ms: 0 }, webgpu: { ms: 20 } });
  expect(await chooseDevice(runtime, "webgpu")).toEqual({ device: "webgpu", why: "asked for", refused: [] });
});

test("a device asked for by name that cannot be used is an error that says what to do", async () => {
  const failed = chooseDevice(playedRuntime({ cpu: { ms: 0 } }), "cuda");
  await expect(failed).rejects.toMatchObject({ code: "runtime-unavailable", cause: { message: "no cuda here" } });
  await expect(failed).rejects.toThrow("cuda expected to be usable, got: no cuda here; choose cpu, or auto to fall back");
});

test("the processor is taken untried", async () => {
  expect(await chooseDevice(playedRuntime({}), "cpu")).toEqual({ device: "cpu", why: "asked for", refused: [] });
});
