/**
 * Which device computes. ONNX Runtime does not fall back from a device that cannot be had, and takes a software adapter for a graphics
 * processor, so each candidate is tried with one product here: it must exist, give the right numbers and, unless it was asked for by
 * name, be faster than the processor.
 */
import { MineruError } from "../error.ts";
import { lower, type OnnxProgram, type ParameterBinding } from "../graph/lowering.ts";
import * as g from "../graph/ops.ts";
import { type Device, float32, type Runtime, type Session } from "./session.ts";

export type DeviceChoice = "auto" | Device;

export interface ChosenDevice {
  readonly device: Device;
  /** Why, in words for people. */
  readonly why: string;
  /** Devices that were tried and could not be used, with the reason. */
  readonly refused: readonly { readonly device: Device; readonly reason: string }[];
}

const candidates = ["cuda", "webgpu"] as const;

/** 2 GFLOP: some 10 ms on two cores, 1–4 ms on a graphics processor with the way there and back, 100 ms and more on a software adapter. */
const ROWS = 256;
const WIDTH = 2048;
const RUNS = 3;
/** Graphics processors may multiply in 10-bit mantissas. */
const TOLERANCE = 1e-2;

const noParameters = (): ParameterBinding => {
  throw new Error("internal: the probe has no parameters");
};

/** Row i times a weight whose column j holds (j mod 7) − 3 everywhere: every entry is known. */
function probeProgram(): OnnxProgram {
  const weight = Float32Array.from({ length: WIDTH * WIDTH }, (_, i) => ((i % WIDTH) % 7) - 3);
  const y = g.matmul(g.input("x", "float32", ["rows", WIDTH]), g.constant(weight, [WIDTH, WIDTH]));
  return lower({ name: "device-probe", outputs: { y } }, noParameters);
}

/** Milliseconds of the fastest of a few runs. Throws what the runtime throws, or an Error if the numbers are wrong. */
async function measure(runtime: Runtime, program: OnnxProgram, device: Device, now: () => number): Promise<number> {
  const session: Session = await runtime.load(program, { device });
  try {
    const x = float32(
      Float32Array.from({ length: ROWS * WIDTH }, (_, i) => (1 + Math.floor(i / WIDTH)) / WIDTH),
      [ROWS, WIDTH],
    );
    let fastest = Number.POSITIVE_INFINITY;
    for (let run = 0; run < RUNS; run++) {
      const start = now();
      const { y } = await session.run({ x }, ["y"]);
      fastest = Math.min(fastest, now() - start);
      const wrong = (value: number, i: number): boolean =>
        Math.abs(value - (1 + Math.floor(i / WIDTH)) * (((i % WIDTH) % 7) - 3)) > TOLERANCE * ROWS;
      if ((y.data as Float32Array).some(wrong)) throw new Error("its products are wrong");
    }
    return fastest;
  } finally {
    await session.release();
  }
}

/**
 * Chooses the device. "auto" takes the first graphics device that works and beats the processor, else the processor.
 * @param now milliseconds, for comparing.
 * @throws MineruError `runtime-unavailable` if a device asked for by name cannot be used.
 */
export async function chooseDevice(runtime: Runtime, wanted: DeviceChoice, now = () => performance.now()): Promise<ChosenDevice> {
  if (wanted === "cpu") return { device: "cpu", why: "asked for", refused: [] };
  const program = probeProgram();
  if (wanted !== "auto") {
    try {
      await measure(runtime, program, wanted, now);
      return { device: wanted, why: "asked for", refused: [] };
    } catch (cause) {
      const { message } = cause as Error;
      throw new MineruError("runtime-unavailable", `${wanted} expected to be usable, got: ${message}; choose cpu, or auto to fall back`, {
        cause,
      });
    }
  }
  const refused: { device: Device; reason: string }[] = [];
  let processorMs: number | undefined;
  for (const device of candidates) {
    try {
      const ms = await measure(runtime, program, device, now);
      processorMs ??= await measure(runtime, program, "cpu", now);
      const times = `${ms.toFixed(1)} ms for a product that takes the processor ${processorMs.toFixed(1)} ms`;
      if (ms < processorMs) return { device, why: times, refused };
      refused.push({ device, reason: `no faster than the processor: ${times}` });
    } catch (cause) {
      refused.push({ device, reason: (cause as Error).message });
    }
  }
  return { device: "cpu", why: "no faster device can be used", refused };
}
