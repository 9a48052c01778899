/**
 * ONNX Runtime compiled to WebAssembly, for browsers: on the processor, and on the graphics processor where the browser has WebGPU and lets
 * WebAssembly wait for promises (JSPI). The build without WebGPU is half the size, so the other is fetched only where it can be used. Runs
 * where it is called, best in a worker.
 */
import { MineruError } from "../error.ts";
import { type Binding, createSession } from "./onnxruntime.ts";
import type { Device, Runtime, Session, SessionOptions } from "./session.ts";

/** Addresses of one WebAssembly build of ONNX Runtime: its loader and its binary. */
export interface RuntimeBuild {
  readonly mjs: string;
  readonly wasm: string;
}

export interface WebRuntimeOptions {
  /** A runtime for the processor alone is half as much to fetch. Default true: both. */
  readonly graphics?: boolean;
  /** Where the builds lie; beside the bundled code if absent. */
  readonly builds?: { readonly wasm: RuntimeBuild; readonly jspi: RuntimeBuild };
}

/** More threads than this gain nothing at the widths of small models. */
const MOST_THREADS = 4;

type WebBinding = Binding & { readonly env: { logLevel?: string; wasm: { numThreads?: number; wasmPaths?: unknown } } };

/** Why WebGPU cannot be used here; null if it can. */
async function graphicsLack(): Promise<string | null> {
  const { gpu } = (globalThis.navigator ?? {}) as { gpu?: { requestAdapter(): Promise<unknown> } };
  if (!gpu) return "the browser has no WebGPU";
  if (!("Suspending" in WebAssembly)) return "the browser's WebAssembly cannot wait for promises (JSPI)";
  return (await gpu.requestAdapter()) ? null : "there is no graphics processor that WebGPU can use";
}

/** Threads share memory, which browsers allow to pages isolated from all others. */
function threadCount(wanted: number | undefined): number {
  if (globalThis.crossOriginIsolated === false) return 1;
  return wanted ?? Math.min(MOST_THREADS, globalThis.navigator?.hardwareConcurrency ?? 1);
}

/** Lets the thread hear its messages: a run on the processor never waits for anything else. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

export function webRuntime({ graphics = true, builds }: WebRuntimeOptions = {}): Runtime {
  let lack: Promise<string | null> | null = null;
  let binding: Promise<WebBinding> | null = null;
  /** The compiled module runs one thing at a time. */
  let last: Promise<unknown> = Promise.resolve();

  const whyNoGraphics = (): Promise<string | null> => {
    lack ??= graphics ? graphicsLack() : Promise.resolve("it was left out");
    return lack;
  };
  const start = async (threads: number | undefined): Promise<WebBinding> => {
    const full = (await whyNoGraphics()) === null;
    const ort = (await (full ? import("onnxruntime-web/jspi") : import("onnxruntime-web/wasm"))) as unknown as WebBinding;
    ort.env.logLevel = "fatal";
    ort.env.wasm.numThreads = threadCount(threads);
    if (builds) ort.env.wasm.wasmPaths = full ? builds.jspi : builds.wasm;
    return ort;
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(pause).then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const checkedDevice = async (device: Device): Promise<void> => {
    const refused = device === "cuda" ? "a browser has no CUDA" : device === "webgpu" ? await whyNoGraphics() : null;
    if (refused !== null) throw new MineruError("runtime-unavailable", `${device} expected to be usable, got: ${refused}; choose cpu`);
  };

  return {
    async load({ model }, options: SessionOptions = {}): Promise<Session> {
      const { device = "cpu", threads, weightsInMemory } = options;
      await checkedDevice(device);
      binding ??= start(threads);
      const ort = await binding.catch((cause) => {
        binding = null;
        throw new MineruError("runtime-unavailable", `ONNX Runtime could not be fetched: ${(cause as Error).message}`, { cause });
      });
      const session = await inTurn(() =>
        createSession(ort, model, device, {
          executionProviders: device === "cpu" ? ["wasm"] : [device, "wasm"],
          graphOptimizationLevel: "all",
          logSeverityLevel: 4,
          ...(weightsInMemory ? { externalData: Array.from(weightsInMemory, ([path, data]) => ({ path, data })) } : {}),
        }),
      );
      return {
        async run(feeds, outputs, preallocated) {
          const found = await inTurn(() => session.run(feeds, outputs));
          // The memory of the compiled module is not the caller's.
          for (const [name, { data }] of Object.entries(preallocated ?? {})) (data as Float32Array).set(found[name].data as Float32Array);
          return found;
        },
        release: () => inTurn(() => session.release()),
      };
    },
  };
}
